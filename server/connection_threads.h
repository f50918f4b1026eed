// The threads of connections, one each, made as they are needed and bounded in number.
//
// What becomes of the connection that is one too many? If it were refused, sixty browsers with an
// open page and nothing to ask would lock out everybody else. So a connection without a request is
// asked to leave, which HTTP lets a server do at any time and clients expect. If all are busy the
// new one waits its turn, which comes, as no request takes longer than its time. And if as many
// wait as are served, no more are accepted: the rest wait in the kernel, at no cost to this
// process.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/idle_signal.h"

namespace elias::server {

class ConnectionThreads : public httplib::TaskQueue {
 public:
  ConnectionThreads(size_t most, IdleSignal& idle) : most_(most), idle_(idle) {}

  void enqueue(std::function<void()> serve) override;
  /// Returns when every connection has ended.
  void shutdown() override;

 private:
  bool add_thread();
  void work();

  const size_t most_;
  IdleSignal& idle_;
  std::mutex mutex_;
  std::condition_variable more_, room_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;  // threads that wait for a connection
  bool stopped_ = false;
};

}  // namespace elias::server
