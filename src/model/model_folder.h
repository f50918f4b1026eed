// The folder of a model as a place to write to: what may be replaced there, and how.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace elias {

/// All files that a model can have (model/model.h); the last, without which a folder is no model,
/// is written last.
inline constexpr std::array<std::string_view, 7> kModelFiles = {
    "features.safetensors", "encoder.safetensors", "index.safetensors", "classifiers.safetensors",
    "ranker.safetensors",   "labels.txt",          "config.json"};

bool is_model_file(std::string_view name);

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
