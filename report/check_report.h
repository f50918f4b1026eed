// What `elias check` prints: a table for people, or JSON.
#pragma once

#include "data/check/doctor.h"

namespace elias {

/// 0 for an empty whole.
inline double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void print_check_report(const CheckReport& report);
void print_check_json(const CheckReport& report);

}  // namespace elias
