// A label of a model by the name that a user gave.
#pragma once

#include <cstdint>
#include <string>

#include "base/thread_pool.h"
#include "model/model.h"

namespace elias {

/// Throws InputError, with the names most like it, if the model in `folder` has no such label.
uint32_t find_label(const Model& model, const std::string& folder, const std::string& name,
                    ThreadPool& pool);

}  // namespace elias
