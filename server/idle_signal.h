// A bell that connections without a request listen to: one rings it to have a single connection
// leave, or all of them.
#pragma once

#include <atomic>

namespace elias::server {

class IdleSignal {
 public:
  /// Throws InputError if the system has no file descriptor for it.
  IdleSignal();
  ~IdleSignal();
  IdleSignal(const IdleSignal&) = delete;
  IdleSignal& operator=(const IdleSignal&) = delete;

  void ask_one();
  void ask_all();
  /// Nobody has to leave any more, unless all were asked.
  void withdraw();

  /// Readable while somebody is asked.
  int descriptor() const { return descriptor_; }
  /// Whether it is the caller who is to leave.
  bool taken();

 private:
  void ring_again_for_all();

  int descriptor_;
  std::atomic<bool> all_{false};
};

}  // namespace elias::server
