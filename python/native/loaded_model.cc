#include "python/native/loaded_model.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/readable.h"
#include "encoder/encode_all.h"
#include "python/native/shared_pool.h"
#include "report/evaluate_report.h"
#include "report/explain_report.h"
#include "report/find_label.h"
#include "report/inspect_report.h"
#include "report/model_points.h"

namespace elias::python {

LoadedModel::LoadedModel(std::string folder, int threads, bool exact)
    : folder_(std::move(folder)),
      threads_(threads),
      model_(Model::load(folder_, context(), exact ? IndexUse::kExact : IndexUse::kOwn)),
      states_([this] { return model_.predictor().make_state(); }) {}

Context LoadedModel::context() const { return Context(shared_pool(threads_)); }

Points LoadedModel::next_points(const PointReader& reader, PointBatch& batch) const {
  check_points(reader.info(), model_);  // nothing, of no kind, is input as well
  return model_points(reader.info(), batch.texts, std::move(batch.features), model_,
                      shared_pool(threads_));
}

Csr LoadedModel::predict(PointReader& points, const Wanted& wanted) const {
  Csr all;
  for (PointBatch batch; points.next(batch);) {
    Csr scores = best_labels(next_points(points, batch), wanted);
    if (wanted.thresholds) keep_predicted(*wanted.thresholds, scores);
    if (all.rows() == 0) {
      all = std::move(scores);
    } else {
      all.append(scores);
    }
  }
  all.cols = model_.labels();
  return all;
}

Csr LoadedModel::best_labels(const PointsView& points, const Wanted& wanted) const {
  const int64_t k = std::min(wanted.k, static_cast<int64_t>(model_.labels()));
  if (points.rows() != 1) {
    return predict_all(context(), model_.predictor(), points, k, wanted.allowed);
  }
  // One point at a time, as someone asks who waits for the answer: room is kept from call to call.
  std::vector<int32_t> labels(static_cast<size_t>(k));
  std::vector<float> scores(labels.size());
  states_.with([&](Predictor::State& state) {
    model_.predictor().predict(context(), points, 0, 1, k, wanted.allowed, state, {labels, scores});
  });
  Csr row;
  for (size_t i = 0; i < labels.size() && labels[i] >= 0; ++i) {
    row.columns.push_back(static_cast<uint32_t>(labels[i]));
    row.values.push_back(scores[i]);
  }
  row.finish_row(Csr::Repeats::kSum);
  return row;
}

std::vector<float> LoadedModel::embed(PointReader& points, int64_t member) const {
  const auto& members = model_.members();
  if (member < 1 || member > std::ssize(members)) {
    throw InputError("member {}: the model has {}: give one of them", member,
                     counted(members.size(), "member"));
  }
  const EncoderWeights& weights = members[static_cast<size_t>(member - 1)].weights.encoder;
  const PackedEncoder encoder(context(), weights);
  EncoderRoom room;
  std::vector<float> vectors;
  vectors.reserve(points.info().promised_rows.value_or(0) * static_cast<size_t>(weights.width()));
  for (PointBatch batch; points.next(batch);) {
    encode_all(context(), encoder, room, next_points(points, batch),
               [&](size_t, ConstTensorView phi) {
                 for (int64_t i = 0; i < phi.rows(); ++i) {
                   const float* const row = phi.data<float>() + i * phi.stride();
                   vectors.insert(vectors.end(), row, row + weights.width());
                 }
               });
  }
  return vectors;
}

Evaluation LoadedModel::evaluate(PointReader& points, const LabelSpace& space,
                                 const std::string& propensity,
                                 const std::optional<Thresholds>& thresholds) const {
  const Training training = training_of(model_, propensity_from_name(propensity));
  EvaluateOptions options;
  int64_t depth = options.cutoffs.deepest();
  if (thresholds) {
    options.threshold = thresholds->common;
    options.label_thresholds = thresholds->by_label;
    depth = std::max(depth, Thresholds::kDepth);
  }
  Csr truth, scores;
  for (PointBatch batch; points.next(batch);) {
    truth.append(batch.labels);
    scores.append(best_labels(next_points(points, batch), {.k = depth}));
  }
  truth.cols = space.size();
  scores.cols = model_.labels();
  const auto known = [&](uint32_t label) { return label < model_.labels(); };
  if (truth.nonzeros() > 0 && std::none_of(truth.columns.begin(), truth.columns.end(), known)) {
    throw InputError(
        "labels: the model knows none of them, {} is the first: give points labelled as those that "
        "it was trained on",
        shown(space.name(LabelId(truth.columns[0]))));
  }
  return elias::evaluate(truth, scores, &training, options, shared_pool(threads_), folder_);
}

std::vector<nlohmann::ordered_json> LoadedModel::explain(PointReader& points, int64_t k,
                                                         const std::vector<std::string>& labels,
                                                         size_t words) const {
  const Context here = context();
  Explainer explainer(here, model_);
  const LabelSpace space = model_.label_space();
  std::vector<uint32_t> named;
  named.reserve(labels.size());
  for (const std::string& label : labels) named.push_back(label_of(label));
  k = std::min(k, static_cast<int64_t>(model_.labels()));
  std::vector<nlohmann::ordered_json> explained;
  for (PointBatch batch; points.next(batch);) {
    const Points read = next_points(points, batch);
    for (size_t i = 0; i < read.features.rows(); ++i) {
      const PointExplanation point{
          .number = explained.size() + 1,
          .line = 0,
          .text = model_.tfidf() != nullptr ? batch.texts.row(i) : std::string_view(),
          .features = read.features.row(i).size(),
          .truth = {},
          .space = space,
          .labels = explainer.explain(read, i, k, named)};
      explained.push_back(explanation_json(model_, point, words));
      explained.back().erase("true_labels");  // which nobody has told
      for (auto& label : explained.back()["labels"]) label.erase("true");
    }
  }
  return explained;
}

nlohmann::ordered_json LoadedModel::inspect(const std::optional<std::string>& label) const {
  if (!label) return inspection_json(Inspection(folder_, model_));
  constexpr size_t kMost = 10;
  return label_json(
      model_, portray(model_.first().weights, label_of(*label), kMost, shared_pool(threads_)));
}

uint32_t LoadedModel::label_of(const std::string& name) const {
  return find_label(model_, folder_, name, shared_pool(threads_));
}

AllowedLabels LoadedModel::allowed(const std::vector<std::string>& candidates) const {
  if (candidates.empty()) {
    throw InputError("candidates: is empty: give the labels that may be predicted");
  }
  std::vector<uint8_t> flags(model_.labels());
  for (const std::string& name : candidates) flags[label_of(name)] = 1;
  return AllowedLabels(std::move(flags));
}

Thresholds LoadedModel::thresholds() const {
  if (model_.thresholds() != nullptr) return *model_.thresholds();
  throw InputError(
      "threshold 'auto': {} has no thresholds: 'elias threshold --model {} --data FILE' chooses "
      "them on points that it was not trained on; or give a score",
      folder_, folder_);
}

}  // namespace elias::python
