#include "model/ranker_file.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace elias {
namespace {

constexpr size_t kNodeNumbers = 3;  // of a node of a tree: feature, left, right

std::string input_name(const std::string& name, size_t input, const char* what) {
  return fmt::format("{}inputs.{}.{}", name, input, what);
}

/// What lies in the rows tells whose rows they are.
const char* name_of_ids(RankerLayout layout) {
  return layout == RankerLayout::kByLabel ? "features" : "labels";
}

DecisionTree read_tree(const SafetensorsFile& file) {
  const auto thresholds = file.vector<double>("mix.tree.thresholds");
  const auto numbers = file.vector<int32_t>("mix.tree.nodes");
  const auto values = file.vector<float>("mix.tree.values");
  if (numbers.size() != thresholds.size() * kNodeNumbers || values.size() != thresholds.size()) {
    throw InputError("{}: the nodes of its tree are not whole: copy the model again", file.name());
  }
  std::vector<TreeNode> nodes;
  for (size_t i = 0; i < thresholds.size(); ++i) {
    const auto own = numbers.subspan(i * kNodeNumbers, kNodeNumbers);
    nodes.push_back({.threshold = thresholds[i],
                     .feature = own[0],
                     .left = own[1],
                     .right = own[2],
                     .value = values[i]});
  }
  try {
    return {std::move(nodes), ScoreMix::kTreeInputs};
  } catch (const InputError& error) {
    throw InputError("{}: {}: copy the model again", file.name(), error.what());
  }
}

}  // namespace

void add_logistic(const MonotoneLogistic& logistic, const std::string& name,
                  SafetensorsWriter& writer) {
  writer.add<float>(name + "bias", {&logistic.bias, 1});
  for (size_t input = 0; input < logistic.inputs.size(); ++input) {
    writer.add<float>(input_name(name, input, "knots"), logistic.inputs[input].knots);
    writer.add<float>(input_name(name, input, "slopes"), logistic.inputs[input].slopes);
  }
}

MonotoneLogistic read_logistic(const SafetensorsFile& file, const std::string& name,
                               size_t inputs) {
  const auto bias = file.vector<float>(name + "bias");
  if (bias.size() != 1) {
    throw InputError("{}: {}bias has {} numbers, not one: copy the model again", file.name(), name,
                     bias.size());
  }
  MonotoneLogistic logistic{.bias = bias[0], .inputs = {}};
  for (size_t input = 0; input < inputs; ++input) {
    const auto knots = file.vector<float>(input_name(name, input, "knots"));
    const auto slopes = file.vector<float>(input_name(name, input, "slopes"));
    logistic.inputs.push_back({{knots.begin(), knots.end()}, {slopes.begin(), slopes.end()}});
  }
  return logistic;
}

StoredMix::StoredMix(const ScoreMix& mix) : mix_(mix) {
  if (!mix.tree) return;
  for (const TreeNode& node : mix.tree->nodes()) {
    thresholds_.push_back(node.threshold);
    nodes_.insert(nodes_.end(), {node.feature, node.left, node.right});
    values_.push_back(node.value);
  }
}

void StoredMix::add_to(SafetensorsWriter& writer) const {
  if (mix_.kind == MixKind::kTree) {
    writer.add<double>("mix.tree.thresholds", thresholds_);
    writer.add<int32_t>("mix.tree.nodes", nodes_);
    writer.add<float>("mix.tree.values", values_);
  }
  if (mix_.kind == MixKind::kLearned) add_logistic(mix_.learned, "mix.", writer);
}

void add_ranker(const RankerPart& ranker, const StoredMix& mix, SafetensorsWriter& writer) {
  writer.add("offsets", ranker.weights.offsets);
  writer.add(name_of_ids(ranker.weights.layout), ranker.weights.ids);
  writer.add("weights", ranker.weights.weights);
  writer.add("bias", ranker.weights.bias);
  mix.add_to(writer);
}

RankerConfig config_of(const RankerPart& ranker) {
  return {
      .input = ranker.input, .top = ranker.top, .loss = ranker.mix.loss, .mix = ranker.mix.kind};
}

RankerPart read_ranker(const SafetensorsFile& file, const RankerConfig& config) {
  const bool by_feature = file.tensors().contains(name_of_ids(RankerLayout::kByFeature));
  const RankerLayout layout = by_feature ? RankerLayout::kByFeature : RankerLayout::kByLabel;
  RankerPart ranker{.weights = {.layout = layout,
                                .offsets = file.vector<int64_t>("offsets"),
                                .ids = file.vector<uint32_t>(name_of_ids(layout)),
                                .weights = file.vector<float>("weights"),
                                .bias = file.vector<float>("bias")},
                    .input = config.input,
                    .top = config.top,
                    .mix = {.kind = config.mix, .loss = config.loss, .tree = {}, .learned = {}},
                    .label_counts = {}};
  if (config.mix == MixKind::kTree) ranker.mix.tree = read_tree(file);
  if (config.mix == MixKind::kLearned) {
    ranker.mix.learned = read_logistic(file, "mix.", ScoreMix::kLearnedInputs);
  }
  return ranker;
}

}  // namespace elias
