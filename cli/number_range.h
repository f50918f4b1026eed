// A check of an option's number, in place of CLI::Range: it says what is wrong in a sentence, and
// refuses what is not a number at all, NaN among them.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>

#include "base/errors.h"

namespace elias::cli {

template <typename T>
CLI::Validator number_range(T low, T high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    T value{};
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
    return fmt::format("{} is not a {} from {} to {}", shown(text),
                       std::is_integral_v<T> ? "whole number" : "number", low, high);
  };
  return CLI::Validator(check, "");
}

}  // namespace elias::cli
