#include "data/check/doctor.h"

#include <gtest/gtest.h>

#include "tests/data/reading.h"

namespace elias {
namespace {

CheckReport check(const std::vector<std::string>& files, LabelSpace labels = {}) {
  ThreadPool pool(2);
  DataDoctor doctor(pool);
  for (const auto& file : files) {
    const auto reader = open_points(bytes_in_memory(file, "f.txt"), {}, labels, pool);
    doctor.examine(*reader);
  }
  return doctor.finish(labels);
}

TEST(Doctor, CountsPointsLabelsAndWords) {
  const auto report = check({"0,2\tone two\n2::0.5\tthree\n\t \n"}).files.at(0);
  EXPECT_EQ(report.points, 3u);
  EXPECT_EQ(report.positives, 3u);
  EXPECT_EQ(report.labels_used, 2u);
  EXPECT_EQ(report.most_labels, 2u);
  EXPECT_TRUE(report.graded);
  EXPECT_EQ(report.words, 3u);
  EXPECT_EQ(report.longest_text, 7u);
  EXPECT_EQ(report.without_labels.count, 1u);
  EXPECT_EQ(report.without_labels.first, 3u);
  EXPECT_EQ(report.without_text.first, 3u);
}

TEST(Doctor, CountsFeatures) {
  const auto report = check({"3 10 4\n1 2:1 5:1\n 3:1\n2\n"}).files.at(0);
  EXPECT_EQ(report.features, 10u);
  EXPECT_EQ(report.feature_values, 3u);
  EXPECT_EQ(report.without_features.first, 4u);
  EXPECT_EQ(report.without_labels.first, 3u);
}

TEST(Doctor, FindsDuplicatesWithinAndAcrossFiles) {
  const auto report =
      check({"0\tsame\n1\tother\n2\tsame\n2\tsame\n", "0\tother\n0\tnew\n0\tsame\n", "0\tnew\n"});
  EXPECT_EQ(report.files[0].duplicates_within, 2u);
  EXPECT_EQ(report.files[0].duplicate_example, (std::array<uint64_t, 2>{1, 3}));
  EXPECT_EQ(report.files[0].duplicates_of_earlier_files, 0u);
  EXPECT_EQ(report.files[1].duplicates_within, 0u);
  EXPECT_EQ(report.files[1].duplicates_of_earlier_files, 2u);
  EXPECT_EQ(report.files[2].duplicates_of_earlier_files, 1u);
}

TEST(Doctor, FeaturesThatDifferInValueAreNoDuplicates) {
  const auto report = check({"3 9 2\n0 1:1 2:1\n0 1:1 2:0.5\n1 1:1 2:1\n"}).files.at(0);
  EXPECT_EQ(report.duplicates_within, 1u);
}

TEST(Doctor, FindsLabelsNeverInTraining) {
  const auto report = check({"0,1\ta\n", "1,2\tb\n2\tc\n"}, label_file("a\nb\nc\nd\na\n"));
  EXPECT_EQ(report.labels, 5u);
  EXPECT_EQ(report.labels_without_training, 3u);
  EXPECT_EQ(report.files[0].unseen_labels, 0u);
  EXPECT_EQ(report.files[1].unseen_labels, 1u);
  EXPECT_EQ(report.files[1].unseen_positives, 2u);
  EXPECT_EQ(report.repeated_names, 1u);
}

TEST(Doctor, SuspiciousTexts) {
  const auto bits = [](std::string_view text) { return find_suspicions(text); };
  const auto bit = [](Suspicion suspicion) { return 1u << static_cast<unsigned>(suspicion); };
  EXPECT_EQ(bits("plain text & more; é ’ 我 😀\twith tab"), 0u);
  EXPECT_EQ(bits("Ã la carte, Âge d'or"), 0u);  // letters that occur in earnest
  EXPECT_EQ(bits("caf\xc3\x83\xc2\xa9"), bit(Suspicion::kDoubleEncoded));
  EXPECT_EQ(bits("it\xc3\xa2\xe2\x82\xac\xe2\x84\xa2s"), bit(Suspicion::kDoubleEncoded));
  EXPECT_EQ(bits("a\xef\xbf\xbd"), bit(Suspicion::kReplacement));
  EXPECT_EQ(bits("a\x01"), bit(Suspicion::kControl));
  EXPECT_EQ(bits("a\xc2\x85"), bit(Suspicion::kControl));
  EXPECT_EQ(bits("a\xe2\x80\x8b"
                 "b\xef\xbb\xbf"),
            bit(Suspicion::kInvisible));
  EXPECT_EQ(bits("\xee\x80\x80"), bit(Suspicion::kPrivateUse));
  EXPECT_EQ(bits("AT&amp;T &#233; &eacute;"), bit(Suspicion::kEntity));
  EXPECT_EQ(bits("R&D; AT&T &; &x;"), 0u);
  EXPECT_EQ(bits("cut off \xc3"), 0u);  // never looks beyond the end
}

}  // namespace
}  // namespace elias
