#include "train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using State = RunFolder::State;

const ordered_json kIdentity = {{"data", {{"points", 10}, {"hash", "ab"}}},
                                {"settings", {{"width", 64}, {"batch", 16}}}};

template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void save_number(RunFolder& run, int64_t number) {
  SafetensorsWriter writer;
  writer.add("number", std::span<const int64_t>(&number, 1));
  run.save_checkpoint(writer);
}

int64_t saved_number(const RunFolder& run) {
  return run.checkpoint()->vector<int64_t>("number")[0];
}

// By which a model is told from an encoder.
std::string config_of(const std::string& model) { return "\"format\": \"elias-model\" " + model; }

void keep(RunFolder& run, const std::string& what, bool labels = false) {
  run.replace_best([&](const std::string& folder) {
    fs::create_directories(folder);
    write_file(folder + "/encoder.safetensors", what);
    if (labels) write_file(folder + "/labels.txt", what);
    write_file(folder + "/config.json", config_of(what));
  });
}

/// What elias pretrain keeps.
void keep_encoder(RunFolder& run, const std::string& what) {
  run.replace_best([&](const std::string& folder) {
    fs::create_directories(folder + "/1_Pooling");
    for (const char* name : {"model.safetensors", "tokenizer.json", "modules.json",
                             "1_Pooling/config.json", "config.json"}) {
      write_file(folder + "/" + name, what);
    }
  });
}

/// All files below the folder, but those of the run.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!name.starts_with("run")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void finish_model(const std::string& folder, bool overwrite) {
  RunFolder run(folder, overwrite);
  run.begin(kIdentity);
  keep(run, "model", /*labels=*/true);
  run.finish();
}

void finish_encoder(const std::string& folder, bool overwrite) {
  RunFolder run(folder, overwrite, pretrained_encoder());
  run.begin(kIdentity);
  keep_encoder(run, "encoder");
  run.finish();
}

const std::vector<std::string> kModelFiles = {"config.json", "encoder.safetensors", "labels.txt"};
const std::vector<std::string> kEncoderFiles = {"1_Pooling",    "1_Pooling/config.json",
                                                "config.json",  "model.safetensors",
                                                "modules.json", "tokenizer.json"};

void expect_finished_model(const std::string& folder, const std::string& what) {
  EXPECT_EQ(text_of(folder + "/config.json"), config_of(what));
  EXPECT_EQ(text_of(folder + "/encoder.safetensors"), what);
  for (const char* gone : {"best", "new", "checkpoint.safetensors"}) {
    EXPECT_FALSE(fs::exists(folder + "/run/" + gone)) << gone;
  }
}

TEST(RunFolder, ARunIsBegunStoppedResumedAndFinished) {
  TemporaryFolder folder;
  const std::string path = folder / "a/model";
  {
    RunFolder run(path + "/", false);
    EXPECT_EQ(run.path(), path);
    EXPECT_EQ(run.begin(kIdentity), State::kNew);
    EXPECT_FALSE(run.checkpoint());
    save_number(run, 7);
    keep(run, "first");
  }
  {
    RunFolder run(path, false);
    EXPECT_EQ(run.begin(kIdentity), State::kStopped);
    EXPECT_EQ(saved_number(run), 7);
    keep(run, "second");
    run.finish();
  }
  expect_finished_model(path, "second");
  RunFolder run(path, false);
  EXPECT_EQ(run.begin(kIdentity), State::kFinished);
}

TEST(RunFolder, TheMembersOfAnEnsembleStayUntilItIsFinished) {
  TemporaryFolder folder;
  const std::string path = folder / "m";
  {
    RunFolder run(path, false);
    run.begin(kIdentity);
    EXPECT_FALSE(run.has_member(0));
    save_number(run, 7);
    keep(run, "first");
    run.keep_best_as_member(0);
    EXPECT_FALSE(run.checkpoint());
    EXPECT_FALSE(fs::exists(run.best()));
  }
  {
    RunFolder run(path, false);
    EXPECT_EQ(run.begin(kIdentity), State::kStopped);
    EXPECT_TRUE(run.has_member(0));
    EXPECT_FALSE(run.has_member(1));
    EXPECT_EQ(text_of(run.member(0) + "/config.json"), config_of("first"));
    keep(run, "all");
    run.finish();
    EXPECT_FALSE(run.has_member(0));
  }
  expect_finished_model(path, "all");
}

