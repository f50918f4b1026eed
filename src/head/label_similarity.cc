#include "head/label_similarity.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/errors.h"
#include "base/scratch_pool.h"

namespace elias {
namespace {

constexpr size_t kLabelsAChunk = 256;
constexpr size_t kRowsAChunk = 16;

float similarity_of(Similarity kind, double shared, double first, double second, double points) {
  switch (kind) {
    case Similarity::kArithmetic:
      return static_cast<float>((shared / first + shared / second) / 2);
    case Similarity::kGeometric:
      return static_cast<float>(shared / std::sqrt(first * second));
    case Similarity::kJaccard:
      return static_cast<float>(shared / (first + second - shared));
    case Similarity::kPmi:
      break;
  }
  if (shared == points) return 1;  // both are everywhere: 0 / 0
  const double information = std::log(points * shared / (first * second));
  return static_cast<float>(std::max(0.0, information / std::log(points / shared)));
}

/// The labels that share points with one label, counted.
class Company {
 public:
  explicit Company(size_t labels) : shared_(labels, 0) {}

  void count(const CsrRow& labels_of_point) {
    for (size_t i = 0; i < labels_of_point.size(); ++i) {
      const uint32_t label = labels_of_point.columns[i];
      if (labels_of_point.values[i] > 0 && shared_[label]++ == 0) met_.push_back(label);
    }
  }

  /// Calls use(label, points shared) for each, rising, and forgets them.
  template <typename Use>
  void take(const Use& use) {
    std::ranges::sort(met_);
    for (const uint32_t label : met_) use(label, std::exchange(shared_[label], 0));
    met_.clear();
  }

 private:
  std::vector<uint32_t> shared_;  // [L], zeros between labels
  std::vector<uint32_t> met_;
};

}  // namespace

Csr label_similarity(const Csr& labels, Similarity kind, ThreadPool& pool) {
  const std::vector<uint64_t> counts = column_counts(labels);
  const Csr points_of = transposed(labels);
  const auto L = static_cast<size_t>(labels.cols);
  const auto N = static_cast<double>(labels.rows());
  std::vector<Csr> chunks(chunk_count(L, kLabelsAChunk));
  ScratchPool<Company> room([&] { return std::make_unique<Company>(L); });
  pool.for_chunks(L, kLabelsAChunk, [&](size_t chunk, size_t begin, size_t end) {
    Csr& out = chunks[chunk];
    out.cols = labels.cols;
    room.with([&](Company& company) {
      for (size_t y = begin; y < end; ++y) {
        const CsrRow points = points_of.row(y);
        for (size_t i = 0; i < points.size(); ++i) {
          if (points.values[i] > 0) company.count(labels.row(points.columns[i]));
        }
        company.take([&](uint32_t other, uint32_t shared) {
          if (other == y) return;
          const float u = similarity_of(kind, shared, static_cast<double>(counts[y]),
                                        static_cast<double>(counts[other]), N);
          if (u == 0) return;  // labels that meet no more often than by chance
          out.columns.push_back(other);
          out.values.push_back(u);
        });
        out.offsets.push_back(out.columns.size());
      }
    });
  });
  Csr all;
  all.cols = labels.cols;
  for (Csr& chunk : chunks) {
    all.append(chunk);
    chunk = Csr();
  }
  return all;
}

void similarity_block(const Csr& similarity, std::span<const int32_t> labels, ThreadPool& pool,
                      TensorView block) {
  const auto R = static_cast<int64_t>(labels.size());
  ELIAS_ASSERT(block.rows() == R && block.width() == R);
  pool.for_chunks(labels.size(), kRowsAChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* const out = block.data<float>() + static_cast<int64_t>(i) * block.stride();
      std::fill_n(out, R, 0.0F);
      const CsrRow row = similarity.row(static_cast<size_t>(labels[i]));
      auto place = labels.begin();
      for (size_t j = 0; j < row.size() && place != labels.end(); ++j) {
        const auto other = static_cast<int32_t>(row.columns[j]);
        place = std::lower_bound(place, labels.end(), other);
        if (place != labels.end() && *place == other) out[place - labels.begin()] = row.values[j];
      }
    }
  });
}

}  // namespace elias
