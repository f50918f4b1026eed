// elias.h for C++20: handles free themselves, and errors are exceptions. Everything is said there;
// there is nothing here that is not a line or two over it.
//
//   const elias::Model model("model");
//   const elias::Predictions found = model.predict({"fast clustering of vectors with numpy"});
//   for (size_t i = 0; i < found.labels(0).size(); ++i) {
//     std::cout << model.label_name(found.labels(0)[i]) << ' ' << found.scores(0)[i] << '\n';
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "elias/elias.h"

namespace elias {

class Error : public std::runtime_error {
 public:
  explicit Error(elias_status status) : std::runtime_error(elias_last_error()), status_(status) {}
  elias_status status() const { return status_; }

 private:
  elias_status status_;
};

inline void check(elias_status status) {
  if (status != ELIAS_OK) throw Error(status);
}

/// Labels of points, best first.
class Predictions {
 public:
  explicit Predictions(elias_predictions* handle) : handle_(handle) {}

  size_t rows() const { return elias_predictions_rows(handle_.get()); }
  std::span<const uint32_t> labels(size_t row) const {
    return {elias_predictions_labels(handle_.get()) + begin(row), begin(row + 1) - begin(row)};
  }
  std::span<const float> scores(size_t row) const {
    return {elias_predictions_scores(handle_.get()) + begin(row), begin(row + 1) - begin(row)};
  }

 private:
  struct Free {
    void operator()(elias_predictions* handle) const { elias_predictions_free(handle); }
  };
  uint64_t begin(size_t row) const { return elias_predictions_offsets(handle_.get())[row]; }

  std::unique_ptr<elias_predictions, Free> handle_;
};

/// As elias_predict_options, without its size.
struct PredictOptions {
  size_t k = 0;
  double threshold = 0;
  std::optional<std::span<const uint32_t>> candidates = std::nullopt;  // none: all labels
};

class Model {
 public:
  explicit Model(const std::string& folder, uint32_t threads = 0, bool exact = false) {
    const elias_load_options options{sizeof options, threads, exact ? 1U : 0U};
    elias_model* handle = nullptr;
    check(elias_load(folder.c_str(), &options, &handle));
    handle_.reset(handle);
  }

  /// For the functions of elias.h.
  const elias_model* handle() const { return handle_.get(); }

  size_t labels() const { return elias_label_count(handle()); }
  std::string_view label_name(uint32_t label) const {
    size_t length = 0;
    const char* const name = elias_label_name(handle(), label, &length);
    if (name == nullptr) throw Error(ELIAS_REFUSED);
    return {name, length};
  }
  uint32_t find_label(std::string_view name) const {
    uint32_t label = 0;
    check(elias_find_label(handle(), name.data(), name.size(), &label));
    return label;
  }

  Predictions predict(const std::vector<std::string_view>& texts,
                      const PredictOptions& options = {}) const {
    const Pointers pointers(texts);
    const elias_predict_options in_c = in_c_of(options);
    elias_predictions* found = nullptr;
    check(elias_predict(handle(), pointers.texts.data(), pointers.lengths.data(), texts.size(),
                        &in_c, &found));
    return Predictions(found);
  }

  /// One row after the other.
  std::vector<float> embed(const std::vector<std::string_view>& texts, size_t member = 0) const {
    const Pointers pointers(texts);
    std::vector<float> vectors(texts.size() * elias_vector_width(handle()));
    check(elias_embed(handle(), member, pointers.texts.data(), pointers.lengths.data(),
                      texts.size(), vectors.data()));
    return vectors;
  }

 private:
  struct Free {
    void operator()(elias_model* handle) const { elias_free(handle); }
  };
  /// Texts as C takes them.
  struct Pointers {
    explicit Pointers(const std::vector<std::string_view>& from) {
      for (const std::string_view text : from) {
        texts.push_back(text.data());
        lengths.push_back(text.size());
      }
    }
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
  };

  static elias_predict_options in_c_of(const PredictOptions& options) {
    // None of no labels is no NULL, which would be all labels.
    static constexpr uint32_t kNone = 0;
    const auto candidates = options.candidates.value_or(std::span<const uint32_t>());
    return {.size = sizeof(elias_predict_options),
            .k = options.k,
            .threshold = options.threshold,
            .candidates = options.candidates && candidates.empty() ? &kNone : candidates.data(),
            .candidate_count = candidates.size()};
  }

  std::unique_ptr<elias_model, Free> handle_;
};

}  // namespace elias
