#include "report/threshold_report.h"

#include <fmt/format.h>

#include "base/readable.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) { return fmt::format("{:.2f}", 100 * share); }

void add_figures(Table& table, const char* where, const ThresholdFigures& figures) {
  table.add({where, percent(figures.precision()), percent(figures.recall()), percent(figures.f1()),
             percent(figures.macro_f1), fmt::format("{:.2f}", figures.labels_per_point())});
}

Json figures_json(const ThresholdFigures& figures) {
  return {{"precision", figures.precision()},
          {"recall", figures.recall()},
          {"f1", figures.f1()},
          {"macro_f1", figures.macro_f1},
          {"labels_per_point", figures.labels_per_point()}};
}

}  // namespace

std::string goal_text(const ThresholdGoal& goal) {
  if (goal.aim == ThresholdAim::kF1) return "f1";
  return fmt::format("{} {}", kThresholdAimNames[static_cast<size_t>(goal.aim)], goal.share);
}

Json thresholds_json(const Thresholds& thresholds) {
  Json json = {{"for", kThresholdAimNames[static_cast<size_t>(thresholds.goal.aim)]}};
  if (thresholds.goal.aim != ThresholdAim::kF1) json["share"] = thresholds.goal.share;
  json["common"] = shortest(thresholds.common);
  json["labels_with_their_own"] = thresholds.own;
  return json;
}

std::string threshold_report(const ThresholdChoice& choice) {
  const Thresholds& thresholds = choice.thresholds;
  std::string text = fmt::format("Threshold for {}, by {} and the {} best labels of each\n",
                                 goal_text(thresholds.goal), counted(choice.here.rows, "point"),
                                 Thresholds::kDepth);
  Table scores;
  if (!choice.least_own) {
    scores.add({"of all labels", fmt::format("{:.4g}", thresholds.common)});
  } else {
    scores.add({fmt::format("of {} with {} or more of the points", counted(thresholds.own, "label"),
                            grouped(*choice.least_own)),
                "their own"});
    scores.add({"of all others", fmt::format("{:.4g}", thresholds.common)});
  }
  text += scores.text("  ") + "\n";
  Table table;
  table.add({"%", "precision", "recall", "F1", "macro-F1", "labels a point"});
  add_figures(table, "on these points", choice.here);
  if (choice.tested) add_figures(table, "on others", *choice.tested);
  text += table.text("  ");
  text += choice.tested
              ? "  on others: each fifth of the points by thresholds that the rest of them chose\n"
              : "  on others: cannot be said, as four fifths of the points do not reach the goal\n";
  return text;
}

Json threshold_json(const ThresholdChoice& choice) {
  const Thresholds& thresholds = choice.thresholds;
  Json json = thresholds_json(thresholds);
  json["points"] = choice.here.rows;
  json["on_these_points"] = figures_json(choice.here);
  json["on_others"] = choice.tested ? figures_json(*choice.tested) : Json(nullptr);
  return json;
}

}  // namespace elias
