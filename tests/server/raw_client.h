// A client that sends what it likes, byte by byte if need be.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace elias::server {

class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Says that nothing more comes.
  void end() const { ::shutdown(socket_, SHUT_WR); }

  /// One answer with its body, which has a Content-Length.
  std::string answer() {
    while (left_.find("\r\n\r\n") == std::string::npos && more()) {
    }
    const size_t head = left_.find("\r\n\r\n");
    if (head == std::string::npos) return std::exchange(left_, "");
    const size_t at = left_.find("Content-Length: ");
    const size_t length = at < head ? std::stoul(left_.substr(at + 16)) : 0;
    while (left_.size() < head + 4 + length && more()) {
    }
    const std::string answer = left_.substr(0, head + 4 + length);
    left_.erase(0, answer.size());
    return answer;
  }
  /// All that comes until the server ends the connection.
  std::string rest() {
    while (more()) {
    }
    return std::exchange(left_, "");
  }

 private:
  bool more() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_, bytes, sizeof(bytes), 0);
    if (got > 0) left_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  int socket_;
  std::string left_;
};

}  // namespace elias::server
