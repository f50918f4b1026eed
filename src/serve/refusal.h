// Why a request was not answered, though nothing is wrong with it: a third family beside the errors
// of users and our own, which whoever asked may simply try again.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace elias {

enum class RefusalKind : uint8_t {
  kQueueFull,  // too much is waiting already
  kOverdue,    // its deadline passed before it was answered
  kCancelled,  // nobody waits for it any more
  kStopping,   // the service takes nothing new
};

class Refusal : public std::runtime_error {
 public:
  Refusal(RefusalKind kind, const std::string& sentence)
      : std::runtime_error(sentence), kind_(kind) {}

  RefusalKind kind() const { return kind_; }

 private:
  RefusalKind kind_;
};

}  // namespace elias