TEST(RunFolder, TheListsOfFoldsStayUntilTheRunIsFinished) {
  TemporaryFolder folder;
  const std::string path = folder / "m";
  const auto lists_of = [](int64_t number) {
    static std::vector<int64_t> values;
    values = {number};
    SafetensorsWriter writer;
    writer.add<int64_t>("number", values);
    return writer;
  };
  {
    RunFolder run(path, false);
    run.begin(kIdentity);
    EXPECT_FALSE(run.has_fold(0));
    save_number(run, 7);
    run.replace_lists(lists_of(1));
    run.replace_lists(lists_of(2));
    EXPECT_FALSE(run.has_fold(0));
    run.keep_lists_as_fold(0);
    EXPECT_FALSE(run.checkpoint());
    run.replace_lists(lists_of(3));
  }
  {
    RunFolder run(path, false);
    EXPECT_EQ(run.begin(kIdentity), State::kStopped);
    EXPECT_TRUE(run.has_fold(0));
    EXPECT_FALSE(run.has_fold(1));
    EXPECT_EQ(run.fold(0).vector<int64_t>("number")[0], 2);
    keep(run, "all");
    run.finish();
    EXPECT_FALSE(run.has_fold(0));
    EXPECT_FALSE(fs::exists(path + "/run/lists.safetensors"));
  }
  expect_finished_model(path, "all");
}

TEST(RunFolder, ARunWithoutACheckpointStartsAnew) {
  TemporaryFolder folder;
  { RunFolder(folder / "m", false).begin(kIdentity); }
  EXPECT_EQ(RunFolder(folder / "m", false).begin(kIdentity), State::kNew);
}

TEST(RunFolder, ADifferenceIsNamed) {
  TemporaryFolder folder;
  { RunFolder(folder / "m", false).begin(kIdentity); }
  ordered_json other = kIdentity;
  other["settings"]["batch"] = 32;
  EXPECT_THAT(refusal([&] { RunFolder(folder / "m", false).begin(other); }),
              AllOf(HasSubstr("other settings: batch is 16 there and 32 here"),
                    HasSubstr("another --out"), HasSubstr("--overwrite")));
  other["data"]["hash"] = "cd";
  EXPECT_THAT(refusal([&] { RunFolder(folder / "m", false).begin(other); }),
              HasSubstr("other data: texts, features or labels are not the same"));
  EXPECT_EQ(RunFolder(folder / "m", false).begin(kIdentity), State::kNew);  // nothing was changed
}

// What a run starts with follows from settings, which are named where they differ.
TEST(RunFolder, AnotherStartIsNamedBehindSettings) {
  TemporaryFolder folder;
  ordered_json identity = kIdentity;
  identity["weights"] = {{"start", "ab"}};
  { RunFolder(folder / "m", false).begin(identity); }
  identity["weights"]["start"] = "cd";
  EXPECT_THAT(
      refusal([&] { RunFolder(folder / "m", false).begin(identity); }),
      HasSubstr("other weights: the transformer that training starts with is not the same"));
  identity["settings"]["batch"] = 32;
  EXPECT_THAT(refusal([&] { RunFolder(folder / "m", false).begin(identity); }),
              HasSubstr("other settings: batch is 16 there and 32 here"));
}

TEST(RunFolder, AnOutWithoutANameIsRefused) {
  EXPECT_THAT(refusal([] { RunFolder("", false); }), HasSubstr("--out is empty"));
}

TEST(RunFolder, OverwriteForgetsTheRunAndKeepsTheModelUntilTheNextOne) {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "m", false);
    run.begin(kIdentity);
    keep(run, "old", true);
    run.finish();
  }
  write_file(folder / "m/notes.txt", "mine");
  RunFolder run(folder / "m", true);
  ordered_json other = kIdentity;
  other["settings"]["batch"] = 32;
  EXPECT_EQ(run.begin(other), State::kNew);
  EXPECT_FALSE(run.checkpoint());
  EXPECT_EQ(text_of(folder / "m/config.json"), config_of("old"));
  keep(run, "new");
  run.finish();
  expect_finished_model(folder / "m", "new");
  EXPECT_FALSE(fs::exists(folder / "m/labels.txt"));  // of the old model alone
  EXPECT_EQ(text_of(folder / "m/notes.txt"), "mine");
}

