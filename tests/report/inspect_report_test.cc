#include "report/inspect_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/report/tiny_model_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::Not;

class InspectReport : public testing::Test {
 protected:
  Model load(const TinyModelFolder& folder) { return Model::load(folder.path(), context_); }

  // Two points with the labels {tea, cocoa} and {green tea}; the first finds tea, the second errs.
  Evaluation some_evaluation(const TinyModelFolder& folder) {
    const Csr truth{6, {0, 2, 3}, {0, 3, 1}, {1, 1, 1}};
    const Csr scores{6, {0, 1, 2}, {0, 2}, {0.9F, 0.8F}};
    const Training training{.points = 20, .counts = folder.counts(), .propensity = {}};
    EvaluateOptions options;
    options.groups = true;
    return evaluate(truth, scores, &training, options, pool_);
  }

  ThreadPool pool_{1};
  Context context_{pool_};
};

TEST_F(InspectReport, OfAnIndex) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  const std::string text = inspection_report(Inspection("here", model));
  EXPECT_THAT(text, HasSubstr("Model here\n"
                              "  method                                   elias\n"
                              "  training points                          1,234\n"
                              "  labels                                       6\n"
                              "  features, given as they are                  3\n"
                              "  width of a point's vector                    2\n"
                              "  residual layers                              1\n"
                              "  label classifiers                      float32\n"
                              "  clusters                                     3\n"
                              "  edges from clusters to labels                7\n"
                              "  beam: clusters searched for a point          2\n"
                              "  shortlist: labels scored for a point         5\n"
                              "  alpha: scale of cluster scores             0.1\n"
                              "  gamma: power of the shortlist's score     0.25\n"
                              "\n"
                              "Files\n"
                              "  config.json "));
  EXPECT_THAT(text, HasSubstr("\nIndex; an edge counts if its score is above 0.25\n"
                              "  labels with an edge               5 (83.33 %)\n"
                              "  edges that count                  4 (57.14 %)\n"
                              "  edges a cluster, all                      2.3\n"
                              "  edges a cluster that count, mean          1.3\n"
                              "    of the smallest cluster                   0\n"
                              "    of the largest cluster                    2\n"));
  EXPECT_THAT(text, HasSubstr("\nLabels whose edge from their cluster of stage 1 is left\n"
                              "  score above   0.05    0.1   0.25    0.5  0.75\n"
                              "  labels, %    50.00  50.00  33.33  16.67  0.00\n"));
  EXPECT_THAT(text, HasSubstr("a tenth of the labels seen a row, most frequent first\n"
                              "  decile  labels  train points  clusters a label\n"
                              "  1            1             9              2.00\n"
                              "  3            1             5              1.00\n"
                              "  6            1             5              1.00\n"
                              "  8            1             1              0.00\n"
                              "  unseen       2             0              0.00\n"));
}

TEST_F(InspectReport, BarsOfScores) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  Inspection inspection("here", model);
  inspection.index->histogram = {4000, 0, 1, 2000, 101};
  EXPECT_THAT(inspection_report(inspection),
              HasSubstr("\nScores of edges\n"
                        "  0.00 to 0.05  4,000  ########################################\n"
                        "  0.05 to 0.10      0\n"
                        "  0.10 to 0.15      1  #\n"
                        "  0.15 to 0.20  2,000  ####################\n"
                        "  0.20 to 0.25    101  ##\n"
                        "  0.25 to 0.30      0\n"));
}

TEST_F(InspectReport, OnTestPoints) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  Inspection inspection("here", model);
  inspection.test_file = "tst.txt";
  inspection.test = some_evaluation(folder);
  const std::string text = inspection_report(inspection);
  EXPECT_THAT(text, HasSubstr("clusters a label  true pairs  R@10 %  R@100 %\n"
                              "  1            1             9              2.00"
                              "           1  100.00   100.00\n"
                              "  3            1             5              1.00"
                              "           1    0.00     0.00\n"
                              "  6            1             5              1.00"
                              "           0       -        -\n"));
  EXPECT_THAT(text, HasSubstr("\ntst.txt: 2 points\n"
                              "  P@1 50.00  P@3 16.67  P@5 10.00  R@10 25.00  R@100 25.00\n"));
  const auto json = inspection_json(inspection);
  EXPECT_EQ(json["test"].dump(),
            R"({"file":"tst.txt","points":2,"P@1":0.5,"P@3":0.16666666666666666,"P@5":0.1,)"
            R"("R@10":0.25,"R@100":0.25})");
  EXPECT_EQ(json["deciles"][1]["R@10"], 1);
  EXPECT_EQ(json["deciles"][0]["true_pairs"], 1);
}

