#include "server/idle_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/errors.h"

namespace elias::server {

IdleSignal::IdleSignal() : descriptor_(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw InputError("no file can be opened ({}): raise the limit, as 'ulimit -n' shows it",
                     system_error_text());
  }
}

IdleSignal::~IdleSignal() { ::close(descriptor_); }

void IdleSignal::ask_one() { ::eventfd_write(descriptor_, 1); }

void IdleSignal::ask_all() {
  all_ = true;
  ::eventfd_write(descriptor_, 1);
}

bool IdleSignal::taken() {
  if (all_) return true;  // it stays readable for the others
  eventfd_t one = 0;
  const bool taken = ::eventfd_read(descriptor_, &one) == 0;
  ring_again_for_all();
  return taken;
}

void IdleSignal::withdraw() {
  eventfd_t one = 0;
  while (::eventfd_read(descriptor_, &one) == 0) {
  }
  ring_again_for_all();
}

// All may have been asked in the meantime, and what was read have been that.
void IdleSignal::ring_again_for_all() {
  if (all_) ::eventfd_write(descriptor_, 1);
}

}  // namespace elias::server
