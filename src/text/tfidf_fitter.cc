#include "text/tfidf_fitter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/errors.h"
#include "text/text_chunks.h"
#include "text/text_terms.h"

namespace elias {
namespace {

constexpr size_t kShards = 64;
constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kWave = 32;  // chunks counted before they are merged: bounds the memory

size_t shard_of(uint64_t hash) { return hash >> 58; }
static_assert(kShards == 1 << (64 - 58));

/// A term that is kept. Its first bytes, as a number, settle most comparisons.
struct Kept {
  uint64_t prefix;
  std::string_view term;
  const TermCounter::Entry* entry;

  bool operator<(const Kept& other) const {
    return prefix != other.prefix ? prefix < other.prefix : term < other.term;
  }
};

uint64_t prefix_of(std::string_view term) {
  uint64_t prefix = 0;
  std::memcpy(&prefix, term.data(), std::min(term.size(), sizeof prefix));
  return __builtin_bswap64(prefix);
}

// Sorts pieces on all threads, then merges neighbours, twice as many at each step.
void sort_terms(std::vector<Kept>& terms, ThreadPool& pool) {
  constexpr size_t kPiece = 1 << 14;
  const auto at = [&](size_t i) {
    return terms.begin() + static_cast<ptrdiff_t>(std::min(i, terms.size()));
  };
  pool.for_chunks(terms.size(), kPiece,
                  [&](size_t, size_t begin, size_t end) { std::sort(at(begin), at(end)); });
  for (size_t size = kPiece; size < terms.size(); size *= 2) {
    pool.for_chunks(terms.size(), 2 * size, [&](size_t, size_t begin, size_t end) {
      std::inplace_merge(at(begin), at(begin + size), at(end));
    });
  }
}

// The `count` terms with the most occurrences; among equals, the first in order.
void keep_most_frequent(std::vector<Kept>& terms, size_t count) {
  if (terms.size() <= count) return;
  const auto more_frequent = [](const Kept& a, const Kept& b) {
    const uint64_t left = a.entry->occurrences, right = b.entry->occurrences;
    return left != right ? left > right : a < b;
  };
  std::nth_element(terms.begin(), terms.begin() + static_cast<ptrdiff_t>(count), terms.end(),
                   more_frequent);
  terms.resize(count);
}

double as_count(double bound, uint64_t documents) {
  return bound < 1 ? bound * static_cast<double>(documents) : bound;
}

}  // namespace

/// The counts of one kind of terms, over all texts so far.
struct TfidfFitter::Part {
  std::array<TermCounter, kShards> shards;
};

/// The counts of one chunk of texts, and its entries by shard.
struct TfidfFitter::Chunk {
  struct Kind {
    TermCounter counter;
    std::vector<uint32_t> order;               // entries, those of one shard together
    std::array<size_t, kShards + 1> starts{};  // where a shard starts in `order`

    void group() {
      starts.fill(0);
      for (const auto& entry : counter.entries()) ++starts[shard_of(entry.hash) + 1];
      std::partial_sum(starts.begin(), starts.end(), starts.begin());
      order.resize(counter.entries().size());
      std::array<size_t, kShards + 1> next = starts;
      for (uint32_t i = 0; i < order.size(); ++i) {
        order[next[shard_of(counter.entries()[i].hash)]++] = i;
      }
    }

