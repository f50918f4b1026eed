#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "encoder/pretrained.h"
#include "model/model_folder.h"
#include "train/settings.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kFormat = 1;

/// Of a run: at work or stopped, done but for moving the model, done.
constexpr const char *kRunning = "running", *kTrained = "trained", *kFinished = "finished";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// An operation of std::filesystem whose failure is the machine's or the user's, not ours.
template <typename Operation>
void on_disk(const std::string& path, Operation&& operation) {
  try {
    operation();
  } catch (const fs::filesystem_error& error) {
    throw InputError("{}: cannot be written ({}): check its permissions and the space left", path,
                     error.code().message());
  }
}

/// "width is 512 there and 256 here" for the first value that differs; empty if none does.
std::string first_difference(const ordered_json& there, const ordered_json& here) {
  for (const auto& [name, value] : here.items()) {
    const bool is_set = there.contains(name);
    if (is_set && there[name] == value) continue;
    if (name == "hash") return "texts, features or labels are not the same";
    if (name == "start") return "the transformer that training starts with is not the same";
    if (!is_set) return fmt::format("{} is {} here and not set there", name, value.dump());
    return fmt::format("{} is {} there and {} here", name, there[name].dump(), value.dump());
  }
  return "";
}

std::vector<RunProduct> all_products() { return {fitted_model(), pretrained_encoder()}; }

/// The product of the run so described; that of those from before there were two is `usual`.
std::optional<RunProduct> product_in(const ordered_json& description, const RunProduct& usual) {
  const auto name = description.value("product", ordered_json(usual.name));
  for (const RunProduct& product : all_products()) {
    if (name == product.name) return product;
  }
  return std::nullopt;
}

}  // namespace

RunProduct fitted_model() { return {.name = "model", .verb = "fit", .files = model_files()}; }

RunProduct pretrained_encoder() {
  return {.name = "encoder", .verb = "pretrain", .files = pretrained_files()};
}

RunFolder::RunFolder(std::string path, bool overwrite, RunProduct product)
    : path_(std::move(path)), overwrite_(overwrite), product_(std::move(product)) {
  if (path_.empty()) throw InputError("--out is empty: give the name of a folder");
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  require_ours();
  try {
    make_folders();
    lock();
    require_same_product();
  } catch (...) {
    let_go();
    throw;
  }
}

RunFolder::~RunFolder() { let_go(); }

