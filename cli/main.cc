// elias: the command line. Exit codes: 0 done, 2 bad input or arguments, 70 a bug of ours,
// 128 + s stopped in good order by the signal s.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "cli/number_range.h"
#include "cli/verbs.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kBug = 70;

std::string verb_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + verb->get_name();
  }
  return names;
}

// What is printed for arguments that cannot be parsed: what is wrong and where help is.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const auto chosen = app->get_subcommands();
  const auto extra = app->remaining();
  if (chosen.empty() && !extra.empty() && !extra.front().starts_with('-')) {
    return fmt::format("elias: there is no verb {}: use one of {}\n", elias::shown(extra.front()),
                       verb_names(*app));
  }
  if (chosen.empty() && extra.empty()) {
    return fmt::format("elias: no verb is given: use one of {}, or --help\n", verb_names(*app));
  }
  std::string help = "elias";
  const CLI::App* verb = app;
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    help += " " + verb->get_name();
  }
  // A misspelt option is named before the one that is then missing.
  const auto strays = app->remaining(true);
  if (verb != app && !strays.empty()) {
    return fmt::format("elias: {} is not an argument of {}: see {} --help\n",
                       elias::shown(strays.front()), help, help);
  }
  return fmt::format("elias: {}: see {} --help\n", error.what(), help);
}

// To the program and to each of its verbs, so that the help of each shows it.
void add_threads(CLI::App& app, elias::cli::Global& global) {
  app.add_option("--threads", global.threads, "Threads to use; 0 means all of the machine's")
      ->check(elias::cli::number_range(0, 1024))
      ->type_name("N");
  for (CLI::App* verb : app.get_subcommands({})) add_threads(*verb, global);
}

int run(int argc, char** argv) {
  CLI::App app("Extreme multi-label classification: text in, ranked label names out.", "elias");
  app.set_version_flag("--version", "elias " ELIAS_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.failure_message(usage_error);
  elias::cli::Global global;
  elias::cli::add_check(app, global);
  elias::cli::add_convert(app, global);
  elias::cli::add_embed(app, global);
  elias::cli::add_evaluate(app, global);
  elias::cli::add_explain(app, global);
  elias::cli::add_export(app, global);
  elias::cli::add_fit(app, global);
  elias::cli::add_inspect(app, global);
  elias::cli::add_predict(app, global);
  elias::cli::add_pretrain(app, global);
  elias::cli::add_prune(app, global);
  elias::cli::add_serve(app, global);
  elias::cli::add_synth(app, global);
  elias::cli::add_tfidf(app, global);
  elias::cli::add_threshold(app, global);
  elias::cli::add_tokenize(app, global);
  elias::cli::add_vocab(app, global);
  add_threads(app, global);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"help"}) arguments = {"--help"};
  std::reverse(arguments.begin(), arguments.end());  // the order in which CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  elias::remove_temporary_files_on_signals();
  try {
    const int code = run(argc, argv);
    // What was printed is only out when it is flushed: a full disk shows here.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw elias::InputError("standard output: cannot be written ({}): free space and try again",
                              elias::system_error_text());
    }
    return code;
  } catch (const elias::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal;
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
