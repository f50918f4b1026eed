#include "report/prune_report.h"

#include <gmock/gmock.h>

#include "index/graph_analysis.h"
#include "tests/report/tiny_model_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class PruneReport : public testing::Test {
 protected:
  PruneReport()
      : before_(Model::load(folder_.path(), context_)),
        pruned_(edges_above(folder_.graph(), 0.5F)),
        restored_(restore_best_edges(folder_.graph(), pruned_)),
        after_(Model::load(folder_.write_with(pruned_.view()), context_)) {}

  ThreadPool pool_{1};
  Context context_{pool_};
  TinyModelFolder folder_;
  Model before_;
  PrunedGraph pruned_;
  int64_t restored_;
  Model after_;
};

TEST_F(PruneReport, EdgesAndBytes) {
  const std::string text =
      prune_report({.before = before_, .after = after_, .restored = restored_});
  EXPECT_THAT(text, MatchesRegex(" +before +after +change\n"
                                 "  edges +7 +6 +-14.3 %\n"
                                 "  edges a cluster +2.3 +2.0\n"
                                 "  index.safetensors +[0-9,]+ B +[0-9,]+ B +-[0-9.]+ %\n"
                                 "  the whole model +[0-9,]+ B +[0-9,]+ B +-[0-9.]+ %\n"
                                 "4 labels would have lost the last edge: .*\n"));
  EXPECT_THAT(prune_report({.before = before_, .after = after_}), Not(HasSubstr("lost")));
}

TEST_F(PruneReport, FiguresBeforeAndAfter) {
  PruneResult result{.before = before_, .after = after_};
  result.test.emplace();
  result.test->before.metrics = {
      {"P@1", 0.4868}, {"P@3", 0.3}, {"P@5", 0.2}, {"R@10", 0.5033}, {"R@100", 0.7}};
  result.test->after.metrics = {
      {"P@1", 0.4865}, {"P@3", 0.3}, {"P@5", 0.2}, {"R@10", 0.51}, {"R@100", 0.7}};
  const std::string text = prune_report(result);
  EXPECT_THAT(text, HasSubstr("  P@1 % "));
  EXPECT_THAT(text, HasSubstr(" 48.68    48.65    -0.03\n"));
  EXPECT_THAT(text, HasSubstr(" 50.33    51.00    +0.67\n"));
}

}  // namespace
}  // namespace elias
