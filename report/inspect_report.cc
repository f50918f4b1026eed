// The tables follow the figures by which the paper shows what its index has learned: 3 (scores of
// edges), 5 (recall, head to tail) and 7 (what is left of stage 1; clusters a label).
#include "report/inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "base/readable.h"
#include "report/threshold_report.h"

namespace elias {
namespace {

std::string grouped(int64_t number) { return elias::grouped(static_cast<uint64_t>(number)); }

std::string percent(double share) { return fmt::format("{:.2f}", 100 * share); }

std::string count_and_share(int64_t part, int64_t whole) {
  const double share = whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{} ({} %)", grouped(part), percent(share));
}

/// Whose index it is, where there are several.
std::string member_of(const Inspection& inspection) {
  if (inspection.model.members().size() == 1) return "";
  return fmt::format(" of member {}", inspection.member_number + 1);
}

void add_encoder(const Model& model, const EncoderWeights& encoder, Table& table) {
  if (model.tokens() == nullptr) {
    table.add({"residual layers", grouped(encoder.layers())});
    return;
  }
  const TransformerShape& shape = encoder.transformer().weights.shape;
  const bool bert = model.tokens()->transformer.architecture == Architecture::kBert;
  table.add({"encoder", bert ? "BERT" : "DistilBERT"});
  table.add({"layers", grouped(shape.layers)});
  table.add({"heads", grouped(shape.heads)});
  table.add({"vocabulary, in tokens", grouped(shape.vocabulary)});
  table.add({"tokens of a text, at most", grouped(model.tokens()->max_length)});
  table.add({"a point's vector is", shape.pooling == Pooling::kFirst ? "that of the first token"
                                                                     : "the mean of all tokens"});
}

std::string model_section(const Inspection& inspection) {
  const Model& model = inspection.model;
  const PredictorWeights& weights = inspection.member.weights;
  Table table;
  table.add({"method", model.method()});
  table.add({"training points", elias::grouped(model.points())});
  table.add({"labels", elias::grouped(model.labels())});
  table.add({model.tfidf() != nullptr ? "features, made from text" : "features, given as they are",
             elias::grouped(model.features())});
  table.add({"width of a point's vector", grouped(weights.encoder.width())});
  add_encoder(model, weights.encoder, table);
  table.add({"label classifiers",
             weights.label_weights.dtype() == DType::kBFloat16 ? "bfloat16" : "float32"});
  if (model.members().size() > 1) {
    table.add({"members of the ensemble", elias::grouped(model.members().size())});
    table.add({"fusion of their scores",
               std::string(kFusionNames[static_cast<size_t>(model.fusion().kind)])});
  }
  if (inspection.index) {
    const SearchSettings& search = inspection.member.search;
    table.add({"clusters", grouped(weights.graph.clusters())});
    table.add({"edges from clusters to labels", grouped(inspection.index->edges)});
    table.add({"beam: clusters searched for a point", grouped(search.beam)});
    table.add({"shortlist: labels scored for a point", grouped(search.shortlist)});
    table.add({"alpha: scale of cluster scores", fmt::format("{}", search.alpha)});
    table.add({"gamma: power of the shortlist's score", fmt::format("{}", search.gamma)});
  }
  if (weights.neighbours) {
    table.add({"hnsw: links of a label to neighbours", grouped(weights.neighbours.most_links)});
    table.add({"ef: labels that a search keeps", grouped(inspection.member.search.ef)});
  }
  if (const RankerPart* ranker = model.ranker()) {
    table.add({"ranker: labels ranked for a point", grouped(ranker->top)});
    table.add({"ranker: weights", elias::grouped(ranker->weights.weights.size())});
    table.add(
        {"ranker: mix of scores", std::string(kMixNames[static_cast<size_t>(ranker->mix.kind)])});
  }
  if (const Thresholds* thresholds = model.thresholds()) {
    table.add({fmt::format("threshold of scores, for {}", goal_text(thresholds->goal)),
               fmt::format("{:.4g}", thresholds->common)});
    if (thresholds->own > 0) {
      table.add({"labels with a threshold of their own", elias::grouped(thresholds->own)});
    }
  }
  return fmt::format("Model {}\n{}", inspection.folder, table.text("  "));
}

std::string files_section(const Model& model) {
  Table table;
  uint64_t total = 0;
  for (const auto& [name, bytes] : model.files()) {
    table.add({name, elias::grouped(bytes) + " B"});
    total += bytes;
  }
  table.add({"together", elias::grouped(total) + " B"});
  return "\nFiles\n" + table.text("  ");
}

std::string coverage_section(const Inspection& inspection, int64_t L, int64_t C) {
  const GraphSummary& index = *inspection.index;
  Table table;
  table.add({"labels with an edge", count_and_share(index.covered, L)});
  table.add({"edges that count", count_and_share(index.counted, index.edges)});
  const double all = C == 0 ? 0.0 : static_cast<double>(index.edges) / static_cast<double>(C);
  table.add({"edges a cluster, all", fmt::format("{:.1f}", all)});
  table.add({"edges a cluster that count, mean", fmt::format("{:.1f}", index.cluster_sizes.mean)});
  table.add({"  of the smallest cluster", grouped(index.cluster_sizes.least)});
  table.add({"  of the largest cluster", grouped(index.cluster_sizes.most)});
  return fmt::format("\nIndex{}; an edge counts if its score is above {}\n{}",
                     member_of(inspection), kCountsAbove, table.text("  "));
}

/// A bar a bin. Whatever is not empty has a bar, so that rare scores are seen.
std::string histogram_section(const GraphSummary& index) {
  constexpr double kLongest = 40;
  const auto& bins = index.histogram;
  const auto most = static_cast<double>(*std::max_element(bins.begin(), bins.end()));
  const size_t digits = grouped(static_cast<int64_t>(most)).size();
  std::string text = "\nScores of edges\n";
  for (size_t i = 0; i < bins.size(); ++i) {
    const double share = most > 0 ? static_cast<double>(bins[i]) / most : 0;
    std::string line =
        fmt::format("  {:.2f} to {:.2f}  {:>{}}  {}", static_cast<double>(i) / GraphSummary::kBins,
                    static_cast<double>(i + 1) / GraphSummary::kBins, grouped(bins[i]), digits,
                    std::string(static_cast<size_t>(std::ceil(kLongest * share)), '#'));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string stage1_section(const GraphSummary& index) {
  if (!index.stage1_kept) return "";
  Table table;
  std::vector<std::string> thresholds{"score above"}, shares{"labels, %"};
  for (size_t t = 0; t < GraphSummary::kThresholds.size(); ++t) {
    thresholds.push_back(fmt::format("{}", GraphSummary::kThresholds[t]));
    shares.push_back(percent((*index.stage1_kept)[t]));
  }
  table.add(std::move(thresholds));
  table.add(std::move(shares));
  return "\nLabels whose edge from their cluster of stage 1 is left\n" + table.text("  ");
}

std::string range_of(const LabelDeciles::Group& group) {
  return group.fewest == group.most
             ? elias::grouped(group.most)
             : fmt::format("{} to {}", elias::grouped(group.fewest), elias::grouped(group.most));
}

std::string decile_section(const Inspection& inspection) {
  Table table;
  std::vector<std::string> row{"decile", "labels", "train points"};
  if (inspection.index) row.emplace_back("clusters a label");
  if (inspection.test) row.insert(row.end(), {"true pairs", "R@10 %", "R@100 %"});
  table.add(std::move(row));
  // Head to tail; the unseen ones, rarer than all, at the end.
  for (size_t r = 1; r <= LabelDeciles::kGroups; ++r) {
    const size_t g = r % LabelDeciles::kGroups;
    const auto& group = inspection.deciles.groups[g];
    const bool tested = inspection.test && inspection.test->groups[g].positives > 0;
    if (group.labels == 0 && !tested) continue;
    row = {group_name(g), elias::grouped(group.labels), range_of(group)};
    if (inspection.index) {
      row.push_back(fmt::format("{:.2f}", inspection.index->clusters_per_label[g]));
    }
    if (inspection.test) {
      const GroupFigures& figures = inspection.test->groups[g];
      row.push_back(elias::grouped(figures.positives));
      for (const char* name : {"R@10", "R@100"}) {
        row.push_back(tested ? percent(figure(figures.metrics, name)) : "-");
      }
    }
    table.add(std::move(row));
  }
  return "\nBy label frequency, a tenth of the labels seen a row, most frequent first\n" +
         table.text("  ");
}

std::string test_section(const Inspection& inspection) {
  const Evaluation& test = *inspection.test;
  std::string text = fmt::format("\n{}: {}\n ", inspection.test_file, counted(test.rows, "point"));
  for (const char* name : {"P@1", "P@3", "P@5", "R@10", "R@100"}) {
    text += fmt::format(" {} {} ", name, percent(figure(test.metrics, name)));
  }
  text.back() = '\n';
  return text;
}

}  // namespace

Inspection::Inspection(std::string model_folder, const Model& inspected, size_t inspected_member)
    : folder(std::move(model_folder)),
      model(inspected),
      member_number(inspected_member),
      member(inspected.members().at(inspected_member)),
      deciles(label_deciles(inspected.label_counts())) {
  if (!member.weights.cluster_weights) return;
  index =
      summarise(member.weights.graph, model.label_counts(), member.stage1_clusters, kCountsAbove);
}

double figure(const std::vector<Metric>& metrics, std::string_view name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  ELIAS_ASSERT(found != metrics.end());
  return found->value;
}

std::string text_without_clusters(const PredictorWeights& weights) {
  return weights.neighbours
             ? "\nThere are no clusters: a graph of neighbours leads to labels.\n"
             : "\nThere is no index: this model scores every label of every point.\n";
}

std::string inspection_report(const Inspection& inspection) {
  std::string text = model_section(inspection) + files_section(inspection.model);
  if (inspection.index) {
    const LabelGraphView& graph = inspection.member.weights.graph;
    text += coverage_section(inspection, graph.label_count, graph.clusters()) +
            histogram_section(*inspection.index) + stage1_section(*inspection.index);
  } else {
    text += text_without_clusters(inspection.member.weights);
  }
  text += decile_section(inspection);
  if (inspection.test) text += test_section(inspection);
  return text;
}

}  // namespace elias
