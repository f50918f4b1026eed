// The operators' speeds, as ratios to what the machine can do (bench/roofline.h) in the same run.
//
//   ops_bench THREADS ROUNDS           our operators
//   ops_bench --openblas ROUNDS        OpenBLAS's matrix product, with as many threads as it takes
//
// prints one JSON object: the bounds, and of each case its bound, its amount of work (bytes or
// floating-point operations), the seconds of the fastest of ROUNDS, and its ratio to the bound.
// bench/ops.py runs it.
//
// A case is a function that makes a Case, and an entry in kCases. All cases take turns, so that
// other load on the machine falls on all of them and on the bounds.
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/roofline.h"
#include "ops/rows/dropout.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/relu.h"
#include "ops/rows/softmax_clamp.h"
#include "ops/update/running_average.h"

namespace elias::bench {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Work that is done again and again, and the least time that it took.
struct Timed {
  std::function<void()> work;
  double seconds = std::numeric_limits<double>::infinity();

  void run() { seconds = std::min(seconds, seconds_of(work)); }
};

// What a case is held against.
enum class Bound {
  kCopy,     // bytes, of which the fewest count: every operand read once, every result written once
  kFloat32,  // floating-point operations, by the widest vectors
  kTiles,    // floating-point operations, on bf16 tiles
  kPass,     // another piece of work, `pass`
};
constexpr std::string_view kBoundNames[] = {"copy", "float32", "bf16 tiles", "pass"};

struct Case {
  std::string name;
  Bound bound;
  double amount;
  std::function<void(const Context&)> work;
  std::function<void(const Context&)> pass;
};

// Operands of memory-bound cases: together, and each alone, well beyond any cache.
struct Arrays {
  static constexpr int64_t N = 131072;
  static constexpr int64_t D = 1024;
  static constexpr double kBytes = 4.0 * N * D;  // of x, y and z each

  Tensor x = filled({N, D});
  Tensor y = filled({N, D});
  Tensor z = filled({N, D});
  Tensor per_row[2] = {filled({N}), filled({N})};
  Tensor per_column[4] = {filled({D}), filled({D}), filled({D}), filled({D})};

  static Tensor filled(Shape shape) {
    Tensor tensor(shape, DType::kFloat32);
    uint32_t state = 1;
    for (float& value : tensor.span<float>()) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(state) * 0x1p-31F - 1;
    }
    return tensor;
  }
};

Case layer_norm_forward(Arrays& a) {
  return {"layer norm",
          Bound::kCopy,
          2 * a.kBytes,
          [&](const Context& context) {
            layer_norm(context, a.x, a.per_column[0], a.per_column[1], 1e-5F, a.y,
                       {a.per_row[0], a.per_row[1]});
          },
          {}};
}

Case layer_norm_back(Arrays& a) {
  return {"layer norm, backward",
          Bound::kCopy,
          3 * a.kBytes,
          [&](const Context& context) {
            layer_norm_backward(context, a.y, a.x, a.per_column[0], {a.per_row[0], a.per_row[1]},
                                a.z, a.per_column[2], a.per_column[3]);
          },
          {}};
}

Case softmax_forward(Arrays& a) {
  return {"softmax clamp",
          Bound::kCopy,
          2 * a.kBytes,
          [&](const Context& context) { softmax_clamp(context, a.x, 10, a.y, a.per_row[0]); },
          {}};
}

Case softmax_back(Arrays& a) {
  return {"softmax clamp, backward",
          Bound::kCopy,
          3 * a.kBytes,
          [&](const Context& context) {
            softmax_clamp_backward(context, a.y, a.x, a.per_row[0], 10, a.z);
          },
          {}};
}

Case relu_forward(Arrays& a) {
  return {"relu",
          Bound::kCopy,
          2 * a.kBytes,
          [&](const Context& context) { relu(context, a.x, a.y); },
          {}};
}

Case relu_back(Arrays& a) {
  return {"relu, backward",
          Bound::kCopy,
          3 * a.kBytes,
          [&](const Context& context) { relu_backward(context, a.x, a.y, a.z); },
          {}};
}

Case dropout_forward(Arrays& a) {
  return {
      "dropout",
      Bound::kCopy,
      2 * a.kBytes,
      [&](const Context& context) { dropout(context, a.x, 0.1F, {.seed = 1, .stream = 2}, a.y); },
      {}};
}

Case average(Arrays& a) {
  return {"running average",
          Bound::kCopy,
          3 * a.kBytes,
          [&](const Context& context) { running_average(context, a.x, 3, a.y); },
          {}};
}

constexpr Case (*kCases[])(Arrays&) = {
    relu_forward,       relu_back,       dropout_forward, average,
    layer_norm_forward, layer_norm_back, softmax_forward, softmax_back,
};

