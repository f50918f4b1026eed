#include "capi/handles.h"

elias_model::elias_model(const char* model_folder, int threads, elias::IndexUse use)
    : folder(model_folder),
      pool(threads),
      context(pool),
      model(elias::Model::load(folder, context, use)),
      states([this] { return model.predictor().make_state(); }) {}

const elias::TextRows& elias_model::names() const {
  std::call_once(names_made_, [&] {
    elias::TextRows names;
    for (uint32_t label = 0; label < model.labels(); ++label) {
      names.add(model.label_name(label) + '\0');
    }
    names_ = std::move(names);
  });
  return names_;
}

const elias::PackedEncoder& elias_model::encoder(size_t member) const {
  std::call_once(encoders_made_, [&] {
    std::vector<elias::PackedEncoder> encoders;
    for (const elias::Member& each : model.members()) {
      encoders.emplace_back(context, each.weights.encoder);
    }
    encoders_ = std::move(encoders);
  });
  return encoders_[member];
}
