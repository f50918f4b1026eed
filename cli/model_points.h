// Points for a model: opened in any format, and turned into the features it was trained on.
#pragma once

#include <string>

#include "data/csr.h"
#include "data/point_reader.h"
#include "model/model.h"

namespace elias::cli {

/// Throws InputError if the points of `source` are texts where the model takes features, or the
/// other way round.
void check_points(const SourceInfo& source, const Model& model);

/// N x V from texts or from features, whichever the model takes. Throws InputError if there are
/// features that it does not have.
Csr model_features(const SourceInfo& source, const TextRows& texts, Csr features,
                   const Model& model, ThreadPool& pool);

}  // namespace elias::cli
