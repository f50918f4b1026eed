#include "report/find_label.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/edit_distance.h"
#include "base/errors.h"

namespace elias {
namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// The names of the labels most like `name`: those that contain it, then those spelt much like it.
std::vector<std::string> similar_names(const Model& model, const std::string& name,
                                       ThreadPool& pool) {
  constexpr size_t kNames = 3, kLabelsPerChunk = 1024;
  using Candidate = std::tuple<bool, size_t, uint32_t>;  // without it, distance, label
  const std::string wanted = lower(name);
  std::vector<Candidate> all(model.labels());
  pool.for_chunks(all.size(), kLabelsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t l = begin; l < end; ++l) {
      const auto label = static_cast<uint32_t>(l);
      const std::string other = lower(model.label_name(label));
      all[l] = {other.find(wanted) == std::string::npos, edit_distance(wanted, other), label};
    }
  });
  const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(kNames, all.size()));
  std::partial_sort(all.begin(), end, all.end());
  std::vector<std::string> names;
  for (auto place = all.begin(); place != end; ++place) {
    names.push_back(shown(model.label_name(std::get<uint32_t>(*place))));
  }
  return names;
}

}  // namespace

uint32_t find_label(const Model& model, const std::string& folder, const std::string& name,
                    ThreadPool& pool) {
  if (const auto label = model.find_label(name)) return *label;
  if (!model.has_names()) {
    throw InputError("{}: has no label {}: its labels are the numbers from 0 to {}", folder,
                     shown(name), model.labels() - 1);
  }
  throw InputError("{}: has no label {}: the nearest are {}", folder, shown(name),
                   fmt::join(similar_names(model, name, pool), ", "));
}

}  // namespace elias
