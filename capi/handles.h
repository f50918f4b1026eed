// What the two handles of the C interface point to.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/scratch_pool.h"
#include "base/thread_pool.h"
#include "data/text_rows.h"
#include "elias/elias.h"
#include "encoder/encoder.h"
#include "model/model.h"
#include "ops/context.h"

/// A model and what its calls share. What not every program needs is made when it is first asked
/// for, by whatever thread.
struct elias_model {
  elias_model(const char* model_folder, int threads, elias::IndexUse use);

  /// Every name with a NUL behind it.
  const elias::TextRows& names() const;
  /// The encoder of a member, packed.
  const elias::PackedEncoder& encoder(size_t member) const;

  const std::string folder;
  mutable elias::ThreadPool pool;
  const elias::Context context;
  const elias::Model model;
  /// Room for calls with one point, which come often: many points make their own.
  mutable elias::ScratchPool<elias::Predictor::State> states;

 private:
  mutable std::once_flag names_made_, encoders_made_;
  mutable elias::TextRows names_;
  mutable std::vector<elias::PackedEncoder> encoders_;
};

struct elias_predictions {
  std::vector<uint64_t> offsets{0};
  std::vector<uint32_t> labels;
  std::vector<float> scores;
};
