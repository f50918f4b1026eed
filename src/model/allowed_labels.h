// Which labels may be predicted, worked out once for all points.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace elias {

class AllowedLabels {
 public:
  /// All of them.
  AllowedLabels() = default;

  /// Those with a 1 in `flags` [L].
  explicit AllowedLabels(std::vector<uint8_t> flags) : flags_(std::move(flags)) {
    for (size_t label = 0; label < flags_.size(); ++label) {
      if (flags_[label] != 0) list_.push_back(static_cast<int32_t>(label));
    }
  }

  bool all() const { return flags_.empty(); }
  std::span<const uint8_t> flags() const { return flags_; }  // [L]; empty if all are allowed
  std::span<const int32_t> list() const { return list_; }    // rising; empty if all are allowed

 private:
  std::vector<uint8_t> flags_;
  std::vector<int32_t> list_;
};

}  // namespace elias
