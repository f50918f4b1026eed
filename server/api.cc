#include "server/api.h"

#include <fmt/ranges.h>

#include "base/errors.h"
#include "server/api_error.h"
#include "server/routes.h"

namespace elias::server {
namespace {

std::string names_of(const ModelShelf& shelf) {
  std::vector<std::string> names;
  for (const std::string& name : shelf.names()) names.push_back(shown(name));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Api::Api(Limits limits, const ModelOptions& models)
    : limits_(limits),
      cards_(models.test_files),
      shelf_(models.service, models.use,
             [this](const std::string& name, const std::shared_ptr<const ServedModel>& served) {
               cards_.add(name, served);
             }) {}

ChosenModel Api::choose(const std::optional<std::string>& name, const std::string& field) const {
  if (!name) {
    const auto names = shelf_.names();
    if (names.size() == 1) return {.name = names.front(), .service = shelf_.find(names.front())};
    throw ApiError(400, field, "{} is missing: name one of the models {}", shown(field),
                   names_of(shelf_));
  }
  auto service = shelf_.find(*name);
  if (service != nullptr) return {.name = *name, .service = std::move(service)};
  throw ApiError(404, field, "there is no model {}: name one of {}", shown(*name),
                 names_of(shelf_));
}

std::shared_ptr<const ModelCard> Api::card(const ChosenModel& chosen) const {
  return cards_.of(chosen.service->served());
}

void Api::reload(const std::string& name) {
  try {
    shelf_.reload(name);
  } catch (...) {
    ++reloads_refused_;
    throw;
  }
  ++reloads_done_;
}

Router Api::routes() {
  Router router;
  add_predict_routes(router, *this);
  add_label_routes(router, *this);
  add_model_routes(router, *this);
  add_inference_routes(router, *this);
  add_metrics_route(router, *this);
  add_page_routes(router);
  return router;
}

}  // namespace elias::server
