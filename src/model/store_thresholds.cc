// config.json decides which file of thresholds counts: the new one is written under the name that
// is not in use, then config.json is replaced in one step, and then the old file goes.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

/// Of no other process that changes the model: the lock of its run, if it has one, or the folder.
class ModelLock {
 public:
  explicit ModelLock(const std::string& folder) {
    std::string path = folder + "/run/lock";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) path = folder;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor_);
      throw InputError("{}: another process is changing this model: wait for it", folder);
    }
  }
  ~ModelLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;

 private:
  int descriptor_ = -1;
};

ModelConfig read_config(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace

void store_thresholds(const std::string& folder, const Thresholds& thresholds) {
  const ModelLock lock(folder);
  ModelConfig config = read_config(folder + "/config.json");
  const bool first_in_use = config.find(kThresholdFiles.front()) != nullptr;
  std::erase_if(config.files, [](const ModelFile& file) {
    return std::ranges::find(kThresholdFiles, file.name) != kThresholdFiles.end();
  });
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
