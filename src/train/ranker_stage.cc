#include "train/ranker_stage.h"

#include <algorithm>

#include "base/errors.h"
#include "base/stopwatch.h"
#include "encoder/encode_all.h"
#include "train/held_out.h"

namespace elias {
namespace {

constexpr uint64_t kBlocks = 64;  // of about equal work, between which a run can stop

RankerInputOptions input_of(const Settings& settings) {
  ELIAS_ASSERT(settings.ranker != RankerChoice::kOff);
  const auto parts = settings.ranker == RankerChoice::kWords    ? RankerParts::kWords
                     : settings.ranker == RankerChoice::kVector ? RankerParts::kVector
                                                                : RankerParts::kBoth;
  return {.parts = parts, .most_words = settings.ranker_words};
}

RankerOptions options_of(const Settings& settings) {
  return {.descent = {.loss = settings.ranker_loss,
                      .cost = settings.ranker_cost,
                      .positive_weight = settings.ranker_positive_weight,
                      .tolerance = settings.ranker_tolerance,
                      .passes = settings.ranker_passes},
          .cut = {.least = settings.ranker_least_weight,
                  .dropped_share = settings.ranker_dropped,
                  .most = settings.ranker_most_weights},
          .seed = settings.seed};
}

class RankerStage {
 public:
  RankerStage(const Context& context, const Settings& settings, const TrainingData& data,
              const Model& model, const std::function<Csr()>& find_training_lists,
              const TrainingHooks& hooks)
      : context_(context),
        settings_(settings),
        data_(data),
        model_(model),
        find_training_lists_(find_training_lists),
        hooks_(hooks),
        input_(input_of(settings)) {}

  std::optional<LearnedRanker> run(const std::optional<SafetensorsFile>& resume);

 private:
  int64_t labels() const { return static_cast<int64_t>(model_.labels()); }
  Csr inputs(const PointsView& points) const;
  void reserve(const Csr& features, int64_t D, Csr& all) const;
  void load(const SafetensorsFile& file);
  void save() const;
  bool learn_weights();
  void arrange(const Csr& points, const Csr& found);
  void learn_mix();

