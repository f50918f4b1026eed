// What PyTorch makes of tiny transformers (make_fixtures.py).
#pragma once

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "data/io/safetensors.h"
#include "data/io/stored_tensors.h"
#include "data/text_rows.h"
#include "encoder/pretrained.h"
#include "encoder/transformer_file.h"
#include "tests/ops/numbers.h"
#include "tests/temporary_folder.h"

namespace elias {

inline constexpr size_t kFixtureLength = 12;  // tokens of a text, at most

inline std::string fixture_folder(const std::string& name) {
  return std::string(ELIAS_TEST_DATA) + "/../encoder/fixtures/" + name;
}

inline TextRows fixture_texts() {
  TextRows texts;
  std::ifstream file(fixture_folder("texts.txt"));
  for (std::string line; std::getline(file, line);) texts.add(line);
  return texts;
}

/// The weights whose names begin with `prefix`: "gradient.", "trained.".
inline TransformerWeights<Tensor> read_prefixed(const SafetensorsFile& file,
                                                const std::string& prefix,
                                                const TransformerConfig& config) {
  SafetensorsWriter writer;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.starts_with(prefix)) writer.add(name.substr(prefix.size()), tensor);
  }
  const TemporaryFolder folder;
  writer.write(folder / "weights");
  return read_transformer(SafetensorsFile(folder / "weights"), config);
}

/// The loss of make_fixtures.py: of a head on the first tokens' states, which stays as it is.
class FixtureHead {
 public:
  explicit FixtureHead(const SafetensorsFile& file)
      : weights_(values_in(file, "head.weights")),
        bias_(values_in(file, "head.bias")),
        target_(values_in(file, "target")) {}

  /// Adds its gradient to dphi.
  double loss(ConstTensorView phi, TensorView dphi) const {
    const auto D = static_cast<size_t>(phi.width()), N = static_cast<size_t>(phi.rows());
    const size_t L = bias_.size();
    const double share = 1 / static_cast<double>(N * L);
    double loss = 0;
    for (size_t n = 0; n < N; ++n) {
      for (size_t l = 0; l < L; ++l) {
        double z = bias_[l];
        for (size_t d = 0; d < D; ++d) {
          z += weights_[l * D + d] * double{phi.span<float>()[n * D + d]};
        }
        const double p = 1 / (1 + std::exp(-z)), t = target_[n * L + l];
        loss -= share * (t * std::log(p) + (1 - t) * std::log(1 - p));
        for (size_t d = 0; d < D; ++d) {
          dphi.span<float>()[n * D + d] +=
              static_cast<float>(share * (p - t) * weights_[l * D + d]);
        }
      }
    }
    return loss;
  }

 private:
  static std::vector<double> values_in(const SafetensorsFile& file, const std::string& name) {
    return values_of<double>(view_of(file, name));
  }

  std::vector<double> weights_, bias_, target_;
};

}  // namespace elias
