// elias export: the encoder of a model as a folder that Hugging Face's transformers read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "base/new_folder.h"
#include "cli/member_option.h"
#include "cli/verbs.h"
#include "encoder/pretrained.h"
#include "model/model.h"

namespace elias::cli {
namespace {

struct Options {
  std::string model, out;
  MemberOption member;
};

constexpr const char* kExamples = R"(Examples:
  elias export --model model/ --out encoder/

In Python, the vectors that the model has of texts:
  from sentence_transformers import SentenceTransformer
  vectors = SentenceTransformer("encoder").encode(texts)

The folder is also one for AutoModel and AutoTokenizer of transformers, and for --encoder.)";

void check_out(const std::string& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(out, ignored)) return;
  if (std::filesystem::is_directory(out, ignored) && std::filesystem::is_empty(out, ignored))
    return;
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
  const TransformerEncoder& encoder = options.member.of(model).weights.encoder.transformer();
  const TokenInput& tokens = *model.tokens();
  NewFolder folder(options.out, pretrained_files());
  write_pretrained(folder.path(), tokens.transformer, encoder.weights, tokens.words,
                   tokens.max_length, encoder.unit);
  folder.commit();
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
  options->member.add_to(*verb);
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
