#include "train/step.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "ops/lookup/top_k.h"
#include "ops/rows/dropout.h"
#include "ops/rows/softmax_clamp.h"
#include "tests/index/graphs.h"
#include "tests/index/sparse.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/temporary_folder.h"
#include "tests/train/step_reference.h"

namespace elias {
namespace {

constexpr int64_t kFeatures = 15;
constexpr int64_t kClusters = 8;
constexpr size_t kAllPoints = 30;
constexpr StepPosition kPosition{.step = 1, .steps = 1, .stream = 77};

enum class Index { kNone, kPartition, kGraph };

struct Case {
  std::string name;
  Index index = Index::kGraph;
  float alpha = 3;
  float beta = 4;
  LogitLoss logit_loss = LogitLoss::kShortlist;
  float lambda = 0.5F;
  int64_t labels = 30;
  int64_t shortlist = 8;
  int64_t layers = 1;
  float dropout = 0;
  int64_t extra_clusters = 2;
  bool ties = false;  // two clusters alike, and few distinct values of edges
};

std::ostream& operator<<(std::ostream& out, const Case& own) { return out << own.name; }

Settings settings_of(const Case& own) {
  Settings settings;
  settings.method = own.index == Index::kNone ? Method::kOva : Method::kElias;
  settings.seed = 3;
  settings.width = 6;
  settings.layers = own.layers;
  settings.dropout = own.dropout;
  settings.word_dropout = own.dropout;
  settings.clusters = kClusters;
  settings.beam = 3;
  settings.shortlist = own.shortlist;
  settings.alpha = own.alpha;
  settings.beta = own.beta;
  settings.extra_clusters = own.extra_clusters;
  settings.logit_loss = own.logit_loss;
  settings.lambda = own.lambda;
  settings.schedule = Schedule::kStages;
  settings.bf16 = false;
  return settings;
}

// Labels are in several rows, one, or none.
ScoredGraph graph_of(const Case& own) {
  const int32_t alike = own.ties ? 2 : -1;
  ScoredGraph random = random_graph(kClusters, own.labels, 0.2, 5, [&](double uniform) {
    return static_cast<float>(own.ties ? std::floor(uniform * 3) : uniform * 4);
  });
  if (alike < 0) return random;
  ScoredGraph graph;  // the row `alike` twice, the last left out
  graph.graph.label_count = own.labels;
  for (int32_t c = 0; c < kClusters; ++c) {
    const int32_t from = c <= alike ? c : c - 1;
    for (int64_t e = random.graph.offsets[from]; e < random.graph.offsets[from + 1]; ++e) {
      graph.graph.labels.push_back(random.graph.labels[e]);
      graph.scores.push_back(random.scores[e]);
    }
    graph.graph.offsets.push_back(graph.graph.edges());
  }
  return graph;
}

// A network that some steps have moved away from its initial values, and a batch for it. Points
// have 0 to 6 features and 0 to 5 graded labels, some labels have no points: point 5 of the batch
// has no features, point 9 no labels.
class World {
 public:
  World(const Context& context, const Case& own, const Settings& settings)
      : context_(context),
        settings_(settings),
        features_(random_csr(kAllPoints, kFeatures, 6, 4, 1)),
        labels_(random_csr(kAllPoints, static_cast<uint64_t>(own.labels), 5, 4, 2)),
        network_(context, settings_, kFeatures, own.labels),
        step_(context, settings_, features_, labels_, network_) {
    if (own.index != Index::kNone) {
      std::vector<int32_t> cluster_of(static_cast<size_t>(own.labels));
      for (size_t l = 0; l < cluster_of.size(); ++l) {
        cluster_of[l] = static_cast<int32_t>(l * 5 % kClusters);
      }
      network_.set_partition(context, cluster_of, kClusters);
    }
    const ScoredGraph graph = graph_of(own);
    if (own.index == Index::kGraph) network_.set_graph(context, graph.graph, graph.scores);
    network_.begin_stage({.encoder = 0.1F, .clusters = 0.3F, .labels = 0.2F, .edges = 0.2F});
    for (int64_t step = 1; step <= 4; ++step) {
      const auto stream = static_cast<uint64_t>(step);
      run({.step = step, .steps = 4, .steps_before = 0, .run_steps = 4, .stream = stream});
    }
    network_.catch_up_all(context);
    if (own.ties) make_ties(graph.scores);
    network_.begin_stage({.encoder = 0.01F, .clusters = 0.02F, .labels = 0.03F, .edges = 0.04F});
  }

