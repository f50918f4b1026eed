// Points for a model: opened in any format, and turned into the features it was trained on.
#pragma once

#include <string>

#include "data/csr.h"
#include "data/label_space.h"
#include "data/point_reader.h"
#include "metrics/evaluate.h"
#include "model/model.h"

namespace elias {

/// Throws InputError if the points of `source` are texts where the model takes features, or the
/// other way round, or if the file says that it has another number of features than the model.
void check_points(const SourceInfo& source, const Model& model);

/// Points from texts or from features, whichever the model takes. Throws InputError if there are
/// features that it does not have.
Points model_points(const SourceInfo& source, const TextRows& texts, Csr features,
                    const Model& model, ThreadPool& pool);

/// Points with their true labels.
struct TestPoints {
  LabelSpace space;  // ids as in the model; labels that it does not know come behind its own
  Points points;     // N
  Csr labels;        // N x the labels of `space`
};

/// Throws InputError if they do not fit the model: other features, `reading` with another form of
/// labels than it has, or no label that it knows.
TestPoints read_test_points(const std::string& path, ReadOptions reading, const Model& model,
                            ThreadPool& pool);

/// The most labels that the search of a model with an index finds for a point.
int64_t most_found(const Model& model);

/// What the model knows of its training data.
Training training_of(const Model& model, const Propensity& propensity);

/// The figures of the model on the points at the usual cut-offs, of all labels and by decile.
Evaluation evaluate_on(const TestPoints& points, const Model& model, const Context& context);

}  // namespace elias
