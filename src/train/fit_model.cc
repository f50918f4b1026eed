#include "train/fit_model.h"

#include <array>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/json_log.h"
#include "base/stopwatch.h"
#include "train/ranker_stage.h"

namespace elias {
namespace {

using nlohmann::ordered_json;

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
    Outcome outcome = Outcome::kFinished;
    if (!checkpoint_ || !is_ranker_checkpoint(*checkpoint_)) outcome = train_members();
    if (outcome == Outcome::kFinished && settings_.ranker != RankerChoice::kOff) outcome = rank();
    log_.write(outcome == Outcome::kFinished ? "finished" : "stopped", ordered_json::object());
    return outcome;
  }

 private:
  size_t members() const { return static_cast<size_t>(settings_.ensemble); }

  Outcome train_members() {
    if (members() == 1) return train_member(0);
    for (size_t m = 0; m < members(); ++m) {
      if (folder_.has_member(m)) continue;
      if (train_member(m) == Outcome::kStopped) return Outcome::kStopped;
      folder_.keep_best_as_member(m);
      checkpoint_.reset();
    }
    join_members();
    return Outcome::kFinished;
  }

  /// Members share points, held-out ones too, and differ in all that the seed decides.
  Outcome train_member(size_t m) {
    Settings settings = settings_;
    settings.seed += m;
    if (checkpoint_ && checkpoint_->vector<uint64_t>("member")[0] != m) checkpoint_.reset();
    TrainingHooks hooks = hooks_of(m);
    if (members() > 1) tell_member(m, hooks);
    hooks.keep = [&](const Member& member) { keep(member, settings); };
    return train(context_, settings, points_.data, hooks, std::move(checkpoint_));
  }

  void keep(const Member& member, const Settings& settings) {
    const ModelParts parts{.method = to_json(settings)["method"],
                           .members = {member},
                           .fusion = {},
                           .tfidf = points_.tfidf ? &*points_.tfidf : nullptr,
                           .labels = &points_.labels,
                           .label_counts = points_.label_counts,
                           .points = static_cast<uint64_t>(points_.sizes.points),
                           .training = to_json(settings)};
    write_best(parts, options_.storage);
  }

  void write_best(const ModelParts& parts, LabelStorage storage) {
    folder_.replace_best([&](const std::string& best) { write_model(best, parts, storage); });
  }

  Model load(const std::string& model) const try {
    return Model::load(model, context_);
  } catch (const InputError& error) {
    throw InputError("{}; to start the run anew, remove {}/run", error.what(), folder_.path());
  }

  /// One model of all members.
  void join_members() {
    std::vector<Model> models;
    std::vector<Csr> found;
    for (size_t m = 0; m < members(); ++m) {
      models.push_back(load(folder_.member(m)));
      if (settings_.fusion != FusionKind::kLearned) continue;
      found.push_back(predict_all(context_, models.back().predictor(),
                                  points_.data.held_out_features, Predictor::kFused));
    }
    ModelParts parts = parts_of(models.front(), points_.labels);
    for (size_t m = 1; m < members(); ++m) parts.members.push_back(models[m].first());
    parts.fusion =
        fit_fusion(settings_.fusion, found, points_.data.held_out_labels, context_.pool());
    parts.training = to_json(settings_);
    write_best(parts, LabelStorage::kFloat32);  // classifiers as they are
  }

  /// Adds a ranker to the best model, whose training is finished.
  Outcome rank() {
    const Model model = load(folder_.best());
    if (model.ranker() != nullptr) return Outcome::kFinished;  // killed just before the end
    if (checkpoint_ && !is_ranker_checkpoint(*checkpoint_)) checkpoint_.reset();
    const auto learned = train_ranker(context_, settings_, points_.data, model,
                                      hooks_of(members() - 1), checkpoint_);
    if (!learned) return Outcome::kStopped;
    const RankerPart ranker = learned->part(settings_, model.label_counts());
    ModelParts parts = parts_of(model, points_.labels);
    parts.ranker = &ranker;
    write_best(parts, LabelStorage::kFloat32);  // classifiers as they are
    return Outcome::kFinished;
  }

  /// What a stage of member m tells, asks and saves.
  TrainingHooks hooks_of(size_t m) {
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
    hooks.checkpoint = [this, m](const SafetensorsWriter& state) {
      SafetensorsWriter writer = state;
      const std::array<uint64_t, 1> member = {m};
      writer.add<uint64_t>("member", member);
      folder_.save_checkpoint(writer);
      since_checkpoint_ = Stopwatch();
    };
    return hooks;
  }

  /// Says which member it is in all that is told of its training.
  void tell_member(size_t m, TrainingHooks& hooks) const {
    const auto done = static_cast<double>(m), all = static_cast<double>(members());
    const std::string name = fmt::format("member {}/{}", m + 1, members());
    hooks.progress = [tell = hooks.progress, name, done, all](TrainingProgress progress) {
      progress.stage = fmt::format("{}  {}", name, progress.stage);
      progress.share = (done + progress.share) / all;
      tell(progress);
    };
    hooks.log = [log = hooks.log, name](const std::string& event, const ordered_json& fields) {
      ordered_json with_member = {{"member", name}};
      with_member.update(fields);
      log(event, with_member);
    };
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

Outcome fit_model(const Context& context, RunFolder& folder, const Settings& settings,
                  const TrainingPoints& points, const FitOptions& options, const FitHooks& hooks) {
  return FitRun(context, folder, settings, points, options, hooks).run();
}

}  // namespace elias
