#include "base/new_folder.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFiles = {"a", "below/b"};

void fill(const NewFolder& folder) {
  fs::create_directory(folder.path() + "/below");
  for (const std::string& name : kFiles) write_file(folder.path() + "/" + name, name);
}

size_t entries(const std::string& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(NewFolder, ComesWholeOrNotAtAll) {
  const TemporaryFolder root;
  {
    const NewFolder broken_off(root / "x", kFiles);
    fill(broken_off);
    EXPECT_FALSE(fs::exists(root / "x"));
  }
  EXPECT_EQ(entries(root.path()), 0);
  NewFolder folder(root / "x/", kFiles);  // as a shell completes it
  fill(folder);
  folder.commit();
  EXPECT_TRUE(fs::exists(root / "x/below/b"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(NewFolder, TakesThePlaceOfAnEmptyOneAlone) {
  const TemporaryFolder root;
  fs::create_directory(root / "x");
  NewFolder first(root / "x", kFiles);
  fill(first);
  first.commit();
  {
    NewFolder second(root / "x", kFiles);
    fs::create_directory(second.path() + "/below");
    EXPECT_THROW(second.commit(), InputError);
  }
  EXPECT_TRUE(fs::exists(root / "x/a"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(NewFolder, CannotBeMadeBelowAFile) {
  const TemporaryFolder root;
  write_file(root / "x", "");
  EXPECT_THROW(NewFolder(root / "x/y", kFiles), InputError);
}

TEST(NewFolder, GoesWithAProcessThatIsToldToStop) {
  const TemporaryFolder root;
  const auto stopped = [&] {
    remove_temporary_files_on_signals();
    const NewFolder folder(root / "x", kFiles);
    fill(folder);
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(stopped(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(entries(root.path()), 0);
}

}  // namespace
}  // namespace elias
