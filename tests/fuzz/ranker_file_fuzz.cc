// Any bytes as a model's ranker.safetensors: one that is accepted ranks labels, with any mix.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "model/ranker_file.h"

namespace {

constexpr int64_t kFeatures = 64, kWidth = 4;

void rank_with(const elias::RankerPart& ranker) {
  const int64_t L = ranker.weights.labels();
  const std::vector<uint32_t> columns = {0, 3, 17, 40};
  const std::vector<float> values = {0.5F, 0.1F, 0.7F, 0.2F}, phi = {0, 1, 2, 0};
  std::vector<int32_t> labels;
  std::vector<float> scores;
  for (int32_t l = 0; l < L && l < 5; ++l) {
    labels.push_back(l);
    scores.push_back(1 / (1 + static_cast<float>(l)));
  }
  elias::Reranker reranker(ranker, kFeatures, kWidth, elias::chosen_isa());
  reranker.rank(ranker, {columns, values}, phi, labels, scores);
  for (const float score : scores) ELIAS_ASSERT(score >= 0 && score <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  static elias::ThreadPool pool(1);
  for (const auto mix :
       {elias::MixKind::kProduct, elias::MixKind::kTree, elias::MixKind::kLearned}) {
    try {
      const elias::SafetensorsFile file(image, "fuzzed");
      elias::RankerPart ranker = elias::read_ranker(
          file, {.input = {.parts = elias::RankerParts::kBoth}, .top = 3, .loss = {}, .mix = mix});
      const std::vector<uint64_t> counts(ranker.weights.bias.size(), 7);
      ranker.label_counts = counts;
      check_ranker(ranker, kFeatures, kWidth, ranker.weights.labels(), "fuzzed", pool);
      rank_with(ranker);
    } catch (const elias::InputError&) {
    }
  }
  return 0;
}
