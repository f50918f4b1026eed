// config.json decides which file of thresholds counts: the new one is written under the name that
// is not in use, then config.json is replaced in one step, and then the old file goes.
#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "model/config.h"
#include "model/model.h"
#include "model/model_folder.h"
#include "model/thresholds_file.h"
#include "model/written_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

bool is_threshold_file(const ModelFile& file) {
  return std::ranges::find(kThresholdFiles, file.name) != kThresholdFiles.end();
}

ModelConfig read_config(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

/// By the size and checksum of every file but those that are replaced here.
void require_same(const ModelConfig& config, const Model& model, const std::string& folder) {
  const auto lasting = [](const ModelConfig& all) {
    std::vector<std::string> files;
    for (const ModelFile& file : all.files) {
      if (!is_threshold_file(file)) files.push_back(file.name + file.checksum);
    }
    return files;
  };
  if (lasting(config) == lasting(model.config())) return;
  throw InputError("{}: holds another model than at the start: give the command again", folder);
}

}  // namespace

void store_thresholds(const std::string& folder, const Model& model, const Thresholds& thresholds) {
  const ModelLock lock(folder);
  ModelConfig config = read_config(folder + "/config.json");
  require_same(config, model, folder);
  const bool first_in_use = config.find(kThresholdFiles.front()) != nullptr;
  std::erase_if(config.files, is_threshold_file);
  config.thresholds = thresholds;
  std::string written;
  if (thresholds.own > 0) {
    written = first_in_use ? kThresholdFiles.back() : kThresholdFiles.front();
    SafetensorsWriter writer;
    add_thresholds(thresholds, writer);
    write_tensors(writer, folder + "/" + written);
    config.files.push_back(described_file(folder, written));
  }
  write_file(folder + "/config.json", config_text(config));
  for (const char* name : kThresholdFiles) {
    std::error_code ignored;
    if (name != written) fs::remove(fs::path(folder) / name, ignored);
  }
}

}  // namespace elias
