// AdamW on the GPU: weights and moments are read once and written once, past the cache, by vectors
// of four.
//
// What a row must make up for depends on the steps it has done alone. The GPU notes which numbers
// of steps there are, the CPU computes what each of them comes to, as for CPU tensors, and sends it
// along: a catch-up waits for the device.
#include <cfloat>
#include <numeric>
#include <vector>

#include "ops/lookup/weighted_rows.cuh"
#include "ops/update/adamw.h"
#include "ops/update/row_catch_up.h"
#include "ops/update/step_scalars.h"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;

struct State {
  Matrix<float> weights;
  Matrix<float> first_moment;
  Matrix<float> second_moment;

  explicit State(const AdamWState& state)
      : weights(matrix(state.weights)),
        first_moment(matrix(state.first_moment)),
        second_moment(matrix(state.second_moment)) {}
};

/// The vectors of a state at one place, read at once and written at once.
template <typename Vector>
struct Place {
  Vector w, m, v;

  __device__ static Place read(const State& state, int64_t row, int64_t column) {
    return {__ldcs(state.weights.row<Vector>(row) + column),
            __ldcs(state.first_moment.row<Vector>(row) + column),
            __ldcs(state.second_moment.row<Vector>(row) + column)};
  }

  __device__ void write(const State& state, int64_t row, int64_t column) const {
    __stcs(state.weights.row<Vector>(row) + column, w);
    __stcs(state.first_moment.row<Vector>(row) + column, m);
    __stcs(state.second_moment.row<Vector>(row) + column, v);
  }
};

// As on the CPU, where moments among the denormal floats would be slow.
__device__ float flushed(float moment) { return fabsf(moment) < FLT_MIN ? 0 : moment; }

template <typename Vector>
__device__ void make_step(const AdamWStep& step, Vector gradient, Place<Vector>& place) {
#pragma unroll
  for (int p = 0; p < kSize<Vector>; ++p) {
    const float g = part(gradient, p);
    const float m = flushed(step.beta1 * part(place.m, p) + step.rest1 * g);
    const float v = flushed(step.beta2 * part(place.v, p) + step.rest2 * g * g);
    const float move = step.pull * m / (step.inflation * sqrtf(v) + step.epsilon);
    part(place.w, p) = step.weight_factor * part(place.w, p) - move;
    part(place.m, p) = m;
    part(place.v, p) = v;
  }
}

template <typename Vector>
__global__ void __launch_bounds__(kThreads) step_all(AdamWStep step, Matrix<const float> gradient,
                                                     int64_t vectors, int64_t W, State state) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t row = place / W;
  const int64_t column = place % W;
  auto values = Place<Vector>::read(state, row, column);
  make_step(step, __ldcs(gradient.row<Vector>(row) + column), values);
  values.write(state, row, column);
}

/// A RowGradient as kernels take it.
struct Terms {
  const int32_t* rows;
  const int32_t* offsets;
  const int32_t* points;
  const float* weights;
  Matrix<const float> source;

  explicit Terms(const RowGradient& gradient)
      : rows(gradient.rows.view().data<int32_t>()),
        offsets(gradient.offsets.view().data<int32_t>()),
        points(gradient.points.view().data<int32_t>()),
        weights(gradient.weights.view().data<float>()),
        source(matrix(gradient.source)) {}
};

// A warp has strips of rows: what leads to a row is looked up once for several of its vectors,
// which are on their way while the gradient is summed.
constexpr int kVectors = 2;

/// The state at the strip of this thread, of rows of W vectors.
template <typename Vector>
struct PlaceStrip {
  Place<Vector> at[kVectors];

  __device__ static PlaceStrip read(const State& state, int64_t row, int64_t first, int64_t W) {
    PlaceStrip strip{};
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int64_t i = first + j * kWarp;
      if (i < W) strip.at[j] = Place<Vector>::read(state, row, i);
    }
    return strip;
  }

  __device__ void write(const State& state, int64_t row, int64_t first, int64_t W) const {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int64_t i = first + j * kWarp;
      if (i < W) at[j].write(state, row, i);
    }
  }
};

