#include "ops/update/row_catch_up.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "base/errors.h"
#include "ops/check.h"

namespace elias {
namespace {

constexpr double kSpread = 0.08;       // how far r_k may be from its segment's centre
constexpr double kNegligible = 1e-12;  // what steps left out may add up to, of the first
constexpr size_t kStepsPerChunk = 4096;
constexpr size_t kCatchUpsPerChunk = 16;

// A factor that is no normal float would make every product with it slow, for nothing.
double normal(double value) {
  return std::abs(value) < double{std::numeric_limits<float>::min()} ? 0 : value;
}
float factor(double value) { return static_cast<float>(normal(value)); }

double decay_of(const RateHistory& rates, int64_t step, float weight_decay) {
  return 1 - double{rates.rate(step)} * double{weight_decay};
}

// What the steps after `first` contribute whatever the t of a row; entry i is of step first + i.
struct Steps {
  std::vector<double> decay_after;  // the product of all later decays
  std::vector<double> pull;         // rate_s / (1 - beta1^s) decay_after
  std::vector<double> inflation;    // 1 / sqrt(1 - beta2^s)
};

Steps steps_after(ThreadPool& pool, const AdamWSettings& settings, const RateHistory& rates,
                  int64_t first) {
  const size_t size = rates.steps() - first + 1;
  Steps steps{std::vector<double>(size, 1), std::vector<double>(size), std::vector<double>(size)};
  for (size_t i = size - 1; i > 0; --i) {
    const auto step = first + static_cast<int64_t>(i);
    steps.decay_after[i - 1] = steps.decay_after[i] * decay_of(rates, step, settings.weight_decay);
  }
  const double beta1 = settings.beta1;
  const double beta2 = settings.beta2;
  pool.for_chunks(size - 1, kStepsPerChunk, [&](size_t, size_t begin, size_t end) {
    const auto done = static_cast<double>(first + static_cast<int64_t>(begin));
    double power1 = std::pow(beta1, done);
    double power2 = std::pow(beta2, done);
    for (size_t i = begin + 1; i <= end; ++i) {
      power1 *= beta1;
      power2 *= beta2;
      const double rate = rates.rate(first + static_cast<int64_t>(i));
      steps.pull[i] = rate / (1 - power1) * steps.decay_after[i];
      steps.inflation[i] = 1 / std::sqrt(1 - power2);
    }
  });
  return steps;
}

// How many missed steps can matter: beta1^k / r_k falls at least as ratio^k, and what is left out
// adds up to ratio^k / (1 - ratio).
int64_t window_of(const AdamWSettings& settings) {
  if (settings.beta1 == 0) return 0;
  const double ratio = double{settings.beta1} / std::sqrt(double{settings.beta2});
  if (ratio >= 1) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::ceil(std::log(kNegligible * (1 - ratio)) / std::log(ratio)));
}

// Of the steps with c_k = pulls and r_k = ratios, falling.
AdamWSegment segment_of(std::span<const double> pulls, std::span<const double> ratios) {
  AdamWSegment segment;
  segment.centre = factor((ratios.front() + ratios.back()) / 2);
  std::array<double, std::tuple_size_v<decltype(segment.moments)>> moments{};
  for (size_t k = 0; k < pulls.size(); ++k) {
    const double away = segment.centre == 0 ? 0 : ratios[k] / double{segment.centre} - 1;
    double term = pulls[k];
    for (double& moment : moments) {
      moment += term;
      term *= -away;
    }
  }
  std::ranges::transform(moments, segment.moments.begin(), factor);
  return segment;
}

// The segments of a row that has done first + done steps and misses `missed` that matter.
std::vector<AdamWSegment> segments_of(const AdamWSettings& settings, const Steps& steps,
                                      size_t done, size_t missed) {
  std::vector<double> pulls(missed);
  std::vector<double> ratios(missed);
  const double root2 = std::sqrt(double{settings.beta2});
  double power1 = 1;
  double power2 = 1;
  for (size_t k = 0; k < missed; ++k) {
    power1 *= double{settings.beta1};
    power2 *= root2;
    pulls[k] = power1 * steps.pull[done + k + 1];
    ratios[k] = normal(power2 * steps.inflation[done + k + 1]);
  }
  std::vector<AdamWSegment> segments;
  for (size_t begin = 0; begin < missed;) {
    const double least = ratios[begin] * (1 - kSpread) / (1 + kSpread);
    size_t end = begin + 1;
    while (end < missed && ratios[end] >= least) ++end;
    segments.push_back(segment_of(std::span(pulls).subspan(begin, end - begin),
                                  std::span(ratios).subspan(begin, end - begin)));
    begin = end;
  }
  return segments;
}

}  // namespace