TEST_F(InspectReport, AsJson) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  const auto json = inspection_json(Inspection("here", model));
  EXPECT_EQ(json["method"], "elias");
  EXPECT_EQ(json["points"], 1234);
  EXPECT_EQ(json["takes_text"], false);
  EXPECT_EQ(json["files"].size(), 5U);
  EXPECT_EQ(json["training"].dump(), R"({"seed":7})");
  EXPECT_EQ(json["index"].dump(),
            R"({"clusters":3,"edges":7,)"
            R"("search":{"beam":2,"shortlist":5,"alpha":0.1,"gamma":0.25},)"
            R"("labels_with_an_edge":5,"counts_above":0.25,"edges_that_count":4,)"
            R"("edges_that_count_per_cluster":{"fewest":0,"mean":1.3333333333333333,"most":2},)"
            R"("score_histogram":[1,1,0,0,0,1,1,0,0,0,1,0,0,0,0,1,0,0,0,1],)"
            R"("stage1_kept":[{"score_above":0.05,"share":0.5},{"score_above":0.1,"share":0.5},)"
            R"({"score_above":0.25,"share":0.3333333333333333},)"
            R"({"score_above":0.5,"share":0.16666666666666666},)"
            R"({"score_above":0.75,"share":0.0}]})");
  EXPECT_EQ(json["deciles"][1].dump(),
            R"({"decile":1,"labels":1,"train_most":9,"train_fewest":9,"train_share":0.45,)"
            R"("clusters_per_label":2.0})");
}

TEST_F(InspectReport, OfAModelWithoutIndex) {
  const TinyModelFolder folder("ova");
  const Model model = load(folder);
  const Inspection inspection("here", model);
  const std::string text = inspection_report(inspection);
  EXPECT_THAT(text, HasSubstr("There is no index: this model scores every label of every point."));
  EXPECT_THAT(text, HasSubstr("  decile  labels  train points\n"));
  EXPECT_THAT(text, Not(HasSubstr("clusters")));
  EXPECT_TRUE(inspection_json(inspection)["index"].is_null());
  EXPECT_THAT(label_report(model, portray(model.first().weights, 0, 2, pool_)),
              HasSubstr("There is no index"));
}

TEST_F(InspectReport, OfALabel) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  const LabelPortrait portrait = portray(model.first().weights, 0, 2, pool_);
  EXPECT_EQ(label_report(model, portrait),
            "Label tea\n"
            "  id                               0\n"
            "  training points                  9\n"
            "  frequency decile, 1 is the head  1\n"
            "  clusters that lead to it         2\n"
            "\n"
            "Clusters by the score of their edge, with their strongest other labels\n"
            "  cluster 0: score 1.000, 4 edges\n"
            "    coffee 0.500, green tea 0.250\n"
            "  cluster 1: score 0.750, 3 edges\n"
            "    green tea 0.312, beer 0.062\n"
            "\n"
            "Nearest labels by the cosine of their classifiers\n"
            "  coffee     1.000\n"
            "  green tea  0.600\n");
  EXPECT_EQ(label_json(model, portrait)["clusters"][1].dump(),
            R"({"cluster":1,"score":0.75,"edges":3,"others":[{"label":"green tea",)"
            R"("score":0.3125},{"label":"beer","score":0.0625}]})");
  EXPECT_THAT(label_report(model, portray(model.first().weights, 4, 2, pool_)),
              HasSubstr("\nNo cluster leads to this label: it is never predicted.\n"));
}

TEST_F(InspectReport, FitsATerminal) {
  const TinyModelFolder folder;
  const Model model = load(folder);
  LabelPortrait portrait{.label = 1, .edges = 1, .clusters = {{0, 1, 30, {}}}, .nearest = {}};
  for (uint32_t i = 0; i < 30; ++i) portrait.clusters[0].others.push_back({i % 6, 0.5F});
  const std::string text = label_report(model, portrait);
  size_t lines = 0;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++lines) {
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
  }
  EXPECT_GT(lines, 10U);
}

}  // namespace
}  // namespace elias
