// A label takes a few lines: a head, what the search of each member says, what the ranker says.
#include "report/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/readable.h"
#include "model/label_portrait.h"
#include "report/terminal_text.h"

namespace elias {
namespace {

constexpr size_t kMostPaths = 3, kLongestName = 30;
const std::string kIndent(5, ' '), kInnerIndent(7, ' ');

/// A number from 0 to 1; where its digits would all be zeros, its size.
std::string share(float value, int digits = 4) {
  return value == 0 || value >= 0.001F ? fmt::format("{:.{}f}", value, digits)
                                       : fmt::format("{:.{}e}", value, digits - 3);
}

/// A line of a label's explanation: `who` says whose word it is.
std::string line_of(std::string_view who, std::string_view what) {
  return fmt::format("{}{:<8} {}\n", kIndent, who, what);
}

uint64_t unsigned_of(int64_t number) { return static_cast<uint64_t>(number); }

// --- the search ----------------------------------------------------------------------------------

/// Why a label has no p.
std::string why_none(const ExplainedMember& member, const SearchSettings& search) {
  if (member.outcome == SearchOutcome::kCut) {
    return fmt::format("yhat {} is below the {} best", share(member.yhat),
                       grouped(unsigned_of(search.shortlist)));
  }
  if (member.paths.empty()) return "no cluster leads to it";
  if (member.paths.front().in_beam) return "its paths have the score 0";
  return fmt::format("its {} {} not searched", counted(member.paths.size(), "cluster"),
                     member.paths.size() == 1 ? "is" : "are");
}

/// p, and what it is the product of; or why there is none.
std::string search_says(const ExplainedMember& explained, const Member& member) {
  const std::string opinion = "sigmoid(z) " + share(explained.sigmoid_z);
  if (explained.outcome != SearchOutcome::kScored) {
    return fmt::format("p none: {}; {}", why_none(explained, member.search), opinion);
  }
  std::string text = fmt::format("p {} = {}", share(explained.p), opinion);
  if (member.weights.cluster_weights) {
    text += fmt::format(" x yhat {} ^ {}", share(explained.yhat), member.search.gamma);
  }
  return text;
}

std::string path_line(const Model& model, size_t member, const ExplainedPath& path, uint32_t label,
                      size_t digits) {
  std::string head = fmt::format("{}cluster {:<{}} s {} x edge {}", kInnerIndent, path.cluster,
                                 digits, share(path.cluster_score, 3), share(path.edge_score, 3));
  head += path.in_beam ? fmt::format(" = {}", share(path.score, 3)) : ", not searched";
  std::string company;
  for (const std::string& name : company_of(model, member, path.cluster, label)) {
    company += (company.empty() ? "" : ", ") + name;
  }
  if (company.empty()) return head + "\n";
  return fmt::format("{} ({})\n", head, clipped(company, kColumns - head.size() - 3));
}

std::string paths_of(const Model& model, size_t member, const ExplainedMember& explained,
                     uint32_t label) {
  const auto all = telling_paths(explained);
  const auto shown = all.first(std::min(kMostPaths, all.size()));
  size_t digits = 0;
  for (const ExplainedPath& path : shown) {
    digits = std::max(digits, fmt::formatted_size("{}", path.cluster));
  }
  std::string text;
  for (const ExplainedPath& path : shown) text += path_line(model, member, path, label, digits);
  if (all.size() > shown.size()) {
    text += fmt::format("{}and {} of lower score\n", kInnerIndent,
                        counted(all.size() - shown.size(), "path"));
  }
  return text;
}

std::string search_lines(const Model& model, const ExplainedLabel& label) {
  std::string text;
  for (size_t m = 0; m < label.members.size(); ++m) {
    const std::string who = label.members.size() == 1 ? "search" : fmt::format("search {}", m + 1);
    text += line_of(who, search_says(label.members[m], model.members()[m]));
    text += paths_of(model, m, label.members[m], label.label);
  }
  if (label.members.size() == 1) return text;
  const auto kind = kFusionNames[static_cast<size_t>(model.fusion().kind)];
  return text + line_of("fused", label.p ? fmt::format("p {} ({})", share(*label.p), kind)
                                         : "p none: no member has it among its best labels");
}

// --- the ranker ----------------------------------------------------------------------------------

float sum_of(std::span<const ExplainedWord> words) {
  return std::accumulate(words.begin(), words.end(), 0.0F,
                         [](float sum, const ExplainedWord& word) { return sum + word.adds; });
}

std::string ranker_lines(const Model& model, const ExplainedMargin& margin, size_t most) {
  const RankerPart& ranker = *model.ranker();
  const std::span words(margin.words);
  std::string says = fmt::format("q {}{}: margin {:+.2f} = bias {:+.2f}", share(margin.q),
                                 margin.counts ? "" : ", unused", margin.margin, margin.bias);
  const auto* const what = model.tfidf() != nullptr ? "words" : "features";
  if (ranker.input.has_words()) says += fmt::format(", {} {:+.2f}", what, sum_of(words));
  if (ranker.input.has_vector()) says += fmt::format(", vector {:+.2f}", margin.vector_adds);
  std::string text = line_of("ranker", says);
  const auto named = words.first(std::min(most, words.size()));
  std::vector<std::string> items;
  for (const ExplainedWord& word : named) {
    items.push_back(fmt::format(
        "{} {:+.2f}", clipped(feature_name(model, word.feature), kLongestName), word.adds));
  }
  if (const auto others = words.subspan(named.size()); !others.empty() && !named.empty()) {
    items.push_back(fmt::format("{} {:+.2f}", counted(others.size(), "other"), sum_of(others)));
  }
  return items.empty() ? text : text + wrapped(items, kInnerIndent);
}

// --- the point -----------------------------------------------------------------------------------

std::string label_lines(const Model& model, const PointExplanation& point,
                        const ExplainedLabel& label, size_t words) {
  std::string text = fmt::format(
      "\n{:>4} {}{}  {}, {}\n", label.rank > 0 ? fmt::format("{}.", label.rank) : "-",
      clipped(model.label_name(label.label), kLongestName), point.is_true(label.label) ? " *" : "",
      label.rank > 0 ? "score " + share(label.score) : "not predicted",
      counted(model.label_counts()[label.label], "training point"));
  text += search_lines(model, label);
  if (label.margin) text += ranker_lines(model, *label.margin, words);
  return text;
}

std::string true_labels_of(const Model& model, const PointExplanation& point) {
  if (point.truth.size() == 0) return "";
  std::vector<std::string> names;
  for (const uint32_t label : point.truth.columns) {
    names.push_back(clipped(point.space.name(LabelId(label)), kLongestName) +
                    (label < model.labels() ? "" : " (unknown to the model)"));
  }
  return wrapped(names, "    ", "  true labels: ");
}

/// How p and q become the score.
std::string mix_in_words(MixKind kind) {
  switch (kind) {
    case MixKind::kProduct:
      return "p x q";
    case MixKind::kTree:
      return "the mean of p x q and a decision tree's value";
    case MixKind::kLearned:
      break;
  }
  return "a probability, learned from p, the\n         margin and the training points of the label";
}

/// What marks the terms of a model, unless all are words.
std::string terms_in_words(const Model& model) {
  if (model.tfidf() == nullptr) return "";
  const TfidfOptions& options = model.tfidf()->options();
  std::string text;
  if (options.has(TermKind::kOpening)) {
    text += fmt::format(" ^'word among the first {}'", options.opening);
  }
  if (options.has(TermKind::kCharacters)) text += " [part of a word]";
  if (text.empty()) return "";
  return fmt::format("        {}{}\n", options.has(TermKind::kWord) ? " 'word'" : "", text);
}

}  // namespace

std::string explanation_legend(const Model& model) {
  const bool has_index = bool(model.first().weights.cluster_weights);
  std::string text = "score    what labels are ranked by";
  text += model.ranker() == nullptr
              ? fmt::format(": {}\n", model.members().size() > 1 ? "the fused p" : "p")
              : fmt::format(": {}\n", mix_in_words(model.ranker()->mix.kind));
  text += has_index ? "p        sigmoid(z) x yhat ^ gamma; z is from the label's own classifier\n"
                      "yhat     the best path to the label: s, how well a cluster fits the point,\n"
                      "         times edge, how strongly the cluster leads to the label\n"
                      "cluster  in brackets its strongest other labels\n"
                    : "p        sigmoid(z); z is from the label's own classifier\n";
  if (model.members().size() > 1) {
    text += "fused    what the searches of all members say together\n";
  }
  if (model.ranker() != nullptr) {
    text += "q        the ranker's score of its margin, the sum of what follows it\n";
    text += terms_in_words(model);
  }
  return text + "*        a true label, if the input has them\n";
}

std::string explanation_report(const Model& model, const PointExplanation& point, size_t words) {
  std::string text = fmt::format("\nPoint {}", point.number);
  if (point.line != 0) text += fmt::format(", line {}", point.line);
  text += ": ";
  text += model.tfidf() != nullptr ? clipped(std::string(point.text), kColumns - text.size() + 1)
                                   : counted(point.features, "feature");
  text += "\n" + true_labels_of(model, point);
  for (const ExplainedLabel& label : point.labels) text += label_lines(model, point, label, words);
  return text;
}

bool PointExplanation::is_true(uint32_t label) const {
  return std::ranges::binary_search(truth.columns, label);
}

std::string feature_name(const Model& model, uint32_t feature) {
  if (model.tfidf() == nullptr) return fmt::format("feature {}", feature);
  const auto term = model.tfidf()->term(feature);
  switch (model.tfidf()->kind(feature)) {
    case TermKind::kWord:
      return fmt::format("'{}'", term);
    case TermKind::kOpening:
      return fmt::format("^'{}'", term);
    case TermKind::kCharacters:
      return fmt::format("[{}]", term);
  }
  return {};
}

std::span<const ExplainedPath> telling_paths(const ExplainedMember& member) {
  const std::span all(member.paths);
  if (member.outcome == SearchOutcome::kNotReached) return all;
  const auto searched = std::ranges::count_if(all, &ExplainedPath::in_beam);
  return all.first(static_cast<size_t>(searched));
}

std::vector<std::string> company_of(const Model& model, size_t member, int64_t cluster,
                                    uint32_t label) {
  constexpr size_t kMost = 3;
  std::vector<std::string> names;
  const LabelGraphView& graph = model.members()[member].weights.graph;
  for (const auto& other : strongest_labels(graph, cluster, label, kMost)) {
    names.push_back(model.label_name(other.label));
  }
  return names;
}

}  // namespace elias