AdamWCatchUps::AdamWCatchUps(ThreadPool& pool, const AdamWSettings& settings,
                             const RateHistory& rates, ConstTensorView rows,
                             ConstTensorView done_steps)
    : first_(rates.steps()) {
  const auto ids = rows.span<int32_t>();
  const auto done = done_steps.span<int32_t>();
  for (const int32_t row : ids) first_ = std::min<int64_t>(first_, done[row]);
  // The rows' distinct t, as t - first_, rising.
  std::vector<size_t> distinct;
  places_.assign(rates.steps() - first_, -1);
  for (const int32_t row : ids) {
    if (done[row] < rates.steps()) places_[done[row] - first_] = 0;
  }
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] < 0) continue;
    places_[i] = static_cast<int32_t>(distinct.size());
    distinct.push_back(i);
  }

  const Steps steps = steps_after(pool, settings, rates, first_);
  const int64_t window = window_of(settings);
  catch_ups_.resize(distinct.size());
  std::vector<std::vector<AdamWSegment>> segments(distinct.size());
  pool.for_chunks(distinct.size(), kCatchUpsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int64_t missed = rates.steps() - first_ - static_cast<int64_t>(distinct[i]);
      catch_ups_[i].weight_factor = factor(steps.decay_after[distinct[i]]);
      catch_ups_[i].first_factor =
          factor(std::pow(double{settings.beta1}, static_cast<double>(missed)));
      catch_ups_[i].second_factor =
          factor(std::pow(double{settings.beta2}, static_cast<double>(missed)));
      segments[i] = segments_of(settings, steps, distinct[i], std::min(missed, window));
    }
  });
  for (size_t i = 0; i < distinct.size(); ++i) {
    catch_ups_[i].segments_begin = static_cast<int32_t>(segments_.size());
    segments_.insert(segments_.end(), segments[i].begin(), segments[i].end());
    catch_ups_[i].segments_end = static_cast<int32_t>(segments_.size());
  }
}

std::vector<SgdCatchUp> sgd_catch_ups(const SgdSettings& settings, const RateHistory& rates,
                                      int64_t first) {
  std::vector<SgdCatchUp> catch_ups(rates.steps() - first + 1);
  const double momentum = settings.momentum;
  double decay = 1;
  double carry = 0;
  double power = 1;
  for (int64_t t = rates.steps() - 1; t >= first; --t) {
    carry = momentum * (double{rates.rate(t + 1)} * decay + carry);
    decay *= decay_of(rates, t + 1, settings.weight_decay);
    power *= momentum;
    catch_ups[t - first] = {factor(decay), factor(carry), factor(power)};
  }
  return catch_ups;
}

void check_catch_up(std::string_view op, const RateHistory& rates, ConstTensorView rows,
                    ConstTensorView weights, ConstTensorView done_steps) {
  check(op, {{"weights", weights, DType::kFloat32, {Operand::kAny, Operand::kAny}}});
  check(op, {{"weights", weights, DType::kFloat32, {Operand::kAny, Operand::kAny}},
             {"done steps", done_steps, DType::kInt32, {weights.shape()[0]}},
             {"rows", rows, DType::kInt32, {Operand::kAny}}});
  if (weights.device() != Device::kCpu) return;
  check_ids(op, "rows", rows, weights.shape()[0]);
  const auto ids = rows.span<int32_t>();
  const bool rising = std::ranges::adjacent_find(ids, std::greater_equal()) == ids.end();
  if (!rising) {
    std::vector<bool> seen(weights.shape()[0]);
    for (const int32_t row : ids) {
      if (seen[row]) throw InputError("{}: rows hold {} twice", op, row);
      seen[row] = true;
    }
  }
  const auto done = done_steps.span<int32_t>();
  for (const int32_t row : ids) {
    if (done[row] < 0 || done[row] > rates.steps()) {
      throw InputError("{}: row {} has done {} steps, but there are {}", op, row, done[row],
                       rates.steps());
    }
  }
}

void check_last_step(std::string_view op, const RateHistory& rates, const RowGradient& gradient,
                     ConstTensorView weights, ConstTensorView done_steps) {
  constexpr DType kInt = DType::kInt32;
  if (rates.steps() == 0) throw InputError("{}: the history of rates has no step", op);
  check(op, {{"weights", weights, DType::kFloat32, {Operand::kAny, Operand::kAny}},
             {"rows", gradient.rows, kInt, {Operand::kAny}},
             {"points", gradient.points, kInt, {Operand::kAny}}});
  const int64_t n = gradient.points.shape()[0];
  check(op, {{"weights", weights, DType::kFloat32, {Operand::kAny, Operand::kAny}},
             {"done steps", done_steps, kInt, {weights.shape()[0]}},
             {"source",
              gradient.source,
              float_type_of(gradient.source),
              {Operand::kAny, weights.width()}},
             {"offsets", gradient.offsets, kInt, {gradient.size() + 1}},
             {"term weights", gradient.weights, DType::kFloat32, {n}}});
  if (weights.device() != Device::kCpu) return;
  check_offsets(op, "offsets", gradient.offsets, n);
  check_ids(op, "points", gradient.points, gradient.source.shape()[0]);
  check_ids(op, "rows", gradient.rows, weights.shape()[0]);
  const auto rows = gradient.rows.span<int32_t>();
  const auto done = done_steps.span<int32_t>();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i] <= rows[i - 1]) {
      throw InputError("{}: rows must rise, but {} follows {}", op, rows[i], rows[i - 1]);
    }
    if (done[rows[i]] != rates.steps() - 1) {
      throw InputError("{}: row {} has done {} steps, but must have done {}", op, rows[i],
                       done[rows[i]], rates.steps() - 1);
    }
  }
}

}  // namespace elias
