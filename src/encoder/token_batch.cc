#include "encoder/token_batch.h"

#include "base/errors.h"

namespace elias {

void TokenBatch::gather(const TokenRows& rows, std::span<const uint32_t> points,
                        const TransformerShape& shape) {
  const auto positions = static_cast<int32_t>(shape.vocabulary);
  const auto types = static_cast<int32_t>(shape.vocabulary + shape.positions);
  offsets_.assign(1, 0);
  firsts_.assign(1, 0);
  bag_offsets_.assign(1, 0);
  ids_.clear();
  for (const uint32_t point : points) {
    const auto tokens = rows.row(point);
    ELIAS_ASSERT(!tokens.empty() && tokens.size() <= static_cast<size_t>(shape.positions));
    for (size_t i = 0; i < tokens.size(); ++i) {
      ELIAS_ASSERT(tokens[i] < static_cast<uint64_t>(shape.vocabulary));
      ids_.push_back(static_cast<int32_t>(tokens[i]));
      ids_.push_back(positions + static_cast<int32_t>(i));
      if (shape.types > 0) ids_.push_back(types);
      bag_offsets_.push_back(static_cast<int32_t>(ids_.size()));
    }
    offsets_.push_back(offsets_.back() + static_cast<int32_t>(tokens.size()));
    firsts_.push_back(firsts_.back() + 1);
  }
  if (ones_.size() < ids_.size()) ones_.resize(ids_.size(), 1.0F);
}

TokenOffsets TokenBatch::offsets() const {
  return {.offsets = {offsets_.data(), {std::ssize(offsets_)}},
          .firsts = {firsts_.data(), {std::ssize(firsts_)}}};
}

Bags TokenBatch::embeddings() const {
  return {.offsets = {bag_offsets_.data(), {std::ssize(bag_offsets_)}},
          .ids = {ids_.data(), {std::ssize(ids_)}},
          .weights = {ones_.data(), {std::ssize(ids_)}}};
}

}  // namespace elias
