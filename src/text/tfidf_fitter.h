// Collects the vocabulary and document frequencies of a Tfidf from texts that come in batches.
//
// Memory holds the terms and their counts, never the texts. Each chunk of texts is counted by
// itself, then chunks are merged by shards of the hash: counts are whole numbers and the final
// order is that of the terms' bytes, so threads leave no trace in the result.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "text/term_counter.h"
#include "text/tfidf.h"

namespace elias {

class TfidfFitter {
 public:
  /// `pool` must outlive the fitter. Throws InputError if the options contradict each other.
  TfidfFitter(const TfidfOptions& options, ThreadPool& pool);
  ~TfidfFitter();

  void add(const TextRows& texts);

  /// The vectorizer. Throws InputError if there were no texts or no term is left. Call it once.
  Tfidf finish();

 private:
  struct Part;
  struct Chunk;
  void count_chunk(const TextRows& texts, size_t begin, size_t end, Chunk& chunk) const;
  [[noreturn]] void fail_without_terms() const;
  std::unique_ptr<Tfidf::Owned> finish_part(const Part& part) const;

  TfidfOptions options_;
  Analyser analyser_;
  ThreadPool& pool_;
  uint64_t documents_ = 0;
  std::array<std::unique_ptr<Part>, kTermKinds.size()> parts_;  // by kind
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace elias
