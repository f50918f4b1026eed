// The server of HTTP: connections, limits, errors and who may ask. What is answered is the routes'.
//
//   HttpServer server(options, std::move(router));
//   server.bind();
//   std::thread listener([&] { server.serve(); });
//   ...
//   server.stop();    // requests under way are answered, then serve() returns
//
// cpp-httplib parses requests and writes answers. Connections are ours (connection.h), because what
// the library has for them cannot be bounded; so is the choice of the route, because it needs the
// methods of a path, and what a request may do before its body is read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/options.h"
#include "server/router.h"

namespace elias::server {

/// How many answers had each status.
class StatusCounts {
 public:
  void add(int status) { ++counts_.at(static_cast<size_t>(status)); }
  /// Those that there were, by status.
  std::vector<std::pair<int, uint64_t>> counts() const;

 private:
  std::array<std::atomic<uint64_t>, 600> counts_{};
};

class HttpServer {
 public:
  HttpServer(ServerOptions options, Router router, std::shared_ptr<StatusCounts> counts);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the port. Throws InputError if host and port cannot be listened on.
  int bind();
  /// Blocks until the server was stopped and all connections have ended. False if it was not told
  /// to stop, but the system takes no connections any more.
  bool serve();
  /// From now on nothing new is taken: idle connections are closed, others after their answer.
  void stop();

  const Router& router() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace elias::server
