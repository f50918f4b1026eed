// Which labels of a list are a point's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/csr.h"

namespace elias {

/// targets [n] of the labels [n], both rising, as are those of the point.
inline void find_targets(std::span<const int32_t> labels, const CsrRow& positives,
                         std::span<float> targets) {
  std::fill(targets.begin(), targets.end(), 0.0F);
  size_t place = 0;
  for (size_t i = 0; i < positives.size(); ++i) {
    const auto label = static_cast<int32_t>(positives.columns[i]);
    place = static_cast<size_t>(
        std::lower_bound(labels.begin() + static_cast<ptrdiff_t>(place), labels.end(), label) -
        labels.begin());
    if (place == labels.size()) return;
    if (labels[place] == label) targets[place] = positives.values[i];
  }
}

}  // namespace elias
