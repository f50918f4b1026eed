// What a server is told when it starts: where it listens, and how much it takes from one client.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace elias::server {

struct Limits {
  size_t body = size_t{8} << 20;  // bytes of a request's body, where that is held in memory
  size_t text = size_t{1} << 20;  // bytes of a text
  size_t texts = 1024;            // of a request
  std::chrono::milliseconds answer{10'000};    // from a request to its answer
  std::chrono::milliseconds patience{10'000};  // with a client that sends or reads slowly
  std::chrono::milliseconds idle{60'000};      // of a connection between two requests
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;           // 0: any that is free
  size_t connections = 256;  // that are served at the same time
  std::string token = {};    // that requests must bear; empty: none
  Limits limits = {};
};

}  // namespace elias::server
