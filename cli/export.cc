// elias export: the encoder of a model as a folder that Hugging Face's transformers read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "encoder/pretrained.h"
#include "model/model.h"

namespace elias::cli {
namespace {

struct Options {
  std::string model, out;
  int64_t member = 1;
};

constexpr const char* kExamples = R"(Examples:
  elias export --model model/ --out encoder/

In Python, the vectors that the model has of texts, before any scaling to unit length:
  from transformers import AutoModel, AutoTokenizer
  tokens = AutoTokenizer.from_pretrained("encoder")(texts, padding=True, return_tensors="pt")
  states = AutoModel.from_pretrained("encoder")(**tokens).last_hidden_state
  vectors = states[:, 0])";

void check_out(const std::string& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(out, ignored) || std::filesystem::is_empty(out, ignored)) return;
  throw InputError("{}: is there already: give --out the name of a new folder", out);
}

void run(const Options& options, const Global& global) {
  check_out(options.out);
  ThreadPool pool(global.threads);
  const Context context(pool);
  const Model model = Model::load(options.model, context);
  if (model.tokens() == nullptr) {
    throw InputError(
        "{}: its encoder is a bag of words, which Hugging Face has no form for: give a model that "
        "was trained with --encoder",
        options.model);
  }
  const auto members = static_cast<int64_t>(model.members().size());
  if (options.member > members) {
    throw InputError("--member {}: the model has {}", options.member, members);
  }
  const Member& member = model.members()[static_cast<size_t>(options.member - 1)];
  write_pretrained(options.out, model.tokens()->transformer,
                   member.weights.encoder.transformer().weights, model.tokens()->words,
                   model.tokens()->max_length);
}

}  // namespace

void add_export(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "export", "Write a model's transformer as a folder that Hugging Face's transformers read");
  verb->footer(kExamples);
  verb->add_option("--model", options->model, "The folder that 'elias fit --encoder' wrote")
      ->required()
      ->type_name("FOLDER");
  verb->add_option("--out", options->out, "A new folder")->required()->type_name("FOLDER");
  verb->add_option("--member", options->member, "Of an ensemble, the member whose encoder it is")
      ->check(number_range(int64_t{1}, int64_t{16}))
      ->type_name("N")
      ->capture_default_str();
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
