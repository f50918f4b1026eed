// A run is a list of stages; a stage begins with what it stands on (clusters, or the label graph)
// and goes through its epochs batch by batch. Everything a batch depends on is either in a
// checkpoint or a function of the settings and the position, so a run can be cut between any two.
#include "train/trainer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/stopwatch.h"
#include "encoder/encode_all.h"
#include "index/balanced_clusters.h"
#include "index/beam.h"
#include "index/graph_builder.h"
#include "index/label_centroids.h"
#include "train/held_out.h"
#include "train/network.h"
#include "train/optimiser.h"
#include "train/stages.h"
#include "train/step.h"

namespace elias {
namespace {

using nlohmann::ordered_json;

// Sparse terms kept of a label's centre: the rest of a long tail hardly moves a cluster.
constexpr size_t kTermsPerLabel = 200;

bool is_below(int64_t value, int64_t end) { return value >= 0 && value < end; }

std::vector<int32_t> unseen_labels(const Csr& labels) {
  std::vector<bool> seen(labels.cols);
  for (size_t i = 0; i < labels.rows(); ++i) {
    const CsrRow row = labels.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      if (row.values[j] > 0) seen[row.columns[j]] = true;
    }
  }
  std::vector<int32_t> unseen;
  for (size_t l = 0; l < seen.size(); ++l) {
    if (!seen[l]) unseen.push_back(static_cast<int32_t>(l));
  }
  return unseen;
}

class Trainer {
 public:
  Trainer(const Context& context, const Settings& settings, const TrainingData& data,
          const TrainingHooks& hooks)
      : context_(context),
        settings_(settings),
        data_(data),
        hooks_(hooks),
        stages_(stages_of(settings)),
        network_(context, settings, static_cast<int64_t>(data.features.cols),
                 static_cast<int64_t>(data.labels.cols), data.transformer.get()),
        step_(context, settings, data.points(), data.labels, network_),
        held_out_(context, settings, data) {
    network_.set_unseen(unseen_labels(data.labels));
  }

  Outcome run(std::optional<SafetensorsFile> resume) {
    bool begun = resume.has_value();  // a checkpoint is of a stage that has begun
    if (resume) load(*resume);
    resume.reset();  // its file may be replaced: let go of it
    while (position_.stage < static_cast<int64_t>(stages_.size())) {
      if (!std::exchange(begun, false)) begin_stage();
      if (run_stage() == Outcome::kStopped) return Outcome::kStopped;
      position_ = {.stage = position_.stage + 1, .epoch = 0, .batch = 0};
    }
    return Outcome::kFinished;
  }

 private:
  int64_t points() const { return static_cast<int64_t>(data_.labels.rows()); }
  int64_t batches() const { return (points() + settings_.batch - 1) / settings_.batch; }
  const Stage& stage() const { return stages_[position_.stage]; }
  // Of the first `stages` stages.
  int64_t epochs_of(size_t stages) const {
    int64_t epochs = 0;
    for (size_t i = 0; i < stages; ++i) epochs += stages_[i].epochs;
    return epochs;
  }
  bool last_stage() const { return position_.stage + 1 == static_cast<int64_t>(stages_.size()); }

  void begin_stage();
  void cluster(Tensor phi_sums);
  void build_graph();
  template <typename Use>
  void for_encoded_points(const Use& use);
  Tensor sum_phi_by_label();
  Outcome run_stage();
  Outcome run_epoch(int64_t steps);
  void run_batch(std::span<const uint32_t> order, int64_t steps);
  void average_if_due(int64_t step, int64_t steps);
  void end_epoch(double seconds);
  void evaluate_and_keep(ordered_json& fields);
  void report_progress();
  std::vector<int64_t> run_numbers() const;
  void save();
  void load(const SafetensorsFile& file);
  bool is_on_the_way(const Position& position) const;
  bool index_fits_stage() const;

  const Context& context_;
  const Settings& settings_;
  const TrainingData& data_;
  const TrainingHooks& hooks_;
  std::vector<Stage> stages_;
  Network network_;
  TrainingStep step_;
  HeldOut held_out_;

