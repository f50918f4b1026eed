// Propensities: how likely a true label is to have been recorded at all, after Jain et al. (KDD
// 2016). Rare labels are missed more often, so a hit on one is worth more.
//
// The counts must come from the training matrix. Counting on the test matrix gives other, higher
// figures that cannot be compared with published ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elias {

/// The two constants of 1/p_l = 1 + C (n_l + B)^-A, with C = (ln N - 1)(B + 1)^A, N training points
/// and n_l of them with label l. C is taken as 0 where it would be negative (N < 3).
struct Propensity {
  std::string name = "default";
  double a = 0.55, b = 1.5;
};

/// "amazon" (0.6, 2.6), "wikipedia" (0.5, 0.4), "default" (0.55, 1.5), or "A,B", both above 0.
/// Throws InputError on anything else.
Propensity propensity_from_name(std::string_view name);

/// 1/p of each label, at least 1.
std::vector<double> inverse_propensities(std::span<const uint64_t> counts, uint64_t points,
                                         const Propensity& propensity);

}  // namespace elias
