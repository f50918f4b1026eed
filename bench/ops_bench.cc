// The operators' speeds, as ratios to what the machine can do (bench/roofline.h) in the same run.
//
//   ops_bench THREADS ROUNDS [PART]    our operators, or those whose names have that part
//   ops_bench --openblas ROUNDS        OpenBLAS's matrix product, with as many threads as it takes
//
// prints one JSON object: of each case its bound, the median of the seconds it took and of the
// ratios of its speed to the bound's, which is measured before and after every run. The cases are
// in ops_cases.cc; bench/ops.py runs this program.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/ops_cases.h"
#include "bench/roofline.h"

namespace elias::bench {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

// The bounds: bytes or floating-point operations a second at this moment.
class Roofline {
 public:
  Roofline(ThreadPool& pool, Arrays& arrays) : pool_(pool), arrays_(arrays) {
    for (const Isa isa : supported_isas()) {
      if (isa > Isa::kScalar && isa <= Isa::kAvx512) widest_ = isa;
    }
  }

  double rate(Bound bound) {
    if (bound == Bound::kCopy) {
      const auto work = [&] { copy(pool_, arrays_.x.span<float>(), arrays_.z.span<float>()); };
      return 2 * Arrays::kBytes / seconds_of(work);
    }
    if (bound == Bound::kRead) {
      return Arrays::kBytes / seconds_of([&] { largest(pool_, arrays_.x.span<float>()); });
    }
    double operations = 0;
    const Isa isa = bound == Bound::kBFloat16 ? supported_isas().back() : widest_;
    const double seconds = seconds_of([&] { operations = multiply_add(pool_, isa); });
    return operations / seconds;
  }

 private:
  ThreadPool& pool_;
  Arrays& arrays_;
  Isa widest_ = Isa::kAvx2;
};

// What the rounds of a case gave.
struct Measured {
  std::vector<double> seconds;
  std::vector<double> bounds;  // bytes or operations a second; of kPass, its amount a second
  std::vector<double> ratios;
};

// The bound is measured before and after each run: a machine that is shared changes its speed by
// the second, and both must be seen in the same state.
void measure_once(const Case& what, const Context& context, Roofline& roofline,
                  Measured& measured) {
  const auto bound = [&] {
    return what.bound == Bound::kPass ? what.amount / seconds_of([&] { what.pass(context); })
                                      : roofline.rate(what.bound);
  };
  // Products find their operands where the step before them would have left them.
  if (what.bound == Bound::kFloat32 || what.bound == Bound::kBFloat16) what.work(context);
  const double before = bound();
  const double seconds = seconds_of([&] { what.work(context); });
  const double around = (before + bound()) / 2;
  measured.seconds.push_back(seconds);
  measured.bounds.push_back(around);
  measured.ratios.push_back(what.amount / seconds / around);
}

Json measure_operators(int threads, int rounds, std::string_view part) {
  ThreadPool pool(threads);
  const Context context(pool);
  Arrays arrays;
  Roofline roofline(pool, arrays);
  std::vector<Case> cases = all_cases(arrays);
  std::erase_if(cases, [&](const Case& one) { return one.name.find(part) == std::string::npos; });
  std::vector<Measured> measured(cases.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < cases.size(); ++i) {
      measure_once(cases[i], context, roofline, measured[i]);
    }
  }
  Json result = Json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    const double seconds = median(measured[i].seconds);
    result.push_back({{"name", cases[i].name},
                      {"bound", kBoundNames[static_cast<int>(cases[i].bound)]},
                      {"seconds", seconds},
                      {"rate", cases[i].amount / seconds},
                      {"bound rate", median(measured[i].bounds)},
                      {"ratio", median(measured[i].ratios)}});
  }
  return {{"threads", pool.threads()}, {"cases", result}};
}

// The peer: cblas_sgemm of the OpenBLAS that the machine has.
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
    const Tensor x = filled({N, D});
    const Tensor w = filled({O, D});
    Tensor y({N, O}, DType::kFloat32);
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
      seconds.push_back(seconds_of([&, n = N, d = D, o = O] {
        sgemm(kRowMajor, kAsIs, kTransposed, n, o, d, 1, x.span<float>().data(), d,
              w.span<float>().data(), d, 0, y.span<float>().data(), o);
      }));
    }
    cases.push_back({{"name", shape.name()}, {"rate", shape.operations() / median(seconds)}});
  }
  return {{"core", core()}, {"cases", cases}};
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  using namespace elias::bench;
  if (argc != 3 && argc != 4) {
    fmt::print(stderr,
               "usage: ops_bench THREADS ROUNDS [PART]\n       ops_bench --openblas ROUNDS\n");
    return 2;
  }
  if (elias::supported_isas().back() == elias::Isa::kScalar) {
    fmt::print(stderr, "ops_bench: the bounds are measured with AVX2, which this machine lacks\n");
    return 2;
  }
  const int rounds = std::atoi(argv[2]);
  const Json result = std::string_view(argv[1]) == "--openblas"
                          ? measure_openblas(rounds)
                          : measure_operators(std::atoi(argv[1]), rounds, argc > 3 ? argv[3] : "");
  fmt::print("{}\n", result.dump());
}
