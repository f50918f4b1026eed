// elias synth: writes a made-up data set with known structure.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "base/progress.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "data/io/byte_sink.h"
#include "data/point_writer.h"
#include "data/synth/generator.h"

namespace elias::cli {
namespace {

struct Options {
  SynthSettings settings;
  std::string folder;
};

void write_part(const SynthWorld& world, uint64_t part, uint64_t count, const std::string& path,
                ThreadPool& pool) {
  // Labels are written as ids; labels.txt names them.
  const LabelSpace ids;
  const SourceInfo info{.name = path,
                        .format = Format::kTsv,
                        .has_text = true,
                        .promised_rows = {},
                        .promised_features = {},
                        .promised_labels = {}};
  const auto writer = create_points(path, Format::kTsv, info, ids);
  Progress progress("writing " + path, "points", count);
  constexpr uint64_t kBatch = 1 << 16;
  for (uint64_t begin = 0; begin < count; begin += kBatch) {
    const uint64_t end = std::min(count, begin + kBatch);
    writer->write(world.points(part, begin, end, pool));
    progress.advance(end - begin);
  }
  writer->commit();
}

void run(const Options& options, const Global& global) {
  const SynthWorld world(options.settings);
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    throw InputError("{}: the folder cannot be made ({}): choose another with --out",
                     options.folder, error.message());
  }
  for (const char* name : {"/trn.txt", "/tst.txt", "/labels.txt"}) {
    if (!std::filesystem::exists(options.folder + name)) continue;
    throw InputError("{}{}: is there already: remove it, or choose another folder with --out",
                     options.folder, name);
  }
  ThreadPool pool(global.threads);
  const auto names = create_bytes(options.folder + "/labels.txt");
  for (uint64_t label = 0; label < options.settings.labels; ++label) {
    names->write(world.label_name(label) + "\n");
  }
  const uint64_t test_points = std::max<uint64_t>(1, options.settings.points / 10);
  write_part(world, 0, options.settings.points, options.folder + "/trn.txt", pool);
  write_part(world, 1, test_points, options.folder + "/tst.txt", pool);
  names->commit();
  fmt::print("{}: {} training points, {} test points, {} labels\n", options.folder,
             options.settings.points, test_points, options.settings.labels);
}

}  // namespace

void add_synth(CLI::App& app, const Global& global) {
  auto options = std::make_shared<Options>();
  SynthSettings& settings = options->settings;
  CLI::App* verb = app.add_subcommand("synth", "Write a made-up data set with known structure");
  verb->add_option("--out", options->folder, "Folder for trn.txt, tst.txt and labels.txt")
      ->required()
      ->type_name("DIR");
  verb->add_option("--labels", settings.labels, "Labels; frequencies follow Zipf's law")
      ->check(number_range(uint64_t{2}, uint64_t{100'000'000}))
      ->capture_default_str();
  verb->add_option("--points", settings.points, "Training points; a tenth as many for testing")
      ->check(number_range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--seed", settings.seed, "The data is a function of it")->capture_default_str();
  verb->add_option("--labels-per-point", settings.labels_per_point, "Labels of a point, on average")
      ->capture_default_str();
  verb->add_option("--groups", settings.groups,
                   "Most separate groups of texts that one label's points fall into")
      ->capture_default_str();
  verb->add_option("--noise", settings.noise, "Share of telling words replaced by random ones")
      ->capture_default_str();
  verb->footer(
      "Examples:\n"
      "  elias synth --labels 1000 --points 10000 --out toy\n"
      "  elias synth --labels 1000000 --points 2000000 --seed 7 --noise 0.2 --out big");
  verb->callback([options, &global] { run(*options, global); });
}

}  // namespace elias::cli
