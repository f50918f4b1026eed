// The JSON of `elias inspect --json`: shares, not percent, with all their digits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "report/inspect_report.h"
#include "report/threshold_report.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

Json decile_name(size_t group) {
  return group == LabelDeciles::kUnseen ? Json("unseen") : Json(group);
}

Json ranker_json(const RankerPart& ranker) {
  return {{"top", ranker.top},
          {"weights", ranker.weights.weights.size()},
          {"input", kRankerPartsNames[static_cast<size_t>(ranker.input.parts)]},
          {"words", ranker.input.most_words},
          {"mix", kMixNames[static_cast<size_t>(ranker.mix.kind)]}};
}

Json ensemble_json(const Inspection& inspection) {
  if (inspection.model.members().size() == 1) return nullptr;
  return {{"members", inspection.model.members().size()},
          {"fusion", kFusionNames[static_cast<size_t>(inspection.model.fusion().kind)]},
          {"inspected", inspection.member_number + 1}};
}

Json index_json(const GraphSummary& index, const Member& member) {
  const SearchSettings& search = member.search;
  Json json{{"clusters", member.weights.graph.clusters()},
            {"edges", index.edges},
            {"search",
             {{"beam", search.beam},
              {"shortlist", search.shortlist},
              {"alpha", shortest(search.alpha)},
              {"gamma", shortest(search.gamma)}}},
            {"labels_with_an_edge", index.covered},
            {"counts_above", shortest(kCountsAbove)},
            {"edges_that_count", index.counted},
            {"edges_that_count_per_cluster",
             {{"fewest", index.cluster_sizes.least},
              {"mean", index.cluster_sizes.mean},
              {"most", index.cluster_sizes.most}}},
            {"score_histogram", index.histogram},
            {"stage1_kept", nullptr}};
  if (!index.stage1_kept) return json;
  json["stage1_kept"] = Json::array();
  for (size_t t = 0; t < GraphSummary::kThresholds.size(); ++t) {
    json["stage1_kept"].push_back({{"score_above", shortest(GraphSummary::kThresholds[t])},
                                   {"share", (*index.stage1_kept)[t]}});
  }
  return json;
}

Json neighbours_json(const Member& member) {
  const NeighbourGraphView& graph = member.weights.neighbours;
  return graph ? Json{{"links", graph.most_links}, {"ef", member.search.ef}} : Json();
}

Json deciles_json(const Inspection& inspection) {
  Json list = Json::array();
  for (size_t g = 0; g < LabelDeciles::kGroups; ++g) {
    const auto& group = inspection.deciles.groups[g];
    Json json{{"decile", decile_name(g)},
              {"labels", group.labels},
              {"train_most", group.most},
              {"train_fewest", group.fewest},
              {"train_share", group.share}};
    if (inspection.index) json["clusters_per_label"] = inspection.index->clusters_per_label[g];
    if (inspection.test) {
      const GroupFigures& figures = inspection.test->groups[g];
      json["true_pairs"] = figures.positives;
      for (const char* name : {"R@10", "R@100"}) json[name] = figure(figures.metrics, name);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json test_json(const Inspection& inspection) {
  Json json{{"file", inspection.test_file}, {"points", inspection.test->rows}};
  for (const char* name : {"P@1", "P@3", "P@5", "R@10", "R@100"}) {
    json[name] = figure(inspection.test->metrics, name);
  }
  return json;
}

Json scored_json(const Model& model, const std::vector<LabelPortrait::Scored>& labels,
                 const char* score_name) {
  Json list = Json::array();
  for (const auto& [label, score] : labels) {
    list.push_back({{"label", model.label_name(label)}, {score_name, score}});
  }
  return list;
}

Json encoder_of(const Model& model) {
  if (model.tokens() == nullptr) return {{"kind", "bag"}};
  const TransformerConfig& config = model.tokens()->transformer;
  const TransformerShape& shape = config.shape;
  return {{"kind", config.architecture == Architecture::kBert ? "bert" : "distilbert"},
          {"heads", shape.heads},
          {"inner", shape.inner},
          {"vocabulary", shape.vocabulary},
          {"positions", shape.positions},
          {"max_length", model.tokens()->max_length},
          {"pooling", shape.pooling == Pooling::kFirst ? "first" : "mean"}};
}

}  // namespace

Json inspection_json(const Inspection& inspection) {
  const Model& model = inspection.model;
  const PredictorWeights& weights = inspection.member.weights;
  const bool halves = weights.label_weights.dtype() == DType::kBFloat16;
  Json json{{"model", inspection.folder},       {"method", model.method()},
            {"points", model.points()},         {"labels", model.labels()},
            {"features", model.features()},     {"takes_text", model.tfidf() != nullptr},
            {"width", weights.encoder.width()}, {"layers", weights.encoder.layers()},
            {"encoder", encoder_of(model)},     {"classifiers", halves ? "bfloat16" : "float32"},
            {"training", model.training()},     {"files", Json::object()}};
  for (const auto& [name, bytes] : model.files()) json["files"][name] = bytes;
  json["ensemble"] = ensemble_json(inspection);
  json["index"] = inspection.index ? index_json(*inspection.index, inspection.member) : Json();
  json["neighbours"] = neighbours_json(inspection.member);
  json["ranker"] = model.ranker() != nullptr ? ranker_json(*model.ranker()) : Json();
  json["threshold"] = model.thresholds() != nullptr ? thresholds_json(*model.thresholds()) : Json();
  json["deciles"] = deciles_json(inspection);
  if (inspection.test) json["test"] = test_json(inspection);
  return json;
}

Json label_json(const Model& model, const LabelPortrait& portrait, size_t member) {
  const size_t group = label_deciles(model.label_counts()).group_of[portrait.label];
  Json json{{"label", model.label_name(portrait.label)},
            {"id", portrait.label},
            {"train_points", model.label_counts()[portrait.label]},
            {"decile", decile_name(group)}};
  if (model.thresholds() != nullptr) {
    json["threshold"] = shortest(model.thresholds()->of(portrait.label));
  }
  if (model.members().size() > 1) json["member"] = member + 1;
  if (model.first().weights.cluster_weights) {
    json["clusters_in_all"] = portrait.edges;
    json["clusters"] = Json::array();
    for (const auto& cluster : portrait.clusters) {
      json["clusters"].push_back({{"cluster", cluster.cluster},
                                  {"score", cluster.score},
                                  {"edges", cluster.edges},
                                  {"others", scored_json(model, cluster.others, "score")}});
    }
  }
  json["nearest"] = scored_json(model, portrait.nearest, "cosine");
  return json;
}

}  // namespace elias