template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    step_rows(AdamWStep step, int32_t steps, Terms terms, int64_t R, StripCut<kVectors> cut,
              int64_t W, State state, int32_t* done_steps) {
  const int64_t r = cut.row();
  const int64_t first = cut.first();
  if (r >= R) return;
  const int32_t row = terms.rows[r];
  auto places = PlaceStrip<Vector>::read(state, row, first, W);
  const auto gradient = sum_terms<Vector, kVectors>(
      terms.offsets[r], terms.offsets[r + 1], [&](int64_t e) { return terms.points[e]; },
      [&](int64_t e) { return terms.weights[e]; }, terms.source, first, W);
#pragma unroll
  for (int j = 0; j < kVectors; ++j) make_step(step, gradient.at[j], places.at[j]);
  places.write(state, row, first, W);
  if (first == 0) done_steps[row] = steps;
}

// --- catching up, in the notation of row_catch_up.h ----------------------------------------------

/// AdamWSegment, in types that kernels can use.
struct Segment {
  float centre;
  float moments[7];
};
static_assert(sizeof(Segment) == sizeof(AdamWSegment));

/// What rows make up for, by the steps they have done.
struct CatchUps {
  int32_t first;  // the fewest steps done
  int32_t steps;  // to get to
  float epsilon;
  const int32_t* places;  // in `of`, of each number of done steps from `first` on
  const AdamWCatchUp* of;
  const Segment* segments;
};

template <typename Vector>
__device__ void make_up(const AdamWCatchUp& catch_up, const CatchUps& all, Place<Vector>& place) {
#pragma unroll
  for (int p = 0; p < kSize<Vector>; ++p) {
    const float root = sqrtf(part(place.v, p));
    float pull = 0;
    for (int32_t at = catch_up.segments_begin; at < catch_up.segments_end; ++at) {
      const Segment& segment = all.segments[at];
      const float scaled = root * segment.centre;
      const float inverse = 1 / (scaled + all.epsilon);
      const float q = scaled * inverse;
      float sum = segment.moments[6];
#pragma unroll
      for (int j = 5; j >= 0; --j) sum = sum * q + segment.moments[j];
      pull += sum * inverse;
    }
    part(place.w, p) = catch_up.weight_factor * part(place.w, p) - part(place.m, p) * pull;
    part(place.m, p) = flushed(catch_up.first_factor * part(place.m, p));
    part(place.v, p) = flushed(catch_up.second_factor * part(place.v, p));
  }
}

// done [R] is what done_steps were of the rows [R].
template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    catch_up_rows(const int32_t* rows, const int32_t* done, CatchUps all, int64_t R,
                  StripCut<kVectors> cut, int64_t W, State state, int32_t* done_steps) {
  const int64_t r = cut.row();
  const int64_t first = cut.first();
  if (r >= R || done[r] == all.steps) return;
  const int32_t row = rows[r];
  auto places = PlaceStrip<Vector>::read(state, row, first, W);
  const AdamWCatchUp catch_up = all.of[all.places[done[r] - all.first]];
#pragma unroll
  for (int j = 0; j < kVectors; ++j) make_up(catch_up, all, places.at[j]);
  places.write(state, row, first, W);
  if (first == 0) done_steps[row] = all.steps;
}

// done [R] = done_steps of the rows [R], and seen [steps + 1] is set for the numbers among them.
__global__ void note_steps(const int32_t* done_steps, const int32_t* rows, int64_t R, int32_t* done,
                           uint8_t* seen) {
  const int64_t r = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (r >= R) return;
  done[r] = done_steps[rows[r]];
  seen[done[r]] = 1;
}

// The numbers from 0 to `last` - 1 that are set in seen [last + 1] on the GPU, rising.
std::vector<int32_t> numbers_in(const uint8_t* seen, int32_t last) {
  std::vector<uint8_t> here(last + 1);
  check_call(cudaMemcpyAsync(here.data(), seen, here.size(), cudaMemcpyDeviceToHost, stream()));
  check_call(cudaStreamSynchronize(stream()));
  std::vector<int32_t> numbers;
  for (int32_t t = 0; t < last; ++t) {
    if (here[t] != 0) numbers.push_back(t);
  }
  return numbers;
}

/// Values of the CPU on the GPU, for the time of one operator.
template <typename T>
class Sent {
 public:
  explicit Sent(const std::vector<T>& from) : copy_(static_cast<int64_t>(from.size())) {
    if (from.empty()) return;
    check_call(cudaMemcpyAsync(copy_.data(), from.data(), from.size() * sizeof(T),
                               cudaMemcpyHostToDevice, stream()));
  }
  const T* data() const { return copy_.data(); }

