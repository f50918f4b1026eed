// Signals for verbs that work for hours: the first one asks to stop, which saves a checkpoint, a
// second one stops at once.
#pragma once

namespace elias::cli {

/// From now on, until remove_temporary_files_on_signals() is called.
void stop_in_good_order_on_signals();

/// The signal that asked to stop; 0 if none did.
int asked_to_stop();

/// While it lives, a write to a pipe that nobody reads fails and does not end the process: hours of
/// work are worth more than what is printed about them.
class BrokenPipesIgnored {
 public:
  BrokenPipesIgnored();
  ~BrokenPipesIgnored();
  BrokenPipesIgnored(const BrokenPipesIgnored&) = delete;
  BrokenPipesIgnored& operator=(const BrokenPipesIgnored&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace elias::cli
