#include "capi/points.h"

#include <cmath>
#include <cstring>

#include "base/errors.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "data/io/utf8.h"
#include "data/text_rows.h"

namespace elias {

CallersTexts::CallersTexts(const elias_model& model, const char* const* texts,
                           const size_t* lengths, size_t n)
    : CallersPoints(n), model_(model), texts_(texts), lengths_(lengths) {
  if (model.model.tfidf() == nullptr) {
    throw InputError("{}: takes features, not texts: call the function for features", model.folder);
  }
  if (n > 0) required(texts, "texts");
}

std::string_view CallersTexts::text(size_t i) const {
  const char* const begin = texts_[i];
  if (begin == nullptr && (lengths_ == nullptr || lengths_[i] > 0)) {
    throw InputError("texts[{}] is NULL: give a text, be it empty", i);
  }
  const std::string_view text(begin, lengths_ == nullptr ? std::strlen(begin) : lengths_[i]);
  if (const size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    throw InputError("texts[{}]: byte 0x{:02x} at position {} is not UTF-8: convert the text", i,
                     static_cast<unsigned char>(text[bad]), bad + 1);
  }
  return text;
}

Points CallersTexts::read(size_t begin, size_t end) const {
  TextRows texts;
  for (size_t i = begin; i < end; ++i) texts.add(text(i));
  return model_.model.points_of(texts, model_.pool);
}

CallersFeatures::CallersFeatures(const elias_model& model, const uint64_t* offsets,
                                 const uint32_t* columns, const float* values, size_t n)
    : CallersPoints(n), model_(model), offsets_(offsets), columns_(columns), values_(values) {
  if (model.model.tfidf() != nullptr) {
    throw InputError("{}: takes texts, not features: call the function for texts", model.folder);
  }
  if (n == 0) return;
  required(offsets, "offsets");
  for (size_t i = 0; i < n; ++i) {
    if (offsets[i] <= offsets[i + 1]) continue;
    throw InputError("offsets[{}] is {} and offsets[{}] is {}: offsets must not fall", i,
                     offsets[i], i + 1, offsets[i + 1]);
  }
  if (offsets[0] == offsets[n]) return;
  required(columns, "columns");
  required(values, "values");
}

Points CallersFeatures::read(size_t begin, size_t end) const {
  Csr rows;
  rows.cols = model_.model.features();
  for (size_t i = begin; i < end; ++i) {
    for (uint64_t j = offsets_[i]; j < offsets_[i + 1]; ++j) {
      if (columns_[j] >= rows.cols) {
        throw InputError(
            "row {}: feature {} is beyond the {} features of the model (ids start at "
            "0)",
            i, columns_[j], rows.cols);
      }
      rows.columns.push_back(columns_[j]);
      rows.values.push_back(values_[j]);
    }
    rows.finish_row(Csr::Repeats::kSum);
    const CsrRow row = rows.row(i - begin);
    for (size_t j = 0; j < row.size(); ++j) {
      if (std::isfinite(row.values[j])) continue;
      throw InputError("row {}: the value of feature {} is not a finite number: mend or remove it",
                       i, row.columns[j]);
    }
  }
  scale_rows_to_unit_length(rows);
  return {.features = std::move(rows), .tokens = {}};
}

}  // namespace elias