void RunFolder::let_go() {
  std::error_code ignored;
  // Never the lock of another process, which leaves the folders where they are.
  if (!begun_ && made_run_ && lock_ >= 0) fs::remove(in_run("lock"), ignored);
  if (!begun_ && made_run_) fs::remove(path_ + "/run", ignored);
  if (!begun_ && made_folder_) fs::remove(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

// A folder is ours if a run began there, whatever else is in it.
void RunFolder::require_ours() const {
  if (!exists(in_run("lock"))) require_room_for_model(path_, overwrite_);
}

// Before anything is read that takes long.
void RunFolder::require_same_product() const {
  if (overwrite_ || !exists(in_run("settings.json"))) return;
  const auto there = product_in(read_description(), product_);
  if (there->name == product_.name) return;
  throw InputError(
      "{}: holds the {} of elias {}, or a run for one: give another --out, or --overwrite to "
      "replace it",
      path_, there->name, there->verb);
}

void RunFolder::make_folders() {
  on_disk(path_, [&] {
    made_folder_ = fs::create_directories(path_);
    made_run_ = fs::create_directory(path_ + "/run");
  });
}

void RunFolder::lock() {
  const std::string file = in_run("lock");
  while (true) {
    const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0) {
      throw InputError("{}: cannot be written ({}): check the folder's permissions", file,
                       system_error_text());
    }
    if (::flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(opened);
      throw InputError("{}: another elias is at work there: wait for it, or give another --out",
                       path_);
    }
    // A process that gave up may have removed the file between the two calls.
    struct stat held {
    }, there{};
    if (::fstat(opened, &held) == 0 && ::stat(file.c_str(), &there) == 0 &&
        held.st_ino == there.st_ino) {
      lock_ = opened;
      return;
    }
    ::close(opened);
  }
}

// With --overwrite: only what can go on as the same run is kept. A command that was stopped is the
// same when it is given again, whether or not it has --overwrite.
bool RunFolder::can_go_on() const try {
  const ordered_json there = read_description();
  if (product_in(there, product_)->name != product_.name) return false;
  for (const auto& [section, values] : identity_.items()) {
    if (!first_difference(there[section], values).empty()) return false;
  }
  checkpoint();  // throws if it is damaged
  return there["status"] != kFinished;
} catch (const InputError&) {
  return false;
}

RunFolder::State RunFolder::begin(const ordered_json& identity) {
  identity_ = identity;
  if (!exists(in_run("settings.json")) || (overwrite_ && !can_go_on())) {
    replaces_ = product_there();
    forget_run();
    begun_ = true;
    write_description(kRunning);
    return State::kNew;
  }
  const ordered_json there = read_description();
  for (const auto& [section, values] : identity.items()) {
    const std::string difference = first_difference(there[section], values);
    if (difference.empty()) continue;
    throw InputError(
        "{}: holds a run with other {}: {}: give the same, another --out, or --overwrite to start "
        "anew",
        path_, section, difference);
  }
  begun_ = true;
  const auto replaces = there.find("replaces");
  if (replaces != there.end() && replaces->is_string()) replaces_ = *replaces;
  clean_up_after_a_kill();
  const std::string status = there["status"];
  if (status == kRunning) {
    const bool saved = exists(in_run("checkpoint.safetensors")) || has_member(0) || has_fold(0);
    return saved ? State::kStopped : State::kNew;
  }
  if (status == kTrained) move_model();
  if (!exists(path_ + "/config.json")) {
    throw InputError("{}: the run is finished, but its {} is gone: --overwrite trains it again",
                     path_, product_.name);
  }
  return State::kFinished;
}

std::string RunFolder::product_there() const {
  const std::string config = path_ + "/config.json";
  if (exists(config)) {
    return (is_config_of_model(config) ? fitted_model() : pretrained_encoder()).name;
  }
  // A kill in finish() leaves files without it.
  std::ifstream file(in_run("settings.json"));
  const auto there = ordered_json::parse(file, nullptr, false);
  if (!there.is_object()) return "";
  const bool moving = there.value("status", ordered_json()) == kTrained;
  const auto name = there.value(moving ? "product" : "replaces", ordered_json());
  return name.is_string() ? name.get<std::string>() : "";
}

ordered_json RunFolder::read_description() const {
  const std::string path = in_run("settings.json");
  std::ifstream file(path);
  auto json = ordered_json::parse(file, nullptr, false);
  bool whole = json.is_object() && json.value("format", ordered_json()) == kFormat &&
               json.value("status", ordered_json()).is_string();
  const std::string status = whole ? json["status"] : "";
  whole = (status == kRunning || status == kTrained || status == kFinished) &&
          product_in(json, product_).has_value();
  for (const auto& [section, values] : identity_.items()) {
    // Runs from before weights were told apart have none.
    if (section == "weights" && !json.contains(section)) json[section] = values;
    whole = whole && json.value(section, ordered_json()).is_object();
  }
  if (!whole) {
    throw InputError("{}: is damaged, or of another version: --overwrite starts the run anew",
                     path);
  }
  return json;
}

void RunFolder::write_description(const std::string& status) {
  ordered_json json = {
      {"format", kFormat}, {"product", product_.name}, {"status", status}, {"replaces", replaces_}};
  json.update(identity_);
  write_file(in_run("settings.json"), json.dump(2) + "\n");
}

// Temporary files of a process that was killed, and a new best model that was not yet in its place
// (it is whole if it has a config.json, which is written last).
void RunFolder::clean_up_after_a_kill() const {
  on_disk(path_, [&] {
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(path_ + "/run")) {
      if (entry.path().extension() == ".tmp") left.push_back(entry.path());
    }
    for (const auto& path : left) fs::remove(path);
    if (exists(in_run("new/config.json"))) return put_new_best();
    fs::remove_all(in_run("new"));
  });
}

