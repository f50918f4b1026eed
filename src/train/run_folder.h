// The folder of a training run: what `elias fit --out DIR` and `elias pretrain --out DIR` find
// there, and what they leave.
//
//   DIR/                        the model, or the encoder, once the run is finished
//   DIR/run/settings.json       the resolved settings, fingerprints of the data and of the weights
//                               to start with, which of the two products the run is for, the status
//   DIR/run/checkpoint.safetensors  all state of a run that is not finished
//   DIR/run/best/               the best model so far of a run that is not finished
//   DIR/run/member-1/ ...       of an ensemble that is not finished, the members that are
//   DIR/run/lists.safetensors   what the best model so far of a fold found for its points
//   DIR/run/fold-1.safetensors ...  of a run that is not finished, what models of folds found
//   DIR/run/log.jsonl           one line an event
//   DIR/run/lock                held by the process that writes here
//
// A run may be killed at any moment: every step leaves either the old state or the new one, and
// the same command goes on from it. A folder that is not of a run is never touched.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/io/safetensors.h"

namespace elias {

/// What a run leaves in its folder: all names that a file of it can have, in the order in which
/// they are put there; without the last, config.json, a folder holds none.
struct RunProduct {
  std::string name;  // in messages and descriptions: "model"
  std::string verb;  // what makes it: "fit"
  std::vector<std::string> files;
};

RunProduct fitted_model();
RunProduct pretrained_encoder();

class RunFolder {
 public:
  enum class State : uint8_t { kNew, kStopped, kFinished };

  /// Makes the folder if need be, and locks it. Throws InputError if it holds what is not of a run,
  /// cannot be written, another process is at work in it, or, without `overwrite`, if it is of a
  /// run for another product.
  RunFolder(std::string path, bool overwrite, RunProduct product = fitted_model());
  /// Unlocks; takes away what the constructor made if the run never began.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Begins or goes on with the run that `identity` describes: objects of named values, of which
  /// "data", "settings" and "weights", what training starts with, are three. Throws InputError,
  /// naming the first difference, if the folder holds another run. With `overwrite` that, or one
  /// that is finished or damaged, is forgotten, and its product stays until finish().
  State begin(const nlohmann::ordered_json& identity);

  /// What was last saved, verified; empty if nothing was.
  std::optional<SafetensorsFile> checkpoint() const;
  /// One atomic step: if it throws, the last checkpoint stands.
  void save_checkpoint(const SafetensorsWriter& writer);
  /// Calls write(folder) for a new best model, and puts it in the place of the old one.
  void replace_best(const std::function<void(const std::string& folder)>& write);
  /// Of an ensemble: the best model is that of member m, whose training is finished; the checkpoint
  /// goes.
  void keep_best_as_member(size_t m);
  bool has_member(size_t m) const;
  /// The labels found by a new best model of the fold that is at work, in the place of the old
  /// ones.
  void replace_lists(const SafetensorsWriter& lists);
  /// The lists are those of fold f, whose model is trained; the checkpoint goes.
  void keep_lists_as_fold(size_t f);
  bool has_fold(size_t f) const;
  /// What keep_lists_as_fold() kept, verified.
  SafetensorsFile fold(size_t f) const;
  /// Moves the best model to the folder itself, in the place of what a run that was overwritten
  /// left there, and marks the run as finished.
  void finish();

  const std::string& path() const { return path_; }
  /// Where replace_best() puts it.
  std::string best() const { return in_run("best"); }
  /// Where keep_best_as_member() puts it.
  std::string member(size_t m) const;
  std::string log_path() const { return in_run("log.jsonl"); }

 private:
  std::string in_run(const std::string& name) const { return path_ + "/run/" + name; }
  void require_ours() const;
  void require_same_product() const;
  void make_folders();
  void lock();
  void let_go();
  void clean_up_after_a_kill() const;
  void forget_run() const;
  bool can_go_on() const;
  /// Which product the folder holds, or files of it; empty: none.
  std::string product_there() const;
  nlohmann::ordered_json read_description() const;
  void write_description(const std::string& status);
  std::string fold_path(size_t f) const;
  void put_new_best() const;
  void remove_files(const RunProduct& product) const;
  void remove_parts() const;
  void move_model();

  std::string path_;
  bool overwrite_;
  RunProduct product_;
  bool made_folder_ = false, made_run_ = false;  // by the constructor
  bool begun_ = false;
  std::string replaces_;  // the product that the run takes the place of, if there was one
  int lock_ = -1;         // the file while it is locked
  nlohmann::ordered_json identity_;
};

}  // namespace elias
