// A parameter is its weights and what AdamW and the average keep beside them; the arithmetic is in
// ops/update/.
#include "train/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/random.h"
#include "data/io/stored_tensors.h"
#include "ops/update/running_average.h"

namespace elias {
namespace {

constexpr size_t kValuesPerChunk = 16384;

// Zeros in place of what was there, which is freed first: the tensor may be most of the memory.
void renew(Tensor& tensor, Shape shape, DType dtype) {
  tensor = Tensor();
  tensor = Tensor(shape, dtype);
}

bool any_set(ConstTensorView tensor) {
  return std::ranges::any_of(tensor.span<float>(), [](float value) { return value != 0; });
}

}  // namespace

float scheduled_rate(float peak, float warm_up, int64_t step, int64_t steps) {
  ELIAS_ASSERT(step >= 1 && step <= steps && warm_up >= 0 && warm_up <= 1);
  const auto share =
      static_cast<int64_t>(std::llround(double{warm_up} * static_cast<double>(steps)));
  const int64_t top = std::max<int64_t>(1, share);  // the step with the peak rate
  const int64_t from_zero = step <= top ? step : steps + 1 - step;
  const int64_t whole_way = step <= top ? top : steps + 1 - top;
  return static_cast<float>(double{peak} * static_cast<double>(from_zero) /
                            static_cast<double>(whole_way));
}

Parameter::Parameter(Shape shape, ParameterOptions options)
    : options_(std::move(options)), weights_(shape, DType::kFloat32) {
  ELIAS_ASSERT(!options_.rows || shape.rank() == 2);
  restart();
}

TensorView Parameter::gradient() {
  ELIAS_ASSERT(!options_.rows);
  if (!gradient_) gradient_ = Tensor(weights_.shape(), DType::kFloat32);
  return gradient_;
}

void Parameter::step(const Context& context, float rate) {
  const auto values = gradient().span<float>();
  rates_.add(rate);
  adamw(context, settings(), rate, rates_.steps(), gradient_, state());
  context.pool().for_chunks(values.size(), kValuesPerChunk, [&](size_t, size_t begin, size_t end) {
    std::ranges::fill(values.subspan(begin, end - begin), 0.0F);
  });
}

void Parameter::catch_up(const Context& context, ConstTensorView rows) {
  ELIAS_ASSERT(options_.rows);
  adamw_catch_up(context, settings(), rates_, rows, state(), done_steps_);
}

void Parameter::catch_up_all(const Context& context) {
  if (options_.rows) catch_up(context, all_rows_);
}

void Parameter::step(const Context& context, float rate, const RowGradient& gradient) {
  ELIAS_ASSERT(options_.rows);
  rates_.add(rate);
  adamw_rows(context, settings(), rates_, gradient, state(), done_steps_);
}

void Parameter::set_rates(float rate, float decay) {
  options_.rate = rate;
  options_.decay = decay;
}

void Parameter::restart() {
  renew(first_moment_, weights_.shape(), DType::kFloat32);
  renew(second_moment_, weights_.shape(), DType::kFloat32);
  gradient_ = Tensor();
  rates_ = RateHistory();
  average_ = Tensor();
  averaged_ = 0;
  done_steps_ = Tensor();
  all_rows_ = Tensor();
  if (!options_.rows) return;
  done_steps_ = Tensor({weights_.shape()[0]}, DType::kInt32);
  all_rows_ = Tensor({weights_.shape()[0]}, DType::kInt32);
  const auto rows = all_rows_.span<int32_t>();
  std::iota(rows.begin(), rows.end(), 0);
}

void Parameter::average(const Context& context) {
  catch_up_all(context);
  if (!average_) average_ = Tensor(weights_.shape(), DType::kFloat32);
  running_average(context, weights_, ++averaged_, average_);
}

ConstTensorView Parameter::values(Weights which) const {
  return which == Weights::kAveraged && averaged_ > 0 ? average_ : weights_;
}

void Parameter::save(SafetensorsWriter& writer) const {
  writer.add(key("weights"), stored(weights_));
  writer.add(key("first_moment"), stored(first_moment_));
  writer.add(key("second_moment"), stored(second_moment_));
  writer.add(key("rates"), rates_.rates());
  writer.add(key("averaged"), std::span(&averaged_, 1));
  if (averaged_ > 0) writer.add(key("average"), stored(average_));
  if (options_.rows) writer.add(key("done_steps"), stored(done_steps_));
  // Between the batches that share a step.
  if (gradient_ && any_set(gradient_)) writer.add(key("gradient"), stored(gradient_));
}

void Parameter::load(const SafetensorsFile& file) {
  restart();
  const auto read = [&](std::string_view what, Tensor& to) {
    if (!to) to = Tensor(weights_.shape(), DType::kFloat32);
    copy(view_of(file, key(what), to.dtype(), to.shape()), to);
  };
  const auto refuse = [&] {
    throw InputError("{}: {} was not trained in the way it is now: start anew", file.name(),
                     name());
  };
  const auto has = [&](std::string_view what) { return file.tensors().contains(key(what)); };
  read("weights", weights_);
  read("first_moment", first_moment_);
  read("second_moment", second_moment_);
  rates_ = RateHistory(file.vector<float>(key("rates")));
  const auto averaged = file.vector<int64_t>(key("averaged"));
  if (averaged.size() != 1 || averaged[0] < 0 || has("done_steps") != options_.rows) {
    refuse();
  }
  averaged_ = averaged[0];
  if (averaged_ > 0) read("average", average_);
  if (options_.rows) read("done_steps", done_steps_);
  for (const int32_t done : done_steps_ ? done_steps_.span<int32_t>() : std::span<int32_t>()) {
    if (done < 0 || done > rates_.steps()) refuse();
  }
  if (has("gradient")) read("gradient", gradient_);
}

AdamWSettings Parameter::settings() const {
  AdamWSettings settings;
  settings.weight_decay = options_.decay;
  return settings;
}

AdamWState Parameter::state() { return {weights_, first_moment_, second_moment_}; }

std::string Parameter::key(std::string_view what) const {
  return fmt::format("{}.{}", name(), what);
}

void fill_uniform(const Context& context, TensorView weights, float bound, uint64_t seed,
                  uint64_t stream) {
  const Random random(seed, stream);
  const auto values = weights.span<float>();
  context.pool().for_chunks(values.size(), kValuesPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      // 24 bits: exact in a float, so that none rounds up to the bound.
      const auto grid = static_cast<float>(random.bits(i) >> 40);
      values[i] = bound * (grid * 0x1p-23F - 1);
    }
  });
}

}  // namespace elias
