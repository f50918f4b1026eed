// Explanations for programs: a line a point, numbers that are read as the same floats.
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "report/explain_report.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(SearchOutcome outcome) {
  switch (outcome) {
    case SearchOutcome::kScored:
      return "scored";
    case SearchOutcome::kCut:
      return "cut";
    case SearchOutcome::kNotReached:
      break;
  }
  return "not reached";
}

std::string_view name_of(TermKind kind) {
  switch (kind) {
    case TermKind::kWord:
      return "word";
    case TermKind::kOpening:
      return "opening";
    case TermKind::kCharacters:
      break;
  }
  return "characters";
}

Json member_json(const Model& model, size_t m, const ExplainedMember& member, uint32_t label) {
  Json json{{"outcome", name_of(member.outcome)},
            {"p", shortest(member.p)},
            {"z", shortest(member.z)},
            {"sigmoid_z", shortest(member.sigmoid_z)}};
  if (!model.members()[m].weights.cluster_weights) return json;
  json["yhat"] = shortest(member.yhat);
  json["gamma"] = shortest(model.members()[m].search.gamma);
  json["paths"] = Json::array();
  for (const ExplainedPath& path : telling_paths(member)) {
    json["paths"].push_back({{"cluster", path.cluster},
                             {"cluster_score", shortest(path.cluster_score)},
                             {"edge_score", shortest(path.edge_score)},
                             {"score", shortest(path.score)},
                             {"searched", path.in_beam},
                             {"other_labels", company_of(model, m, path.cluster, label)}});
  }
  return json;
}

Json ranker_json(const Model& model, const ExplainedMargin& margin, size_t most) {
  const RankerPart& ranker = *model.ranker();
  Json json{{"q", shortest(margin.q)},
            {"margin", shortest(margin.margin)},
            {"counts", margin.counts},
            {"mix", kMixNames[static_cast<size_t>(ranker.mix.kind)]},
            {"bias", shortest(margin.bias)}};
  if (ranker.input.has_vector()) json["vector_adds"] = shortest(margin.vector_adds);
  if (!ranker.input.has_words()) return json;
  double words_add = 0;
  for (const ExplainedWord& word : margin.words) words_add += double{word.adds};
  json["words_add"] = shortest(static_cast<float>(words_add));
  json["words"] = Json::array();
  for (size_t i = 0; i < std::min(most, margin.words.size()); ++i) {
    const ExplainedWord& word = margin.words[i];
    json["words"].push_back({{"feature", word.feature},
                             {"value", shortest(word.value)},
                             {"weight", shortest(word.weight)},
                             {"adds", shortest(word.adds)}});
    if (model.tfidf() == nullptr) continue;
    json["words"].back()["term"] = model.tfidf()->term(word.feature);
    json["words"].back()["kind"] = name_of(model.tfidf()->kind(word.feature));
  }
  return json;
}

Json label_json(const Model& model, const PointExplanation& point, const ExplainedLabel& label,
                size_t words) {
  Json json{{"label", model.label_name(label.label)},
            {"id", label.label},
            {"rank", label.rank > 0 ? Json(label.rank) : Json()},
            {"score", label.rank > 0 ? Json(shortest(label.score)) : Json()},
            {"true", point.is_true(label.label)},
            {"train_points", model.label_counts()[label.label]},
            {"p", label.p ? Json(shortest(*label.p)) : Json()}};
  if (label.members.size() > 1) {
    json["fusion"] = kFusionNames[static_cast<size_t>(model.fusion().kind)];
  }
  json["members"] = Json::array();
  for (size_t m = 0; m < label.members.size(); ++m) {
    json["members"].push_back(member_json(model, m, label.members[m], label.label));
  }
  json["ranker"] = label.margin ? ranker_json(model, *label.margin, words) : Json();
  return json;
}

}  // namespace

Json explanation_json(const Model& model, const PointExplanation& point, size_t words) {
  Json json{{"point", point.number}};
  if (point.line != 0) json["line"] = point.line;
  if (model.tfidf() != nullptr) json["text"] = point.text;
  json["true_labels"] = Json::array();
  for (const uint32_t label : point.truth.columns) {
    json["true_labels"].push_back(point.space.name(LabelId(label)));
  }
  json["labels"] = Json::array();
  for (const ExplainedLabel& label : point.labels) {
    json["labels"].push_back(label_json(model, point, label, words));
  }
  return json;
}

}  // namespace elias
