#include "server/content_type.h"

#include <algorithm>

#include "base/errors.h"
#include "server/api_error.h"

namespace elias::server {

std::string content_type(const Call& call) {
  std::string type = call.request.get_header_value("Content-Type");
  type.resize(std::min(type.find(';'), type.size()));
  type.erase(type.find_last_not_of(" \t") + 1);
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type;
}

void require_content_type(const Call& call, const std::string& wanted) {
  const std::string type = content_type(call);
  if (type == wanted) return;
  throw ApiError(
      415, "", "{}: send the header 'Content-Type: {}'",
      type.empty() ? "the body has no type" : "the type " + shown(type) + " is not taken", wanted);
}

}  // namespace elias::server
