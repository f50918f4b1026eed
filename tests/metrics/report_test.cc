#include "metrics/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace elias {
namespace {

using testing::HasSubstr;

FileEvaluation file(std::string name, std::vector<Metric> metrics, bool probabilities = true) {
  FileEvaluation result{.name = std::move(name), .filtered = 0, .unknown_labels = 0, .result = {}};
  result.result.rows = 1234567;
  result.result.metrics = std::move(metrics);
  result.result.probabilities = probabilities;
  if (probabilities) result.result.threshold = 0.5f;
  return result;
}

TEST(Report, TableMarksTheBestAndShowsWhatIsMissing) {
  const std::vector<FileEvaluation> files{
      file("runs/a.npz", {{"P@1", 0.5}, {"R@10", 0.75}, {"ECE", 0.01, true}}),
      file("runs/b.npz", {{"P@1", 0.512345}, {"R@10", 0.75}, {"ECE", 0.02, true}}),
      file("runs/c.npz", {{"P@1", 0.1}, {"R@10", 0.75}}, false)};
  EXPECT_EQ(metrics_table(files),
            "%                 a.npz       b.npz       c.npz\n"
            "P@1               50.00       51.23*      10.00\n"
            "R@10              75.00       75.00       75.00\n"
            "ECE                1.00*       2.00           -\n");
}

TEST(Report, EqualNamesKeepTheirFolders) {
  const std::vector<FileEvaluation> files{file("one/p.npz", {{"P@1", 0.5}}),
                                          file("two/p.npz", {{"P@1", 0.5}})};
  EXPECT_EQ(metrics_table(files),
            "%             one/p.npz   two/p.npz\n"
            "P@1               50.00       50.00\n");
}

TEST(Report, NotesSayWhatTheFiguresRestOn) {
  std::vector<FileEvaluation> files{file("p.npz", {{"P@1", 0.5}}, false)};
  files[0].filtered = 3;
  files[0].unknown_labels = 2;
  EXPECT_THAT(metrics_notes(files, nullptr), HasSubstr("points: 1,234,567"));
  EXPECT_THAT(metrics_notes(files, nullptr), HasSubstr("PSP, PSnDCG and deciles are left out"));
  EXPECT_THAT(metrics_notes(files, nullptr), HasSubstr("filtered out: 3"));
  EXPECT_THAT(metrics_notes(files, nullptr), HasSubstr("scores are not probabilities"));
  EXPECT_THAT(metrics_notes(files, nullptr), HasSubstr("does not have: 2"));
  const Training training{.points = 45000, .counts = {}, .propensity = {}};
  EXPECT_THAT(metrics_notes(files, &training),
              HasSubstr("propensities: default, A = 0.55, B = 1.5, training points: 45,000\n"));
}

/// Two labels, one of them unseen in training; one point, its list cut at 5.
FileEvaluation small_evaluation(const Training& training) {
  const Csr truth{.cols = 2, .offsets = {0, 1}, .columns = {0}, .values = {1}};
  const Csr scores{.cols = 2, .offsets = {0, 2}, .columns = {0, 1}, .values = {0.75f, 0.25f}};
  ThreadPool pool(1);
  EvaluateOptions options{.groups = true, .labels = true};
  options.cutoffs = {.k = {1, 5}, .recall = {5}, .mrr = {5}};
  FileEvaluation result = file("p", {});
  result.result = evaluate(truth, scores, &training, options, pool);
  return result;
}

TEST(Report, LabelsAndDecilesAndJson) {
  const Training training{.points = 9, .counts = {4, 0}, .propensity = {}};
  const FileEvaluation evaluation = small_evaluation(training);
  EXPECT_EQ(label_tsv(evaluation.result, &training, LabelSpace()),
            "label\ttrain\tpositives\tpredicted\thits\tprecision\trecall\tf1\tname\n"
            "0\t4\t1\t1\t1\t1\t1\t1\t0\n"
            "1\t0\t0\t1\t0\t0\t0\t0\t1\n");
  const LabelDeciles deciles = label_deciles(training.counts);
  const std::string table = decile_table(evaluation, deciles);
  EXPECT_THAT(table, HasSubstr("P@5  nDCG@5   PSP@5  PSnDCG@5     R@5   MRR@5  coverage@5"));
  EXPECT_THAT(table, HasSubstr("\n1            1            4-4  100.00           1   20.00"));
  EXPECT_THAT(table, HasSubstr("\nunseen       1            0-0    0.00           0    0.00"));
  const auto json = evaluation_json(std::vector{evaluation}, &training, &deciles);
  EXPECT_EQ(json["propensity"]["A"], 0.55);
  EXPECT_EQ(json["files"][0]["metrics"]["P@1"], 1.0);
  EXPECT_EQ(json["files"][0]["deciles"][0]["decile"], "unseen");
  EXPECT_EQ(json["files"][0]["deciles"][1]["metrics"]["P@5"], 0.2);
  EXPECT_EQ(json["files"][0]["calibration"].size(), 10u);
}

}  // namespace
}  // namespace elias
