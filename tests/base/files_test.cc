#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/json_log.h"
#include "base/mapped_file.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(AtomicFile, CommitReplacesTheFileAndLeavesNothingElse) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("new");
    EXPECT_EQ(text_of(MappedFile(folder / "a")), "old");
    file.commit();
  }
  EXPECT_EQ(text_of(MappedFile(folder / "a")), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, WithoutCommitTheOldFileStays) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  { AtomicFile(folder / "a").write("half"); }
  EXPECT_EQ(text_of(MappedFile(folder / "a")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, SaysWhatIsWrong) {
  TemporaryFolder folder;
  try {
    AtomicFile file(folder / "no/such/folder/a");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no/such/folder/a: cannot be written (No such file"));
  }
  EXPECT_THROW(AtomicFile{folder.path()}, InputError);
}

TEST(AtomicFile, KeepsLinksAndModes) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(text_of(MappedFile(folder / "a")), "new");
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, WritesToWhatIsNoFileDirectly) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, ASignalRemovesTheTemporaryFile) {
  TemporaryFolder folder;
  EXPECT_EXIT(
      {
        remove_temporary_files_on_signals();
        AtomicFile file(folder / "a");
        file.write("half");
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 0);
}

// A limit on file size stands in for a full disk: the kernel refuses the write in the same way.
TEST(AtomicFile, AFailedWriteIsAnInputErrorAndChangesNothing) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_file(folder / "a", std::string(100000, 'x')), InputError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(text_of(MappedFile(folder / "a")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(MappedFile, MapsBytesAndMoves) {
  TemporaryFolder folder;
  write_file(folder / "a", "hello");
  write_file(folder / "empty", "");
  MappedFile first(folder / "a");
  MappedFile second(std::move(first));
  EXPECT_EQ(text_of(second), "hello");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNotAFile) {
  TemporaryFolder folder;
  EXPECT_THROW(MappedFile(folder / "missing"), InputError);
  EXPECT_THROW(MappedFile(folder.path()), InputError);
}

TEST(JsonLog, AppendsOneObjectALine) {
  TemporaryFolder folder;
  for (int run = 0; run < 2; ++run) {
    JsonLog log(folder / "log");
    log.write("epoch", {{"loss", 0.5}, {"run", run}});
  }
  std::ifstream lines(folder / "log");
  std::string line;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto object = nlohmann::json::parse(line);
    EXPECT_EQ(object["event"], "epoch");
    EXPECT_EQ(object["run"], run);
    EXPECT_GE(object["seconds"], 0.0);
  }
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_THROW(JsonLog(folder / "no/such/log"), InputError);
}

}  // namespace
}  // namespace elias
