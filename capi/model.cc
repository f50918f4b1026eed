// Models: opened, freed and asked what they are.
#include <memory>
#include <string>

#include "capi/error.h"
#include "capi/handles.h"
#include "capi/options.h"
#include "report/find_label.h"

namespace {

using elias::InputError;
using elias::required;

constexpr uint32_t kMostThreads = 1024;

std::unique_ptr<elias_model> load(const char* folder, const elias_load_options& options) {
  if (options.threads > kMostThreads) {
    throw InputError("options.threads is {}: give at most {}, or 0 for one a processor",
                     options.threads, kMostThreads);
  }
  if (options.exact > 1) throw InputError("options.exact is {}: give 0 or 1", options.exact);
  return std::make_unique<elias_model>(
      folder, static_cast<int>(options.threads),
      options.exact == 1 ? elias::IndexUse::kExact : elias::IndexUse::kOwn);
}

}  // namespace

const char* elias_version() { return ELIAS_VERSION; }

elias_status elias_load(const char* folder, const elias_load_options* options,
                        elias_model** model) {
  return elias::guarded([&] {
    elias_model*& result = required(model, "model");
    result = load(&required(folder, "folder"), elias::options_of(options)).release();
  });
}

void elias_free(elias_model* model) { delete model; }

size_t elias_label_count(const elias_model* model) {
  return model == nullptr ? 0 : model->model.labels();
}

int elias_takes_texts(const elias_model* model) {
  return model != nullptr && model->model.tfidf() != nullptr ? 1 : 0;
}

size_t elias_feature_count(const elias_model* model) {
  return model == nullptr ? 0 : model->model.features();
}

size_t elias_vector_width(const elias_model* model) {
  return model == nullptr ? 0 : static_cast<size_t>(model->model.first().weights.encoder.width());
}

size_t elias_member_count(const elias_model* model) {
  return model == nullptr ? 0 : model->model.members().size();
}

const char* elias_label_name(const elias_model* model, uint32_t label, size_t* length) {
  const char* result = nullptr;
  elias::guarded([&] {
    const elias_model& from = required(model, "model");
    if (label >= from.model.labels()) {
      throw InputError("label {} is beyond the {} labels of the model (ids start at 0)", label,
                       from.model.labels());
    }
    const std::string_view name = from.names().row(label);
    if (length != nullptr) *length = name.size() - 1;
    result = name.data();
  });
  return result;
}

elias_status elias_find_label(const elias_model* model, const char* name, size_t length,
                              uint32_t* label) {
  return elias::guarded([&] {
    const elias_model& from = required(model, "model");
    uint32_t& result = required(label, "label");
    const std::string wanted(&required(name, "name"), length);
    result = elias::find_label(from.model, from.folder, wanted, from.pool);
  });
}
