#include "server/find_served_label.h"

#include "base/errors.h"
#include "report/find_label.h"
#include "server/api_error.h"

namespace elias::server {

uint32_t find_served_label(const Model& model, const std::string& model_name,
                           const std::string& label, const std::string& field) {
  ThreadPool alone(1);
  try {
    return find_label(model, model_name, label, alone);
  } catch (const InputError& unknown) {
    throw ApiError(404, field, "{}", unknown.what());
  }
}

}  // namespace elias::server
