// Tf-idf features of texts: words and their n-grams, those of the opening of a text once more as
// features of their own, and n-grams of characters inside words.
//
// Formulas and order of features are scikit-learn's, so the matrix is TfidfVectorizer's:
//   idf(t) = ln((1 + N) / (1 + df(t))) + 1 for N documents, df(t) of which hold t,
//   x(d, t) = tf(d, t) * idf(t), then each row divided by its Euclidean length.
// Features of one kind lie together, in the order of their bytes; limits and lengths are taken for
// each kind by itself, as a FeatureUnion of several vectorizers would.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/io/safetensors.h"
#include "data/text_rows.h"
#include "text/analyser.h"
#include "text/term_table.h"

namespace elias {

/// In the order of their features.
enum class TermKind : uint8_t { kWord, kOpening, kCharacters };
inline constexpr std::array<TermKind, 3> kTermKinds = {TermKind::kWord, TermKind::kOpening,
                                                       TermKind::kCharacters};

struct TfidfOptions {
  NgramRange words{1, 1};
  int64_t opening = 0;  // the first words of a text, whose n-grams are features of their own too
  NgramRange characters{0, 0};
  bool lowercase = true;
  bool strip_accents = false;
  // How many documents must or may hold a term: a count, or a share of all if below 1.
  double min_df = 1;
  double max_df = std::numeric_limits<double>::infinity();
  uint64_t max_features = 0;  // of each kind, those with the most occurrences; 0: all
  bool sublinear_tf = false;  // 1 + ln(tf) in place of tf
  bool use_idf = true;
  bool normalise = true;  // rows to Euclidean length 1

  bool has(TermKind kind) const;
  bool operator==(const TfidfOptions&) const = default;
};

/// Throws InputError if no vectorizer can have such options.
void check_options(const TfidfOptions& options);

/// The features of one kind: terms and the weight of each.
struct TfidfPart {
  TermTable terms;
  std::span<const float> idf;
};

class Tfidf {
 public:
  /// Maps a saved vectorizer. Throws InputError if the file is damaged or not one.
  static Tfidf load(const std::string& path);
  static Tfidf load(SafetensorsFile file);

  /// Writes one safetensors file; docs/text.md has its layout.
  void save(const std::string& path) const;

  const TfidfOptions& options() const { return options_; }
  uint64_t documents() const { return documents_; }
  uint64_t features() const { return starts_.back(); }
  std::string_view term(uint64_t feature) const;
  float idf(uint64_t feature) const;
  TermKind kind(uint64_t feature) const;

  /// One row a text, the same bits at any number of threads.
  Csr transform(const TextRows& texts, ThreadPool& pool) const;

 private:
  friend class TfidfFitter;
  /// Arrays of a vectorizer that does not come from a file.
  struct Owned {
    std::string bytes;
    std::vector<uint64_t> offsets, slots;
    std::vector<float> idf;
    TfidfPart part() const { return {{bytes, offsets, slots}, idf}; }
  };

  explicit Tfidf(const TfidfOptions& options)
      : options_(options), analyser_(options.lowercase, options.strip_accents) {}

  const TfidfPart& part(TermKind kind) const { return parts_[static_cast<size_t>(kind)]; }
  /// The first feature of a kind.
  uint64_t start(TermKind kind) const { return starts_[static_cast<size_t>(kind)]; }
  /// Kinds are set in their order.
  void set_part(TermKind kind, const TfidfPart& part);

  TfidfOptions options_;
  Analyser analyser_;
  uint64_t documents_ = 0;
  std::array<TfidfPart, kTermKinds.size()> parts_;        // by kind
  std::array<uint64_t, kTermKinds.size() + 1> starts_{};  // of each kind's features, and the end
  std::vector<std::unique_ptr<Owned>> owned_;
  std::unique_ptr<SafetensorsFile> file_;
};

}  // namespace elias