 private:
  Scratch<T> copy_;
};

// body(Vector(), W): rows of `width` floats are of W vectors.
template <typename Body>
void with_vectors(bool in_vectors, int64_t width, const Body& body) {
  if (in_vectors) {
    body(float4(), width / 4);
  } else {
    body(float(), width);
  }
}

}  // namespace

void adamw(const Context&, const AdamWSettings& settings, float rate, int64_t step,
           ConstTensorView gradient, AdamWState state) {
  const AdamWStep scalars(settings, rate, step);
  if (gradient.contiguous() && state.weights.contiguous() && state.first_moment.contiguous() &&
      state.second_moment.contiguous()) {
    // Without gaps between the rows, all elements are one row.
    const Shape whole{gradient.shape().elements()};
    gradient = gradient.reshaped(whole);
    state = {state.weights.reshaped(whole), state.first_moment.reshaped(whole),
             state.second_moment.reshaped(whole)};
  }
  with_vectors(in_float4({gradient, state.weights, state.first_moment, state.second_moment}),
               gradient.width(), [&](auto vector, int64_t W) {
                 const int64_t vectors = gradient.rows() * W;
                 launch(step_all<decltype(vector)>, ceil_div<int64_t>(vectors, kThreads),
                        dim3(kThreads), scalars, matrix(gradient), vectors, W, State(state));
               });
}

void adamw_catch_up(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                    ConstTensorView rows, AdamWState state, TensorView done_steps) {
  const int64_t R = rows.width();
  const auto steps = static_cast<int32_t>(rates.steps());
  const Scratch<int32_t> done(R);
  const Scratch<uint8_t> seen(steps + 1);
  check_call(cudaMemsetAsync(seen.data(), 0, steps + 1, stream()));
  launch(note_steps, ceil_div<int64_t>(R, kThreads), dim3(kThreads), done_steps.data<int32_t>(),
         rows.data<int32_t>(), R, done.data(), seen.data());
  const std::vector<int32_t> behind = numbers_in(seen.data(), steps);
  if (behind.empty()) return;

  // One row for each number of steps.
  const auto numbers = static_cast<int64_t>(behind.size());
  std::vector<int32_t> all(numbers);
  std::iota(all.begin(), all.end(), 0);
  const AdamWCatchUps catch_ups(context.pool(), settings, rates,
                                ConstTensorView(all.data(), {numbers}),
                                ConstTensorView(behind.data(), {numbers}));
  std::vector<int32_t> places(steps - behind.front());
  std::vector<AdamWCatchUp> of(numbers);
  for (int32_t i = 0; i < numbers; ++i) {
    places[behind[i] - behind.front()] = i;
    of[i] = catch_ups.after(behind[i]);
  }
  const Sent<int32_t> sent_places(places);
  const Sent<AdamWCatchUp> sent_of(of);
  const Sent<AdamWSegment> sent_segments(catch_ups.segments());
  const CatchUps sent{behind.front(),   steps,
                      settings.epsilon, sent_places.data(),
                      sent_of.data(),   reinterpret_cast<const Segment*>(sent_segments.data())};
  with_vectors(in_float4({state.weights, state.first_moment, state.second_moment}),
               state.weights.width(), [&](auto vector, int64_t W) {
                 const StripCut<kVectors> cut(W);
                 launch(catch_up_rows<decltype(vector)>, cut.blocks(R), cut.block(),
                        rows.data<int32_t>(), done.data(), sent, R, cut, W, State(state),
                        done_steps.data<int32_t>());
               });
}

void adamw_rows(const Context&, const AdamWSettings& settings, const RateHistory& rates,
                const RowGradient& gradient, AdamWState state, TensorView done_steps) {
  const AdamWStep scalars(settings, rates.rate(rates.steps()), rates.steps());
  with_vectors(in_float4({gradient.source, state.weights, state.first_moment, state.second_moment}),
               state.weights.width(), [&](auto vector, int64_t W) {
                 const StripCut<kVectors> cut(W);
                 launch(step_rows<decltype(vector)>, cut.blocks(gradient.size()), cut.block(),
                        scalars, static_cast<int32_t>(rates.steps()), Terms(gradient),
                        gradient.size(), cut, W, State(state), done_steps.data<int32_t>());
               });
}

}  // namespace elias::cuda
