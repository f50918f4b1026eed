// Prediction's speed on one thread, and what the machine could do at best in the same minute.
//
//   prediction_bench MODEL FILE
//
// prints one JSON object: milliseconds to load the model, on all threads; milliseconds a text of
// FILE takes from text to its 100 best labels, of that the search alone, and what a ranker adds;
// the bytes of label classifiers and edges that a prediction must read; and how long reading as
// many takes in one pass over the classifiers.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "bench/roofline.h"
#include "data/point_reader.h"
#include "encoder/word_dropout.h"
#include "index/beam.h"
#include "index/search.h"
#include "model/model.h"

namespace elias::bench {
namespace {

constexpr int64_t kBest = 100;
constexpr int kRounds = 7;
constexpr int64_t kPointsPerPass = 256;

// Of the fastest of several runs: other load on the machine only adds.
double milliseconds_of(const std::function<void()>& work) {
  double fastest = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    fastest = std::min(fastest, 1000 * seconds_of(work));
  }
  return fastest;
}

/// The clusters of points, found once, and the search from them.
class SearchAlone {
 public:
  SearchAlone(const Context& context, const Model& model, const Csr& features)
      : model_(model),
        search_(model.first().weights.graph.label_count, context.isa()),
        labels_(static_cast<size_t>(model.first().search.shortlist)),
        scores_(labels_.size()) {
    const PredictorWeights& weights = model.first().weights;
    const PackedBag packed = pack_bag(context, weights.encoder.bag(), Precision::kFloat32);
    const PackedWeights clusters =
        pack_weights(context, weights.cluster_weights, PackedFor::kForward, Precision::kFloat32);
    Beam beam(model.first().search.beam, model.first().search.alpha);
    for (size_t begin = 0; begin < features.rows(); begin += kPointsPerPass) {
      const auto end = std::min(features.rows(), begin + static_cast<size_t>(kPointsPerPass));
      std::vector<uint32_t> points(end - begin);
      for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<uint32_t>(begin + i);
      BagBatch bags;
      gather_bags(features, points, 0, 0, 0, bags, context.pool());
      BagActivations activations;
      encode_bags(context, weights.encoder.bag(), packed, bags.view(), std::nullopt, activations);
      beam.find(context, clusters, weights.cluster_bias, activations.phi());
      const auto found = beam.clusters().span<int32_t>();
      const auto scores = beam.scores().span<float>();
      clusters_.insert(clusters_.end(), found.begin(), found.end());
      cluster_scores_.insert(cluster_scores_.end(), scores.begin(), scores.end());
    }
  }

  void run() {
    const auto b = static_cast<size_t>(model_.first().search.beam);
    for (size_t begin = 0; begin < clusters_.size(); begin += b) {
      search_.explore(model_.first().weights.graph, std::span(clusters_).subspan(begin, b),
                      std::span(cluster_scores_).subspan(begin, b));
      search_.shortlist({.labels = labels_, .scores = scores_, .edges = {}, .slots = {}});
    }
  }

  // Edges followed for a point, on average.
  double edges() const {
    const auto offsets = model_.first().weights.graph.offsets;
    double sum = 0;
    for (const int32_t c : clusters_) sum += static_cast<double>(offsets[c + 1] - offsets[c]);
    return sum * static_cast<double>(model_.first().search.beam) /
           static_cast<double>(clusters_.size());
  }

 private:
  const Model& model_;
  LabelSearch search_;
  std::vector<int32_t> clusters_;      // [N * b]
  std::vector<float> cluster_scores_;  // [N * b]
  std::vector<int32_t> labels_;
  std::vector<float> scores_;
};

nlohmann::ordered_json measure(const std::string& folder, const std::string& file) {
  ThreadPool all_threads(0), pool(1);
  const Context context(pool);
  const double load = milliseconds_of([&] { Model::load(folder, Context(all_threads)); });
  const Model model = Model::load(folder, context);
  if (model.tfidf() == nullptr || !model.first().weights.cluster_weights) {
    throw InputError("{}: take a model of texts with an index", folder);
  }
  LabelSpace ignored;
  ReadOptions reading;
  reading.labels = ReadOptions::Labels::kIgnored;
  const Dataset data = read_dataset(file, reading, ignored, pool);
  const auto points = static_cast<double>(data.texts.rows());
  const auto predict = [&](const Predictor& predictor) {
    return milliseconds_of([&] {
      predict_all(context, predictor, model.tfidf()->transform(data.texts, pool), kBest);
    });
  };
  const double whole = predict(model.predictor());
  const double unranked = predict(Predictor(context, model.first().weights, model.first().search));
  SearchAlone search(context, model, model.tfidf()->transform(data.texts, pool));
  const double alone = milliseconds_of([&] { search.run(); });

  const ConstTensorView classifiers = model.first().weights.label_weights;
  const double row =
      static_cast<double>(classifiers.width()) * static_cast<double>(size_of(classifiers.dtype()));
  const double bytes = static_cast<double>(model.first().search.shortlist) * row +
                       search.edges() * 2 * sizeof(float);
  const double all = static_cast<double>(classifiers.rows()) * row;
  const std::span<const float> memory(static_cast<const float*>(classifiers.bytes()),
                                      static_cast<size_t>(all / sizeof(float)) / 64 * 64);
  const double pass = milliseconds_of([&] { largest(pool, memory); });
  return {{"load", load},
          {"texts", points},
          {"text", unranked / points},
          {"search", alone / points},
          {"ranker", (whole - unranked) / points},
          {"bytes", bytes},
          {"read", pass * bytes / all}};
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: prediction_bench MODEL FILE\n");
    return 2;
  }
  fmt::print("{}\n", elias::bench::measure(argv[1], argv[2]).dump());
  return 0;
}