void RunFolder::put_new_best() const {
  fs::remove_all(in_run("best"));
  fs::rename(in_run("new"), in_run("best"));
}

void RunFolder::forget_run() const {
  on_disk(path_, [&] {
    for (const char* name : {"settings.json", "checkpoint.safetensors", "log.jsonl"}) {
      fs::remove(in_run(name));
    }
    fs::remove_all(in_run("best"));
    fs::remove_all(in_run("new"));
    remove_parts();
  });
  clean_up_after_a_kill();
}

std::string RunFolder::member(size_t m) const { return in_run(fmt::format("member-{}", m + 1)); }

bool RunFolder::has_member(size_t m) const { return exists(member(m)); }

// A kill between the two steps leaves a checkpoint of a member that is finished; it says which.
void RunFolder::keep_best_as_member(size_t m) {
  on_disk(path_, [&] {
    fs::rename(in_run("best"), member(m));
    fs::remove(in_run("checkpoint.safetensors"));
  });
}

std::string RunFolder::fold_path(size_t f) const {
  return in_run(fmt::format("fold-{}.safetensors", f + 1));
}

bool RunFolder::has_fold(size_t f) const { return exists(fold_path(f)); }

void RunFolder::replace_lists(const SafetensorsWriter& lists) {
  lists.write(in_run("lists.safetensors"));
}

// As above.
void RunFolder::keep_lists_as_fold(size_t f) {
  on_disk(path_, [&] {
    fs::rename(in_run("lists.safetensors"), fold_path(f));
    fs::remove(in_run("checkpoint.safetensors"));
  });
}

SafetensorsFile RunFolder::fold(size_t f) const {
  SafetensorsFile file(fold_path(f));
  file.verify_checksum();
  return file;
}

void RunFolder::remove_parts() const {
  for (size_t m = 0; m < kMostMembers; ++m) fs::remove_all(member(m));
  for (size_t f = 0; f < kMostFolds; ++f) fs::remove(fold_path(f));
  fs::remove(in_run("lists.safetensors"));
}

std::optional<SafetensorsFile> RunFolder::checkpoint() const {
  const std::string path = in_run("checkpoint.safetensors");
  if (!exists(path)) return std::nullopt;
  try {
    SafetensorsFile file(path);
    file.verify_checksum();
    return file;
  } catch (const InputError& error) {
    throw InputError("{}; --overwrite starts the run anew", error.what());
  }
}

void RunFolder::save_checkpoint(const SafetensorsWriter& writer) {
  writer.write(in_run("checkpoint.safetensors"));
}

void RunFolder::replace_best(const std::function<void(const std::string& folder)>& write) {
  on_disk(path_, [&] {
    fs::remove_all(in_run("new"));
    write(in_run("new"));
    put_new_best();
  });
}

void RunFolder::remove_files(const RunProduct& product) const {
  for (const std::string& name : product.files) {
    const fs::path file = fs::path(path_) / name;
    fs::remove(file);
    std::error_code not_empty;
    if (file.parent_path() != path_) fs::remove(file.parent_path(), not_empty);
  }
}

// An older product goes, its config.json first, before the new one comes, its config.json last: in
// between the folder is none, never a mixture of two.
void RunFolder::finish() {
  ELIAS_ASSERT(begun_ && exists(in_run("best/config.json")));
  on_disk(path_, [&] {
    fs::remove(path_ + "/config.json");
    for (const RunProduct& product : all_products()) {
      if (product.name == product_.name || product.name == replaces_) remove_files(product);
    }
  });
  write_description(kTrained);  // from here on a kill costs nothing: begin() does the rest
  move_model();
}

void RunFolder::move_model() {
  on_disk(path_, [&] {
    for (const std::string& name : product_.files) {
      const std::string from = in_run(fmt::format("best/{}", name));
      if (!exists(from)) continue;
      const fs::path to = fs::path(path_) / name;
      fs::create_directories(to.parent_path());
      fs::rename(from, to);
    }
    fs::remove_all(in_run("best"));
    remove_parts();
    fs::remove(in_run("checkpoint.safetensors"));
  });
  write_description(kFinished);
}

}  // namespace elias
