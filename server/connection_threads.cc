#include "server/connection_threads.h"

#include <system_error>
#include <utility>

namespace elias::server {

void ConnectionThreads::enqueue(std::function<void()> serve) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopped_ || waiting_.size() < most_; });
  waiting_.push_back(std::move(serve));
  if (waiting_.size() <= free_) {
    more_.notify_one();
  } else if (!add_thread()) {
    idle_.ask_one();
  }
}

// A machine that has no thread to give makes the bound lower, and does not end the server.
bool ConnectionThreads::add_thread() {
  if (threads_.size() >= most_) return false;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
    return false;
  }
  return true;
}

void ConnectionThreads::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  idle_.ask_all();
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++free_;
    more_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    --free_;
    if (waiting_.empty()) return;
    const auto serve = std::move(waiting_.front());
    waiting_.pop_front();
    // Else whoever was asked for it, and was busy, would be sent away when it comes back.
    if (waiting_.empty()) idle_.withdraw();
    lock.unlock();
    room_.notify_one();
    serve();
    lock.lock();
  }
}

}  // namespace elias::server