// A command with --overwrite is stopped and given again: it goes on.
TEST(RunFolder, OverwriteGoesOnWithTheSameRunUntilItIsFinished) {
  TemporaryFolder folder;
  ordered_json other = kIdentity;
  other["settings"]["batch"] = 32;
  const auto begin_and_save = [&](const ordered_json& identity, int64_t number) {
    RunFolder run(folder / "m", true);
    const State state = run.begin(identity);
    save_number(run, number);
    return state;
  };
  EXPECT_EQ(begin_and_save(other, 1), State::kNew);
  EXPECT_EQ(begin_and_save(kIdentity, 2), State::kNew);
  {
    RunFolder run(folder / "m", true);
    EXPECT_EQ(run.begin(kIdentity), State::kStopped);
    EXPECT_EQ(saved_number(run), 2);
    keep(run, "model");
    run.finish();
  }
  EXPECT_EQ(begin_and_save(kIdentity, 3), State::kNew);
  EXPECT_EQ(begin_and_save(kIdentity, 4), State::kStopped);
  EXPECT_EQ(text_of(folder / "m/config.json"), config_of("model"));
  // A checkpoint that is damaged is no reason to be refused for ever.
  write_file(folder / "m/run/checkpoint.safetensors", "x");
  EXPECT_EQ(begin_and_save(kIdentity, 5), State::kNew);
}

TEST(RunFolder, ARunForAnotherProductIsNamed) {
  TemporaryFolder folder;
  finish_model(folder / "model", false);
  finish_encoder(folder / "encoder", false);
  EXPECT_THAT(refusal([&] { RunFolder(folder / "encoder", false); }),
              AllOf(HasSubstr("encoder: holds the encoder of elias pretrain, or a run for one"),
                    HasSubstr("another --out"), HasSubstr("--overwrite")));
  EXPECT_THAT(refusal([&] { RunFolder(folder / "model", false, pretrained_encoder()); }),
              HasSubstr("model: holds the model of elias fit, or a run for one"));
  EXPECT_EQ(RunFolder(folder / "encoder", false, pretrained_encoder()).begin(kIdentity),
            State::kFinished);
}

TEST(RunFolder, OneProductTakesThePlaceOfTheOther) {
  TemporaryFolder folder;
  finish_encoder(folder / "m", false);
  EXPECT_EQ(files_in(folder / "m"), kEncoderFiles);
  finish_model(folder / "m", true);
  EXPECT_EQ(files_in(folder / "m"), kModelFiles);
  finish_encoder(folder / "m", true);
  EXPECT_EQ(files_in(folder / "m"), kEncoderFiles);
  // What is not of either stays.
  write_file(folder / "m/1_Pooling/notes.txt", "mine");
  finish_model(folder / "m", true);
  EXPECT_EQ(text_of(folder / "m/1_Pooling/notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder / "m/1_Pooling/config.json"));
}

// The run that takes the place is stopped, and goes on without --overwrite.
TEST(RunFolder, TheOtherProductGoesAlsoAfterAKill) {
  TemporaryFolder folder;
  finish_encoder(folder / "m", false);
  {
    RunFolder run(folder / "m", true);
    EXPECT_EQ(run.begin(kIdentity), State::kNew);
    save_number(run, 1);
    EXPECT_EQ(files_in(folder / "m"), kEncoderFiles);
  }
  finish_model(folder / "m", false);
  EXPECT_EQ(files_in(folder / "m"), kModelFiles);
}

// Files were being moved when the run of the other product was killed: there is no config.json.
TEST(RunFolder, HalfOfTheOtherProductGoesToo) {
  TemporaryFolder folder;
  finish_encoder(folder / "m", false);
  const std::string path = folder / "m/run/settings.json";
  auto description = ordered_json::parse(text_of(path));
  description["status"] = "trained";
  write_file(path, description.dump());
  fs::remove(folder / "m/config.json");
  finish_model(folder / "m", true);
  EXPECT_EQ(files_in(folder / "m"), kModelFiles);
}

// Of files with the names of an encoder's, in the folder of a run that never took the place of one.
TEST(RunFolder, FilesThatOnlyLookLikeTheOtherProductStay) {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "m", false);
    run.begin(kIdentity);
    write_file(folder / "m/modules.json", "mine");
    keep(run, "model");
    run.finish();
  }
  EXPECT_EQ(text_of(folder / "m/modules.json"), "mine");
}

