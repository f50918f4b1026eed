// The page, from files in the program, and /openapi.json. Both are open to everybody: they say
// nothing of a model, and the page asks for the token itself.
#include "server/assets.h"
#include "server/routes.h"

namespace elias::server {
namespace {

constexpr std::string_view kIndex = "index.html";

// Scripts and styles from this server alone, no frames: what a label's name holds cannot run.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const char* type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/json";
}

void answer_asset(const Asset& asset, httplib::Response& response) {
  response.status = 200;
  response.set_content(asset.bytes.data(), asset.bytes.size(), type_of(asset.name));
  response.set_header("Cache-Control", "no-cache");
  response.set_header("Content-Security-Policy", kPolicy);
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("X-Frame-Options", "DENY");
}

}  // namespace

void add_page_routes(Router& router) {
  for (const Asset& asset : assets()) {
    const std::string path = asset.name == kIndex ? "/" : "/" + std::string(asset.name);
    router.add("GET", path, {.tokenless = true},
               [asset](Call& call) { answer_asset(asset, call.response); });
  }
}

}  // namespace elias::server