  Position position_;
  std::vector<int32_t> cluster_of_;  // [L] of stage 1
  std::vector<int32_t> parents_;     // [L]
  StepSums epoch_sums_;
  int64_t points_before_ = 0;  // of the epoch, learned from before this process came to it
  double best_ = -1;           // nDCG@5 of what was kept last
  int64_t since_gain_ = 0;     // evaluations of the last stage since there was a better one
};

// --- what stages stand on ------------------------------------------------------------------------

void Trainer::begin_stage() {
  const Stopwatch watch;
  switch (stage().kind) {
    case StageKind::kOva:
    case StageKind::kGlas:
      break;
    case StageKind::kWarm:
      cluster({});
      break;
    case StageKind::kStage1:
      cluster(position_.stage > 0 ? sum_phi_by_label() : Tensor());
      if (!settings_.keep_warm_classifiers) network_.reset_labels(context_);
      break;
    case StageKind::kStage2:
      build_graph();
      if (!settings_.keep_classifiers) network_.reset_labels(context_);
      break;
  }
  network_.begin_stage(stage().rates);
  hooks_.log("stage", {{"stage", stage().name()},
                       {"epochs", stage().epochs},
                       {"clusters", network_.has_index() ? network_.graph().clusters() : 0},
                       {"edges", network_.has_index() ? network_.graph().edges() : 0},
                       {"preparation_seconds", watch.seconds()}});
}

// phi_sums [L, D], or none: by words alone.
void Trainer::cluster(Tensor phi_sums) {
  const int depth = std::countr_zero(static_cast<uint64_t>(settings_.clusters));
  const LabelCentroids centroids = label_centroids(data_.labels, std::move(phi_sums),
                                                   data_.features, kTermsPerLabel, context_.pool());
  cluster_of_ =
      balanced_clusters(centroids, {.depth = depth, .seed = settings_.seed}, context_.pool());
  network_.set_partition(context_, cluster_of_, settings_.clusters);
}

// Calls use(begin, phi) for one piece of the training points after the other (encode_all).
template <typename Use>
void Trainer::for_encoded_points(const Use& use) {
  network_.catch_up_all(context_);
  encode_all(context_, network_.encoder().weights(context_, Weights::kCurrent), data_.points(),
             use);
}

Tensor Trainer::sum_phi_by_label() {
  Tensor sums({network_.labels(), network_.width()}, DType::kFloat32);
  for_encoded_points([&](size_t begin, ConstTensorView phi) {
    add_to_label_sums(data_.labels, begin, phi, sums, context_.pool());
  });
  return sums;
}

void Trainer::build_graph() {
  const ConstTensorView w = std::as_const(network_.cluster_weights()).weights();
  const ConstTensorView bias = std::as_const(network_.cluster_bias()).weights();
  const int64_t C = w.rows();
  const PackedWeights packed = pack_weights(context_, w, PackedFor::kForward, Precision::kFloat32);
  Beam beam(std::min(settings_.beam, C), settings_.alpha);
  GraphBuilder builder(cluster_of_, C, context_.pool());
  for_encoded_points([&](size_t begin, ConstTensorView phi) {
    beam.find(context_, packed, bias, phi);
    builder.add(data_.labels, begin, beam.clusters(), beam.scores());
  });
  BuiltGraph built =
      builder.finish({.most_edges = settings_.edges, .kept_clusters = settings_.kept_clusters});
  const auto values = initial_edges(built, settings_.informed_edges, settings_.seed);
  hooks_.log("graph", {{"edges", built.graph.edges()}, {"uncovered_labels", built.uncovered}});
  network_.set_graph(context_, std::move(built.graph), values);
}

// --- epochs and batches --------------------------------------------------------------------------

Outcome Trainer::run_stage() {
  const int64_t steps = batches() * stage().epochs;
  for (; position_.epoch < stage().epochs; ++position_.epoch) {
    if (run_epoch(steps) == Outcome::kStopped) return Outcome::kStopped;
    position_.batch = 0;
    if (settings_.patience > 0 && since_gain_ >= settings_.patience) {
      hooks_.log("patience", {{"epoch", position_.epoch + 1}, {"evaluations", since_gain_}});
      break;
    }
  }
  if (last_stage()) return Outcome::kFinished;
  // What the next stage stands on takes long to build, and cannot be saved half-way.
  const bool stop = hooks_.stop();
  if (stop || hooks_.checkpoint_due()) save();
  return stop ? Outcome::kStopped : Outcome::kFinished;
}

Outcome Trainer::run_epoch(int64_t steps) {
  const Stopwatch watch;
  const auto order = epoch_order(points(), settings_.seed, position_.stage, position_.epoch);
  if (position_.batch == 0) {
    epoch_sums_ = {};
    if (network_.has_index()) parents_ = label_parents(network_.graph_view());
  }
  points_before_ = epoch_sums_.points;
  while (position_.batch < batches()) {
    if (hooks_.stop()) {
      save();
      return Outcome::kStopped;
    }
    if (hooks_.checkpoint_due()) save();
    run_batch(order, steps);
    ++position_.batch;
    report_progress();
  }
  end_epoch(watch.seconds());
  return Outcome::kFinished;
}

void Trainer::run_batch(std::span<const uint32_t> order, int64_t steps) {
  const auto begin = static_cast<size_t>(position_.batch * settings_.batch);
  const size_t size = std::min(static_cast<size_t>(settings_.batch), order.size() - begin);
  const int64_t step = position_.epoch * batches() + position_.batch + 1;
  const StepPosition at{
      .step = step,
      .steps = steps,
      .steps_before = epochs_of(position_.stage) * batches(),
      .run_steps = epochs_of(stages_.size()) * batches(),
      .stream = static_cast<uint64_t>(position_.stage) << 40 | static_cast<uint64_t>(step)};
  const StepSums sums = step_.run(order.subspan(begin, size), parents_, at);
  if (!std::isfinite(sums.loss())) {
    throw InputError(
        "{}, epoch {}, batch {}: the loss is no longer a number: lower the learning rates (--set "
        "stage1_encoder_rate=..., see elias fit --help)",
        stage().name(), position_.epoch + 1, position_.batch + 1);
  }
  epoch_sums_.add(sums);
  average_if_due(step, steps);
}

void Trainer::average_if_due(int64_t step, int64_t steps) {
  if (!last_stage() || settings_.average_from >= 1) return;
  const int64_t every = std::max<int64_t>(1, batches() / settings_.averages);
  const auto first = static_cast<int64_t>(settings_.average_from * static_cast<float>(steps));
  if (step > first && (steps - step) % every == 0) network_.average(context_);
}

void Trainer::end_epoch(double seconds) {
  const int64_t epoch = position_.epoch + 1;
  const auto points = static_cast<double>(std::max<int64_t>(1, epoch_sums_.points));
  ordered_json fields = {
      {"stage", stage().name()},
      {"epoch", epoch},
      {"epochs", stage().epochs},
      {"loss", epoch_sums_.loss()},
      {"loss_on_p", epoch_sums_.on_p / points},
      {"loss_on_z", epoch_sums_.on_z / points},
      {"loss_shortlist", epoch_sums_.shortlist / points},
      {"loss_regulariser", epoch_sums_.regulariser / points},
      {"points_per_second", static_cast<double>(epoch_sums_.points - points_before_) / seconds}};
  if (network_.has_index()) {
    fields["missed_positives"] = static_cast<double>(epoch_sums_.missed) /
                                 static_cast<double>(std::max<int64_t>(1, epoch_sums_.positives));
  }
  const bool last = epoch == stage().epochs;
  if (last || (last_stage() && epoch % settings_.evaluate_every == 0)) evaluate_and_keep(fields);
  hooks_.log("epoch", fields);
}

// --- held-out points -----------------------------------------------------------------------------

void Trainer::evaluate_and_keep(ordered_json& fields) {
  network_.catch_up_all(context_);
  PredictorWeights weights = network_.predictor_weights(context_, Weights::kAveraged);
  SearchSettings search = held_out_.search_settings(weights);
  double score = best_;
  if (held_out_.any()) {
    const HeldOut::Result result = held_out_.evaluate(weights, /*choose_gamma=*/last_stage());
    for (const char* name : {"P@1", "P@3", "P@5", "nDCG@5", "R@10", "R@100"}) {
      if (const auto value = result.figures.find(name)) fields[name] = *value;
    }
    search = result.search;
    score = result.score();
    if (network_.has_index()) fields["gamma"] = search.gamma;
  }
  // Of equals the later, which has learned for longer.
  if (!last_stage()) return;
  if (held_out_.any()) ++since_gain_;
  if (score > best_) since_gain_ = 0;
  if (score < best_) return;
  best_ = score;
  // Only now: the line takes a pass over held-out points.
  if (stage().kind == StageKind::kGlas) {
    const ScoreLine line = held_out_.score_line(weights, network_.label_length(Weights::kAveraged));
    weights = network_.predictor_weights(context_, Weights::kAveraged, line);
  }
  hooks_.keep({.weights = weights, .search = search, .stage1_clusters = cluster_of_});
  fields["kept"] = true;
}

// --- what others see -----------------------------------------------------------------------------

void Trainer::report_progress() {
  const int64_t all = epochs_of(stages_.size()) * batches();
  const int64_t done = (epochs_of(position_.stage) + position_.epoch) * batches() + position_.batch;
  hooks_.progress({.stage = stage().name(),
                   .epoch = position_.epoch + 1,
                   .epochs = stage().epochs,
                   .point = std::min(points(), position_.batch * settings_.batch),
                   .points = points(),
                   .loss = epoch_sums_.loss(),
                   .share = static_cast<double>(done) / static_cast<double>(all)});
}

// What tells the checkpoints of two runs apart, beyond the shapes of their parameters.
std::vector<int64_t> Trainer::run_numbers() const {
  std::vector<int64_t> numbers = {static_cast<int64_t>(settings_.seed),
                                  settings_.batch,
                                  settings_.accumulation,
                                  settings_.clusters,
                                  points(),
                                  static_cast<int64_t>(data_.features.nonzeros()),
                                  static_cast<int64_t>(data_.labels.nonzeros())};
  for (const Stage& each : stages_) {
    numbers.insert(numbers.end(), {static_cast<int64_t>(each.kind), each.epochs});
  }
  return numbers;
}

void Trainer::save() {
  SafetensorsWriter writer;
  const std::vector<int64_t> run = run_numbers();
  writer.add<int64_t>("run", run);
  network_.save(writer);
  writer.add<int32_t>("cluster_of", cluster_of_);
  writer.add<int32_t>("parents", parents_);
  const std::array<int64_t, 7> counts = {
      position_.stage,       position_.epoch,    position_.batch, epoch_sums_.points,
      epoch_sums_.positives, epoch_sums_.missed, since_gain_};
  const std::array<double, 5> sums = {epoch_sums_.on_p, epoch_sums_.on_z, epoch_sums_.shortlist,
                                      epoch_sums_.regulariser, best_};
  writer.add<int64_t>("position", counts);
  writer.add<double>("sums", sums);
  hooks_.checkpoint(writer);
}

void Trainer::load(const SafetensorsFile& file) {
  const auto refuse = [&] {
    throw InputError("{}: is not a checkpoint of this run: remove it to start anew", file.name());
  };
  if (!std::ranges::equal(file.vector<int64_t>("run"), run_numbers())) refuse();
  const auto counts = file.vector<int64_t>("position");
  const auto sums = file.vector<double>("sums");
  if (counts.size() != 7 || sums.size() != 5) refuse();
  position_ = {.stage = counts[0], .epoch = counts[1], .batch = counts[2]};
  if (!is_on_the_way(position_)) refuse();
  network_.load(context_, stage().rates, file);
  const auto clusters = file.vector<int32_t>("cluster_of");
  const auto parents = file.vector<int32_t>("parents");
  cluster_of_.assign(clusters.begin(), clusters.end());
  parents_.assign(parents.begin(), parents.end());
  if (!index_fits_stage()) refuse();
  epoch_sums_ = {.points = counts[3],
                 .on_p = sums[0],
                 .on_z = sums[1],
                 .shortlist = sums[2],
                 .regulariser = sums[3],
                 .positives = counts[4],
                 .missed = counts[5]};
  best_ = sums[4];
  since_gain_ = counts[6];
}

// A batch, or the end of a stage that is not the last.
bool Trainer::is_on_the_way(const Position& position) const {
  const auto stages = static_cast<int64_t>(stages_.size());
  if (!is_below(position.stage, stages)) return false;
  const int64_t epochs = stages_[position.stage].epochs;
  return (is_below(position.epoch, epochs) && is_below(position.batch, batches())) ||
         (position.epoch == epochs && position.batch == 0 && position.stage + 1 < stages);
}

bool Trainer::index_fits_stage() const {
  if (network_.has_index() != stage().has_index() ||
      network_.has_learned_edges() != (stage().kind == StageKind::kStage2)) {
    return false;
  }
  if (!network_.has_index()) return cluster_of_.empty() && parents_.empty();
  const int64_t C = network_.graph().clusters();
  const auto L = static_cast<size_t>(network_.labels());
  return C == settings_.clusters && cluster_of_.size() == L && parents_.size() == L &&
         std::ranges::all_of(cluster_of_, [&](int64_t c) { return is_below(c, C); }) &&
         std::ranges::all_of(parents_, [&](int64_t c) { return is_below(c + 1, C + 1); });
}

}  // namespace

Outcome train(const Context& context, const Settings& settings, const TrainingData& data,
              const TrainingHooks& hooks, std::optional<SafetensorsFile> resume) {
  ELIAS_ASSERT(data.features.rows() == data.labels.rows() && data.labels.rows() > 0);
  ELIAS_ASSERT(settings.batch > 0 && settings.evaluate_every > 0 &&
               settings.logit_loss != LogitLoss::kAuto && settings.schedule != Schedule::kAuto &&
               (settings.method != Method::kGlas || settings.loss != EmbeddingLoss::kAuto) &&
               settings.regulariser != Regulariser::kAuto &&
               settings.normalisation != Normalisation::kAuto && settings.dropout >= 0 &&
               settings.word_dropout >= 0);  // resolved
  return Trainer(context, settings, data, hooks).run(std::move(resume));
}

}  // namespace elias
