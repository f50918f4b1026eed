// Tf-idf the slow and obvious way: strings, maps and formulas. The fast one is held to this.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/text_rows.h"
#include "text/tfidf.h"
#include "text/unicode.h"

namespace elias::reference {

using Characters = std::u32string;
using Counts = std::map<std::string, uint64_t>;

inline Characters characters_of(std::string_view text) {
  Characters out;
  for (size_t at = 0; at < text.size();) {
    const Decoded next = decode_utf8(text, at);
    out += next.point;
    at += next.bytes;
  }
  return out;
}

inline std::string bytes_of(const Characters& text) {
  std::string out;
  for (const char32_t point : text) append_utf8(point, out);
  return out;
}

inline Characters lowered(std::string_view text) {
  Characters out;
  for (size_t at = 0; at < text.size();) {
    const Decoded next = decode_utf8(text, at);
    Lowered lower = lower_case(next.point);
    if (next.point == 0x3A3 && is_final_sigma(text, at)) lower.first = 0x3C2;
    out += lower.first;
    if (lower.second != 0) out += lower.second;
    at += next.bytes;
  }
  return out;
}

template <typename Inside>
std::vector<Characters> runs_of(const Characters& text, Inside&& inside) {
  std::vector<Characters> runs(1);
  for (const char32_t point : text) {
    if (inside(point)) {
      runs.back() += point;
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

inline Counts word_counts(const Characters& text, NgramRange range, size_t most = SIZE_MAX) {
  std::vector<std::string> words;
  for (const Characters& run : runs_of(text, is_word_character)) {
    if (run.size() >= 2 && words.size() < most) words.push_back(bytes_of(run));
  }
  Counts counts;
  for (size_t n = static_cast<size_t>(range.lowest); n <= static_cast<size_t>(range.highest); ++n) {
    for (size_t i = 0; i + n <= words.size(); ++i) {
      std::string gram = words[i];
      for (size_t j = i + 1; j < i + n; ++j) gram += " " + words[j];
      ++counts[gram];
    }
  }
  return counts;
}

inline Counts character_counts(const Characters& text, NgramRange range) {
  const auto inside = [](char32_t c) { return !is_white_space(c) && (c < 0x1C || c > 0x1F); };
  Counts counts;
  for (const Characters& run : runs_of(text, inside)) {
    const Characters word = U" " + run + U" ";
    for (size_t n = static_cast<size_t>(range.lowest); n <= static_cast<size_t>(range.highest);
         ++n) {
      if (word.size() <= n) {
        ++counts[bytes_of(word)];
        break;
      }
      for (size_t i = 0; i + n <= word.size(); ++i) ++counts[bytes_of(word.substr(i, n))];
    }
  }
  return counts;
}

/// The features of one kind: `terms` in order and one row of values by term for each text.
struct Weighed {
  std::vector<std::string> terms;
  std::vector<std::map<std::string, double>> rows;
};

inline Weighed weigh(const std::vector<Counts>& counts, const TfidfOptions& options) {
  std::map<std::string, uint64_t> documents, occurrences;
  for (const Counts& row : counts) {
    for (const auto& [term, count] : row) {
      ++documents[term];
      occurrences[term] += count;
    }
  }
  const auto n = static_cast<double>(counts.size());
  const auto bound = [&](double value) { return value < 1 ? value * n : value; };
  Weighed kind;
  for (const auto& [term, df] : documents) {
    const auto frequency = static_cast<double>(df);
    if (frequency >= bound(options.min_df) && frequency <= bound(options.max_df)) {
      kind.terms.push_back(term);
    }
  }
  if (options.max_features > 0 && kind.terms.size() > options.max_features) {
    std::stable_sort(kind.terms.begin(), kind.terms.end(),
                     [&](const auto& a, const auto& b) { return occurrences[a] > occurrences[b]; });
    kind.terms.resize(options.max_features);
    std::sort(kind.terms.begin(), kind.terms.end());
  }
  for (const Counts& row : counts) {
    std::map<std::string, double> values;
    double squares = 0;
    for (const std::string& term : kind.terms) {
      if (!row.contains(term)) continue;
      const auto count = static_cast<double>(row.at(term));
      const double tf = options.sublinear_tf ? 1 + std::log(count) : count;
      const double df = static_cast<double>(documents[term]);
      values[term] = tf * (options.use_idf ? std::log((1 + n) / (1 + df)) + 1 : 1);
      squares += values[term] * values[term];
    }
    if (options.normalise) {
      for (auto& [term, value] : values) value /= std::sqrt(squares);
    }
    kind.rows.push_back(values);
  }
  return kind;
}

struct Result {
  std::vector<std::string> terms;              // of words, of openings, of characters
  std::vector<std::map<size_t, double>> rows;  // by feature number
};

/// Fits on `texts` and transforms them. Does not strip accents.
inline Result fit_transform(const TextRows& texts, const TfidfOptions& options) {
  std::vector<Counts> words, openings, characters;
  for (size_t i = 0; i < texts.rows(); ++i) {
    const Characters text = options.lowercase ? lowered(texts.row(i)) : characters_of(texts.row(i));
    words.push_back(options.words.any() ? word_counts(text, options.words) : Counts());
    const auto opening = static_cast<size_t>(options.opening);
    openings.push_back(opening > 0 ? word_counts(text, options.words, opening) : Counts());
    characters.push_back(options.characters.any() ? character_counts(text, options.characters)
                                                  : Counts());
  }
  Result result;
  result.rows.resize(texts.rows());
  for (const auto* counts : {&words, &openings, &characters}) {
    const Weighed kind = weigh(*counts, options);
    for (size_t i = 0; i < texts.rows(); ++i) {
      for (size_t t = 0; t < kind.terms.size(); ++t) {
        const auto found = kind.rows[i].find(kind.terms[t]);
        if (found != kind.rows[i].end()) result.rows[i][result.terms.size() + t] = found->second;
      }
    }
    result.terms.insert(result.terms.end(), kind.terms.begin(), kind.terms.end());
  }
  return result;
}

}  // namespace elias::reference
