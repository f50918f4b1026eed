// By what two runs are told apart: hashes of what they learn from and of what they start with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/hash.h"
#include "data/text_rows.h"
#include "encoder/pretrained.h"

namespace elias {

/// `hash` and the values together.
template <typename T>
uint64_t mixed(uint64_t hash, std::span<const T> values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return mix_bits(hash ^ hash_bytes({bytes, values.size_bytes()}), 0x9E3779B97F4A7C15);
}

inline uint64_t mixed(uint64_t hash, const TextRows& texts) {
  hash = mixed(hash, std::span<const uint64_t>(texts.offsets));
  return mixed(hash, std::span<const char>(texts.bytes));
}

/// Sixteen digits, as descriptions of runs have it.
std::string fingerprint_text(uint64_t hash);

/// Of all that training starts with: sizes, rates of dropout, the tokeniser, pooling, weights.
std::string fingerprint_of(const Pretrained& start);

/// The part of a run's identity that says what it starts with (train/run_folder.h), which follows
/// from settings and stands behind them, so that a setting is named where that is what differs.
/// `start` may be null: of a run that starts with no transformer.
nlohmann::ordered_json start_identity(const Pretrained* start);

}  // namespace elias