TEST(RunFolder, FilesThatOnlyLookLikeTheOtherProductStayBesideAModelThatIsReplaced) {
  TemporaryFolder folder;
  finish_model(folder / "m", false);
  write_file(folder / "m/modules.json", "mine");
  finish_model(folder / "m", true);
  EXPECT_EQ(text_of(folder / "m/modules.json"), "mine");
}

TEST(RunFolder, DescriptionsFromBeforeThereWereTwoProductsAreRead) {
  TemporaryFolder folder;
  finish_model(folder / "model", false);
  finish_encoder(folder / "encoder", false);
  for (const char* name : {"model", "encoder"}) {
    const std::string path = folder / (std::string(name) + "/run/settings.json");
    auto description = ordered_json::parse(text_of(path));
    description.erase("product");
    description.erase("replaces");
    write_file(path, description.dump());
  }
  EXPECT_EQ(RunFolder(folder / "model", false).begin(kIdentity), State::kFinished);
  EXPECT_EQ(RunFolder(folder / "encoder", false, pretrained_encoder()).begin(kIdentity),
            State::kFinished);
}

TEST(RunFolder, RunsFromBeforeWeightsWereToldApartGoOn) {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "m", false);
    run.begin(kIdentity);
    save_number(run, 1);
  }
  ordered_json identity = kIdentity;
  identity["weights"] = {{"start", "ab"}};
  EXPECT_EQ(RunFolder(folder / "m", false).begin(identity), State::kStopped);
}

TEST(RunFolder, WhatIsNotOursIsNotTouched) {
  TemporaryFolder folder;
  write_file(folder / "file", "x");
  EXPECT_THAT(refusal([&] { RunFolder(folder / "file", true); }), HasSubstr("is a file"));
  fs::create_directory(folder / "photos");
  write_file(folder / "photos/me.png", "x");
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(refusal([&] { RunFolder(folder / "photos", overwrite); }),
                HasSubstr("something else than a model: give another --out"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "photos"), {}), 1);
  fs::create_directory(folder / "model");
  write_file(folder / "model/config.json", R"({"format": "elias-model"})");
  EXPECT_THAT(refusal([&] { RunFolder(folder / "model", false); }), HasSubstr("--overwrite"));
  EXPECT_EQ(RunFolder(folder / "model", true).begin(kIdentity), State::kNew);
}

TEST(RunFolder, NothingIsLeftOfARunThatDidNotBegin) {
  TemporaryFolder folder;
  { RunFolder run(folder / "m", false); }
  EXPECT_FALSE(fs::exists(folder / "m"));
  fs::create_directory(folder / "m");
  { RunFolder run(folder / "m", false); }
  EXPECT_TRUE(fs::is_empty(folder / "m"));
}

TEST(RunFolder, OneProcessAtATime) {
  TemporaryFolder folder;
  RunFolder run(folder / "m", false);
  EXPECT_THAT(refusal([&] { RunFolder(folder / "m", true); }),
              HasSubstr("another elias is at work there"));
  EXPECT_EQ(run.begin(kIdentity), State::kNew);
}

TEST(RunFolder, ADamagedDescriptionIsRefused) {
  TemporaryFolder folder;
  { RunFolder(folder / "m", false).begin(kIdentity); }
  for (const char* text : {"", "{", "[]", R"({"format": 2})", R"({"format": 1, "status": "x"})",
                           R"({"format": 1, "status": "running", "data": {}})",
                           R"({"format": 1, "product": "x", "status": "running"})",
                           R"({"format": 1, "product": 3, "status": "running"})"}) {
    write_file(folder / "m/run/settings.json", text);
    EXPECT_THAT(refusal([&] { RunFolder(folder / "m", false).begin(kIdentity); }),
                HasSubstr("--overwrite starts the run anew"))
        << text;
  }
  EXPECT_EQ(RunFolder(folder / "m", true).begin(kIdentity), State::kNew);
}

