// The file of a Tfidf. Loading maps it, verifies the checksum and checks the arrays once, front to
// back; nothing is copied or built.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "text/tfidf.h"

namespace elias {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "elias-tfidf";
// The second version has openings. A file without them is of the first, which all programs read.
constexpr int kFirstVersion = 1, kVersion = 2;
constexpr std::array<const char*, kTermKinds.size()> kPrefixes = {"words", "opening", "characters"};

const char* prefix_of(TermKind kind) { return kPrefixes[static_cast<size_t>(kind)]; }

Json range_to_json(NgramRange range) { return {range.lowest, range.highest}; }

NgramRange range_from_json(const Json& json) {
  return {json.at(0).get<int>(), json.at(1).get<int>()};
}

std::string options_to_json(const TfidfOptions& options) {
  Json json = {{"words", range_to_json(options.words)},
               {"characters", range_to_json(options.characters)},
               {"lowercase", options.lowercase},
               {"strip_accents", options.strip_accents},
               {"min_df", options.min_df},
               {"max_features", options.max_features},
               {"sublinear_tf", options.sublinear_tf},
               {"use_idf", options.use_idf},
               {"normalise", options.normalise}};
  if (options.opening > 0) json["opening"] = options.opening;
  if (std::isfinite(options.max_df)) json["max_df"] = options.max_df;  // JSON has no infinity
  return json.dump();
}

TfidfOptions options_from_json(const std::string& text) {
  const Json json = Json::parse(text);
  TfidfOptions options;
  options.words = range_from_json(json.at("words"));
  options.opening = json.value("opening", options.opening);
  options.characters = range_from_json(json.at("characters"));
  options.lowercase = json.at("lowercase").get<bool>();
  options.strip_accents = json.at("strip_accents").get<bool>();
  options.min_df = json.at("min_df").get<double>();
  options.max_df = json.value("max_df", options.max_df);
  options.max_features = json.at("max_features").get<uint64_t>();
  options.sublinear_tf = json.at("sublinear_tf").get<bool>();
  options.use_idf = json.at("use_idf").get<bool>();
  options.normalise = json.at("normalise").get<bool>();
  check_options(options);
  return options;
}

void add_part(SafetensorsWriter& writer, const std::string& prefix, const TfidfPart& part) {
  writer.add(prefix + ".idf", part.idf);
  writer.add(prefix + ".bytes", part.terms.bytes());
  writer.add(prefix + ".offsets", part.terms.offsets());
  writer.add(prefix + ".slots", part.terms.slots());
}

TfidfPart read_part(const SafetensorsFile& file, const std::string& prefix) {
  const auto bytes = file.vector<char>(prefix + ".bytes");
  const auto offsets = file.vector<uint64_t>(prefix + ".offsets");
  const auto slots = file.vector<uint64_t>(prefix + ".slots");
  const auto idf = file.vector<float>(prefix + ".idf");
  auto fault = TermTable::find_fault(bytes, offsets, slots);
  if (!fault && idf.size() != offsets.size() - 1) fault = "it has not one idf for each term";
  if (fault) {
    throw InputError("{}: the terms of its {} are damaged ({}): fit it again", file.name(), prefix,
                     *fault);
  }
  return {{bytes, offsets, slots}, idf};
}

std::string required_metadata(const SafetensorsFile& file, const std::string& key) {
  const auto value = file.metadata(key);
  if (value) return *value;
  throw InputError("{}: lacks {} in its metadata: it is not a tf-idf file of elias", file.name(),
                   shown(key));
}

void check_version(const SafetensorsFile& file) {
  if (required_metadata(file, "format") != kFormat) {
    throw InputError("{}: holds {}, not {}: give a file that 'elias tfidf fit' wrote", file.name(),
                     shown(required_metadata(file, "format")), kFormat);
  }
  const std::string version = required_metadata(file, "version");
  if (version != std::to_string(kFirstVersion) && version != std::to_string(kVersion)) {
    throw InputError("{}: has version {}, and this program reads up to {}: use a newer elias",
                     file.name(), shown(version), kVersion);
  }
}

}  // namespace

void Tfidf::save(const std::string& path) const {
  SafetensorsWriter writer;
  writer.set_metadata("format", std::string(kFormat));
  writer.set_metadata("version", std::to_string(options_.opening > 0 ? kVersion : kFirstVersion));
  writer.set_metadata("options", options_to_json(options_));
  writer.set_metadata("documents", std::to_string(documents_));
  for (const TermKind kind : kTermKinds) {
    if (options_.has(kind)) add_part(writer, prefix_of(kind), part(kind));
  }
  writer.write(path);
}

Tfidf Tfidf::load(const std::string& path) { return load(SafetensorsFile(path)); }

Tfidf Tfidf::load(SafetensorsFile source) try {
  check_version(source);
  source.verify_checksum();
  Tfidf result(options_from_json(required_metadata(source, "options")));
  result.documents_ = Json::parse(required_metadata(source, "documents")).get<uint64_t>();
  result.file_ = std::make_unique<SafetensorsFile>(std::move(source));
  for (const TermKind kind : kTermKinds) {
    if (result.options_.has(kind)) result.set_part(kind, read_part(*result.file_, prefix_of(kind)));
  }
  if (result.features() >= TermTable::kNone) {
    throw InputError("{}: has {} terms, more than can be numbered", result.file_->name(),
                     result.features());
  }
  return result;
} catch (const Json::exception& error) {
  throw InputError("tf-idf settings cannot be read ({}): fit the vectorizer again", error.what());
}

}  // namespace elias
