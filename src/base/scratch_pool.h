// Working memory that is expensive to make, for as many threads as happen to need it at once.
//
// Work is cut finer than there are threads, so a scratch a piece of work would be made over and
// over, and one a thread (`thread_local`) would stay for the life of the thread. Which scratch a
// piece of work gets depends on timing: it must leave no trace of the work before.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace elias {

template <typename Scratch>
class ScratchPool {
 public:
  using Make = std::function<std::unique_ptr<Scratch>()>;
  explicit ScratchPool(Make make) : make_(std::move(make)) {}

  /// Calls body(scratch) with one that nobody else holds. If the body throws, it is given up.
  template <typename Body>
  void with(const Body& body) {
    std::unique_ptr<Scratch> scratch = take();
    if (!scratch) scratch = make_();
    body(*scratch);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

 private:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Scratch> scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }

  Make make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace elias
