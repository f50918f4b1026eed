// The sparse part goes label by label: the points of a label come from the labels turned once from
// rows by point to rows by label. A label's terms are gathered in a list, and a table of V entries
// a thread says where in it each stands. The work on terms is done twice, first only to learn how
// many each label has, so that the result, which may be most of the memory there is, is written in
// place once.
#include "index/label_centroids.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.h"
#include "base/scratch_pool.h"

namespace elias {
namespace {

constexpr size_t kLabelsPerChunk = 64;
constexpr size_t kPointsPerChunk = 1024;
constexpr size_t kColumnsPerChunk = 64;

std::span<const float> row_of(ConstTensorView matrix, size_t i) {
  return {matrix.data<float>() + static_cast<int64_t>(i) * matrix.stride(),
          static_cast<size_t>(matrix.width())};
}

template <typename Values>
double squared_length(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  ELIAS_ASSERT(std::isfinite(sum));
  return sum;
}

double one_over(double length) { return length > 0 ? 1 / length : 0; }

/// scale(i) of each of `size` points.
template <typename Scale>
std::vector<double> scales(size_t size, ThreadPool& pool, const Scale& scale) {
  std::vector<double> result(size);
  pool.for_chunks(size, kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) result[i] = scale(i);
  });
  return result;
}

struct Term {
  uint32_t column;
  double value;
};

/// The terms of one label at a time.
class LabelSum {
 public:
  explicit LabelSum(size_t V) : places_(V) {}

  /// Sums the rows of `bow` of the label's points, each times its scale; the terms in any order.
  std::vector<Term>& sum_terms(CsrRow points, const Csr& bow, std::span<const double> scale) {
    terms_.clear();
    for (size_t p = 0; p < points.size(); ++p) {
      const double weight = points.values[p] * scale[points.columns[p]];
      const CsrRow row = bow.row(points.columns[p]);
      for (size_t i = 0; i < row.size(); ++i) {
        uint32_t& place = places_[row.columns[i]];
        if (place == 0) {
          terms_.push_back({row.columns[i], 0});
          place = static_cast<uint32_t>(terms_.size());
        }
        terms_[place - 1].value += weight * row.values[i];
      }
    }
    for (const Term& term : terms_) places_[term.column] = 0;
    return terms_;
  }

 private:
  std::vector<uint32_t> places_;  // [V]: where in terms_ a column stands, from 1; 0 if it does not
  std::vector<Term> terms_;
};

/// The `most` terms of largest size, of equal ones those of lower columns; rising by column.
void keep_largest(std::vector<Term>& terms, size_t most) {
  if (terms.size() > most) {
    std::nth_element(terms.begin(), terms.begin() + static_cast<ptrdiff_t>(most), terms.end(),
                     [](const Term& a, const Term& b) {
                       const auto size_a = std::abs(a.value), size_b = std::abs(b.value);
                       return size_a != size_b ? size_a > size_b : a.column < b.column;
                     });
    terms.resize(most);
  }
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.column < b.column; });
}

/// One call of label_centroids.
class Centroids {
 public:
  Centroids(const Csr& labels, Tensor sums, const Csr& bow, size_t most_terms, ThreadPool& pool)
      : points_(transposed(labels)), bow_(bow), most_terms_(most_terms), pool_(pool) {
    result_.dense = std::move(sums);
    if (bow_.cols > 0) {
      bow_scale_ = scales(labels.rows(), pool, [&](size_t i) {
        return one_over(std::sqrt(squared_length(bow_.row(i).values)));
      });
    }
  }

  LabelCentroids build() {
    const size_t L = points_.rows();
    result_.sparse.cols = bow_.cols;
    result_.sparse.offsets.assign(L + 1, 0);
    if (bow_.cols > 0) make_room();
    for_labels([&](size_t l, LabelSum& sum) { write_label(l, sum); });
    return std::move(result_);
  }

 private:
  template <typename Body>
  void for_labels(const Body& body) {
    pool_.for_chunks(points_.rows(), kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
      scratch_.with([&](LabelSum& sum) {
        for (size_t l = begin; l < end; ++l) body(l, sum);
      });
    });
  }

  void make_room() {
    Csr& sparse = result_.sparse;
    for_labels([&](size_t l, LabelSum& sum) {
      const size_t terms = sum.sum_terms(points_.row(l), bow_, bow_scale_).size();
      sparse.offsets[l + 1] = std::min(terms, most_terms_);
    });
    std::partial_sum(sparse.offsets.begin(), sparse.offsets.end(), sparse.offsets.begin());
    sparse.columns.resize(sparse.offsets.back());
    sparse.values.resize(sparse.offsets.back());
  }

  void write_label(size_t l, LabelSum& sum) {
    std::span<float> dense;
    std::span<const Term> terms;
    if (result_.dense) {
      const auto D = static_cast<size_t>(result_.dense.shape()[-1]);
      dense = result_.dense.span<float>().subspan(l * D, D);
    }
    double squares = squared_length(dense);
    if (bow_.cols > 0) {
      auto& all = sum.sum_terms(points_.row(l), bow_, bow_scale_);
      keep_largest(all, most_terms_);
      terms = all;
      for (const Term& term : terms) squares += term.value * term.value;
    }
    const double scale = one_over(std::sqrt(squares));
    for (float& value : dense) value = static_cast<float>(value * scale);
    const uint64_t begin = result_.sparse.offsets[l];
    for (size_t i = 0; i < terms.size(); ++i) {
      result_.sparse.columns[begin + i] = terms[i].column;
      result_.sparse.values[begin + i] = static_cast<float>(terms[i].value * scale);
    }
  }

  Csr points_;  // L x N
  const Csr& bow_;
  size_t most_terms_;
  ThreadPool& pool_;
  std::vector<double> bow_scale_;  // [N], 1 / length
  ScratchPool<LabelSum> scratch_{[this] { return std::make_unique<LabelSum>(bow_.cols); }};
  LabelCentroids result_;
};

}  // namespace

void add_to_label_sums(const Csr& labels, size_t first, ConstTensorView phi, TensorView sums,
                       ThreadPool& pool) {
  const auto n = static_cast<size_t>(phi.rows()), D = static_cast<size_t>(phi.width());
  ELIAS_ASSERT(phi.device() == Device::kCpu && phi.rank() == 2 && first + n <= labels.rows());
  ELIAS_ASSERT(sums.shape() == Shape({static_cast<int64_t>(labels.cols), phi.width()}));
  const auto scale = scales(
      n, pool, [&](size_t i) { return one_over(std::sqrt(squared_length(row_of(phi, i)))); });
  // By columns: no two threads add to the same sum, and each is added to in the points' order.
  pool.for_chunks(D, kColumnsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t i = 0; i < n; ++i) {
      const CsrRow row = labels.row(first + i);
      const float* from = row_of(phi, i).data();
      for (size_t j = 0; j < row.size(); ++j) {
        const auto weight = static_cast<float>(row.values[j] * scale[i]);
        float* to = sums.span<float>().data() + row.columns[j] * D;
        for (size_t d = begin; d < end; ++d) to[d] += weight * from[d];
      }
    }
  });
}

LabelCentroids label_centroids(const Csr& labels, Tensor sums, const Csr& bow, size_t most_terms,
                               ThreadPool& pool) {
  ELIAS_ASSERT(!sums || sums.shape()[0] == static_cast<int64_t>(labels.cols));
  ELIAS_ASSERT(bow.cols == 0 || bow.rows() == labels.rows());
  return Centroids(labels, std::move(sums), bow, most_terms, pool).build();
}

}  // namespace elias
