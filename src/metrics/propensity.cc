#include "metrics/propensity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/errors.h"

namespace elias {
namespace {

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

Propensity propensity_from_name(std::string_view name) {
  const std::array<Propensity, 3> known{{{"amazon", 0.6, 2.6}, {"wikipedia", 0.5, 0.4}, {}}};
  for (const Propensity& propensity : known) {
    if (propensity.name == name) return propensity;
  }
  const size_t comma = name.find(',');
  if (comma != std::string_view::npos) {
    const auto a = positive_number(name.substr(0, comma));
    const auto b = positive_number(name.substr(comma + 1));
    if (a && b) return {"custom", *a, *b};
  }
  throw InputError(
      "propensity {} is not known: give amazon, wikipedia, default, or two numbers above 0 as "
      "A,B (0.55,1.5)",
      shown(name));
}

std::vector<double> inverse_propensities(std::span<const uint64_t> counts, uint64_t points,
                                         const Propensity& propensity) {
  const auto [name, a, b] = propensity;
  const double log_points = std::log(static_cast<double>(std::max<uint64_t>(points, 1)));
  const double c = std::max(0.0, log_points - 1) * std::pow(b + 1, a);
  std::vector<double> result(counts.size());
  for (size_t l = 0; l < counts.size(); ++l) {
    result[l] = 1 + c * std::pow(static_cast<double>(counts[l]) + b, -a);
  }
  return result;
}

}  // namespace elias
