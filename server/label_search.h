// Labels by part of their names, as somebody types it.
//
// One pass over all names, in one piece of memory and without capitals: a million names take some
// ten milliseconds, and nothing has to be kept but the names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace elias::server {

class LabelSearch {
 public:
  explicit LabelSearch(const Model& model);

  /// The labels whose names contain `part`, whatever the case of ASCII letters: that of this name
  /// first, then those that begin with it, then the others; of equals the one with the most
  /// training points, then the lower one. At most `most`.
  std::vector<uint32_t> find(std::string_view part, size_t most) const;

 private:
  std::string names_;              // each with a line end, which no name has
  std::vector<uint64_t> offsets_;  // [L + 1], where names begin
  std::vector<uint64_t> points_;   // [L]
};

}  // namespace elias::server