  const Context& context_;
  const Settings& settings_;
  const TrainingData& data_;
  const Model& model_;
  const std::function<Csr()>& find_training_lists_;
  const TrainingHooks& hooks_;
  RankerInputOptions input_;
  LearnedRanker learned_;
};

std::optional<LearnedRanker> RankerStage::run(const std::optional<SafetensorsFile>& resume) {
  if (resume) {
    load(*resume);
  } else {
    save();  // from here on the model itself is trained
    if (hooks_.stop()) return std::nullopt;
  }
  if (!learn_weights()) return std::nullopt;
  learn_mix();
  return std::move(learned_);
}

// Grown step by step, such a matrix would at times lie there twice.
void RankerStage::reserve(const Csr& features, int64_t D, Csr& all) const {
  size_t entries = input_.has_vector() ? features.rows() * static_cast<size_t>(D) : 0;
  for (size_t i = 0; input_.has_words() && i < features.rows(); ++i) {
    entries += std::min(features.row(i).size(), static_cast<size_t>(input_.most_words));
  }
  all.offsets.reserve(features.rows() + 1);
  all.columns.reserve(entries);
  all.values.reserve(entries);
}

// x of all points. Without phi nothing need be encoded.
Csr RankerStage::inputs(const PointsView& points) const {
  const Csr& features = points.features();
  const EncoderWeights& encoder = model_.first().weights.encoder;
  const auto V = static_cast<int64_t>(model_.features()), D = encoder.width();
  RankerInput input(input_);
  Csr all;
  all.cols = static_cast<uint64_t>(ranker_columns(input_, V, D));
  reserve(features, D, all);
  const auto add = [&](size_t point, std::span<const float> phi) {
    const CsrRow x = input.of(features.row(point), V, phi);
    all.columns.insert(all.columns.end(), x.columns.begin(), x.columns.end());
    all.values.insert(all.values.end(), x.values.begin(), x.values.end());
    all.offsets.push_back(all.columns.size());
  };
  if (!input_.has_vector()) {
    for (size_t i = 0; i < features.rows(); ++i) add(i, {});
    return all;
  }
  encode_all(context_, encoder, points, [&](size_t begin, ConstTensorView phi) {
    for (int64_t i = 0; i < phi.rows(); ++i) {
      add(begin + static_cast<size_t>(i),
          {phi.data<float>() + i * phi.stride(), static_cast<size_t>(D)});
    }
  });
  return all;
}

// False if the run is to stop; what is learned so far is saved then.
bool RankerStage::learn_weights() {
  const Stopwatch watch;
  const Csr points = inputs(data_.points());
  const RankerTrainer trainer(points, data_.labels, find_training_lists_(), options_of(settings_),
                              context_.isa());
  const uint64_t all = trainer.pairs_below(labels());
  SparseRanker& ranker = learned_.weights;
  auto done = static_cast<int64_t>(ranker.bias.size());
  while (done < labels()) {
    const bool stop = hooks_.stop();
    if (stop || hooks_.checkpoint_due()) save();
    if (stop) return false;
    const uint64_t wanted = trainer.pairs_below(done) + std::max<uint64_t>(1, all / kBlocks);
    int64_t end = done + 1;
    while (end < labels() && trainer.pairs_below(end) < wanted) ++end;
    trainer.extend(ranker, end, context_.pool());
    done = end;
    hooks_.progress({.stage = "ranker",
                     .share = static_cast<double>(trainer.pairs_below(done)) /
                              static_cast<double>(std::max<uint64_t>(1, all))});
  }
  hooks_.log("ranker",
             {{"pairs", all}, {"weights", ranker.weights.size()}, {"seconds", watch.seconds()}});
  return true;
}

/// Lays the weights out as suits the labels found for points like these.
void RankerStage::arrange(const Csr& points, const Csr& found) {
  if (better_layout(learned_.weights.view(), points, found) == RankerLayout::kByLabel) return;
  learned_.weights = by_feature(learned_.weights, static_cast<int64_t>(points.cols));
}

void RankerStage::learn_mix() {
  // Of the points that labels were learned from, as at any other point: a model counts held-out
  // ones too, which have the very labels that are to be told here.
  const std::vector<uint64_t> counts = column_counts(data_.labels);
  const Points sample = sample_rows(data_.held_out(), kCalibrationPoints);
  const Csr true_labels = sample_rows(data_.held_out_labels, kCalibrationPoints);
  const Csr found = labels_to_rank(context_, settings_, model_.predictor(), sample);
  const Csr points = inputs(sample);
  arrange(points, found);
  RankerQuery query(learned_.weights.view(), static_cast<int64_t>(points.cols), context_.isa());
  std::vector<FoundLabel> labels;
  std::vector<uint8_t> is_true;
  std::vector<int32_t> ids;
  std::vector<float> margins;
  for (size_t i = 0; i < found.rows(); ++i) {
    const CsrRow row = found.row(i);
    const auto truth = true_labels.row(i).columns;
    ids.assign(row.columns.begin(), row.columns.end());
    margins.resize(ids.size());
    query.margins(points.row(i), ids, margins);
    for (size_t j = 0; j < row.size(); ++j) {
      labels.push_back({.p = row.values[j], .margin = margins[j], .count = counts[row.columns[j]]});
      is_true.push_back(std::ranges::binary_search(truth, row.columns[j]) ? 1 : 0);
    }
  }
  learned_.mix = fit_mix(settings_.mix, settings_.ranker_loss, labels, is_true, context_.pool());
}

void RankerStage::save() const {
  SafetensorsWriter writer;
  const SparseRankerView ranker = learned_.weights.view();
  writer.add("ranker.offsets", ranker.offsets);
  writer.add("ranker.features", ranker.ids);
  writer.add("ranker.weights", ranker.weights);
  writer.add("ranker.bias", ranker.bias);
  hooks_.checkpoint(writer);
}

void RankerStage::load(const SafetensorsFile& file) {
  const auto read = [&]<typename T>(const char* name, std::vector<T>& to) {
    const auto values = file.vector<T>(name);
    to.assign(values.begin(), values.end());
  };
  SparseRanker& ranker = learned_.weights;
  read("ranker.offsets", ranker.offsets);
  read("ranker.features", ranker.ids);
  read("ranker.weights", ranker.weights);
  read("ranker.bias", ranker.bias);
  check_sparse_ranker(ranker.view(), std::min(ranker.view().labels(), labels()),
                      ranker_columns(input_, static_cast<int64_t>(model_.features()),
                                     model_.first().weights.encoder.width()),
                      file.name(), context_.pool());
}

}  // namespace

RankerPart LearnedRanker::part(const Settings& settings,
                               std::span<const uint64_t> label_counts) const {
  return {.weights = weights.view(),
          .input = input_of(settings),
          .top = settings.ranker_top,
          .mix = mix,
          .label_counts = label_counts};
}

Csr labels_to_rank(const Context& context, const Settings& settings, const Predictor& predictor,
                   const PointsView& points) {
  return predict_all(context, predictor, points, std::min(settings.ranker_top, predictor.labels()));
}

bool is_ranker_checkpoint(const SafetensorsFile& checkpoint) {
  return checkpoint.tensors().contains("ranker.offsets");
}

std::optional<LearnedRanker> train_ranker(const Context& context, const Settings& settings,
                                          const TrainingData& data, const Model& model,
                                          const std::function<Csr()>& find_training_lists,
                                          const TrainingHooks& hooks,
                                          const std::optional<SafetensorsFile>& resume) {
  ELIAS_ASSERT(model.ranker() == nullptr);
  return RankerStage(context, settings, data, model, find_training_lists, hooks).run(resume);
}

}  // namespace elias
