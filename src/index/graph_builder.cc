#include "index/graph_builder.h"

#include <algorithm>

#include "base/errors.h"
#include "base/random.h"
#include "index/cluster_mass.h"

namespace elias {
namespace {

constexpr uint64_t kEdgeStream = uint64_t{1} << 61;

using Rows = std::vector<ClusterMass::Row>;

/// What A' says of each label.
struct LabelMass {
  std::vector<double> total;  // [L], over all clusters
  std::vector<int32_t> best;  // [L, kept]: clusters by falling mass, of equals the lower; -1: none
};

/// Enters cluster `c` into a label's `best` clusters, if it is one; c is above all entered so far.
void enter(int32_t c, double mass, std::span<int32_t> best, std::span<double> masses) {
  size_t place = best.size();
  while (place > 0 && (best[place - 1] < 0 || masses[place - 1] < mass)) --place;
  if (place == best.size()) return;
  std::copy_backward(best.begin() + place, best.end() - 1, best.end());
  std::copy_backward(masses.begin() + place, masses.end() - 1, masses.end());
  best[place] = c;
  masses[place] = mass;
}

LabelMass label_mass(const Rows& rows, size_t L, size_t kept, ThreadPool& pool) {
  LabelMass mass{std::vector<double>(L), std::vector<int32_t>(L * kept, -1)};
  // A chunk of labels goes through all rows, so there are few.
  pool.for_chunks(L, std::max<size_t>(4096, (L + 63) / 64), [&](size_t, size_t begin, size_t end) {
    std::vector<double> masses((end - begin) * kept);
    for (size_t c = 0; c < rows.size(); ++c) {
      const auto& labels = rows[c].labels;
      auto at = std::lower_bound(labels.begin(), labels.end(), static_cast<int32_t>(begin));
      for (; at != labels.end() && *at < static_cast<int64_t>(end); ++at) {
        const double sum = rows[c].sums[at - labels.begin()];
        mass.total[*at] += sum;
        enter(static_cast<int32_t>(c), sum, {mass.best.data() + *at * kept, kept},
              {masses.data() + (*at - begin) * kept, kept});
      }
    }
  });
  return mass;
}

/// The edges no row may lose: of each label to its best clusters and to its own of stage 1; none if
/// none of the best are kept.
LabelGraph kept_edges(const LabelMass& mass, std::span<const int32_t> cluster_of, size_t kept,
                      size_t C) {
  const auto for_edges = [&](const auto& body) {
    for (size_t l = 0; l < cluster_of.size(); ++l) {
      const std::span best(mass.best.data() + l * kept, kept);
      for (const int32_t c : best) {
        if (c >= 0) body(c, static_cast<int32_t>(l));
      }
      if (std::find(best.begin(), best.end(), cluster_of[l]) == best.end()) {
        body(cluster_of[l], static_cast<int32_t>(l));
      }
    }
  };
  LabelGraph graph;
  graph.offsets.assign(C + 1, 0);
  if (kept == 0) return graph;
  for_edges([&](int32_t c, int32_t) { ++graph.offsets[c + 1]; });
  for (size_t c = 0; c < C; ++c) graph.offsets[c + 1] += graph.offsets[c];
  graph.labels.resize(graph.offsets.back());
  std::vector<int64_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for_edges([&](int32_t c, int32_t l) { graph.labels[next[c]++] = l; });
  return graph;
}

/// Leaves in `row` the labels of `kept` (rising) and as many of the others as fit beside them into
/// `most`, those of the largest sums, of equal ones the lower ids.
void select(ClusterMass::Row& row, std::span<const int32_t> kept, size_t most) {
  struct Edge {
    int32_t label;
    double sum;
  };
  std::vector<Edge> edges, others;
  auto next = kept.begin();
  for (size_t i = 0; i < row.labels.size(); ++i) {
    for (; next != kept.end() && *next < row.labels[i]; ++next) edges.push_back({*next, 0});
    const bool is_kept = next != kept.end() && *next == row.labels[i];
    if (is_kept) ++next;
    (is_kept ? edges : others).push_back({row.labels[i], row.sums[i]});
  }
  for (; next != kept.end(); ++next) edges.push_back({*next, 0});
  const size_t room = most - std::min(most, edges.size());
  if (others.size() > room) {
    std::nth_element(others.begin(), others.begin() + static_cast<ptrdiff_t>(room), others.end(),
                     [](const Edge& a, const Edge& b) {
                       return a.sum != b.sum ? a.sum > b.sum : a.label < b.label;
                     });
    others.resize(room);
  }
  edges.insert(edges.end(), others.begin(), others.end());
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.label < b.label; });
  row = {};  // the memory too: A' is far larger than the graph
  for (const Edge& edge : edges) {
    row.labels.push_back(edge.label);
    row.sums.push_back(edge.sum);
  }
}