TEST(RunFolder, AFinishedRunWhoseModelIsGoneIsNotFinished) {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "m", false);
    run.begin(kIdentity);
    keep(run, "x");
    run.finish();
  }
  fs::remove(folder / "m/config.json");
  EXPECT_THAT(refusal([&] { RunFolder(folder / "m", false).begin(kIdentity); }),
              HasSubstr("its model is gone"));
}

// What a kill can leave, one moment after the other.
TEST(RunFolder, AKillInTheMiddleOfMovingIsMadeGood) {
  for (int moved = 0; moved <= 2; ++moved) {
    TemporaryFolder folder;
    {
      RunFolder run(folder / "m", false);
      run.begin(kIdentity);
      save_number(run, 1);
      keep(run, "x");
    }
    auto description = ordered_json::parse(text_of(folder / "m/run/settings.json"));
    description["status"] = "trained";
    write_file(folder / "m/run/settings.json", description.dump());
    const char* const files[] = {"encoder.safetensors", "config.json"};
    for (int i = 0; i < moved; ++i) {
      fs::rename(folder / "m/run/best/" + files[i], folder / "m/" + files[i]);
    }
    EXPECT_EQ(RunFolder(folder / "m", false).begin(kIdentity), State::kFinished);
    expect_finished_model(folder / "m", "x");
  }
}

TEST(RunFolder, AKillWhileAModelIsKeptLeavesAWholeOne) {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "m", false);
    run.begin(kIdentity);
    keep(run, "old");
  }
  // Half of a new one, and a temporary file.
  fs::create_directory(folder / "m/run/new");
  write_file(folder / "m/run/new/encoder.safetensors", "half");
  write_file(folder / "m/run/checkpoint.safetensors.123.tmp", "half");
  { RunFolder(folder / "m", false).begin(kIdentity); }
  EXPECT_EQ(text_of(folder / "m/run/best/config.json"), config_of("old"));
  EXPECT_FALSE(fs::exists(folder / "m/run/new"));
  EXPECT_FALSE(fs::exists(folder / "m/run/checkpoint.safetensors.123.tmp"));
  // All of a new one, while the old one was being removed.
  fs::create_directory(folder / "m/run/new");
  write_file(folder / "m/run/new/config.json", config_of("new"));
  fs::remove(folder / "m/run/best/encoder.safetensors");
  { RunFolder(folder / "m", false).begin(kIdentity); }
  EXPECT_EQ(text_of(folder / "m/run/best/config.json"), config_of("new"));
}

// A limit on file size stands in for a full disk: the kernel refuses the write in the same way.
TEST(RunFolder, AFullDiskLeavesTheLastCheckpoint) {
  TemporaryFolder folder;
  RunFolder run(folder / "m", false);
  run.begin(kIdentity);
  save_number(run, 5);
  keep(run, "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<int64_t> large(100'000, 1);
  SafetensorsWriter writer;
  writer.add("number", std::span<const int64_t>(large));
  EXPECT_THAT(refusal([&] { run.save_checkpoint(writer); }), HasSubstr("free space"));
  EXPECT_NE(refusal([&] { keep(run, std::string(100'000, 'x')); }), "");
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(saved_number(run), 5);
  EXPECT_EQ(text_of(folder / "m/run/best/config.json"), config_of("old"));
}

// Root may write anywhere, so the attempt is made by a process that has become nobody.
void exit_with_refusal(const std::function<void()>& action) {
  if (::geteuid() == 0 && ::setuid(65534) != 0) std::exit(77);
  std::fprintf(stderr, "%s\n", refusal(action).c_str());
  std::exit(0);
}

TEST(RunFolder, AFolderThatCannotBeWrittenIsRefused) {
  TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_all);
  fs::create_directory(folder / "m");
  fs::permissions(folder / "m", fs::perms::owner_read | fs::perms::owner_exec |
                                    fs::perms::others_read | fs::perms::others_exec);
  EXPECT_EXIT(exit_with_refusal([&] { RunFolder(folder / "m", false); }),
              testing::ExitedWithCode(0), "m: cannot be written \\(Permission denied\\)");
  EXPECT_TRUE(fs::is_empty(folder / "m"));
  EXPECT_EXIT(exit_with_refusal([&] { RunFolder(folder / "m/sub", false); }),
              testing::ExitedWithCode(0), "sub: cannot be written \\(Permission denied\\)");
}

}  // namespace
}  // namespace elias
