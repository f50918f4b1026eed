#include "train/fit_model.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/json_log.h"
#include "base/stopwatch.h"
#include "train/fingerprint.h"
#include "train/fold_lists.h"
#include "train/held_out.h"
#include "train/neighbours_stage.h"
#include "train/ranker_stage.h"
#include "train/run_part.h"

namespace elias {
namespace {

using nlohmann::ordered_json;

// What a checkpoint is named by that says no more than that all members are trained.
constexpr const char* kTrained = "trained";

bool is_of_trained_members(const SafetensorsFile& checkpoint) {
  return is_ranker_checkpoint(checkpoint) || checkpoint.tensors().contains(kTrained);
}

class FitRun {
 public:
  FitRun(const Context& context, RunFolder& folder, const Settings& settings,
         const TrainingPoints& points, const FitOptions& options, const FitHooks& hooks)
      : context_(context),
        folder_(folder),
        settings_(settings),
        points_(points),
        options_(options),
        hooks_(hooks),
        log_(folder.log_path()),
        checkpoint_(folder.checkpoint()) {}

  Outcome run() {
    log_.write(checkpoint_ ? "resume" : "start", {{"settings", to_json(settings_)}});
    const Outcome outcome = run_parts();
    log_.write(outcome == Outcome::kFinished ? "finished" : "stopped", ordered_json::object());
    return outcome;
  }

 private:
  size_t members() const { return static_cast<size_t>(settings_.ensemble); }
  size_t folds() const { return static_cast<size_t>(settings_.ranker_folds); }
  size_t parts() const { return folds() + members(); }
  RunPart fold_part(size_t f) const { return {"fold", f, folds(), f, parts()}; }
  RunPart member_part(size_t m) const { return {"member", m, members(), folds() + m, parts()}; }

  Outcome run_parts() {
    if (!checkpoint_ || !is_of_trained_members(*checkpoint_)) {
      if (train_folds() == Outcome::kStopped) return Outcome::kStopped;
      if (train_members() == Outcome::kStopped) return Outcome::kStopped;
    }
    if (settings_.index == IndexChoice::kHnsw && find_neighbours() == Outcome::kStopped) {
      return Outcome::kStopped;
    }
    return settings_.ranker == RankerChoice::kOff ? Outcome::kFinished : rank();
  }

  Outcome train_folds() {
    for (size_t f = 0; f < folds(); ++f) {
      if (folder_.has_fold(f)) continue;
      const RunPart part = fold_part(f);
      const auto keep = [&](const Csr& found) { folder_.replace_lists(fold_file(found)); };
      const Outcome outcome =
          train_fold(context_, settings_, points_.data, f, part.hooks_for(training_hooks()), keep,
                     checkpoint_of(part));
      if (outcome == Outcome::kStopped) return Outcome::kStopped;
      folder_.keep_lists_as_fold(f);
    }
    return Outcome::kFinished;
  }

  Outcome train_members() {
    if (members() == 1) return train_member(0);
    for (size_t m = 0; m < members(); ++m) {
      if (folder_.has_member(m)) continue;
      if (train_member(m) == Outcome::kStopped) return Outcome::kStopped;
      folder_.keep_best_as_member(m);
    }
    join_members();
    return Outcome::kFinished;
  }

  /// Members share points, held-out ones too, and differ in all that the seed decides.
  Outcome train_member(size_t m) {
    const RunPart part = member_part(m);
    Settings settings = settings_;
    settings.seed += m;
    TrainingHooks hooks = part.hooks_for(training_hooks());
    hooks.keep = [&](const Member& member) { keep(member, settings); };
    return train(context_, settings, points_.data, hooks, checkpoint_of(part));
  }

  /// What a part goes on from; what is of another part is of no use any more.
  std::optional<SafetensorsFile> checkpoint_of(const RunPart& part) {
    auto checkpoint = std::exchange(checkpoint_, std::nullopt);
    if (checkpoint && !part.owns(*checkpoint)) checkpoint.reset();
    return checkpoint;
  }

  void keep(const Member& member, const Settings& settings) {
    const ModelParts parts{.method = to_json(settings)["method"],
                           .members = {member},
                           .fusion = {},
                           .tfidf = points_.tfidf ? &*points_.tfidf : nullptr,
                           .tokens = points_.tokens ? &*points_.tokens : nullptr,
                           .labels = &points_.labels,
                           .label_counts = points_.label_counts,
                           .points = static_cast<uint64_t>(points_.sizes.points),
                           .training = to_json(settings)};
    write_best(parts, options_.storage);
  }

  void write_best(const ModelParts& parts, LabelStorage storage) {
    folder_.replace_best([&](const std::string& best) { write_model(best, parts, storage); });
  }

  /// What `read` reads of what the run has left so far.
  template <typename Read>
  auto from_run(const Read& read) const try {
    return read();
  } catch (const InputError& error) {
    throw InputError("{}; to start the run anew, remove {}/run", error.what(), folder_.path());
  }

  Model load(const std::string& model) const {
    return from_run([&] { return Model::load(model, context_); });
  }

