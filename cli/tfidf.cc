// elias tfidf: learns the words of texts, and turns texts into sparse features.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "base/errors.h"
#include "base/progress.h"
#include "cli/data_options.h"
#include "cli/verbs.h"
#include "data/io/npz.h"
#include "data/io/numbers.h"
#include "text/tfidf_fitter.h"

namespace elias::cli {
namespace {

struct Options {
  DataOptions data;
  std::vector<std::string> inputs;
  std::string model, output;
  std::vector<int> words = {1, 1}, characters = {0, 0};
  TfidfOptions tfidf;
};

/// Calls use(texts) for every batch of texts of `path`.
template <typename Use>
void for_texts(const std::string& path, const Options& options, ThreadPool& pool, Use&& use) {
  LabelSpace labels = options.data.label_space();
  const auto reader = options.data.open_texts(path, labels, pool);
  Progress progress("reading", "points", reader->info().promised_rows.value_or(0));
  PointBatch batch;
  while (reader->next(batch)) {
    use(batch.texts);
    progress.advance(batch.rows());
  }
}

void fit(Options options, const Global& global) {
  options.tfidf.words = {options.words[0], options.words[1]};
  options.tfidf.characters = {options.characters[0], options.characters[1]};
  ThreadPool pool(global.threads);
  TfidfFitter fitter(options.tfidf, pool);
  for (const std::string& input : options.inputs) {
    for_texts(input, options, pool, [&](const TextRows& texts) { fitter.add(texts); });
  }
  const Tfidf model = fitter.finish();
  model.save(options.model);
  fmt::print("{} features of {} texts\n", model.features(), model.documents());
}

void transform(const Options& options, const Global& global) {
  ThreadPool pool(global.threads);
  const Tfidf model = Tfidf::load(options.model);
  Csr all;
  all.cols = model.features();
  for (const std::string& input : options.inputs) {
    for_texts(input, options, pool,
              [&](const TextRows& texts) { all.append(model.transform(texts, pool)); });
  }
  if (options.output.ends_with(".gz")) {
    throw InputError("{}: npz is compressed as it is: name the file .npz", options.output);
  }
  write_npz(options.output, all);
  fmt::print(options.output == "-" ? stderr : stdout, "{} rows, {} features, {} values\n",
             all.rows(), all.cols, all.nonzeros());
}

void add_input(CLI::App& verb, Options& options) {
  verb.add_option("--input", options.inputs,
                  "Files of points with texts, or of one text a line; - for standard input")
      ->required()
      ->type_name("FILE");
  options.data.add_to(verb);
}

// A flag that turns `setting` off.
void add_off_switch(CLI::App& verb, const char* name, bool& setting, const char* help) {
  verb.add_flag_callback(
      name, [&setting] { setting = false; }, help);
}

// A count, or a share where there is a decimal point, as scikit-learn tells 1 from 1.0.
void add_document_limit(CLI::App& verb, const std::string& name, double& limit, const char* modal,
                        const char* standard) {
  const auto read = [&limit, name](const std::string& text) {
    const char* p = text.data();
    float value = 0;
    if (!parse_real(p, text.data() + text.size(), value) || *p != '\0' || !(value >= 0)) {
      throw InputError("{} {}: is not a number of texts or a share of them", name, text);
    }
    limit = std::stod(text);
    if (text.find('.') == std::string::npos || limit < 1) return;
    if (limit > 1 || name == "--min-df") {
      throw InputError("{} {}: a share is below 1: give a count without a decimal point", name,
                       text);
    }
    limit = std::numeric_limits<double>::infinity();  // a share of 1: all texts
  };
  verb.add_option_function<std::string>(
          name, read,
          fmt::format(
              "Texts a term {} be in: a count (20) or a share of all (0.5); {} if not given", modal,
              standard))
      ->type_name("NUMBER");
}

void add_fit_verb(CLI::App& verb, const Global& global) {
  auto options = std::make_shared<Options>();
  TfidfOptions& tfidf = options->tfidf;
  CLI::App* fit_verb = verb.add_subcommand("fit", "Learn terms and their weights from texts");
  add_input(*fit_verb, *options);
  fit_verb->add_option("--out", options->model, "File to write")->required()->type_name("FILE");
  fit_verb->add_option("--words", options->words, "Lengths of word n-grams; 0 0 for none")
      ->expected(2)
      ->type_name("LOW HIGH")
      ->capture_default_str();
  fit_verb
      ->add_option("--opening", tfidf.opening,
                   "Words at the start of a text that are features of their own too; 0 for none")
      ->type_name("COUNT")
      ->capture_default_str();
  fit_verb
      ->add_option("--characters", options->characters,
                   "Lengths of character n-grams inside words; 0 0 for none")
      ->expected(2)
      ->type_name("LOW HIGH")
      ->capture_default_str();
  add_document_limit(*fit_verb, "--min-df", tfidf.min_df, "must", "1");
  add_document_limit(*fit_verb, "--max-df", tfidf.max_df, "may", "no limit");
  fit_verb->add_option("--max-features", tfidf.max_features,
                       "Keep the most frequent terms of each kind; 0 keeps all");
  add_off_switch(*fit_verb, "--keep-case", tfidf.lowercase, "Do not lower-case");
  fit_verb->add_flag("--strip-accents", tfidf.strip_accents, "Read 'é' as 'e'");
  fit_verb->add_flag("--sublinear-tf", tfidf.sublinear_tf, "Take 1 + ln(tf) for tf");
  add_off_switch(*fit_verb, "--no-idf", tfidf.use_idf, "Weigh all terms alike");
  add_off_switch(*fit_verb, "--no-norm", tfidf.normalise, "Do not scale rows to length 1");
  fit_verb->footer(
      "Examples:\n"
      "  elias tfidf fit --input trn.txt.gz --out tfidf.safetensors\n"
      "  elias tfidf fit --input a.txt b.txt --words 1 2 --min-df 2 --out tfidf.safetensors");
  fit_verb->callback([options, &global] { fit(*options, global); });
}

void add_transform_verb(CLI::App& verb, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* transform_verb = verb.add_subcommand("transform", "Turn texts into a sparse matrix");
  add_input(*transform_verb, *options);
  transform_verb->add_option("--model", options->model, "What 'elias tfidf fit' wrote")
      ->required()
      ->type_name("FILE");
  transform_verb->add_option("--out", options->output, "npz file to write, as scipy reads it")
      ->required()
      ->type_name("FILE");
  transform_verb->footer(
      "Example:\n"
      "  elias tfidf transform --model tfidf.safetensors --input tst.txt.gz --out X.tst.npz");
  transform_verb->callback([options, &global] { transform(*options, global); });
}

}  // namespace

void add_tfidf(CLI::App& app, const Global& global) {
  CLI::App* verb = app.add_subcommand("tfidf", "Tf-idf features of texts");
  verb->require_subcommand(1);
  add_fit_verb(*verb, global);
  add_transform_verb(*verb, global);
}

}  // namespace elias::cli