BuiltGraph graph_of(const Rows& rows, std::span<const double> total, ThreadPool& pool) {
  BuiltGraph built;
  built.graph.label_count = static_cast<int64_t>(total.size());
  for (const auto& row : rows) {
    built.graph.offsets.push_back(built.graph.offsets.back() +
                                  static_cast<int64_t>(row.labels.size()));
  }
  built.graph.labels.resize(built.graph.offsets.back());
  built.shares.resize(built.graph.offsets.back());
  pool.for_each(rows.size(), [&](size_t c) {
    int64_t edge = built.graph.offsets[c];
    for (size_t i = 0; i < rows[c].labels.size(); ++i, ++edge) {
      const int32_t l = rows[c].labels[i];
      const double sum = rows[c].sums[i];
      built.graph.labels[edge] = l;
      built.shares[edge] = sum > 0 ? static_cast<float>(sum / total[l]) : 0;
    }
  });
  return built;
}

}  // namespace

struct GraphBuilder::State {
  std::vector<int32_t> cluster_of;
  size_t clusters;
  ThreadPool& pool;
  ClusterMass mass;
  std::vector<uint8_t> has_points;  // [L]
  bool finished = false;
};

GraphBuilder::GraphBuilder(std::span<const int32_t> cluster_of, int64_t C, ThreadPool& pool)
    : state_(std::make_unique<State>(State{{cluster_of.begin(), cluster_of.end()},
                                           static_cast<size_t>(C),
                                           pool,
                                           ClusterMass(C, pool),
                                           std::vector<uint8_t>(cluster_of.size())})) {
  for (const int32_t cluster : cluster_of) ELIAS_ASSERT(cluster >= 0 && cluster < C);
}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::add(const Csr& labels, size_t begin, ConstTensorView clusters,
                       ConstTensorView scores) {
  ELIAS_ASSERT(!state_->finished && clusters.shape() == scores.shape() && clusters.rank() == 2);
  ELIAS_ASSERT(clusters.device() == Device::kCpu && scores.device() == Device::kCpu);
  const auto n = static_cast<size_t>(clusters.rows());
  ELIAS_ASSERT(begin + n <= labels.rows() && labels.cols <= state_->has_points.size());
  for (size_t i = 0; i < n; ++i) {
    const int32_t* cluster = clusters.data<int32_t>() + i * clusters.stride();
    const float* score = scores.data<float>() + i * scores.stride();
    const CsrRow row = labels.row(begin + i);
    for (size_t j = 0; j < row.size(); ++j) {
      if (row.values[j] > 0) state_->has_points[row.columns[j]] = 1;
      for (int64_t b = 0; b < clusters.width(); ++b) {
        ELIAS_ASSERT(cluster[b] >= 0 && static_cast<size_t>(cluster[b]) < state_->clusters);
        const float mass = score[b] * row.values[j];
        if (mass > 0) state_->mass.add(cluster[b], static_cast<int32_t>(row.columns[j]), mass);
      }
    }
  }
}

BuiltGraph GraphBuilder::finish(const GraphOptions& options) {
  ELIAS_ASSERT(!state_->finished && options.most_edges >= 1 && options.kept_clusters >= 0);
  state_->finished = true;
  const size_t L = state_->cluster_of.size(), C = state_->clusters;
  const auto kept = static_cast<size_t>(options.kept_clusters);
  Rows rows = state_->mass.take();
  LabelMass mass = label_mass(rows, L, kept, state_->pool);
  const LabelGraph kept_graph = kept_edges(mass, state_->cluster_of, kept, C);
  state_->pool.for_each(C, [&](size_t c) {
    const int64_t begin = kept_graph.offsets[c], end = kept_graph.offsets[c + 1];
    select(rows[c], {kept_graph.labels.data() + begin, static_cast<size_t>(end - begin)},
           static_cast<size_t>(options.most_edges));
  });
  BuiltGraph built = graph_of(rows, mass.total, state_->pool);
  std::vector<uint8_t> uncovered = std::move(state_->has_points);
  for (const int32_t label : built.graph.labels) uncovered[label] = 0;
  built.uncovered = std::count(uncovered.begin(), uncovered.end(), 1);
  return built;
}

std::vector<float> initial_edges(const BuiltGraph& built, bool informed, uint64_t seed) {
  const Random random(seed, kEdgeStream);
  std::vector<float> edges(built.shares.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    // 24 bits are what a float holds: 53 could round up to 1.
    const float uniform = static_cast<float>(random.bits(i) >> 40) * 0x1p-24F;
    edges[i] = informed ? 0.2F * uniform + 4 * built.shares[i] : uniform;
  }
  return edges;
}

}  // namespace elias
