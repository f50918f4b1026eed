// The verbs of the command line. Each lives in a file of its own, which adds its options to the
// program and a callback that does the work; main only turns exceptions into exit codes.
#pragma once

#include <CLI/App.hpp>

namespace elias::cli {

/// Options every verb shares. They are read when a callback runs, after parsing.
struct Global {
  int threads = 0;  // 0: one per hardware thread
};

/// Thrown by a verb that a signal ended in good order: the exit code is 128 + the signal, as the
/// shell has it.
struct Interrupted {
  int signal;
};

void add_check(CLI::App& app, const Global& global);
void add_convert(CLI::App& app, const Global& global);
void add_embed(CLI::App& app, const Global& global);
void add_evaluate(CLI::App& app, const Global& global);
void add_explain(CLI::App& app, const Global& global);
void add_export(CLI::App& app, const Global& global);
void add_fit(CLI::App& app, const Global& global);
void add_inspect(CLI::App& app, const Global& global);
void add_predict(CLI::App& app, const Global& global);
void add_pretrain(CLI::App& app, const Global& global);
void add_prune(CLI::App& app, const Global& global);
void add_serve(CLI::App& app, const Global& global);
void add_synth(CLI::App& app, const Global& global);
void add_tfidf(CLI::App& app, const Global& global);
void add_threshold(CLI::App& app, const Global& global);
void add_tokenize(CLI::App& app, const Global& global);

void add_vocab(CLI::App& app, const Global& global);

}  // namespace elias::cli
