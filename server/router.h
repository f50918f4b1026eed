// Which code answers which request: a table of methods and paths.
//
//   router.add("GET", "/v1/models/{model}/index", [&](Call& call) { ... call.parameters[0] ... });
#pragma once

#include <httplib.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/target.h"

namespace elias::server {

/// The body of a request, read when a route asks for it.
class RequestBody {
 public:
  using Receiver = std::function<void(std::string_view bytes)>;

  virtual ~RequestBody() = default;
  /// All of it. Throws ApiError 413 if it is larger than the server takes.
  virtual std::string read() = 0;
  /// Piece by piece, however much it is.
  virtual void stream(const Receiver& receiver) = 0;
};

/// One request on its way through a route. Query parameters that the route does not take are
/// refused before it is called.
struct Call {
  const httplib::Request& request;
  const Target& target;
  std::vector<std::string> parameters;  // of the path, in order
  RequestBody& body;
  httplib::Response& response;

  /// The value of a query parameter.
  std::optional<std::string> query(std::string_view name) const;
};

/// What a route wants to be told before anything else happens.
struct RouteRules {
  std::vector<std::string> query = {};  // the parameters that it takes
  bool tokenless = false;               // asked without a token
  bool always = false;                  // answered while the server stops, too
};

struct Route {
  std::string method, pattern;
  std::vector<std::string> segments;  // of the pattern; "{...}" stands for any but an empty one
  RouteRules rules;
  std::function<void(Call&)> handler;
};

class Router {
 public:
  void add(const std::string& method, const std::string& pattern, RouteRules rules,
           std::function<void(Call&)> handler);

  /// HEAD is as GET. Throws ApiError: 404 if there is no such path, 405 if it is asked by another
  /// method.
  const Route& find(std::string_view method, const Target& target) const;
  /// The methods of a path: "GET, HEAD".
  std::string methods_of(const Target& target) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

/// What `target` has in the place of the pattern's "{...}".
std::vector<std::string> parameters_of(const Route& route, const Target& target);

}  // namespace elias::server