    void merge_shard_into(Part& part, size_t shard) const {
      for (size_t i = starts[shard]; i < starts[shard + 1]; ++i) {
        part.shards[shard].merge(counter, counter.entries()[order[i]]);
      }
    }
  };
  std::array<Kind, kTermKinds.size()> kinds;
  TokenBuffer tokens;
};

TfidfFitter::TfidfFitter(const TfidfOptions& options, ThreadPool& pool)
    : options_(options), analyser_(options.lowercase, options.strip_accents), pool_(pool) {
  check_options(options);
  for (auto& part : parts_) part = std::make_unique<Part>();
}

TfidfFitter::~TfidfFitter() = default;

void TfidfFitter::add(const TextRows& texts) {
  documents_ += texts.rows();
  const std::vector<size_t> bounds = text_chunks(texts, kChunkBytes);
  for (size_t wave = 0; wave + 1 < bounds.size(); wave += kWave) {
    const size_t count = std::min(kWave, bounds.size() - 1 - wave);
    while (chunks_.size() < count) chunks_.push_back(std::make_unique<Chunk>());
    pool_.for_each(count, [&](size_t i) {
      count_chunk(texts, bounds[wave + i], bounds[wave + i + 1], *chunks_[i]);
    });
    pool_.for_each(kShards, [&](size_t shard) {
      for (size_t i = 0; i < count; ++i) {
        for (size_t kind = 0; kind < parts_.size(); ++kind) {
          chunks_[i]->kinds[kind].merge_shard_into(*parts_[kind], shard);
        }
      }
    });
  }
}

void TfidfFitter::count_chunk(const TextRows& texts, size_t begin, size_t end, Chunk& chunk) const {
  for (Chunk::Kind& kind : chunk.kinds) kind.counter.clear();
  for (size_t i = begin; i < end; ++i) {
    const auto document = static_cast<uint32_t>(i - begin);
    for_term_kinds(
        analyser_, options_, texts.row(i), chunk.tokens, [&](TermKind kind, auto&& visit) {
          TermCounter& counter = chunk.kinds[static_cast<size_t>(kind)].counter;
          visit([&](const char* data, size_t size) { counter.count(data, size, document); });
        });
  }
  for (Chunk::Kind& kind : chunk.kinds) kind.group();
}

void TfidfFitter::fail_without_terms() const {
  const double fewest = as_count(options_.min_df, documents_);
  const double most = as_count(options_.max_df, documents_);
  const bool limited = most < static_cast<double>(documents_);
  throw InputError(
      "no term is in at least {}{} of the {} texts: {}{}give texts with words of two letters or "
      "more",
      fewest, limited ? fmt::format(" and at most {}", most) : "", documents_,
      fewest > 1 ? "lower min_df, or " : "", limited ? "raise max_df, or " : "");
}

std::unique_ptr<Tfidf::Owned> TfidfFitter::finish_part(const Part& part) const {
  auto owned = std::make_unique<Tfidf::Owned>();
  const double fewest = as_count(options_.min_df, documents_);
  const double most = as_count(options_.max_df, documents_);
  std::vector<Kept> kept;
  for (const TermCounter& shard : part.shards) {
    for (const auto& entry : shard.entries()) {
      if (entry.documents < fewest || entry.documents > most) continue;
      kept.push_back({prefix_of(shard.term(entry)), shard.term(entry), &entry});
    }
  }
  if (options_.max_features > 0) keep_most_frequent(kept, options_.max_features);
  sort_terms(kept, pool_);
  owned->offsets.push_back(0);
  for (const Kept& term : kept) {
    owned->bytes += term.term;
    owned->offsets.push_back(owned->bytes.size());
    const double ratio = static_cast<double>(1 + documents_) / (1 + term.entry->documents);
    owned->idf.push_back(options_.use_idf ? static_cast<float>(std::log(ratio) + 1) : 1.0f);
  }
  owned->bytes.append(kTermPadding, '\0');
  owned->slots = TermTable::make_slots(owned->bytes, owned->offsets);
  return owned;
}

Tfidf TfidfFitter::finish() {
  if (documents_ == 0) throw InputError("there are no texts to learn a vocabulary from");
  Tfidf result(options_);
  result.documents_ = documents_;
  for (const TermKind kind : kTermKinds) {
    auto& part = parts_[static_cast<size_t>(kind)];
    result.owned_.push_back(finish_part(*part));
    part.reset();
    result.set_part(kind, result.owned_.back()->part());
  }
  if (result.features() == 0) fail_without_terms();
  ELIAS_ASSERT(result.features() < TermTable::kNone);
  return result;
}

}  // namespace elias
