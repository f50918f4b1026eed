// The verbs of the command line. Each lives in a file of its own that registers its options and
// sets a callback; main only calls them and turns exceptions into exit codes.
#pragma once

#include <CLI/App.hpp>

namespace elias::cli {

/// Options every verb shares.
struct Global {
  int threads = 0;  // 0: one per hardware thread
};

void add_evaluate(CLI::App& app, Global& global);

}  // namespace elias::cli
