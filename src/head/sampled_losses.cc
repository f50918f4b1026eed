#include "head/sampled_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "base/errors.h"
#include "base/random.h"
#include "base/scratch_pool.h"

namespace elias {
namespace {

constexpr size_t kPointsAChunk = 16;

using Places = std::vector<uint32_t>;

struct Room {
  Places rivals;                 // what stands against a point
  std::vector<float> gradients;  // [R]
};

// All places of `drawn` but those of the point's own labels.
void find_rivals(const DrawnLabels& drawn, const CsrRow& own, Places& rivals) {
  rivals.clear();
  size_t next = 0;
  for (uint32_t place = 0; place < drawn.labels.size(); ++place) {
    const auto label = static_cast<uint32_t>(drawn.labels[place]);
    while (next < own.size() && (own.columns[next] < label || !(own.values[next] > 0))) ++next;
    if (next == own.size() || own.columns[next] != label) rivals.push_back(place);
  }
}

// The `count` rivals with the highest scores; among equals the first. A NaN counts as the highest,
// so that it shows in the loss.
void keep_strongest(std::span<const float> scores, size_t count, Places& rivals) {
  if (rivals.size() <= count) return;
  const auto rank = [&](uint32_t place) {
    return std::isnan(scores[place]) ? std::numeric_limits<float>::infinity() : scores[place];
  };
  std::nth_element(rivals.begin(), rivals.begin() + static_cast<ptrdiff_t>(count), rivals.end(),
                   [&](uint32_t a, uint32_t b) {
                     const float x = rank(a), y = rank(b);
                     return x != y ? x > y : a < b;
                   });
  rivals.resize(count);
  std::ranges::sort(rivals);  // sums are taken in one order
}

// Each returns the loss of a point with these scores, of which `own` is its own, and adds to
// gradients [R].

double margin_loss(const SampledLossOptions& options, size_t own, std::span<const float> scores,
                   Room& room) {
  const double bar = double{scores[own]} - double{options.margin};
  double loss = 0;
  for (const uint32_t rival : room.rivals) {
    const double over = double{scores[rival]} - bar;
    if (over <= 0) continue;  // not of a NaN, which must show
    loss += over;
    room.gradients[rival] += options.weight;
    room.gradients[own] -= options.weight;
  }
  return loss;
}

double softmax_loss(const SampledLossOptions& options, size_t own, std::span<const float> scores,
                    Room& room) {
  double highest = scores[own];
  for (const uint32_t rival : room.rivals) highest = std::max(highest, double{scores[rival]});
  const auto power = [&](size_t place) { return std::exp(double{scores[place]} - highest); };
  double against = 0;
  for (const uint32_t rival : room.rivals) against += power(rival);
  const double sum = power(own) + against, factor = double{options.weight} / sum;
  for (const uint32_t rival : room.rivals) {
    room.gradients[rival] += static_cast<float>(factor * power(rival));
  }
  room.gradients[own] -= static_cast<float>(factor * against);
  return std::log(sum) + highest - double{scores[own]};
}

double point_loss(const SampledLossOptions& options, const DrawnLabels& drawn, const CsrRow& labels,
                  int32_t own, std::span<const float> scores, Room& room) {
  room.gradients.assign(scores.size(), 0.0F);
  if (own == DrawnLabels::kNone) return 0;
  find_rivals(drawn, labels, room.rivals);
  if (options.mined > 0) keep_strongest(scores, static_cast<size_t>(options.mined), room.rivals);
  const auto place = static_cast<size_t>(own);
  return options.kind == SampledLoss::kMargin ? margin_loss(options, place, scores, room)
                                              : softmax_loss(options, place, scores, room);
}

}  // namespace

DrawnLabels draw_labels(const BatchLabels& labels, uint64_t seed, uint64_t step) {
  constexpr uint64_t kDraws = 0x6472617773;  // apart from the streams of other uses
  const Random random(seed ^ kDraws, step);
  DrawnLabels drawn;
  std::vector<int32_t> picks;
  std::vector<uint32_t> positives;
  for (size_t i = 0; i < labels.points.size(); ++i) {
    const CsrRow row = labels.row(i);
    positives.clear();
    for (size_t j = 0; j < row.size(); ++j) {
      if (row.values[j] > 0) positives.push_back(row.columns[j]);
    }
    picks.push_back(positives.empty()
                        ? DrawnLabels::kNone
                        : static_cast<int32_t>(positives[random.below(i, positives.size())]));
  }
  drawn.labels = picks;
  std::ranges::sort(drawn.labels);
  drawn.labels.erase(std::unique(drawn.labels.begin(), drawn.labels.end()), drawn.labels.end());
  if (!drawn.labels.empty() && drawn.labels.front() == DrawnLabels::kNone) {
    drawn.labels.erase(drawn.labels.begin());
  }
  for (const int32_t pick : picks) {
    const auto place = std::ranges::lower_bound(drawn.labels, pick) - drawn.labels.begin();
    drawn.own.push_back(pick == DrawnLabels::kNone ? pick : static_cast<int32_t>(place));
  }
  return drawn;
}

double sampled_losses(const Context& context, const SampledLossOptions& options,
                      const BatchLabels& labels, const DrawnLabels& drawn, TensorView scores) {
  const size_t N = drawn.own.size();
  ELIAS_ASSERT(scores.rows() == static_cast<int64_t>(N) &&
               scores.width() == static_cast<int64_t>(drawn.labels.size()));
  std::vector<double> losses(N);
  ScratchPool<Room> rooms([] { return std::make_unique<Room>(); });
  context.pool().for_chunks(N, kPointsAChunk, [&](size_t, size_t begin, size_t end) {
    rooms.with([&](Room& room) {
      for (size_t i = begin; i < end; ++i) {
        float* const row = scores.data<float>() + static_cast<int64_t>(i) * scores.stride();
        losses[i] = point_loss(options, drawn, labels.row(i), drawn.own[i],
                               {row, drawn.labels.size()}, room);
        std::ranges::copy(room.gradients, row);
      }
    });
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

}  // namespace elias
