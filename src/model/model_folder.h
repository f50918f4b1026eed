// The folder of a model as a place to write to: what may be replaced there, and how.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace elias {

inline constexpr size_t kMostMembers = 16;  // of an ensemble

/// The name of a member's file: "encoder.safetensors" of the first, "encoder.2.safetensors" of the
/// second.
std::string member_file(std::string_view part, size_t member);

/// The two names that the file of labels' thresholds can have: new ones are written beside those in
/// use, which config.json names.
inline constexpr std::array<const char*, 2> kThresholdFiles = {"thresholds-a.safetensors",
                                                               "thresholds-b.safetensors"};

/// All names that a file of a model can have (model/model.h); the last, without which a folder is
/// no model, is written last.
const std::vector<std::string>& model_files();

bool is_model_file(std::string_view name);

/// True if the file is the config.json of a model, even of one that is damaged or of a newer
/// format.
bool is_config_of_model(const std::string& path);

/// While it lives, no other process replaces the model in `folder`, or its thresholds: the lock of
/// the run that the folder is of, or the folder itself is locked.
class ModelLock {
 public:
  /// Throws InputError if another process has it.
  explicit ModelLock(const std::string& folder);
  ~ModelLock();
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Throws InputError unless a model may be written to `path`: nothing is there, an empty folder,
/// or, if `overwrite` is set, a model and nothing else.
void require_room_for_model(const std::string& path, bool overwrite);

/// Calls write(folder) for a new folder beside `path`, and then puts it there in one step, in the
/// place of a model if there is one. If that throws, or the process is killed, what was at `path`
/// is there still (where a file system cannot exchange two names and the kill falls between two
/// renames: as `path`.elias-old); what a killed process left beside it goes with the next call, and
/// what is not a model there is refused with an InputError.
void replace_model(const std::string& path,
                   const std::function<void(const std::string& folder)>& write);

}  // namespace elias
