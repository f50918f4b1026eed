// AdamW on the GPU: a thread a vector of four weights, which are read and written once.
//
// What rows must make up for is a matter of a few numbers for each row. They are computed on the
// CPU, as for CPU tensors, and sent along, for which the steps the rows have done must come back: a
// catch-up waits for the device.
#include <cfloat>
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
class Place {
 public:
  __device__ Place(const State& state, int64_t row, int64_t column)
      : weights_(state.weights.row<Vector>(row) + column),
        first_moment_(state.first_moment.row<Vector>(row) + column),
        second_moment_(state.second_moment.row<Vector>(row) + column),
        w(*weights_),
        m(*first_moment_),
        v(*second_moment_) {}

  __device__ void write() const {
    *weights_ = w;
    *first_moment_ = m;
    *second_moment_ = v;
  }

 private:
  Vector* weights_;
  Vector* first_moment_;
  Vector* second_moment_;

 public:
  Vector w, m, v;
};

// As on the CPU, where moments among the denormal floats would be slow.
__device__ float flushed(float moment) { return fabsf(moment) < FLT_MIN ? 0 : moment; }

template <typename Vector>
__device__ void make_step(const AdamWStep& step, Vector gradient, Place<Vector> place) {
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
  place.write();
}

template <typename Vector>
__global__ void __launch_bounds__(kThreads) step_all(AdamWStep step, Matrix<const float> gradient,
                                                     int64_t vectors, int64_t W, State state) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t row = place / W;
  const int64_t column = place % W;
  make_step(step, gradient.row<Vector>(row)[column], Place<Vector>(state, row, column));
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

template <typename Vector>
__global__ void __launch_bounds__(kThreads, 4)
    step_rows(AdamWStep step, int32_t steps, Terms terms, int64_t vectors, int64_t W, State state,
              int32_t* done_steps) {
  const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= vectors) return;
  const int64_t r = place / W;
  const int64_t column = place % W;
  const int32_t row = terms.rows[r];
  const auto gradient = sum_terms<Vector>(
      terms.offsets[r], terms.offsets[r + 1], [&](int64_t e) { return terms.points[e]; },
      [&](int64_t e) { return terms.weights[e]; }, terms.source, column);
  make_step(step, gradient, Place<Vector>(state, row, column));
  if (column == 0) done_steps[row] = steps;
}

/// AdamWSegment, in types that kernels can use.
struct Segment {
  float centre;
  float moments[7];
};
static_assert(sizeof(Segment) == sizeof(AdamWSegment));

// done [R] is what done_steps were of the rows [R]; in the notation of row_catch_up.h.
template <typename Vector>
__global__ void __launch_bounds__(kThreads)
    catch_up_rows(const int32_t* rows, const int32_t* done, const AdamWCatchUp* catch_ups,
                  const Segment* segments, float epsilon, int32_t steps, int64_t vectors, int64_t W,
                  State state, int32_t* done_steps) {
  const int64_t index = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= vectors) return;
  const int64_t r = index / W;
  const int64_t column = index % W;
  if (done[r] == steps) return;
  const AdamWCatchUp catch_up = catch_ups[r];
  Place<Vector> place(state, rows[r], column);
#pragma unroll
  for (int p = 0; p < kSize<Vector>; ++p) {
    const float root = sqrtf(part(place.v, p));
    float pull = 0;
    for (int32_t at = catch_up.segments_begin; at < catch_up.segments_end; ++at) {
      const Segment& segment = segments[at];
      const float scaled = root * segment.centre;
      const float inverse = 1 / (scaled + epsilon);
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
  place.write();
  if (column == 0) done_steps[rows[r]] = steps;
}

__global__ void gather(const int32_t* from, const int32_t* rows, int64_t R, int32_t* to) {
  const int64_t r = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (r < R) to[r] = from[rows[r]];
}

template <typename T>
void send(const std::vector<T>& from, void* to) {
  check_call(
      cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream()));
}

// body(Vector(), vectors, W): how `rows` rows of `width` floats are cut.
template <typename Body>
void with_vectors(bool in_vectors, int64_t rows, int64_t width, const Body& body) {
  if (in_vectors) {
    body(float4(), rows * (width / 4), width / 4);
  } else {
    body(float(), rows * width, width);
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
               gradient.rows(), gradient.width(), [&](auto vector, int64_t vectors, int64_t W) {
                 launch(step_all<decltype(vector)>, ceil_div<int64_t>(vectors, kThreads),
                        dim3(kThreads), scalars, matrix(gradient), vectors, W, State(state));
               });
}

void adamw_catch_up(const Context& context, const AdamWSettings& settings, const RateHistory& rates,
                    ConstTensorView rows, AdamWState state, TensorView done_steps) {
  const int64_t R = rows.width();
  if (R == 0) return;
  const auto steps = static_cast<int32_t>(rates.steps());
  Tensor done({R}, DType::kInt32, Device::kCuda);
  launch(gather, ceil_div<int64_t>(R, kThreads), dim3(kThreads), done_steps.data<int32_t>(),
         rows.data<int32_t>(), R, done.view().data<int32_t>());

  // On the CPU row r of `here` is that of the r-th of the rows.
  const Tensor here = copy_to(Device::kCpu, done);
  Tensor all({R}, DType::kInt32);
  for (int64_t r = 0; r < R; ++r) all.span<int32_t>()[r] = static_cast<int32_t>(r);
  const AdamWCatchUps catch_ups(context.pool(), settings, rates, all, here);
  std::vector<AdamWCatchUp> of_row(R);
  for (int64_t r = 0; r < R; ++r) {
    const int32_t before = here.span<int32_t>()[r];
    if (before < steps) of_row[r] = catch_ups.after(before);
  }
  const Scratch<AdamWCatchUp> sent(R);
  const Scratch<Segment> segments(static_cast<int64_t>(catch_ups.segments().size()));
  send(of_row, sent.data());
  send(catch_ups.segments(), segments.data());

  with_vectors(in_float4({state.weights, state.first_moment, state.second_moment}), R,
               state.weights.width(), [&](auto vector, int64_t vectors, int64_t W) {
                 launch(catch_up_rows<decltype(vector)>, ceil_div<int64_t>(vectors, kThreads),
                        dim3(kThreads), rows.data<int32_t>(), done.view().data<int32_t>(),
                        sent.data(), segments.data(), settings.epsilon, steps, vectors, W,
                        State(state), done_steps.data<int32_t>());
               });
}

void adamw_rows(const Context&, const AdamWSettings& settings, const RateHistory& rates,
                const RowGradient& gradient, AdamWState state, TensorView done_steps) {
  const AdamWStep scalars(settings, rates.rate(rates.steps()), rates.steps());
  with_vectors(in_float4({gradient.source, state.weights, state.first_moment, state.second_moment}),
               gradient.size(), state.weights.width(),
               [&](auto vector, int64_t vectors, int64_t W) {
                 launch(step_rows<decltype(vector)>, ceil_div<int64_t>(vectors, kThreads),
                        dim3(kThreads), scalars, static_cast<int32_t>(rates.steps()),
                        Terms(gradient), vectors, W, State(state), done_steps.data<int32_t>());
               });
}

}  // namespace elias::cuda
