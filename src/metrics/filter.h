// Taking back predictions that must not count, such as a product recommended for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "data/csr.h"

namespace elias {

/// Removes the given (row, label) pairs from `scores`: the lists get shorter, nothing moves up from
/// beyond their end. Pairs that are not there are ignored. Returns how many were removed.
size_t remove_pairs(Csr& scores, std::vector<std::pair<uint64_t, LabelId>> pairs);

}  // namespace elias
