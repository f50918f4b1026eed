// What a request says that its body is.
#pragma once

#include <string>

#include "server/router.h"

namespace elias::server {

/// "application/json" of "Application/JSON; charset=utf-8".
std::string content_type(const Call& call);

/// Throws ApiError 415 if the body is said to be anything but `wanted`.
void require_content_type(const Call& call, const std::string& wanted);

}  // namespace elias::server