// The bounds, measured in the same rounds as the cases.
class Roofline {
 public:
  Roofline(ThreadPool& pool, Arrays& arrays)
      : copy_{[&] { copy(pool, arrays.x.span<float>(), arrays.y.span<float>()); }}, read_{[&] {
          largest(pool, arrays.x.span<float>());
        }} {
    for (const Isa isa : supported_isas()) {
      if (isa == Isa::kScalar) continue;
      peaks_.push_back({isa, 0, {[this, &pool, isa, i = peaks_.size()] {
                          peaks_[i].operations = multiply_add(pool, isa);
                        }}});
    }
  }

  void run() {
    copy_.run();
    read_.run();
    for (Peak& peak : peaks_) peak.timed.run();
  }

  // Bytes or floating-point operations a second; 0 where the machine has nothing of the kind.
  double rate(Bound bound) const {
    if (bound == Bound::kCopy) return 2 * Arrays::kBytes / copy_.seconds;
    double best = 0;
    for (const Peak& peak : peaks_) {
      if ((peak.isa == Isa::kAmx) == (bound == Bound::kTiles)) best = std::max(best, peak.rate());
    }
    return best;
  }

  Json json() const {
    Json result = {{"copy", rate(Bound::kCopy)}, {"read", Arrays::kBytes / read_.seconds}};
    for (const Peak& peak : peaks_) result[std::string(name_of(peak.isa))] = peak.rate();
    return result;
  }

 private:
  struct Peak {
    Isa isa;
    double operations;
    Timed timed;
    double rate() const { return operations / timed.seconds; }
  };

  Timed copy_;
  Timed read_;
  std::vector<Peak> peaks_;
};

Json measure_operators(int threads, int rounds) {
  ThreadPool pool(threads);
  const Context context(pool);
  Arrays arrays;
  Roofline roofline(pool, arrays);
  struct Entry {
    Case what;
    Timed work;
    Timed pass;
  };
  std::vector<Entry> entries;
  for (const auto make : kCases) {
    Case made = make(arrays);
    const Timed work{[&context, run = made.work] { run(context); }};
    const Timed pass{[&context, run = made.pass] { run(context); }};
    entries.push_back({std::move(made), work, pass});
  }
  for (int round = 0; round < rounds; ++round) {
    roofline.run();
    for (Entry& entry : entries) {
      entry.work.run();
      if (entry.what.bound == Bound::kPass) entry.pass.run();
    }
  }
  Json cases = Json::array();
  for (const auto& [what, work, pass] : entries) {
    const double rate = what.amount / work.seconds;
    const double ratio =
        what.bound == Bound::kPass ? pass.seconds / work.seconds : rate / roofline.rate(what.bound);
    cases.push_back({{"name", what.name},
                     {"bound", kBoundNames[static_cast<int>(what.bound)]},
                     {"seconds", work.seconds},
                     {"rate", rate},
                     {"ratio", ratio}});
  }
  return {{"threads", pool.threads()}, {"roofline", roofline.json()}, {"cases", cases}};
}

// The peer: y [N, O] = x [N, D] W' by cblas_sgemm of the OpenBLAS that the machine has.
struct ProductShape {
  int N, D, O;
  std::string name() const { return fmt::format("{}x{}x{}", N, D, O); }
  double operations() const { return 2.0 * N * D * O; }
};
constexpr ProductShape kProductShapes[] = {{4096, 768, 768}, {4096, 768, 3072}, {512, 768, 8192}};

using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const float* a, int a_stride, const float* b, int b_stride,
                       float beta, float* c, int c_stride);

Json measure_openblas(int rounds) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) throw InputError("OpenBLAS is not there: {}", dlerror());
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto core = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  ELIAS_ASSERT(sgemm != nullptr && core != nullptr);
  constexpr int kRowMajor = 101;
  constexpr int kAsIs = 111;
  constexpr int kTransposed = 112;
  Json cases = Json::array();
  for (const ProductShape& shape : kProductShapes) {
    const auto [N, D, O] = shape;
    const Tensor x = Arrays::filled({N, D});
    const Tensor w = Arrays::filled({O, D});
    Tensor y({N, O}, DType::kFloat32);
    Timed product{[&, n = N, d = D, o = O] {
      sgemm(kRowMajor, kAsIs, kTransposed, n, o, d, 1, x.span<float>().data(), d,
            w.span<float>().data(), d, 0, y.span<float>().data(), o);
    }};
    for (int round = 0; round < rounds; ++round) product.run();
    cases.push_back({{"name", shape.name()}, {"rate", shape.operations() / product.seconds}});
  }
  return {{"core", core()}, {"cases", cases}};
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  using namespace elias::bench;
  if (argc != 3) {
    fmt::print(stderr, "usage: ops_bench THREADS ROUNDS\n       ops_bench --openblas ROUNDS\n");
    return 2;
  }
  if (elias::supported_isas().back() == elias::Isa::kScalar) {
    fmt::print(stderr, "ops_bench: the bounds are measured with AVX2, which this machine lacks\n");
    return 2;
  }
  const int rounds = std::atoi(argv[2]);
  const Json result = std::string_view(argv[1]) == "--openblas"
                          ? measure_openblas(rounds)
                          : measure_operators(std::atoi(argv[1]), rounds);
  fmt::print("{}\n", result.dump());
}
