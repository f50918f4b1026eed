// Files that are part of the program: the page's, and the description of the interface. embed.cmake
// makes the source from the files themselves.
#pragma once

#include <span>
#include <string_view>

namespace elias::server {

struct Asset {
  std::string_view name;  // "app.js"
  std::string_view bytes;
};

std::span<const Asset> assets();

}  // namespace elias::server
