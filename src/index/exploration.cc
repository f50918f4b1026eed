#include "index/exploration.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "base/random.h"

namespace elias {
namespace {

constexpr size_t kPointsPerChunk = 8;
constexpr size_t kClustersPerChunk = 4;
constexpr uint64_t kRandomClusters = 0x636c757374657273;  // the stream of their random numbers

}  // namespace

std::unique_ptr<LabelSearch> Exploration::borrow_search(Isa isa) {
  const std::lock_guard lock(mutex_);
  if (searches_.empty()) return std::make_unique<LabelSearch>(label_count_, isa);
  auto search = std::move(searches_.back());
  searches_.pop_back();
  return search;
}

void Exploration::give_back(std::unique_ptr<LabelSearch> search) {
  const std::lock_guard lock(mutex_);
  searches_.push_back(std::move(search));
}

void Exploration::lay_out(const ClusterScores& clusters, const ExploreOptions& options,
                          const BatchLabels& labels) {
  const size_t N = labels.points.size();
  list_begin_.assign(N + 1, 0);
  positive_begin_.assign(N + 1, 0);
  for (size_t i = 0; i < N; ++i) {
    const auto own = static_cast<int64_t>(labels.row(i).size());
    positive_begin_[i + 1] = positive_begin_[i] + own;
    // One more than the clusters: where the entries of the last end.
    list_begin_[i + 1] =
        list_begin_[i] + clusters.best.width() + std::max(options.extra_clusters, own) + 1;
  }
  positives_.assign(static_cast<size_t>(positive_begin_[N]), {});
  list_sizes_.assign(N, 0);
  const auto room = static_cast<size_t>(list_begin_[N]);
  clusters_.resize(room);
  scores_.resize(room);
  gradients_.resize(room);
  entry_begin_.resize(room);
}

void Exploration::list_clusters(size_t i, const ExploreOptions& options,
                                const ClusterScores& clusters, const BatchLabels& labels) {
  int32_t* const list = clusters_.data() + list_begin_[i];
  size_t size = 0;
  const auto add = [&](int32_t cluster) {
    if (std::find(list, list + size, cluster) == list + size) list[size++] = cluster;
  };
  for (const uint32_t label : labels.row(i).columns) {
    if (options.parents[label] >= 0) add(options.parents[label]);
  }
  const int64_t b = clusters.best.width();
  const int32_t* const best = clusters.best.data<int32_t>() + static_cast<int64_t>(i) * b;
  for (int64_t j = 0; j < b; ++j) add(best[j]);

  const auto C = static_cast<uint64_t>(clusters.scores.width());
  const auto wanted = static_cast<size_t>(b + options.extra_clusters);
  const Random random(options.seed ^ kRandomClusters, options.step);
  for (uint64_t draw = size; draw < wanted; ++draw) {
    add(static_cast<int32_t>(random.below((uint64_t{i} << 32) + draw, C)));
  }
  list_sizes_[i] = static_cast<int32_t>(size);
  const float* const own =
      clusters.scores.data<float>() + static_cast<int64_t>(i) * clusters.scores.stride();
  for (size_t j = 0; j < size; ++j)
    scores_[list_begin_[i] + static_cast<int64_t>(j)] = own[list[j]];
}

void Exploration::search(const Context& context, const ExploreOptions& options,
                         const ClusterScores& clusters, const LabelGraphView& graph,
                         const BatchLabels& labels, Shortlists& shortlists) {
  const size_t N = labels.points.size();
  ELIAS_ASSERT(shortlists.points() == static_cast<int64_t>(N));
  const auto K = static_cast<size_t>(shortlists.places());
  lay_out(clusters, options, labels);
  by_slot_.resize(N * K);
  positive_weight_ = 0;
  context.pool().for_chunks(N, kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
    auto search = borrow_search(context.isa());
    for (size_t i = begin; i < end; ++i) {
      list_clusters(i, options, clusters, labels);
      const auto size = static_cast<size_t>(list_sizes_[i]);
      search->explore(graph, {clusters_.data() + list_begin_[i], size},
                      {scores_.data() + list_begin_[i], size});
      const CsrRow row = labels.row(i);
      for (size_t j = 0; j < row.size(); ++j) {
        const auto label = static_cast<int32_t>(row.columns[j]);
        const LabelPath path = search->path(label);
        positives_[positive_begin_[i] + static_cast<int64_t>(j)] = {.score = search->score(label),
                                                                    .target = row.values[j],
                                                                    .edge = path.edge,
                                                                    .slot = path.slot};
      }
      const Shortlist places{.labels = shortlists.labels.span<int32_t>().subspan(i * K, K),
                             .scores = shortlists.yhat.span<float>().subspan(i * K, K),
                             .edges = shortlists.edges.span<int32_t>().subspan(i * K, K),
                             .slots = shortlists.slots.span<int32_t>().subspan(i * K, K)};
      const size_t count = search->shortlist(places);
      std::fill(places.labels.begin() + static_cast<ptrdiff_t>(count), places.labels.end(), -1);
      shortlists.counts[i] = static_cast<int32_t>(count);
      sort_by_slot(i, shortlists);
    }
    give_back(std::move(search));
  });
}

