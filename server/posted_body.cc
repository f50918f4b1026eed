#include "server/posted_body.h"

#include <algorithm>

#include "base/errors.h"
#include "base/readable.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

bool is_digits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Connection::Body body_of(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return Connection::Body::kChunked;
  return request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0"
             ? Connection::Body::kPlain
             : Connection::Body::kNone;
}

// Where server and proxy could differ about the end of a body, one of them would take part of it
// for the next request.
void check_framing(const httplib::Request& request) {
  const auto lengths = request.get_header_value_count("Content-Length");
  const auto codings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + codings > 1) {
    throw ApiError(400, "", "the body's length is given more than once: give it once");
  }
  if (lengths == 1 && !is_digits(request.get_header_value("Content-Length"))) {
    throw ApiError(400, "", "Content-Length {}: is not a number of bytes: give one",
                   shown(request.get_header_value("Content-Length")));
  }
  if (codings == 1 && request.get_header_value("Transfer-Encoding") != "chunked") {
    throw ApiError(400, "", "Transfer-Encoding {}: is not known: use chunked, or Content-Length",
                   shown(request.get_header_value("Transfer-Encoding")));
  }
  const std::string packed = request.get_header_value("Content-Encoding");
  if (packed != "" && packed != "gzip" && packed != "deflate" && packed != "br") {
    throw ApiError(415, "", "Content-Encoding {}: is not known: use gzip, deflate, br or none",
                   shown(packed));
  }
  // The library would take it apart into files, for which there is nobody.
  if (request.is_multipart_form_data()) {
    throw ApiError(415, "", "a body of type multipart/form-data is not taken: send JSON");
  }
}

std::string PostedBody::read() {
  const std::string length = request_.get_header_value("Content-Length");
  constexpr size_t kMostDigits = 18;  // that fit 64 bits
  if (length.size() > kMostDigits || (!length.empty() && std::stoull(length) > limits_.body)) {
    refuse();
  }
  std::string body;
  stream([&](std::string_view bytes) {
    // Packed bodies and those without a length are only known now.
    if (body.size() + bytes.size() > limits_.body) refuse();
    body += bytes;
  });
  return body;
}

void PostedBody::stream(const Receiver& receiver) {
  if (reader_ == nullptr) return;
  const bool all = (*reader_)([&](const char* bytes, size_t size) {
    receiver({bytes, size});
    return true;
  });
  if (all) return connection_.body_is_read();
  if (connection_.timed_out()) {
    throw ApiError(408, "", "the body came too slowly: send it at one go");
  }
  throw ApiError(400, "", "the body ended before its length, or cannot be unpacked: send it again");
}

void PostedBody::refuse() const {
  throw ApiError(413, "", "the body has more than the {} that the server takes: send less",
                 bytes_text(limits_.body));
}

}  // namespace elias::server
