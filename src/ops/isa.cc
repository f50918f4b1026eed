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

// Linux gives a process the state of the tiles (8 KiB a thread) only if it asks: without that the
// first tile instruction ends in SIGILL. Tiles of threads started later are covered too.
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx_bf16() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kAmxBf16 = 1U << 22;
  constexpr unsigned kAmxTile = 1U << 24;
  // Rounding the operands to bf16 is an AVX-512 instruction that every processor with tiles has.
  return (d & kAmxBf16) != 0 && (d & kAmxTile) != 0 && may_use_tiles();
}

std::vector<Isa> detect() {
  std::vector<Isa> found = {Isa::kScalar};
  if (!has_avx2()) return found;
  found.push_back(Isa::kAvx2);
  if (!has_avx512()) return found;
  found.push_back(Isa::kAvx512);
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