// A counting sort: entries of a slot keep their order.
void Exploration::sort_by_slot(size_t i, const Shortlists& shortlists) {
  const auto slots = shortlists.row<int32_t>(shortlists.slots, i);
  int32_t* const begin = entry_begin_.data() + list_begin_[i];
  std::fill(begin, begin + list_sizes_[i] + 1, 0);
  for (const int32_t slot : slots) ++begin[slot + 1];
  for (int32_t slot = 0; slot < list_sizes_[i]; ++slot) begin[slot + 1] += begin[slot];
  int32_t* const sorted = by_slot_.data() + i * static_cast<size_t>(shortlists.places());
  for (size_t place = slots.size(); place-- > 0;) {
    sorted[--begin[slots[place] + 1]] = static_cast<int32_t>(place);
  }
  // begin[slot + 1] has come down to where the slot begins: move it to its own place.
  std::copy(begin + 1, begin + list_sizes_[i] + 1, begin);
  begin[list_sizes_[i]] = static_cast<int32_t>(slots.size());
}

int64_t Exploration::missed() const {
  return std::count_if(positives_.begin(), positives_.end(),
                       [](const Positive& positive) { return positive.score == 0; });
}

double Exploration::add_shortlist_loss(float weight) {
  positive_weight_ = weight;
  double sum = 0;
  for (const Positive& positive : positives_) {
    if (positive.score > 0) sum -= double{positive.target} * std::log(double{positive.score});
  }
  return sum;
}

void Exploration::cluster_gradient(const Context& context, const ClusterScores& clusters,
                                   const Shortlists& shortlists, TensorView dlogits) {
  const auto C = static_cast<size_t>(clusters.scores.width());
  const float log_alpha = std::log(clusters.alpha);
  const float* const log_sums = clusters.log_sums.data<float>();
  context.pool().for_chunks(
      list_sizes_.size(), kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const float* const logits =
              clusters.logits.data<float>() + static_cast<int64_t>(i) * clusters.logits.stride();
          float* const out = dlogits.data<float>() + static_cast<int64_t>(i) * dlogits.stride();
          const auto dlog_yhat = shortlists.row<float>(shortlists.dlog_yhat, i);
          const int32_t* const sorted =
              by_slot_.data() + i * static_cast<size_t>(shortlists.places());
          const int64_t first = list_begin_[i];
          for (int32_t slot = 0; slot < list_sizes_[i]; ++slot) {
            float sum = 0;
            for (int32_t e = entry_begin_[first + slot]; e < entry_begin_[first + slot + 1]; ++e) {
              sum += dlog_yhat[sorted[e]];
            }
            gradients_[first + slot] = sum;
          }
          for (int64_t j = positive_begin_[i]; j < positive_begin_[i + 1]; ++j) {
            const Positive& positive = positives_[j];
            if (positive.score > 0)
              gradients_[first + positive.slot] -= positive_weight_ * positive.target;
          }
          float sum = 0;  // of what passes the clamp
          for (int32_t slot = 0; slot < list_sizes_[i]; ++slot) {
            if (logits[clusters_[first + slot]] - log_sums[i] + log_alpha > 0) continue;
            sum += gradients_[first + slot];
          }
          for (size_t c = 0; c < C; ++c) out[c] = -sum * std::exp(logits[c] - log_sums[i]);
          for (int32_t slot = 0; slot < list_sizes_[i]; ++slot) {
            const int32_t cluster = clusters_[first + slot];
            if (logits[cluster] - log_sums[i] + log_alpha > 0) continue;
            out[cluster] += gradients_[first + slot];
          }
        }
      });
}

void Exploration::edge_gradient(const Context& context, const LabelGraphView& graph,
                                const Shortlists& shortlists, std::span<float> dlog_scores) const {
  // The pairs of point and slot by cluster, those of a cluster in the order of the points.
  struct Visit {
    int32_t point;
    int32_t slot;
  };
  const auto C = static_cast<size_t>(graph.clusters());
  std::vector<int64_t> begin(C + 1, 0);
  const size_t N = list_sizes_.size();
  const auto for_each_visit = [&](auto&& use) {
    for (size_t i = 0; i < N; ++i) {
      for (int32_t slot = 0; slot < list_sizes_[i]; ++slot) {
        use(clusters_[list_begin_[i] + slot], Visit{static_cast<int32_t>(i), slot});
      }
    }
  };
  for_each_visit([&](int32_t cluster, Visit) { ++begin[cluster + 1]; });
  for (size_t c = 0; c < C; ++c) begin[c + 1] += begin[c];
  std::vector<Visit> visits(static_cast<size_t>(begin[C]));
  std::vector<int64_t> next(begin.begin(), begin.end() - 1);
  for_each_visit([&](int32_t cluster, Visit visit) { visits[next[cluster]++] = visit; });

  context.pool().for_chunks(C, kClustersPerChunk, [&](size_t, size_t first, size_t last) {
    std::fill(dlog_scores.begin() + graph.offsets[first], dlog_scores.begin() + graph.offsets[last],
              0.0F);
    for (int64_t v = begin[first]; v < begin[last]; ++v) {
      const auto i = static_cast<size_t>(visits[v].point);
      const int32_t slot = visits[v].slot;
      const auto dlog_yhat = shortlists.row<float>(shortlists.dlog_yhat, i);
      const auto edges = shortlists.row<int32_t>(shortlists.edges, i);
      const int32_t* const sorted = by_slot_.data() + i * static_cast<size_t>(shortlists.places());
      const int32_t* const entries = entry_begin_.data() + list_begin_[i] + slot;
      for (int32_t e = entries[0]; e < entries[1]; ++e) {
        dlog_scores[edges[sorted[e]]] += dlog_yhat[sorted[e]];
      }
      for (int64_t j = positive_begin_[i]; j < positive_begin_[i + 1]; ++j) {
        const Positive& positive = positives_[j];
        if (positive.score == 0 || positive.slot != slot) continue;
        dlog_scores[positive.edge] -= positive_weight_ * positive.target;
      }
    }
  });
}

}  // namespace elias
