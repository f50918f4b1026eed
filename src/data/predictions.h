// Predictions of any system: scored labels for each point, in whatever form the system writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/format.h"
#include "data/label_space.h"

namespace elias {

/// Reads N x L scores. Forms: npz; matrix text with or without its header ("label:score ..."); tsv
/// ("name::score,name::score", with or without a text behind a TAB); JSON lines with "labels" and
/// "scores"; fastText's predict-prob output. Throws InputError on malformed input.
Csr read_predictions(const std::string& path, std::optional<Format> format, LabelForm label_form,
                     LabelSpace& labels, ThreadPool& pool);

/// Reads a filter file: "row label" on each line, both from 0, pairs that predictions must not
/// hold. `rows` and `labels` bound them.
std::vector<std::pair<uint64_t, LabelId>> read_filter(const std::string& path, uint64_t rows,
                                                      uint64_t labels);

}  // namespace elias
