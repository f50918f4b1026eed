// The body of a request as it comes over a connection: whether there is one, where it ends, and no
// more of it than the server takes.
#pragma once

#include <httplib.h>

#include <string>

#include "server/connection.h"
#include "server/options.h"
#include "server/router.h"

namespace elias::server {

Connection::Body body_of(const httplib::Request& request);

/// Throws ApiError if the body's length is told in a way that another reader could understand
/// otherwise, or if it is packed in a way that is not known.
void check_framing(const httplib::Request& request);

class PostedBody : public RequestBody {
 public:
  /// No reader: there is no body.
  PostedBody(const httplib::Request& request, const httplib::ContentReader* reader,
             const Limits& limits, Connection& connection)
      : request_(request), reader_(reader), limits_(limits), connection_(connection) {}

  std::string read() override;
  void stream(const Receiver& receiver) override;

 private:
  [[noreturn]] void refuse() const;

  const httplib::Request& request_;
  const httplib::ContentReader* reader_;
  const Limits& limits_;
  Connection& connection_;
};

}  // namespace elias::server
