// Times the operators on a GPU, on random data of many times its cache, and prints one JSON object:
// for each operator its seconds, the fewest bytes it must move through memory and, for products,
// its floating-point operations. bench/ops_cuda.py puts them beside what the GPU can do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "ops/lookup/embedding_bag.h"
#include "ops/lookup/gather_dot.h"
#include "ops/lookup/top_k.h"
#include "ops/product/linear.h"
#include "ops/rows/convert.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/softmax_clamp.h"
#include "ops/update/adamw.h"

namespace elias {
namespace {

constexpr Device kGpu = Device::kCuda;
constexpr DType kFloat = DType::kFloat32;
constexpr DType kInt = DType::kInt32;

// The median of several runs of some calls each; `body` gets the number of the call.
double seconds_of(const std::function<void(int)>& body) {
  const auto time = [&](int calls) {
    synchronise(kGpu);
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) body(call);
    synchronise(kGpu);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return taken.count() / calls;
  };
  time(2);
  const int calls = std::clamp(static_cast<int>(0.02 / time(3)), 3, 200);
  std::vector<double> runs;
  for (int run = 0; run < 7; ++run) runs.push_back(time(calls));
  std::ranges::nth_element(runs, runs.begin() + 3);
  return runs[3];
}

// Random values in [low, high), the same every 2^23.
Tensor random_floats(Shape shape, float low = -1, float high = 1) {
  const int64_t size = shape.elements();
  const int64_t tile = std::min<int64_t>(size, int64_t{1} << 23);
  Tensor values({tile}, kFloat);
  const Random random(size, 0);
  for (int64_t i = 0; i < tile; ++i) {
    values.span<float>()[i] = low + (high - low) * static_cast<float>(random.uniform(i));
  }
  Tensor result(shape, kFloat, kGpu);
  const TensorView all = result.view().reshaped({size});
  for (int64_t begin = 0; begin < size; begin += tile) {
    const int64_t end = std::min(begin + tile, size);
    copy(values.view().slice(0, end - begin), all.slice(begin, end));
  }
  return result;
}

Tensor random_ids(Shape shape, int64_t bound) {
  Tensor ids(shape, kInt);
  RandomSequence random(bound, 1);
  for (int32_t& id : ids.span<int32_t>()) id = static_cast<int32_t>(random.below(bound));
  return copy_to(kGpu, ids);
}

Tensor empty(Shape shape, DType dtype = kFloat) { return Tensor(shape, dtype, kGpu); }

class Bench {
 public:
  void run() {
    rows();
    lookups();
    top_ks();
    updates();
    products();
    fmt::print("{{{}}}\n", fmt::join(lines_, ",\n "));
  }

 private:
  void measure(const std::string& name, double bytes, double operations,
               const std::function<void(int)>& body) {
    lines_.push_back(fmt::format(R"("{}": {{"seconds": {:.6g}, "bytes": {}, "operations": {}}})",
                                 name, seconds_of(body), bytes, operations));
  }
  void measure(const std::string& name, double bytes, const std::function<void()>& body) {
    measure(name, bytes, 0, [&](int) { body(); });
  }

  void rows() {
    for (const auto& [N, D] : {std::pair<int64_t, int64_t>(262144, 768), {65536, 4096}}) {
      const double size = 4.0 * static_cast<double>(N * D);
      const Tensor x = random_floats({N, D});
      const Tensor dy = random_floats({N, D});
      const Tensor gain = random_floats({D});
      const Tensor bias = random_floats({D});
      Tensor y = empty({N, D});
      Tensor mean = empty({N});
      Tensor inverse = empty({N});
      Tensor dgain = empty({D});
      Tensor dbias = empty({D});
      measure(fmt::format("layer norm, {} columns", D), 2 * size, [&] {
        layer_norm(context_, x, gain, bias, 1e-5F, y, {mean, inverse});
      });
      measure(fmt::format("layer norm backward, {} columns", D), 3 * size, [&] {
        layer_norm_backward(context_, dy, x, gain, {mean, inverse}, y, dgain, dbias);
      });
    }
    for (const auto& [N, C] : {std::pair<int64_t, int64_t>(262144, 1000), {32768, 8192}}) {
      const double size = 4.0 * static_cast<double>(N * C);
      const Tensor z = random_floats({N, C}, -5, 5);
      const Tensor ds = random_floats({N, C});
      Tensor s = empty({N, C});
      Tensor log_sum = empty({N});
      measure(fmt::format("softmax clamp, {} columns", C), 2 * size,
              [&] { softmax_clamp(context_, z, 10, s, log_sum); });
      measure(fmt::format("softmax clamp backward, {} columns", C), 3 * size,
              [&] { softmax_clamp_backward(context_, ds, z, log_sum, 10, s); });
    }
  }

