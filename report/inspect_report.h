// What `elias inspect` says of a model: tables for people, or JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "data/label_deciles.h"
#include "index/graph_analysis.h"
#include "metrics/evaluate.h"
#include "model/label_portrait.h"
#include "model/model.h"

namespace elias {

/// The paper's threshold: an edge with a score above it is an assignment of the label (D.4).
constexpr float kCountsAbove = 0.25F;

struct Inspection {
  /// `member`, from 0: the one of an ensemble whose index is looked at.
  Inspection(std::string model_folder, const Model& inspected, size_t member = 0);

  std::string folder;
  const Model& model;
  size_t member_number;
  const Member& member;
  LabelDeciles deciles;
  std::optional<GraphSummary> index;  // none: the model scores every label
  std::string test_file;
  std::optional<Evaluation> test;  // with groups
};

std::string inspection_report(const Inspection& inspection);
nlohmann::ordered_json inspection_json(const Inspection& inspection);

/// What is said in the place of an index of clusters.
std::string text_without_clusters(const PredictorWeights& weights);

/// A single label; names are cut to what fits a terminal of 80 columns, in JSON they are whole.
/// `member`, from 0, is the one whose index is shown.
std::string label_report(const Model& model, const LabelPortrait& portrait, size_t member = 0);
nlohmann::ordered_json label_json(const Model& model, const LabelPortrait& portrait,
                                  size_t member = 0);

/// The figure of that name, which must be there, as a share.
double figure(const std::vector<Metric>& metrics, std::string_view name);

}  // namespace elias
