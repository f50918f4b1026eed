// What `elias explain` says of a point: lines for people, or a line of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/csr.h"
#include "data/label_space.h"
#include "model/explain.h"
#include "model/model.h"

namespace elias {

struct PointExplanation {
  uint64_t number = 0;      // from 1
  uint64_t line = 0;        // 0 where the input has no lines
  std::string_view text;    // none: the point has features alone
  size_t features = 0;      // that it has
  CsrRow truth;             // its true labels, ids of `space`
  const LabelSpace& space;  // as in the model; labels that it does not know come behind its own
  std::vector<ExplainedLabel> labels;

  bool is_true(uint32_t label) const;
};

/// What the numbers are, as far as the model has them.
std::string explanation_legend(const Model& model);
/// At most `words` of each label's words are named; names are cut to what fits 80 columns.
std::string explanation_report(const Model& model, const PointExplanation& point, size_t words);
nlohmann::ordered_json explanation_json(const Model& model, const PointExplanation& point,
                                        size_t words);

// --- what both tell in the same way --------------------------------------------------------------

/// 'word', [part of a word], or the number of a feature that has no name.
std::string feature_name(const Model& model, uint32_t feature);
/// The paths that matter: those in the beam, or all if the search did not reach the label.
std::span<const ExplainedPath> telling_paths(const ExplainedMember& member);
/// The strongest other labels of a path's cluster: what it is about.
std::vector<std::string> company_of(const Model& model, size_t member, int64_t cluster,
                                    uint32_t label);

}  // namespace elias
