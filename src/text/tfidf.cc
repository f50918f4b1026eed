// Transforming. A text's n-grams are looked up in blocks, step by step: what the next step reads of
// one is on its way from memory while this step sees to the others. Counts go into an array of one
// number a feature; a bitmap over it, and one over the bitmap, give the features of a row in order
// without sorting and are cleared as they are read.
#include "text/tfidf.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "base/errors.h"
#include "text/text_chunks.h"
#include "text/text_terms.h"

namespace elias {
namespace {

constexpr size_t kChunkBytes = 1 << 18;

/// What one kind of features needs to turn texts into rows; one thread uses it at a time.
class RowCounter {
 public:
  explicit RowCounter(const TfidfPart& part)
      : part_(part),
        counts_(part.idf.size()),
        bits_((counts_.size() + 63) / 64),
        summary_((bits_.size() + 63) / 64) {}

  void operator()(const char* data, size_t size) {
    const uint64_t hash = hash_term(data, size);
    part_.terms.prefetch_slot(hash);
    pending_[pending_count_++] = {hash, data, size};
    if (pending_count_ == kBlock) flush();
  }

  /// Appends what was counted as the columns from `shift` on, and forgets it.
  void take_row(const TfidfOptions& options, uint32_t shift, Csr& out) {
    flush();
    const size_t begin = out.columns.size();
    double squares = 0;
    for (size_t i = 0; i < summary_.size(); ++i) {
      for (uint64_t groups = std::exchange(summary_[i], 0); groups != 0; groups &= groups - 1) {
        const size_t group = 64 * i + static_cast<size_t>(std::countr_zero(groups));
        for (uint64_t ids = std::exchange(bits_[group], 0); ids != 0; ids &= ids - 1) {
          const size_t id = 64 * group + static_cast<size_t>(std::countr_zero(ids));
          const double count = std::exchange(counts_[id], 0);
          const double value = (options.sublinear_tf ? 1 + std::log(count) : count) * part_.idf[id];
          squares += value * value;
          out.columns.push_back(shift + static_cast<uint32_t>(id));
          out.values.push_back(static_cast<float>(value));
        }
      }
    }
    if (!options.normalise || squares == 0) return;
    const double scale = 1 / std::sqrt(squares);
    for (size_t i = begin; i < out.values.size(); ++i) {
      out.values[i] = static_cast<float>(out.values[i] * scale);
    }
  }

 private:
  static constexpr size_t kBlock = 64;
  struct Pending {
    uint64_t hash;
    const char* data;
    size_t size;
  };

  void flush() {
    std::array<uint32_t, kBlock> ids;
    for (size_t i = 0; i < pending_count_; ++i) {
      ids[i] = part_.terms.guess(pending_[i].hash);
      if (ids[i] == TermTable::kNone) continue;
      part_.terms.prefetch_offset(ids[i]);
      __builtin_prefetch(&counts_[ids[i]]);
    }
    for (size_t i = 0; i < pending_count_; ++i) {
      if (ids[i] != TermTable::kNone) part_.terms.prefetch_bytes(ids[i]);
    }
    for (size_t i = 0; i < pending_count_; ++i) {
      if (ids[i] == TermTable::kNone) continue;
      const auto& [hash, data, size] = pending_[i];
      if (!part_.terms.is_term(ids[i], data, size)) ids[i] = part_.terms.find(hash, data, size);
      if (ids[i] != TermTable::kNone) count(ids[i]);
    }
    pending_count_ = 0;
  }

  void count(uint32_t id) {
    ++counts_[id];
    bits_[id / 64] |= uint64_t{1} << id % 64;
    summary_[id / 4096] |= uint64_t{1} << id / 64 % 64;
  }

