// Attention, slow and obvious: sequences are padded to the longest, and what was padded is masked,
// as others do it. q [S, D], k and v [T, D].
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/attention/attention.h"
#include "tests/ops/dropout_reference.h"

namespace elias::reference {

struct AttentionSizes {
  std::vector<int32_t> query_offsets, offsets;  // [N + 1]
  size_t heads, width;                          // H, D
  float dropout = 0;
  DropoutKey key{};

  size_t sequences() const { return offsets.size() - 1; }
  size_t longest() const {
    int32_t most = 0;
    for (size_t i = 0; i < sequences(); ++i) most = std::max(most, offsets[i + 1] - offsets[i]);
    return static_cast<size_t>(most);
  }
};

template <typename T>
struct AttentionResult {
  std::vector<T> y;         // [S, D]
  std::vector<T> log_sums;  // [H, S]
  std::vector<T> p;         // [S, H, longest], with none dropped
};

// What a probability is multiplied with by dropout.
inline double kept(const AttentionSizes& sizes, size_t row, size_t head, size_t key) {
  if (sizes.dropout == 0) return 1;
  const uint64_t place = (row * sizes.heads + head) * kMostAttended + key;
  return dropped(place, sizes.dropout, sizes.key) ? 0 : 1 / (1 - double{sizes.dropout});
}

template <typename T>
AttentionResult<T> attention(const AttentionSizes& sizes, const std::vector<T>& q,
                             const std::vector<T>& k, const std::vector<T>& v) {
  const size_t D = sizes.width, H = sizes.heads, d = D / H, longest = sizes.longest();
  const size_t S = q.size() / D;
  AttentionResult<T> result{std::vector<T>(S * D), std::vector<T>(H * S),
                            std::vector<T>(S * H * longest)};
  for (size_t n = 0; n < sizes.sequences(); ++n) {
    const auto first = static_cast<size_t>(sizes.offsets[n]);
    const auto tokens = static_cast<size_t>(sizes.offsets[n + 1]) - first;
    for (auto row = static_cast<size_t>(sizes.query_offsets[n]);
         row < static_cast<size_t>(sizes.query_offsets[n + 1]); ++row) {
      for (size_t h = 0; h < H; ++h) {
        T* const p = result.p.data() + (row * H + h) * longest;
        T highest = -std::numeric_limits<T>::infinity(), sum = 0;
        for (size_t j = 0; j < longest; ++j) {
          const bool masked = j >= tokens;
          p[j] = masked ? -std::numeric_limits<T>::infinity() : 0;
          for (size_t i = 0; !masked && i < d; ++i) {
            p[j] += q[row * D + h * d + i] * k[(first + j) * D + h * d + i] / std::sqrt(T(d));
          }
          highest = std::max(highest, p[j]);
        }
        for (size_t j = 0; j < longest; ++j) sum += p[j] = std::exp(p[j] - highest);
        for (size_t j = 0; j < longest; ++j) p[j] /= sum;
        result.log_sums[h * S + row] = highest + std::log(sum);
        for (size_t j = 0; j < tokens; ++j) {
          for (size_t i = 0; i < d; ++i) {
            result.y[row * D + h * d + i] +=
                p[j] * T(kept(sizes, row, h, j)) * v[(first + j) * D + h * d + i];
          }
        }
      }
    }
  }
  return result;
}

template <typename T>
struct AttentionGradients {
  std::vector<T> dq, dk, dv;
};

template <typename T>
AttentionGradients<T> attention_backward(const AttentionSizes& sizes, const std::vector<T>& q,
                                         const std::vector<T>& k, const std::vector<T>& v,
                                         const std::vector<T>& dy) {
  const size_t D = sizes.width, H = sizes.heads, d = D / H, longest = sizes.longest();
  const auto forward = attention(sizes, q, k, v);
  AttentionGradients<T> result{std::vector<T>(q.size()), std::vector<T>(k.size()),
                               std::vector<T>(k.size())};
  for (size_t n = 0; n < sizes.sequences(); ++n) {
    const auto first = static_cast<size_t>(sizes.offsets[n]);
    const auto tokens = static_cast<size_t>(sizes.offsets[n + 1]) - first;
    for (auto row = static_cast<size_t>(sizes.query_offsets[n]);
         row < static_cast<size_t>(sizes.query_offsets[n + 1]); ++row) {
      for (size_t h = 0; h < H; ++h) {
        const T* const p = forward.p.data() + (row * H + h) * longest;
        std::vector<T> dp(tokens);
        T sum = 0;
        for (size_t j = 0; j < tokens; ++j) {
          const T keep(kept(sizes, row, h, j));
          for (size_t i = 0; i < d; ++i) {
            const size_t at = (first + j) * D + h * d + i;
            dp[j] += keep * dy[row * D + h * d + i] * v[at];
            result.dv[at] += keep * p[j] * dy[row * D + h * d + i];
          }
          sum += p[j] * dp[j];
        }
        for (size_t j = 0; j < tokens; ++j) {
          const T ds = p[j] * (dp[j] - sum) / std::sqrt(T(d));
          for (size_t i = 0; i < d; ++i) {
            result.dq[row * D + h * d + i] += ds * k[(first + j) * D + h * d + i];
            result.dk[(first + j) * D + h * d + i] += ds * q[row * D + h * d + i];
          }
        }
      }
    }
  }
  return result;
}

}  // namespace elias::reference