  void set_accumulation(int64_t batches) { settings_.accumulation = batches; }

  StepSums run(const StepPosition& position) {
    parents_ = network_.has_index() ? label_parents(network_.graph_view()) : std::vector<int32_t>();
    return step_.run(points_, parents_, position);
  }

  reference::NetworkWeights weights() {
    const auto all = std::as_const(network_).predictor_weights(Weights::kCurrent);
    reference::NetworkWeights weights{.encoder = {values_of<double>(all.encoder.table),
                                                  values_of<double>(all.encoder.gain),
                                                  values_of<double>(all.encoder.shift),
                                                  {}},
                                      .cluster_weights = {},
                                      .cluster_bias = {},
                                      .edges = {},
                                      .label_weights = values_of<double>(all.label_weights),
                                      .label_bias = values_of<double>(all.label_bias)};
    for (const auto& layer : all.encoder.layers) {
      weights.encoder.layers.push_back(
          {values_of<double>(layer.weights), values_of<double>(layer.bias),
           values_of<double>(layer.gain), values_of<double>(layer.shift)});
    }
    if (network_.has_index()) {
      weights.cluster_weights = values_of<double>(all.cluster_weights);
      weights.cluster_bias = values_of<double>(all.cluster_bias);
    }
    if (network_.has_learned_edges()) {
      weights.edges = values_of<double>(std::as_const(network_.edges()).weights());
    }
    return weights;
  }

  reference::StepInput input(uint64_t stream) {
    gather_bags(features_, points_, settings_.word_dropout, settings_.seed, stream, bags_,
                context_.pool());
    const Bags bags = bags_.view();
    reference::StepInput input{.settings = &settings_,
                               .graph = &network_.graph(),
                               .bags = {bags.offsets.span<int32_t>(), bags.ids.span<int32_t>(),
                                        bags.weights.span<float>()},
                               .mask = {},
                               .labels = {.matrix = &labels_, .points = points_}};
    if (settings_.dropout == 0) return input;
    Tensor ones = random_floats({std::ssize(points_), settings_.width}, 0, 1, 1);
    dropout(context_, ones, settings_.dropout, {settings_.seed, bag_dropout_stream(stream)}, ones);
    input.mask = values_of<double>(ones);
    return input;
  }

  // The clusters each point explores: the rule itself is held to its own test.
  std::vector<std::vector<int32_t>> lists(const std::vector<double>& all_logits, uint64_t stream) {
    const int64_t N = std::ssize(points_);
    if (!network_.has_index()) return std::vector<std::vector<int32_t>>(points_.size());
    Tensor logits({N, kClusters}, DType::kFloat32);
    std::ranges::transform(all_logits, logits.span<float>().begin(),
                           [](double logit) { return static_cast<float>(logit); });
    Tensor scores(logits.shape(), DType::kFloat32);
    Tensor log_sums({N}, DType::kFloat32);
    Tensor values({N, settings_.beam}, DType::kFloat32);
    Tensor best({N, settings_.beam}, DType::kInt32);
    softmax_clamp(context_, logits, settings_.alpha, scores, log_sums);
    top_k(context_, logits, values, best);
    Exploration exploration(network_.labels());
    Shortlists shortlists(N, settings_.shortlist);
    const auto parents = label_parents(network_.graph_view());
    exploration.search(context_,
                       {.parents = parents,
                        .extra_clusters = settings_.extra_clusters,
                        .seed = settings_.seed,
                        .step = stream},
                       {.logits = logits,
                        .scores = scores,
                        .log_sums = log_sums,
                        .best = best,
                        .alpha = settings_.alpha},
                       network_.graph_view(), {.matrix = &labels_, .points = points_}, shortlists);
    std::vector<std::vector<int32_t>> all;
    for (size_t i = 0; i < points_.size(); ++i) {
      const auto own = exploration.explored(i);
      all.emplace_back(own.begin(), own.end());
    }
    return all;
  }

