#include "ops/isa.h"

#include <fmt/ranges.h>

#include <cstdlib>

#include "base/errors.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace elias {
namespace {

#if defined(__x86_64__) && defined(__linux__)

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

struct Features {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// What the processor says of itself; nothing of a leaf that it does not have.
Features features(unsigned leaf) {
  Features found;
  if (__get_cpuid_count(7, leaf, &found.a, &found.b, &found.c, &found.d) == 0) return {};
  return found;
}

bool has_avx512_bf16() {
  constexpr unsigned kAvx512Bf16 = 1U << 5;
  return features(0).a >= 1 && (features(1).a & kAvx512Bf16) != 0;
}

// Linux gives a process the state of the tiles (8 KiB a thread) only if it asks: without that the
// first tile instruction ends in SIGILL. Tiles of threads started later are covered too.
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx_bf16() {
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;
  const unsigned found = features(0).d;
  return (found & kAmxBf16) != 0 && (found & kAmxTile) != 0 && may_use_tiles();
}

std::vector<Isa> detect() {
  std::vector<Isa> found = {Isa::kScalar};
  if (!has_avx2()) return found;
  found.push_back(Isa::kAvx2);
  if (!has_avx512()) return found;
  found.push_back(Isa::kAvx512);
  if (!has_avx512_bf16()) return found;
  found.push_back(Isa::kAvx512Bf16);
  if (has_amx_bf16()) found.push_back(Isa::kAmx);
  return found;
}

#else

std::vector<Isa> detect() { return {Isa::kScalar}; }

#endif

}  // namespace

const std::vector<Isa>& supported_isas() {
  static const std::vector<Isa> isas = detect();
  return isas;
}

Isa isa_named(std::string_view name) {
  for (const Isa isa : supported_isas()) {
    if (name_of(isa) == name) return isa;
  }
  std::vector<std::string_view> names;
  for (const Isa isa : supported_isas()) names.push_back(name_of(isa));
  throw InputError("ELIAS_ISA={} is not an instruction set of this machine: take one of {}",
                   shown(name), fmt::join(names, ", "));
}

Isa chosen_isa() {
  static const Isa isa = [] {
    const char* wanted = std::getenv("ELIAS_ISA");
    return wanted == nullptr || *wanted == '\0' ? supported_isas().back() : isa_named(wanted);
  }();
  return isa;
}

}  // namespace elias
