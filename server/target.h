// The target of a request: /v1/models/green%20tea/index?limit=20 in its parts, decoded.
//
// The library decodes a path before anybody can split it, so that a slash in a name would part it;
// and it reads a query with more goodwill than rigour. Hence this.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elias::server {

struct Target {
  std::vector<std::string> segments;  // "/" has one, which is empty
  std::vector<std::pair<std::string, std::string>> query;

  /// Throws ApiError 400 if the target is not well formed, or says a thing twice.
  static Target parse(std::string_view target);
};

}  // namespace elias::server
