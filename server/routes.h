// The routes of the server, a file a group of them.
#pragma once

#include "server/api.h"
#include "server/router.h"

namespace elias::server {

void add_predict_routes(Router& router, Api& api);
void add_label_routes(Router& router, Api& api);
void add_model_routes(Router& router, Api& api);
void add_inference_routes(Router& router, Api& api);
void add_metrics_route(Router& router, Api& api);
/// The page, and the description of all of this.
void add_page_routes(Router& router);

/// POST /v1/predict where the body is application/x-ndjson.
void answer_bulk(Call& call, Api& api);

}  // namespace elias::server