  // Of the first step after begin_stage, by the names in a checkpoint: the first moment, which it
  // keeps, is then a tenth of the gradient.
  std::map<std::string, std::vector<double>> gradients() const {
    const TemporaryFolder folder;
    SafetensorsWriter writer;
    network_.save(writer);
    writer.write(folder / "checkpoint");
    const SafetensorsFile file(folder / "checkpoint");
    std::map<std::string, std::vector<double>> gradients;
    for (const auto& [name, tensor] : file.tensors()) {
      const std::string_view moment = ".first_moment";
      if (!name.ends_with(moment)) continue;
      std::vector<float> values(tensor.elements());
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      auto& gradient = gradients[name.substr(0, name.size() - moment.size())];
      for (const float value : values) gradient.push_back(double{value} / (1 - double{0.9F}));
    }
    return gradients;
  }

  Network& network() { return network_; }
  size_t points() const { return points_.size(); }

 private:
  void make_ties(const std::vector<float>& edges) {
    const TensorView weights = network_.cluster_weights().weights();
    copy(weights.slice(2, 3), weights.slice(3, 4));
    const auto bias = network_.cluster_bias().weights().span<float>();
    bias[3] = bias[2];
    std::ranges::copy(edges, network_.edges().weights().span<float>().begin());
    network_.refresh_edges(context_);
  }

