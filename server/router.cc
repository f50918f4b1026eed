#include "server/router.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

bool stands_for_any(std::string_view segment) { return segment.starts_with('{'); }

bool matches(const Route& route, const Target& target) {
  return std::ranges::equal(
      route.segments, target.segments, [](const std::string& pattern, const std::string& segment) {
        return stands_for_any(pattern) ? !segment.empty() : pattern == segment;
      });
}

}  // namespace

std::optional<std::string> Call::query(std::string_view name) const {
  for (const auto& [key, value] : target.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void Router::add(const std::string& method, const std::string& pattern, RouteRules rules,
                 std::function<void(Call&)> handler) {
  routes_.push_back({.method = method,
                     .pattern = pattern,
                     .segments = Target::parse(pattern).segments,
                     .rules = std::move(rules),
                     .handler = std::move(handler)});
}

const Route& Router::find(std::string_view method, const Target& target) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : routes_) {
    if (route.method == wanted && matches(route, target)) return route;
  }
  const std::string path = fmt::format("/{}", fmt::join(target.segments, "/"));
  const std::string methods = methods_of(target);
  if (methods.empty()) {
    throw ApiError(404, "", "there is no {}: /openapi.json lists what there is", shown(path));
  }
  throw ApiError(405, "", "{} is not asked by {}: use {}", shown(path), shown(method), methods);
}

std::string Router::methods_of(const Target& target) const {
  std::vector<std::string> methods;
  for (const Route& route : routes_) {
    if (!matches(route, target)) continue;
    methods.push_back(route.method);
    if (route.method == "GET") methods.emplace_back("HEAD");
  }
  return fmt::format("{}", fmt::join(methods, ", "));
}

std::vector<std::string> parameters_of(const Route& route, const Target& target) {
  std::vector<std::string> parameters;
  for (size_t i = 0; i < route.segments.size(); ++i) {
    if (stands_for_any(route.segments[i])) parameters.push_back(target.segments[i]);
  }
  return parameters;
}

}  // namespace elias::server
