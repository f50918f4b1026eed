// Any bytes as a model's neighbours.safetensors: a graph that is accepted can be searched.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "index/neighbour_search.h"
#include "model/neighbours_file.h"

namespace {

constexpr int64_t kLabels = 12, kLinks = 4, kWidth = 2;

void search(const elias::NeighbourGraphView& graph) {
  std::vector<float> w, bias(kLabels, 0.5F);
  for (int64_t i = 0; i < kLabels * kWidth; ++i) w.push_back(static_cast<float>(i % 7));
  const elias::RowDots dots(elias::chosen_isa(), {w.data(), {kLabels, kWidth}},
                            {bias.data(), {kLabels}});
  elias::NeighbourSearch room(graph, dots, kWidth);
  for (const int64_t ef : {1, 3, 20}) {
    const auto found = room.find(std::array{1.0F, -0.5F}, ef);
    ELIAS_ASSERT(!found.empty() && static_cast<int64_t>(found.size()) <= std::min(ef, kLabels));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  static elias::ThreadPool pool(1);
  try {
    const elias::SafetensorsFile file(image, "fuzzed");
    search(elias::read_neighbours(file, kLabels, kLinks, pool));
  } catch (const elias::InputError&) {
  }
  return 0;
}
