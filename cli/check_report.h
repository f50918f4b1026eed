// What `elias check` prints: a table for people, or JSON.
#pragma once

#include "data/check/doctor.h"

namespace elias::cli {

void print_check_report(const CheckReport& report);
void print_check_json(const CheckReport& report);

}  // namespace elias::cli
