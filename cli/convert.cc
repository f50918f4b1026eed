// elias convert: rewrites points from any format into any other that can hold them.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/errors.h"
#include "base/progress.h"
#include "cli/data_options.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "data/point_writer.h"

namespace elias::cli {
namespace {

struct Options {
  DataOptions data;
  std::string input, output, to, write_labels;
};

// Formats of ids need names to be numbered alike in every file of a set.
void check_names(const Options& options, Format to, const LabelSpace& labels) {
  const bool ids_only = to == Format::kSparse || to == Format::kMatrix || to == Format::kNpz;
  if (!ids_only || labels.closed() || !labels.has_names() || !options.write_labels.empty()) return;
  throw InputError(
      "{}: its labels are names, which {} holds as ids: give their order with --labels, or ask for "
      "it with --write-labels and give that to the other files of the set",
      options.input, format_name(to));
}

void write_names(const std::string& path, const LabelSpace& labels) {
  const auto sink = create_bytes(path);
  for (uint32_t id = 0; id < labels.size(); ++id) sink->write(labels.name(LabelId(id)) + "\n");
  sink->commit();
}

void run(const Options& options, const Global& global) {
  const Format to = format_from_name(options.to);
  ThreadPool pool(global.threads);
  LabelSpace labels = options.data.label_space();
  const auto reader = open_points(options.input, options.data.read_options(), labels, pool);
  const auto writer = create_points(options.output, to, reader->info(), labels);
  Progress progress("converting", "points", reader->info().promised_rows.value_or(0));
  PointBatch batch;
  while (reader->next(batch)) {
    check_names(options, to, labels);
    writer->write(batch);
    progress.advance(batch.rows());
  }
  writer->commit();
  if (!options.write_labels.empty()) write_names(options.write_labels, labels);
}

}  // namespace

void add_convert(CLI::App& app, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("convert", "Rewrite points in another format");
  verb->add_option("INPUT", options->input, "File of points, - for standard input, or a pair X,Y")
      ->required();
  verb->add_option("OUTPUT", options->output,
                   "File to write, - for standard output, or a pair X,Y; .gz compresses")
      ->required();
  verb->add_option("--to", options->to,
                   "Format to write: tsv, fasttext, jsonl, sparse, matrix, npz")
      ->required()
      ->type_name("NAME");
  options->data.add_to(*verb);
  verb->add_option("--write-labels", options->write_labels,
                   "Write the label names in the order of their ids, as --labels reads them")
      ->type_name("FILE");
  verb->footer(
      "Examples:\n"
      "  elias convert trn.json.gz trn.txt --to tsv\n"
      "  elias convert train.svm X.trn.npz,Y.trn.npz --to npz\n"
      "  elias convert trn.json X.trn.txt,Y.trn.npz --to npz --write-labels labels.txt\n"
      "  elias convert trn.txt - --labels labels.txt --to fasttext | head");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
