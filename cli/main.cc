// elias: the command line. Exit codes: 0 done, 2 bad input or arguments, 70 a bug of ours.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/errors.h"
#include "cli/verbs.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kBug = 70;

int run(int argc, char** argv) {
  CLI::App app("Extreme multi-label classification: text in, ranked label names out.", "elias");
  app.set_version_flag("--version", "elias " ELIAS_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  elias::cli::Global global;
  app.add_option("--threads", global.threads, "Threads to use; 0 means all of the machine's")
      ->check(CLI::NonNegativeNumber);
  elias::cli::add_check(app, global);
  elias::cli::add_convert(app, global);
  elias::cli::add_synth(app, global);
  elias::cli::add_evaluate(app, global);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const elias::InputError& error) {
    fmt::print(stderr, "elias: {}\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "elias: out of memory: use a machine with more, or less data\n");
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "elias: {}\nelias: this is a bug in elias; please report it\n",
               error.what());
    return kBug;
  }
}
