#include "report/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/readable.h"

namespace elias {
namespace {

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  const auto minutes = std::llround(seconds / 60);
  return minutes < 90 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

/// The settings that bring a part of the estimate down.
std::string remedy(const std::string& part, const Settings& settings) {
  const bool of_encoder =
      part == "encoder" || part == "encoder layers" || part == "embedding table";
  if (of_encoder && has_transformer(settings)) return "the size of --encoder";
  if (part == "activations") return fmt::format("activations (now {})", settings.activations);
  if (part == "embedding table") {
    return fmt::format("width (now {}) or max_features (now {})", settings.width,
                       settings.max_features);
  }
  if (part == "a batch") return fmt::format("batch (now {})", settings.batch);
  if (part == "label graph") return fmt::format("edges (now {})", settings.edges);
  if (part == "graph building") return fmt::format("beam (now {})", settings.beam);
  if (part == "search") return "--threads";
  if (part == "neighbours") return fmt::format("neighbours (now {})", settings.neighbours);
  if (part == "ranker") return fmt::format("ranker_top (now {})", settings.ranker_top);
  if (part == "label similarity") return "the number of labels, or take regulariser=spreadout";
  if (part == "points") return "the number of points";
  return fmt::format("width (now {})", settings.width);
}

/// What is trained beside one model.
std::string other_models(const Settings& settings) {
  std::string text;
  if (settings.ensemble > 1) text += fmt::format(", {} members", settings.ensemble);
  if (settings.ranker_folds > 1) text += fmt::format(", {} folds", settings.ranker_folds);
  return text;
}

std::string transformer_line(const TrainingPoints& points, const Settings& settings) {
  if (!points.sizes.transformer) return "";
  const TransformerShape& shape = *points.sizes.transformer;
  return fmt::format("transformer: {}, {}, texts of at most {} ({:.1f} on average)\n",
                     counted(static_cast<uint64_t>(shape.layers), "layer"),
                     counted(static_cast<uint64_t>(shape.heads), "head"),
                     counted(static_cast<uint64_t>(settings.max_length), "token"),
                     points.sizes.tokens_per_point) +
         unknown_words_line(points.tokens->words, points.data.tokens);
}

std::string index_line(const Settings& settings) {
  if (settings.method != Method::kElias) {
    return fmt::format(
        "{}: width {}, batch {}, {}{}{}", to_json(settings)["method"].get<std::string>(),
        settings.width, settings.batch,
        counted(static_cast<uint64_t>(settings.stage1_epochs), "epoch"),
        settings.index == IndexChoice::kHnsw ? ", hnsw" : "", other_models(settings));
  }
  return fmt::format(
      "elias: width {}, clusters {}, beam {}, shortlist {}, edges {}, batch {}, epochs {} + {} + "
      "{}{}",
      settings.width, settings.clusters, settings.beam, settings.shortlist, settings.edges,
      settings.batch, settings.warm_epochs, settings.stage1_epochs, settings.stage2_epochs,
      other_models(settings));
}

}  // namespace

std::string fit_summary(const std::string& train, const TrainingPoints& points,
                        const Settings& settings) {
  const DataSizes& sizes = points.sizes;
  std::string text = fmt::format(
      "{}: {}, {} ({:.1f} a point), {} ({:.1f} a point)\n", train,
      counted(static_cast<uint64_t>(sizes.points), "point"),
      counted(static_cast<uint64_t>(sizes.labels), "label"), sizes.labels_per_point,
      counted(static_cast<uint64_t>(sizes.features), "feature"), sizes.features_per_point);
  if (points.unlabelled > 0) {
    text += fmt::format("left out: {} without labels\n", counted(points.unlabelled, "point"));
  }
  if (points.unlabelled_dev > 0) {
    text += fmt::format("left out: {} of --dev without labels\n",
                        counted(points.unlabelled_dev, "point"));
  }
  if (points.unknown_features > 0) {
    text += fmt::format("left out: {} of --dev that no training point has\n",
                        counted(points.unknown_features, "feature value"));
  }
  const auto learned_from = column_counts(points.data.labels);
  const auto unseen = std::count(learned_from.begin(), learned_from.end(), uint64_t{0});
  if (unseen > 0) {
    text += fmt::format("{} without a point to learn from: never predicted with confidence\n",
                        counted(static_cast<uint64_t>(unseen), "label"));
  }
  text += fmt::format("held out: {}\n", counted(points.data.held_out_labels.rows(), "point"));
  return text + index_line(settings) + "\n" + transformer_line(points, settings);
}

std::string unknown_words_line(const WordPieceConfig& words, const TokenRows& texts) {
  constexpr double kMany = 0.1;
  const double share = unknown_share(words, texts);
  if (share < kMany) return "";
  return fmt::format(
      "warning: {:.0f} % of the tokens are {}, words that the vocabulary has no pieces for: it may "
      "be one of another language\n",
      100 * share, words.unk_token);
}

std::string memory_line(const MemoryEstimate& estimate, const Settings& settings,
                        const MachineMemory& memory) {
  auto parts = estimate.parts;
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  const uint64_t total = estimate.total();
  const auto& [largest, largest_bytes] = parts.front();
  if (memory.total > 0 && total > memory.total) {
    throw InputError(
        "the run would take about {} of memory, the machine has {}: lower {}; {} takes {} of it",
        bytes_text(total), bytes_text(memory.total), remedy(largest, settings), largest,
        bytes_text(largest_bytes));
  }
  std::string line = fmt::format("memory: about {}, most of it for {} ({})", bytes_text(total),
                                 largest, bytes_text(largest_bytes));
  if (memory.available > 0 && total > memory.available) {
    line += fmt::format("; only {} are free now: close other programs, or lower {}",
                        bytes_text(memory.available), remedy(largest, settings));
  }
  return line + "\n";
}

void FitDisplay::progress(const TrainingProgress& progress) {
  const bool first = run_.stage.empty() || progress.share < share_;
  share_ = progress.share;
  if (first || epoch_.stage != progress.stage || epoch_.epoch != progress.epoch) {
    epoch_ = {Stopwatch(), progress.stage, progress.epoch, progress.point, progress.share};
    if (first) run_ = epoch_;
  }
  if (!line_.due()) return;
  std::string text = progress.stage;
  if (progress.epochs > 0) text += fmt::format("  epoch {}/{}", progress.epoch, progress.epochs);
  if (progress.points > 0) {
    text += fmt::format("  {:.0f}%", 100.0 * static_cast<double>(progress.point) /
                                         static_cast<double>(progress.points));
  }
  if (progress.loss > 0) text += fmt::format("  loss {:.4g}", progress.loss);
  const auto done = static_cast<double>(progress.point - epoch_.point);
  if (done > 0) text += fmt::format("  {} points/s", short_count(done / epoch_.time.seconds()));
  const double share = progress.share - run_.share;
  if (share > 0) {
    text += fmt::format("  {} left", time_text(run_.time.seconds() * (1 - progress.share) / share));
  }
  line_.draw(text);
}

void FitDisplay::event(const std::string& event, const nlohmann::ordered_json& fields) {
  if (event == "ranker") {
    line_.wipe();
    say(fmt::format("ranker  {} from {} in {}\n",
                    counted(fields.value("weights", uint64_t{0}), "weight"),
                    counted(fields.value("pairs", uint64_t{0}), "pair"),
                    time_text(fields.value("seconds", 0.0))));
  }
  std::string text;
  for (const char* part : {"fold", "member"}) {
    if (fields.contains(part)) text += fields[part].get<std::string>() + "  ";
  }
  if (event == "hnsw") {
    line_.wipe();
    say(fmt::format(
        "{}hnsw    {}, {} neighbours, ef {}: {:.1f} % of the exact {} best, built in {}\n", text,
        counted(fields.value("labels", uint64_t{0}), "label"), fields.value("neighbours", 0),
        fields.value("ef", 0), 100 * fields.value("recall", 0.0), fields.value("depth", 0),
        time_text(fields.value("seconds", 0.0))));
  }
  if (event != "epoch") return;
  text +=
      fmt::format("{}  epoch {}/{}  loss {:.4g}", fields.value("stage", ""),
                  fields.value("epoch", 0), fields.value("epochs", 0), fields.value("loss", 0.0));
  for (const auto& [name, value] : fields.items()) {
    if (name.find('@') == std::string::npos || !value.is_number()) continue;
    text += fmt::format("  {} {:.2f}", name, 100 * value.get<double>());
  }
  if (fields.contains("held_out_loss")) {
    text += fmt::format("  held-out loss {:.4g}, {:.1f} % of masked words told",
                        fields["held_out_loss"].get<double>(),
                        100 * fields.value("held_out_accuracy", 0.0));
  }
  line_.wipe();
  say(text + "\n");
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 || errno != EPIPE) return;  // main looks for other failures
  [[maybe_unused]] const std::FILE* nowhere = std::freopen("/dev/null", "w", stdout);
}

std::string figures_line(const Evaluation& evaluation) {
  std::string text;
  for (const char* name : {"P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@5", "R@10", "R@100"}) {
    const auto value = evaluation.find(name);
    if (value) text += fmt::format("{}{} {:.2f}", text.empty() ? "" : "  ", name, 100 * *value);
  }
  return text;
}

}  // namespace elias