  // A table of a million rows, of which points name 2^20: nearly every one is read from memory.
  void lookups() {
    const int64_t V = 1000000;
    const int64_t D = 768;
    const int64_t n = 1 << 20;
    const double row = 4.0 * D;
    const Tensor table = random_floats({V, D});
    {
      const int64_t N = 16384;
      Tensor offsets({N + 1}, kInt);
      for (int64_t i = 0; i <= N; ++i) {
        offsets.span<int32_t>()[i] = static_cast<int32_t>(i * (n / N));
      }
      const Tensor here = copy_to(kGpu, offsets);
      const Tensor ids = random_ids({n}, V);
      const Tensor weights = random_floats({n});
      Tensor y = empty({N, D});
      measure("embedding bag", row * static_cast<double>(n + N), [&] {
        embedding_bag(context_, {here, ids, weights}, table, y);
      });
    }
    const int64_t N = 4096;
    const int64_t K = n / N;
    const Tensor ids = random_ids({N, K}, V);
    const Tensor x = random_floats({N, D});
    const Tensor bias = random_floats({V});
    Tensor z = random_floats({N, K});
    Tensor dx = empty({N, D});
    measure("gather dot", row * static_cast<double>(n + N),
            [&] { gather_dot(context_, x, table, bias, ids, z); });
    measure("gather dot, input gradient", row * static_cast<double>(n + N),
            [&] { gather_dot_input_gradient(context_, z, table, ids, dx); });
    // Keys read, positions written: what a sort that needed one pass would move.
    measure("group by key", 8.0 * n, [&] { group_by_key(context_, ids, V); });
    const RowGradient gradient = gather_dot_weight_gradient(context_, z, x, ids, V);
    const auto R = static_cast<double>(gradient.size());
    Tensor expanded = empty({gradient.size(), D});
    measure("expand rows", row * (R + N), [&] { expand_rows(context_, gradient, expanded); });

    Tensor weights = random_floats({V, D});
    Tensor first = random_floats({V, D});
    Tensor second = random_floats({V, D}, 0, 1);
    Tensor done = empty({V}, kInt);
    RateHistory rates;
    rates.add(1e-4F);
    measure("adamw, rows", row * (6 * R + N), [&] {
      adamw_rows(context_, {}, rates, gradient, {weights, first, second}, done);
    });
    measure("adamw, catch-up", row * 6 * R, [&] {
      rates.add(1e-4F);
      adamw_catch_up(context_, {}, rates, gradient.rows, {weights, first, second}, done);
    });
  }

  void top_ks() {
    for (const auto& [N, L, k] : {std::tuple<int64_t, int64_t, int64_t>(4096, 262144, 100),
                                  {1024, 1310720, 100},
                                  {65536, 8192, 32}}) {
      const Tensor scores = random_floats({N, L});
      Tensor values = empty({N, k});
      Tensor ids = empty({N, k}, kInt);
      measure(fmt::format("top {} of {}", k, L), 4.0 * static_cast<double>(N * L),
              [&] { top_k(context_, scores, values, ids); });
    }
  }

  void updates() {
    const Shape shape{1 << 17, 1024};
    const Tensor gradient = random_floats(shape);
    Tensor weights = random_floats(shape);
    Tensor first = empty(shape);
    Tensor second = empty(shape);
    Tensor rounded = empty(shape, DType::kBFloat16);
    measure("convert", 6.0 * static_cast<double>(shape.elements()),
            [&] { convert(context_, gradient, rounded); });
    measure("adamw", 7 * 4.0 * static_cast<double>(shape.elements()), [&] {
      adamw(context_, {}, 1e-4F, 1, gradient, {weights, first, second});
    });
  }

  // The three forms of a product. Names say the precision and, if it is another, the type of the
  // rows.
  void products() {
    products(Precision::kBFloat16, DType::kBFloat16, "bf16");
    products(Precision::kBFloat16, kFloat, "bf16, float32 rows");
    products(Precision::kFloat32, kFloat, "float32");
  }

  // Inputs take turns, so that none is in cache.
  void products(Precision precision, DType dtype, const std::string& type) {
    constexpr int kTurns = 4;
    const int64_t N = 32768;
    const int64_t D = 768;
    const int64_t O = 3072;
    const double operations = 2.0 * static_cast<double>(N * D * O);
    const double bytes = static_cast<double>(size_of(dtype)) * static_cast<double>(N * (D + O)) +
                         4.0 * static_cast<double>(O * D);
    const Tensor x = random_rows({kTurns * N, D}, dtype);
    const Tensor dy = random_rows({kTurns * N, O}, dtype);
    const Tensor w = random_floats({O, D});
    const Tensor bias = random_floats({O});
    Tensor y = empty({N, O}, dtype);
    Tensor dx = empty({N, D}, dtype);
    Tensor dw = empty({O, D});
    const auto turn = [&](const Tensor& all, int call) {
      const int64_t begin = call % kTurns * N;
      return all.view().slice(begin, begin + N);
    };
    const PackedWeights forward = pack_weights(context_, w, PackedFor::kForward, precision);
    const PackedWeights back = pack_weights(context_, w, PackedFor::kInputGradient, precision);
    measure("linear, " + type, bytes, operations,
            [&](int call) { linear(context_, turn(x, call), forward, {}, Activation::kNone, y); });
    measure("linear with bias and ReLU, " + type, bytes, operations, [&](int call) {
      linear(context_, turn(x, call), forward, bias, Activation::kRelu, y);
    });
    measure("linear input gradient, " + type, bytes, operations,
            [&](int call) { linear_input_gradient(context_, turn(dy, call), back, dx); });
    measure("linear weight gradient, " + type, bytes, operations, [&](int call) {
      linear_weight_gradient(context_, turn(dy, call), turn(x, call), precision, dw);
    });
    if (precision != Precision::kFloat32) return;
    Tensor db = empty({O});
    measure("linear bias gradient", 4.0 * static_cast<double>(N * O), 0,
            [&](int call) { linear_bias_gradient(context_, turn(dy, call), db); });
  }

  Tensor random_rows(Shape shape, DType dtype) {
    Tensor floats = random_floats(shape);
    if (dtype == kFloat) return floats;
    Tensor rows = empty(shape, dtype);
    convert(context_, floats, rows);
    return rows;
  }

  ThreadPool pool_;
  Context context_{pool_};
  std::vector<std::string> lines_;
};

}  // namespace
}  // namespace elias

int main() {
  try {
    elias::Bench().run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "ops_cuda_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
