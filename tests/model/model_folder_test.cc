#include "model/model_folder.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kConfig = R"({"format": "elias-model"})";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_model_to(const std::string& folder, const std::string& what) {
  fs::create_directories(folder);
  write_file(folder + "/encoder.safetensors", what);
  write_file(folder + "/config.json", kConfig);
}

TEST(ModelFolder, OnlyNothingOrAModelMayBeReplaced) {
  TemporaryFolder folder;
  const auto refused = [&](bool overwrite, const char* message) {
    EXPECT_THAT([&] { require_room_for_model(folder / "m", overwrite); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  require_room_for_model(folder / "m", false);
  fs::create_directory(folder / "m");
  require_room_for_model(folder / "m", false);
  write_model_to(folder / "m", "x");
  refused(false, "--overwrite");
  require_room_for_model(folder / "m", true);
  write_file(folder / "m/notes.txt", "mine");
  refused(true, "something else");
  fs::remove(folder / "m/notes.txt");
  write_file(folder / "m/config.json", R"({"name": "web"})");
  refused(true, "something else");
  fs::remove(folder / "m/config.json");
  refused(true, "something else");
  fs::remove_all(folder / "m");
  write_file(folder / "m", "x");
  refused(true, "is a file");
}

TEST(ModelFolder, AModelIsReplacedInOneStep) {
  TemporaryFolder folder;
  for (const char* what : {"first", "second"}) {
    replace_model(folder / "a/m/", [&](const std::string& beside) {
      EXPECT_EQ(fs::exists(folder / "a/m"), what == std::string("second"));
      write_model_to(beside, what);
    });
    EXPECT_EQ(text_of(folder / "a/m/encoder.safetensors"), what);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "a"), {}), 1);
  }
}

TEST(ModelFolder, AFailureOrAKillLeavesTheOldOne) {
  TemporaryFolder folder;
  write_model_to(folder / "m", "old");
  // What a killed process left goes.
  write_model_to(folder / "m.elias-new", "half");
  write_file(folder / "m.elias-new/labels.txt", "half");
  EXPECT_THROW(replace_model(folder / "m",
                             [&](const std::string& beside) {
                               EXPECT_TRUE(fs::is_empty(beside));
                               write_file(beside + "/encoder.safetensors", "half");
                               throw std::runtime_error("the disk is full");
                             }),
               std::runtime_error);
  EXPECT_EQ(text_of(folder / "m/encoder.safetensors"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(ModelFolder, AFolderOfSomethingElseBesideItIsLeftAlone) {
  TemporaryFolder folder;
  write_model_to(folder / "m.elias-new", "half");
  write_file(folder / "m.elias-new/labels.txt.4711.tmp", "half");
  replace_model(folder / "m", [](const std::string& beside) { write_model_to(beside, "first"); });
  for (const char* name : {"notes.txt", "notes.txt.4711.tmp"}) {
    fs::create_directory(folder / "m.elias-new");
    write_file(folder / "m.elias-new" + ("/" + std::string(name)), "mine");
    EXPECT_THAT([&] { replace_model(folder / "m", [](const std::string&) {}); },
                ThrowsMessage<InputError>(HasSubstr("m.elias-new: is in the way")));
    EXPECT_EQ(text_of(folder / "m.elias-new" + ("/" + std::string(name))), "mine");
    fs::remove_all(folder / "m.elias-new");
  }
  EXPECT_EQ(text_of(folder / "m/encoder.safetensors"), "first");
}

TEST(ModelFolder, ASignalLeavesNothingBeside) {
  TemporaryFolder folder;
  EXPECT_EXIT(replace_model(folder / "m",
                            [](const std::string& beside) {
                              remove_temporary_files_on_signals();
                              write_model_to(beside, "half");
                              const AtomicFile begun(beside + "/labels.txt");
                              std::raise(SIGTERM);
                            }),
              testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ModelFolder, OneProcessAtATime) {
  TemporaryFolder folder;
  replace_model(folder / "m", [&](const std::string& beside) {
    write_model_to(beside, "first");
    EXPECT_THAT([&] { replace_model(folder / "m", [](const std::string&) {}); },
                ThrowsMessage<InputError>(HasSubstr("another process is writing it")));
  });
  EXPECT_EQ(text_of(folder / "m/encoder.safetensors"), "first");
}

}  // namespace
}  // namespace elias