  const TfidfPart& part_;
  std::vector<uint32_t> counts_;
  std::vector<uint64_t> bits_, summary_;
  std::array<Pending, kBlock> pending_;
  size_t pending_count_ = 0;
};

/// What one thread needs.
struct Worker {
  explicit Worker(std::span<const TfidfPart> parts) : counters(parts.begin(), parts.end()) {}
  std::vector<RowCounter> counters;  // by kind
  TokenBuffer tokens;
};

/// Workers are as many as threads ask for at one time, and are passed on from chunk to chunk.
class Workers {
 public:
  template <typename Make>
  std::unique_ptr<Worker> take(Make&& make) {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return make();
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }
  void give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

Csr join(std::vector<Csr>& chunks, uint64_t cols, ThreadPool& pool) {
  Csr all;
  all.cols = cols;
  std::vector<uint64_t> starts;
  for (const Csr& chunk : chunks) {
    starts.push_back(all.offsets.back());
    for (size_t i = 1; i <= chunk.rows(); ++i) {
      all.offsets.push_back(starts.back() + chunk.offsets[i]);
    }
  }
  all.columns.resize(all.offsets.back());
  all.values.resize(all.offsets.back());
  pool.for_each(chunks.size(), [&](size_t i) {
    const auto at = static_cast<ptrdiff_t>(starts[i]);
    std::copy(chunks[i].columns.begin(), chunks[i].columns.end(), all.columns.begin() + at);
    std::copy(chunks[i].values.begin(), chunks[i].values.end(), all.values.begin() + at);
    chunks[i] = Csr();
  });
  return all;
}

void check_range(NgramRange range, std::string_view what) {
  constexpr int kLongest = 100;
  const bool none = range.lowest == 0 && range.highest == 0;
  if (none || (range.lowest >= 1 && range.lowest <= range.highest && range.highest <= kLongest)) {
    return;
  }
  throw InputError("{} n-grams from {} to {} cannot be: give 1 <= lowest <= highest <= {}", what,
                   range.lowest, range.highest, kLongest);
}

}  // namespace

void check_options(const TfidfOptions& options) {
  check_range(options.words, "word");
  check_range(options.characters, "character");
  if (!options.words.any() && !options.characters.any()) {
    throw InputError("neither word nor character n-grams are asked for: ask for one of them");
  }
  if (options.opening < 0 || (options.opening > 0 && !options.words.any())) {
    throw InputError("an opening of {} words cannot be{}: give 0 for none", options.opening,
                     options.opening > 0 ? " without word n-grams" : "");
  }
  if (!(options.min_df >= 0)) throw InputError("min_df is {}: give 0 or more", options.min_df);
  if (!(options.max_df > 0)) throw InputError("max_df is {}: give more than 0", options.max_df);
}

bool TfidfOptions::has(TermKind kind) const {
  switch (kind) {
    case TermKind::kWord:
      return words.any();
    case TermKind::kOpening:
      return opening > 0;
    case TermKind::kCharacters:
      return characters.any();
  }
  return false;
}

void Tfidf::set_part(TermKind kind, const TfidfPart& part) {
  const auto at = static_cast<size_t>(kind);
  parts_[at] = part;
  std::fill(starts_.begin() + static_cast<ptrdiff_t>(at) + 1, starts_.end(),
            starts_[at] + part.idf.size());
}

TermKind Tfidf::kind(uint64_t feature) const {
  ELIAS_ASSERT(feature < features());
  const auto next = std::ranges::upper_bound(starts_, feature);
  return static_cast<TermKind>(next - starts_.begin() - 1);
}

std::string_view Tfidf::term(uint64_t feature) const {
  const TermKind of = kind(feature);
  return part(of).terms[feature - start(of)];
}

float Tfidf::idf(uint64_t feature) const {
  const TermKind of = kind(feature);
  return part(of).idf[feature - start(of)];
}

Csr Tfidf::transform(const TextRows& texts, ThreadPool& pool) const {
  const std::vector<size_t> bounds = text_chunks(texts, kChunkBytes);
  std::vector<Csr> chunks(bounds.size() - 1);
  Workers workers;
  pool.for_each(chunks.size(), [&](size_t chunk) {
    auto worker = workers.take([&] { return std::make_unique<Worker>(parts_); });
    Csr& out = chunks[chunk];
    for (size_t i = bounds[chunk]; i < bounds[chunk + 1]; ++i) {
      for_term_kinds(analyser_, options_, texts.row(i), worker->tokens,
                     [&](TermKind kind, auto&& visit) {
                       RowCounter& counter = worker->counters[static_cast<size_t>(kind)];
                       visit(counter);
                       counter.take_row(options_, static_cast<uint32_t>(start(kind)), out);
                     });
      out.offsets.push_back(out.columns.size());
    }
    workers.give_back(std::move(worker));
  });
  return join(chunks, features(), pool);
}

}  // namespace elias
