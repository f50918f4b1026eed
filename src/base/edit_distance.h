// How far apart two words are: to guess what someone meant who wrote a name that is not there.
#pragma once

#include <cstddef>
#include <string_view>

namespace elias {

/// The fewest bytes to add, take away or exchange to make one word of the other.
size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace elias