  const Context& context_;
  Settings settings_;
  Csr features_, labels_;
  std::vector<uint32_t> points_ = {4, 29, 5, 11, 9, 8, 22, 16, 3, 19, 13};
  std::vector<int32_t> parents_;
  Network network_;
  TrainingStep step_;
  BagBatch bags_;
};

// Every parameter of the reference under its name in a checkpoint.
std::vector<std::pair<std::string, std::vector<double>*>> groups_of(
    reference::NetworkWeights& weights) {
  std::vector<std::pair<std::string, std::vector<double>*>> groups = {
      {"table", &weights.encoder.table},
      {"gain", &weights.encoder.gain},
      {"shift", &weights.encoder.shift},
      {"label_weights", &weights.label_weights},
      {"label_bias", &weights.label_bias}};
  for (size_t i = 0; i < weights.encoder.layers.size(); ++i) {
    auto& layer = weights.encoder.layers[i];
    const std::string name = "layers." + std::to_string(i);
    groups.insert(groups.end(), {{name + ".weights", &layer.weights},
                                 {name + ".bias", &layer.bias},
                                 {name + ".gain", &layer.gain},
                                 {name + ".shift", &layer.shift}});
  }
  if (!weights.cluster_bias.empty()) {
    groups.emplace_back("cluster_weights", &weights.cluster_weights);
    groups.emplace_back("cluster_bias", &weights.cluster_bias);
  }
  if (!weights.edges.empty()) groups.emplace_back("edges", &weights.edges);
  return groups;
}

// Central differences of the whole loss with respect to one group.
std::vector<double> differences(const reference::StepInput& input,
                                const reference::NetworkWeights& weights,
                                const reference::Selection& selection, std::vector<double>& group) {
  constexpr double kStep = 1e-6;
  const auto loss = [&] { return reference::Step(input, weights).losses(selection).sum(); };
  std::vector<double> gradient;
  for (double& value : group) {
    const double at = std::exchange(value, value + kStep);
    const double above = loss();
    value = at - kStep;
    gradient.push_back((above - loss()) / (2 * kStep));
    value = at;
  }
  return gradient;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

const std::vector<Case>& cases() {
  constexpr float kNever = 0.4F;  // a softmax times that is never clamped
  constexpr float kAlways = 1e7F;
  static const std::vector<Case> kCases = {
      {.name = "Graph"},
      {.name = "GraphWithoutClamps", .alpha = kNever, .beta = kNever},
      {.name = "GraphWithClampedClusters", .alpha = kAlways, .beta = kNever},
      {.name = "GraphWithClampedEdges", .alpha = kNever, .beta = kAlways},
      {.name = "GraphWithAllClamped", .alpha = kAlways, .beta = kAlways},
      {.name = "GraphWithTies", .extra_clusters = 6, .ties = true},
      {.name = "GraphWithTiesWithoutClamps",
       .alpha = kNever,
       .beta = kNever,
       .extra_clusters = 6,
       .ties = true},
      {.name = "GraphWithDropout", .layers = 2, .dropout = 0.3F},
      {.name = "GraphAsPublished", .logit_loss = LogitLoss::kNone},
      {.name = "GraphWithAllLabels", .logit_loss = LogitLoss::kAll},
      {.name = "GraphWithoutShortlistLoss", .lambda = 0, .extra_clusters = 0},
      {.name = "GraphWithRoomForAll", .shortlist = 30, .layers = 0},
      {.name = "GraphByRows", .beta = 8, .labels = 50, .shortlist = 5},
      {.name = "GraphByRowsAsPublished",
       .beta = 8,
       .logit_loss = LogitLoss::kNone,
       .labels = 50,
       .shortlist = 5,
       .dropout = 0.3F},
      {.name = "Partition", .index = Index::kPartition},
      {.name = "PartitionWithoutClamps", .index = Index::kPartition, .alpha = kNever},
      {.name = "PartitionByRows",
       .index = Index::kPartition,
       .alpha = 6,
       .labels = 50,
       .shortlist = 5},
      {.name = "OneVsAll", .index = Index::kNone},
      {.name = "OneVsAllWithDropout", .index = Index::kNone, .layers = 0, .dropout = 0.3F}};
  return kCases;
}

class StepTest : public testing::TestWithParam<Case> {
 protected:
  ThreadPool pool_{2};
  Context context_{pool_};
};
INSTANTIATE_TEST_SUITE_P(Each, StepTest, testing::ValuesIn(cases()),
                         [](const auto& own) { return own.param.name; });

TEST_P(StepTest, LossAndGradientsAreThoseOfTheEquations) {
  const Case& own = GetParam();
  World world(context_, own, settings_of(own));
  EXPECT_EQ(world.network().labels_by_blocks(), own.name.find("ByRows") == std::string::npos);
  auto weights = world.weights();
  const auto input = world.input(kPosition.stream);
  const reference::Step expected(input, weights);
  const auto selection = expected.select(world.lists(expected.cluster_logits(), kPosition.stream));
  const auto losses = expected.losses(selection);

  const StepSums sums = world.run(kPosition);
  const auto N = static_cast<double>(world.points());
  EXPECT_EQ(sums.points, std::ssize(input.labels.points));
  EXPECT_NEAR(sums.on_p / N, losses.on_p, 1e-5 * losses.on_p);
  EXPECT_NEAR(sums.on_z / N, losses.on_z, 1e-5 * losses.on_z);
  EXPECT_NEAR(sums.shortlist / N, losses.shortlist, 1e-5 * losses.shortlist);
  EXPECT_NEAR(sums.loss(), losses.sum(), 1e-5 * losses.sum());
  if (own.index != Index::kNone) {
    EXPECT_EQ(sums.missed, selection.missed);
    EXPECT_EQ(sums.positives, std::ssize(selection.positives) + selection.missed);
  }

  const auto gradients = world.gradients();
  EXPECT_EQ(gradients.size(), groups_of(weights).size());
  for (const auto& [name, group] : groups_of(weights)) {
    SCOPED_TRACE(name);
    const auto derivative = differences(input, weights, selection, *group);
    const auto& gradient = gradients.at(name);
    ASSERT_EQ(gradient.size(), derivative.size());
    const double tolerance = 1e-4 * largest(derivative) + 1e-9;
    for (size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(gradient[i], derivative[i], tolerance) << "at element " << i;
    }
    const bool clamped =
        (name == "edges" && own.beta > 1e6F) || (name.starts_with("cluster") && own.alpha > 1e6F);
    EXPECT_EQ(largest(derivative) > 1e-6, !clamped);
  }
}

// That the cases above are what they are called.
TEST_P(StepTest, CasesReachWhatTheyAreFor) {
  const Case& own = GetParam();
  if (own.index == Index::kNone) return;
  World world(context_, own, settings_of(own));
  const auto weights = world.weights();
  const auto input = world.input(kPosition.stream);
  const reference::Step step(input, weights);
  const auto lists = world.lists(step.cluster_logits(), kPosition.stream);
  const auto selection = step.select(lists);
  size_t clusters = 0, edges = 0, listed_positives = 0, empty_points = 0;
  for (const auto& path : selection.shortlisted) {
    clusters += step.cluster_score(path) == 1 ? 1 : 0;
    edges += step.edge_score(path) == 1 ? 1 : 0;
    listed_positives += reference::target_of(input.labels.row(path.point), path.label) > 0 ? 1 : 0;
  }
  for (size_t i = 0; i < world.points(); ++i) {
    empty_points += input.labels.row(i).size() == 0 ? 1 : 0;
  }
  const auto expect_clamped = [&](size_t clamped, float scale) {
    const size_t all = selection.shortlisted.size();
    EXPECT_EQ(clamped > 0, scale > 1) << clamped << " of " << all;
    if (own.index == Index::kPartition) return;  // one cluster may fill a whole shortlist
    EXPECT_EQ(clamped == all, scale > 1e6F) << clamped << " of " << all;
  };
  expect_clamped(clusters, own.alpha);
  if (own.index == Index::kGraph) expect_clamped(edges, own.beta);
  EXPECT_GT(listed_positives, 0);
  EXPECT_GT(empty_points, 0);
  if (own.shortlist < own.labels) {
    EXPECT_LT(listed_positives, selection.positives.size());  // some are found and not listed
  }
  EXPECT_EQ(selection.missed > 0, own.index == Index::kGraph);
  size_t equal = 0, alike = 0;  // labels of one score, paths of one score
  for (size_t j = 1; j < selection.shortlisted.size(); ++j) {
    const auto& path = selection.shortlisted[j];
    const auto& before = selection.shortlisted[j - 1];
    equal += before.point == path.point && step.score(before) == step.score(path) ? 1 : 0;
  }
  for (const auto& list : lists) {
    alike += std::ranges::count(list, 2) == 1 && std::ranges::count(list, 3) == 1 ? 1 : 0;
  }
  if (own.ties) {
    EXPECT_GT(equal, 0);
    EXPECT_GT(alike, 0);
  }
}

// AdamW's first step moves a weight by the rate, whatever its gradient.
TEST_P(StepTest, EveryGroupGoesByItsOwnRate) {
  World world(context_, GetParam(), settings_of(GetParam()));
  auto before = world.weights();
  world.run(kPosition);
  auto after = world.weights();
  const auto groups = groups_of(before);
  const auto stepped = groups_of(after);
  const auto gradients = world.gradients();
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::string& name = groups[g].first;
    SCOPED_TRACE(name);
    const double rate = name.starts_with("cluster") ? 0.02
                        : name.starts_with("label") ? 0.03
                        : name == "edges"           ? 0.04
                                                    : 0.01;
    const auto& gradient = gradients.at(name);
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double moved = (*stepped[g].second)[i] - (*groups[g].second)[i];
      if (gradient[i] == 0) {
        EXPECT_EQ(moved, 0);
      } else if (std::abs(gradient[i]) > 1e-5) {
        EXPECT_NEAR(moved, gradient[i] > 0 ? -rate : rate, 2e-3 * rate);
      }
    }
  }
}

TEST(StepAccumulationTest, HeadsStepWithTheSumOfTheirBatches) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case own{.name = "", .extra_clusters = 0};  // nothing random: all batches are alike
  World once(context, own, settings_of(own));
  World thrice(context, own, settings_of(own));
  for (World* world : {&once, &thrice}) {
    world->network().begin_stage({.encoder = 0, .clusters = 0.1F, .labels = 0.1F, .edges = 0.1F});
  }
  once.run(kPosition);
  const auto single = once.gradients();
  thrice.set_accumulation(3);
  for (int64_t step = 1; step <= 3; ++step) {
    thrice.run({.step = step, .steps = 3, .stream = kPosition.stream});
    const auto sum = thrice.gradients();
    for (const char* name :
         {"cluster_weights", "cluster_bias", "edges", "label_weights", "label_bias"}) {
      SCOPED_TRACE(name);
      for (size_t i = 0; i < sum.at(name).size(); ++i) {
        ASSERT_NEAR(sum.at(name)[i], step < 3 ? 0 : 3 * single.at(name)[i],
                    1e-5 * largest(single.at(name)));
      }
    }
  }
}

