#include "server/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace elias::server {
namespace {

constexpr size_t kAnswerAtOnce = 65536;  // bytes that are gathered before some are sent
constexpr size_t kBytesPerSecond = 1024;

int milliseconds_of(std::chrono::steady_clock::duration time) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  return static_cast<int>(std::clamp<int64_t>(count, 0, 1'000'000));
}

}  // namespace

// --- between requests ----------------------------------------------------------------------------

bool Connection::wait_for_request() {
  if (!flush()) return false;
  waited_ = {};
  moved_ = head_ = lines_ = 0;
  line_.clear();
  chunks_.reset();
  in_head_ = true;
  begun_ = body_pending_ = head_too_large_ = head_malformed_ = timed_out_ = false;
  if (in_begin_ < in_end_) return true;

  const auto until = Clock::now() + limits_.idle;
  while (true) {
    std::array<pollfd, 2> events{{{socket_, POLLIN, 0}, {idle_.descriptor(), POLLIN, 0}}};
    const int ready = ::poll(events.data(), events.size(), milliseconds_of(until - Clock::now()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    // A request that is there is answered, whoever was asked to leave.
    if (events[0].revents != 0) return fill();
    if (idle_.taken()) return false;
  }
}

void Connection::close() {
  flush();
  if (is_spoilt()) {
    ::shutdown(socket_, SHUT_WR);
    hear_out();
  }
  ::close(socket_);
}

void Connection::hear_out() {
  const auto until = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < until) {
    pollfd event{socket_, POLLIN, 0};
    if (::poll(&event, 1, milliseconds_of(until - Clock::now())) <= 0) return;
    if (::recv(socket_, in_.data(), in_.size(), MSG_DONTWAIT) <= 0) return;
  }
}

// --- within one
// ------------------------------------------------------------------------------------

void Connection::head_is_read(Body body) {
  in_head_ = false;
  body_pending_ = body != Body::kNone;
  if (body == Body::kChunked) chunks_.emplace();
}

// Reads what is there, or waits for it. What was written comes first: the client may wait for it.
bool Connection::fill() {
  if (!out_.empty() && !flush()) return false;
  in_begin_ = in_end_ = 0;
  while (true) {
    const ssize_t got = ::recv(socket_, in_.data(), in_.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_end_ = static_cast<size_t>(got);
      moved_ += in_end_;
      return true;
    }
    if (got == 0) return false;
    if (errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(POLLIN)) return false;
  }
}

bool Connection::flush() {
  size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t took =
        ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (took >= 0) {
      sent += static_cast<size_t>(took);
      moved_ += static_cast<size_t>(took);
      continue;
    }
    if (errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(POLLOUT)) break;
  }
  const bool all = sent == out_.size();
  out_.clear();  // what could not be sent has nobody to read it
  return all;
}

bool Connection::wait_for(short events) {
  const auto allowed = limits_.patience + std::chrono::seconds(moved_ / kBytesPerSecond);
  while (waited_ < allowed) {
    pollfd event{socket_, events, 0};
    const auto start = Clock::now();
    const int ready = ::poll(&event, 1, milliseconds_of(allowed - waited_));
    waited_ += Clock::now() - start;
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  timed_out_ = true;
  return false;
}

// --- of the library
// --------------------------------------------------------------------------------

ssize_t Connection::read(char* into, size_t size) {
  if (in_begin_ == in_end_ && !fill()) return timed_out_ ? -1 : 0;
  begun_ = true;
  const size_t take = std::min(size, in_end_ - in_begin_);
  // As at the end of the input: the library then answers, and the answer says why.
  if (in_head_ && !takes_head(take, in_.data() + in_begin_)) return 0;
  // Not as at the end: the library would go on with what it has of the line.
  if (chunks_ && !chunks_->takes({in_.data() + in_begin_, take})) return -1;
  std::memcpy(into, in_.data() + in_begin_, take);
  in_begin_ += take;
  return static_cast<ssize_t>(take);
}

// The library reads heads byte by byte. It looks at some headers with regular expressions, whose
// cost in stack grows with the line: hence a bound of its own on lines.
bool Connection::takes_head(size_t size, const char* bytes) {
  head_ += size;
  const size_t longest = lines_ == 0 ? 2 * kLongestLine : kLongestLine;
  head_too_large_ = head_too_large_ || head_ > kMostHead || line_.size() + size > longest;
  if (head_too_large_ || head_malformed_) return false;
  line_.append(bytes, size);
  if (line_.back() == '\n') {
    head_malformed_ = lines_ > 0 && !is_header_line(line_);
    line_.clear();
    ++lines_;
  }
  return !head_malformed_;
}

ssize_t Connection::write(const char* bytes, size_t size) {
  out_.append(bytes, size);
  if (out_.size() >= kAnswerAtOnce && !flush()) return -1;
  return static_cast<ssize_t>(size);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

}  // namespace elias::server
