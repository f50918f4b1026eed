// ranker.safetensors of a model: the sparse ranker and the mix of its scores with those of the
// search (docs/file-format.md).
#pragma once

#include <string>
#include <vector>

#include "data/io/safetensors.h"
#include "model/config.h"
#include "model/reranker.h"

namespace elias {

/// "NAMEbias" and "NAMEinputs.j.knots", "NAMEinputs.j.slopes" for every input j.
void add_logistic(const MonotoneLogistic& logistic, const std::string& name,
                  SafetensorsWriter& writer);
MonotoneLogistic read_logistic(const SafetensorsFile& file, const std::string& name, size_t inputs);

/// A mix as arrays, which must stay until they are written.
class StoredMix {
 public:
  explicit StoredMix(const ScoreMix& mix);
  void add_to(SafetensorsWriter& writer) const;

 private:
  const ScoreMix& mix_;
  std::vector<double> thresholds_;
  std::vector<int32_t> nodes_;  // [nodes, 3] feature, left, right
  std::vector<float> values_;
};

void add_ranker(const RankerPart& ranker, const StoredMix& mix, SafetensorsWriter& writer);

RankerConfig config_of(const RankerPart& ranker);

/// The views are into the file. Throws InputError if tensors are missing or of another type; what
/// they hold is for check_ranker to look at.
RankerPart read_ranker(const SafetensorsFile& file, const RankerConfig& config);

}  // namespace elias
