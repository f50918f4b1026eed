// Parameters, how they are stepped, and what of them a checkpoint keeps.
//
// A group is a set of parameters with one rate schedule (ELIAS, section C: encoder, clusters,
// labels, edges). Rates rise linearly over the first steps and fall linearly to zero. A parameter
// is stepped with a dense gradient, or with those of few rows: then rows that were left alone are
// caught up where they are next needed (ops/update/adamw.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/io/safetensors.h"
#include "ops/context.h"
#include "ops/lookup/row_gradient.h"
#include "ops/tensor.h"
#include "ops/update/adamw.h"
#include "ops/update/rate_history.h"

namespace elias {

/// The rate of step t (from 1) of `steps`: rises to `peak` over the first `warm_up` share of them,
/// then falls to zero; never zero itself.
float scheduled_rate(float peak, float warm_up, int64_t step, int64_t steps);

/// Which learned values a view shows.
enum class Weights : uint8_t { kCurrent, kAveraged };

struct ParameterOptions {
  std::string name;   // in checkpoints
  float rate = 0;     // at its peak
  float decay = 0;    // weight decay
  bool rows = false;  // stepped by rows
};

class Parameter {
 public:
  /// All zero. Parameters stepped by rows are [V, D].
  Parameter(Shape shape, ParameterOptions options);

  const std::string& name() const { return options_.name; }
  const ParameterOptions& options() const { return options_; }
  ConstTensorView weights() const { return weights_; }
  /// To set initial values.
  TensorView weights() { return weights_; }
  /// Room for a dense gradient, zero after each step. Not for parameters stepped by rows.
  TensorView gradient();

  /// The dense gradient's step.
  void step(const Context& context, float rate);
  /// Before a forward pass reads `rows` [R] (int32, distinct).
  void catch_up(const Context& context, ConstTensorView rows);
  /// All rows: at the end, and wherever weights are read as a whole. In place: it must be done at
  /// the same steps in every run of the same training. Nothing to do for dense gradients.
  void catch_up_all(const Context& context);
  /// The step of rows that were caught up before.
  void step(const Context& context, float rate, const RowGradient& gradient);

  /// The peak rate and the weight decay from now on.
  void set_rates(float rate, float decay);
  /// Forgets moments, steps, gradient and average, and keeps the weights as they are (catch_up_all
  /// before, unless they are to be set anew).
  void restart();

  /// Adds the weights, with all rows caught up, to their running average.
  void average(const Context& context);
  /// The weights, or their average if there is one.
  ConstTensorView values(Weights which) const;

  /// Everything that decides what comes next, under "name.what". The parameter must stay as it is
  /// until the file is written.
  void save(SafetensorsWriter& writer) const;
  /// Throws InputError if the file has no such parameter of this shape, stepped in this way.
  void load(const SafetensorsFile& file);

 private:
  AdamWSettings settings() const;
  AdamWState state();
  std::string key(std::string_view what) const;

  ParameterOptions options_;
  Tensor weights_, first_moment_, second_moment_;
  Tensor gradient_;               // made when first asked for
  Tensor done_steps_, all_rows_;  // [V] of parameters stepped by rows
  RateHistory rates_;             // of the steps so far
  Tensor average_;
  int64_t averaged_ = 0;  // how many weights the average is of
};

/// Uniform in [-bound, bound), a function of seed, stream and place.
void fill_uniform(const Context& context, TensorView weights, float bound, uint64_t seed,
                  uint64_t stream);

}  // namespace elias
