// The instruction sets the CPU operators are compiled for, and which of them this machine has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace elias {

/// In rising order: a machine that has one has those before it. kAvx512Bf16 is AVX-512 and
/// products of bf16 vectors, kAmx that and bf16 tiles.
enum class Isa : uint8_t { kScalar, kAvx2, kAvx512, kAvx512Bf16, kAmx };

constexpr std::string_view name_of(Isa isa) {
  constexpr std::string_view kNames[] = {"scalar", "avx2", "avx512", "avx512bf16", "amx"};
  return kNames[static_cast<int>(isa)];
}

/// What processor and kernel allow, lowest first; permission for tiles is asked of the kernel here.
const std::vector<Isa>& supported_isas();

/// The supported one of that name. Throws InputError if there is none.
Isa isa_named(std::string_view name);

/// The highest supported one, or the lower one that the environment variable ELIAS_ISA names.
Isa chosen_isa();

}  // namespace elias