  /// One model of all members.
  void join_members() {
    std::vector<Model> models;
    for (size_t m = 0; m < members(); ++m) models.push_back(load(folder_.member(m)));
    ModelParts parts = parts_of(models.front(), points_.labels);
    for (size_t m = 1; m < members(); ++m) parts.members.push_back(models[m].first());
    parts.fusion = fusion_of(models);
    parts.training = to_json(settings_);
    write_best(parts, LabelStorage::kFloat32);  // classifiers as they are
  }

  Fusion fusion_of(std::span<const Model> models) const {
    if (settings_.fusion != FusionKind::kLearned) return {.kind = settings_.fusion};
    const Points points = sample_rows(points_.data.held_out(), kCalibrationPoints);
    const Csr labels = sample_rows(points_.data.held_out_labels, kCalibrationPoints);
    std::vector<Csr> found;
    for (const Model& model : models) {
      found.push_back(predict_all(context_, model.predictor(), points, Predictor::kFused));
    }
    return fit_fusion(found, labels, context_.pool());
  }

  /// Adds graphs of neighbours to the best model, whose training is finished: the ranker is to
  /// learn from the labels that they lead to.
  Outcome find_neighbours() {
    const Model model = load(folder_.best());
    if (model.first().weights.neighbours) return Outcome::kFinished;
    save_trained();
    std::vector<LearnedNeighbours> learned;
    for (size_t m = 0; m < members(); ++m) {
      auto one = learn_neighbours(context_, settings_, points_.data, model.members()[m],
                                  member_part(m).hooks_for(training_hooks()));
      if (!one) return Outcome::kStopped;
      learned.push_back(std::move(*one));
    }
    ModelParts parts = parts_of(model, points_.labels);
    for (size_t m = 0; m < members(); ++m) {
      parts.members[m].weights.neighbours = learned[m].graph.view();
      parts.members[m].search.ef = learned[m].ef;
    }
    write_best(parts, LabelStorage::kFloat32);  // classifiers as they are
    return Outcome::kFinished;
  }

  /// Members need not be trained again, whatever becomes of what follows.
  void save_trained() {
    const uint8_t yes = 1;
    SafetensorsWriter writer;
    writer.add<uint8_t>(kTrained, {&yes, 1});
    folder_.save_checkpoint(writer);
  }

  /// Adds a ranker to the best model, whose training is finished.
  Outcome rank() {
    const Model model = load(folder_.best());
    if (model.ranker() != nullptr) return Outcome::kFinished;  // killed just before the end
    if (checkpoint_ && !is_ranker_checkpoint(*checkpoint_)) checkpoint_.reset();
    const auto find_training_lists = [&] {
      return folds() > 0
                 ? lists_of_folds()
                 : labels_to_rank(context_, settings_, model.predictor(), points_.data.points());
    };
    const auto learned = train_ranker(context_, settings_, points_.data, model, find_training_lists,
                                      training_hooks(), checkpoint_);
    if (!learned) return Outcome::kStopped;
    const RankerPart ranker = learned->part(settings_, model.label_counts());
    ModelParts parts = parts_of(model, points_.labels);
    parts.ranker = &ranker;
    write_best(parts, LabelStorage::kFloat32);  // classifiers as they are
    return Outcome::kFinished;
  }

  Csr lists_of_folds() const {
    return from_run([&] {
      std::vector<SafetensorsFile> files;
      for (size_t f = 0; f < folds(); ++f) files.push_back(folder_.fold(f));
      return join_folds(files, points_.data.features.rows(), points_.data.labels.cols,
                        settings_.seed);
    });
  }

  /// What a stage tells, asks and saves.
  TrainingHooks training_hooks() {
    TrainingHooks hooks;
    hooks.stop = hooks_.stop;
    hooks.progress = hooks_.progress;
    hooks.log = [this](const std::string& event, const ordered_json& fields) {
      log_.write(event, fields);
      hooks_.log(event, fields);
    };
    hooks.checkpoint_due = [this] {
      return since_checkpoint_.seconds() >= 60 * options_.checkpoint_minutes;
    };
    hooks.checkpoint = [this](const SafetensorsWriter& state) {
      folder_.save_checkpoint(state);
      since_checkpoint_ = Stopwatch();
    };
    return hooks;
  }

  const Context& context_;
  RunFolder& folder_;
  const Settings& settings_;
  const TrainingPoints& points_;
  const FitOptions& options_;
  const FitHooks& hooks_;
  JsonLog log_;
  std::optional<SafetensorsFile> checkpoint_;  // what to go on from
  Stopwatch since_checkpoint_;
};

}  // namespace

nlohmann::ordered_json run_identity(const Settings& settings, const TrainingPoints& points,
                                    LabelStorage storage) {
  return {{"data", points.fingerprint},
          {"settings", to_json(settings)},
          {"output", {{"store", storage == LabelStorage::kBFloat16 ? "bf16" : "float32"}}},
          {"weights", start_identity(points.data.transformer.get())}};
}

Outcome fit_model(const Context& context, RunFolder& folder, const Settings& settings,
                  const TrainingPoints& points, const FitOptions& options, const FitHooks& hooks) {
  return FitRun(context, folder, settings, points, options, hooks).run();
}

}  // namespace elias