// A stage of four steps, or two of two: the same if the schedule is one.
TEST(StepScheduleTest, OneScheduleGoesOnOverStages) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case& own = *std::ranges::find(cases(), "OneVsAll", &Case::name);
  for (const Schedule schedule : {Schedule::kOne, Schedule::kStages}) {
    Settings settings = settings_of(own);
    settings.schedule = schedule;
    const auto weights_after = [&](int64_t stages) {
      World world(context, own, settings);
      const int64_t steps = 4 / stages;
      for (int64_t i = 0; i < 4; ++i) {
        if (i % steps == 0) world.network().begin_stage({.encoder = 0.01F, .labels = 0.03F});
        world.run({.step = i % steps + 1,
                   .steps = steps,
                   .steps_before = 4 + i / steps * steps,
                   .run_steps = 8,
                   .stream = static_cast<uint64_t>(100 + i)});
      }
      return world.weights();
    };
    auto whole = weights_after(1);
    auto in_two = weights_after(2);
    const auto groups = groups_of(whole);
    for (size_t g = 0; g < groups.size(); ++g) {
      EXPECT_EQ(*groups[g].second == *groups_of(in_two)[g].second, schedule == Schedule::kOne)
          << groups[g].first;
    }
  }
}

TEST(StepRoundingTest, RoundedProductsStayClose) {
  ThreadPool pool(1);
  const Context context(pool);
  const Case own{.name = "", .alpha = 0.4F, .beta = 0.4F, .shortlist = 30};
  Settings settings = settings_of(own);
  const double loss = World(context, own, settings).run(kPosition).loss();
  settings.bf16 = true;
  const double rounded = World(context, own, settings).run(kPosition).loss();
  EXPECT_NEAR(rounded, loss, 2e-2 * loss);
  EXPECT_NE(rounded, loss);
}

TEST(StepThreadsTest, SameBitsAtAnyThreadCount) {
  for (const char* name : {"GraphWithDropout", "GraphByRowsAsPublished", "GraphWithAllLabels",
                           "PartitionByRows", "OneVsAllWithDropout"}) {
    SCOPED_TRACE(name);
    const Case& own = *std::ranges::find(cases(), std::string(name), &Case::name);
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      Settings settings = settings_of(own);
      settings.bf16 = true;
      World world(context, own, settings);
      for (int64_t step = 1; step <= 5; ++step) {
        world.run({.step = step, .steps = 5, .stream = static_cast<uint64_t>(100 + step)});
      }
      auto weights = world.weights();
      std::vector<Tensor> all;
      for (const auto& group : groups_of(weights)) {
        const auto* values = group.second;
        all.emplace_back(Shape{std::ssize(*values)}, DType::kFloat32);
        std::ranges::transform(*values, all.back().span<float>().begin(),
                               [](double value) { return static_cast<float>(value); });
      }
      return all;
    });
  }
}

}  // namespace
}  // namespace elias
