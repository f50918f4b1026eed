#include "server/model_cards.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "report/inspect_report.h"
#include "report/model_points.h"

namespace elias::server {
namespace {

/// How many clusters have how many edges that count: a dozen bins of equal width.
nlohmann::ordered_json cluster_sizes(const LabelGraphView& graph) {
  constexpr int64_t kBins = 12;
  std::vector<int64_t> sizes;
  for (int64_t cluster = 0; cluster < graph.clusters(); ++cluster) {
    const auto scores = graph.scores.subspan(
        static_cast<size_t>(graph.offsets[cluster]),
        static_cast<size_t>(graph.offsets[cluster + 1] - graph.offsets[cluster]));
    sizes.push_back(std::ranges::count_if(scores, [](float s) { return s > kCountsAbove; }));
  }
  const int64_t most = sizes.empty() ? 0 : std::ranges::max(sizes);
  const int64_t width = most / kBins + 1;
  std::vector<int64_t> bounds, clusters(static_cast<size_t>(most / width) + 1);
  for (size_t bin = 0; bin <= clusters.size(); ++bin) {
    bounds.push_back(static_cast<int64_t>(bin) * width);
  }
  for (const int64_t size : sizes) ++clusters[static_cast<size_t>(size / width)];
  return {{"bounds", bounds}, {"clusters", clusters}};
}

}  // namespace

ModelCard::ModelCard(const ServedModel& served, std::string test_file)
    : test_file_(std::move(test_file)) {
  if (test_file_.empty()) return;
  ThreadPool pool;
  const Model& model = served.model();
  test_ = evaluate_on(read_test_points(test_file_, {}, model, pool), model, Context(pool));
}

const nlohmann::ordered_json& ModelCard::index(const Model& model) const {
  std::call_once(index_made_, [&] {
    Inspection inspection("", model);
    inspection.test = test_;
    nlohmann::ordered_json json = inspection_json(inspection);
    // Where things lie on this machine is nobody's business, nor is how the model came to be.
    for (const char* own : {"training", "files"}) json.erase(own);
    if (json.contains("test")) json["test"].erase("file");
    const Member& first = model.first();
    json["cluster_sizes"] = first.weights.cluster_weights ? cluster_sizes(first.weights.graph)
                                                          : nlohmann::ordered_json();
    index_ = std::move(json);
  });
  return index_;
}

const LabelSearch& ModelCard::labels(const Model& model) const {
  std::call_once(labels_made_, [&] { labels_.emplace(model); });
  return *labels_;
}

void ModelCards::add(const std::string& name, const std::shared_ptr<const ServedModel>& served) {
  const auto test = test_files_.find(name);
  auto card = std::make_shared<ModelCard>(*served, test == test_files_.end() ? "" : test->second);
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.served.expired(); });
  entries_.push_back({served, std::move(card)});
}

std::shared_ptr<const ModelCard> ModelCards::of(const ServedModel& served) const {
  const std::lock_guard lock(mutex_);
  const auto entry = std::ranges::find_if(
      entries_, [&](const Entry& other) { return other.served.lock().get() == &served; });
  ELIAS_ASSERT(entry != entries_.end());
  return entry->card;
}

}  // namespace elias::server
