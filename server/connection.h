// A connection as the HTTP library sees it: bytes in, bytes out.
//
// It is one for all requests of a client, so that those sent ahead of their answers are kept; it
// sends an answer's head and body at one go; and it bounds what a client may cost. The head of a
// request may have so many bytes, and head and chunks must be well formed. And a client may keep us
// waiting for so long, and a second more with each KiB that moves: a slow one gets on with a large
// body, one that drips bytes does not. Time in which the client waits for us does not count.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "server/framing.h"
#include "server/idle_signal.h"
#include "server/options.h"

namespace elias::server {

class Connection : public httplib::Stream {
 public:
  static constexpr size_t kMostHead = 16384;    // bytes of a request line and headers
  static constexpr size_t kLongestLine = 4096;  // of a header; the request line may have twice that

  Connection(int socket, const Limits& limits, IdleSignal& idle)
      : socket_(socket), limits_(limits), idle_(idle) {}

  // --- between requests --------------------------------------------------------------------------

  /// Sends what is left of the last answer and waits. False if the connection is to end.
  bool wait_for_request();
  /// Ends it. A client that is still sending is heard out for a moment: it may not have read its
  /// answer yet, and would lose it.
  void close();

  // --- within one
  // ----------------------------------------------------------------------------------

  enum class Body : uint8_t { kNone, kPlain, kChunked };

  /// The head is through; a body follows, or none.
  void head_is_read(Body body);
  void body_is_read() { body_pending_ = false; }
  bool head_was_read() const { return !in_head_; }
  bool head_was_too_large() const { return head_too_large_; }
  bool timed_out() const { return timed_out_; }
  /// Whether it must end with this request: the next one cannot be told from the rest of it.
  bool is_spoilt() const { return begun_ && (in_head_ || body_pending_); }

  // --- of the library
  // ------------------------------------------------------------------------------

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* into, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  /// None, so that nobody goes round the stream.
  socket_t socket() const override { return -1; }

 private:
  using Clock = std::chrono::steady_clock;

  bool fill();
  bool flush();
  bool wait_for(short events);
  void hear_out();
  bool takes_head(size_t size, const char* bytes);

  const int socket_;
  const Limits& limits_;
  IdleSignal& idle_;

  std::array<char, 16384> in_{};
  size_t in_begin_ = 0, in_end_ = 0;
  std::string out_;

  Clock::duration waited_{};  // for the client, in this request
  size_t moved_ = 0;          // bytes, both ways
  size_t head_ = 0, lines_ = 0;
  std::string line_;                    // of the head, as far as it has come
  std::optional<ChunkFraming> chunks_;  // of the body, if it has any
  bool begun_ = false, in_head_ = true, body_pending_ = false;
  bool head_too_large_ = false, head_malformed_ = false, timed_out_ = false;
};

}  // namespace elias::server
