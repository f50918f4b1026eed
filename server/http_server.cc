#include "server/http_server.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/errors.h"
#include "server/answers.h"
#include "server/api_error.h"
#include "server/connection.h"
#include "server/connection_threads.h"
#include "server/idle_signal.h"
#include "server/posted_body.h"
#include "server/secrets.h"

namespace elias::server {
namespace {

constexpr int kBacklog = 1024;  // connections that the kernel holds until they are accepted
constexpr const char* kOnlyPath = "/";

// The connection that this thread serves: the library's handlers are not told.
thread_local Connection* current = nullptr;

void check_query(const Route& route, const Target& target) {
  for (const auto& [name, _] : target.query) {
    if (std::ranges::find(route.rules.query, name) == route.rules.query.end()) {
      throw ApiError(400, name, "there is no parameter {} here: leave it out", shown(name));
    }
  }
}

}  // namespace

std::vector<std::pair<int, uint64_t>> StatusCounts::counts() const {
  std::vector<std::pair<int, uint64_t>> counts;
  for (size_t status = 0; status < counts_.size(); ++status) {
    if (counts_[status] > 0) counts.emplace_back(static_cast<int>(status), counts_[status]);
  }
  return counts;
}

// --- the library's server, on our connections ----------------------------------------------------

class HttpServer::Listener : public httplib::Server {
 public:
  Listener(ServerOptions options, Router router, std::shared_ptr<StatusCounts> counts)
      : options_(std::move(options)), router_(std::move(router)), counts_(std::move(counts)) {
    new_task_queue = [this] { return new ConnectionThreads(options_.connections, idle_); };
    set_tcp_nodelay(true);
    // A port that another server has is refused; one that a server had a moment ago is not.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    set_expect_100_continue_handler([this](const auto& request, auto& response) {
      return admits(request, response) ? 100 : 0;
    });
    set_pre_routing_handler([this](const auto& request, auto& response) {
      return begin(request, response) ? HandlerResponse::Handled : HandlerResponse::Unhandled;
    });
    Post(kOnlyPath, [this](const auto& request, auto& response, const auto& reader) {
      answer(request, response, &reader);
    });
    set_error_handler(HandlerWithResponse([](const auto&, auto& response) {
      if (!current->head_was_read()) explain_head(response);
      return HandlerResponse::Unhandled;
    }));
    set_post_routing_handler([this](const auto&, auto& response) { finish(response); });
  }

  int bind() {
    check_host();
    int port = options_.port;
    if (port == 0) {
      port = bind_to_any_port(options_.host);
    } else if (!bind_to_port(options_.host, port)) {
      port = -1;
    }
    if (port >= 0 && ::listen(svr_sock_, kBacklog) == 0) return port;
    throw InputError("--host {} --port {}: cannot be listened on ({}): give others", options_.host,
                     options_.port, system_error_text());
  }

  bool serve() {
    listen_after_bind();
    return stopping_;
  }

  // The library's own stop() would also cut off answers on their way.
  void stop() {
    if (stopping_.exchange(true)) return;
    idle_.ask_all();
    ::shutdown(svr_sock_, SHUT_RDWR);
  }

  const Router& router() const { return router_; }

 private:
  // The library does not say why it cannot listen, and errno knows nothing of names.
  void check_host() const {
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(options_.host.c_str(), nullptr, nullptr, &found);
    if (error == 0) return ::freeaddrinfo(found);
    throw InputError("--host {}: is no address of this machine ({}): give one, as 127.0.0.1",
                     shown(options_.host), ::gai_strerror(error));
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options_.limits, idle_);
    current = &connection;
    bool closed = false;
    while (!closed && connection.wait_for_request()) {
      const bool alive = process_request(connection, false, closed, [&](httplib::Request& request) {
        connection.head_is_read(body_of(request));
        // Answers are small, and packing them slow.
        request.headers.erase("Accept-Encoding");
        request.ranges.clear();
        request.path = kOnlyPath;  // the library has one route: ours are found by the target
      });
      closed = closed || !alive || stopping_ || connection.is_spoilt();
    }
    connection.close();
    current = nullptr;
    return true;
  }

  // Any page can have a browser post here, though not read the answer; browsers tell of it.
  static void check_site(const httplib::Request& request) {
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (request.method != "POST" || site.empty() || site == "same-origin" || site == "none") return;
    throw ApiError(
        403, "",
        "a page of another site asks this by way of a browser: ask from the page of this "
        "server, or without a browser");
  }

  const Route& admit(const httplib::Request& request, const Target& target) const {
    const Route& route = router_.find(request.method, target);
    if (!route.rules.tokenless &&
        !bears_token(request.get_header_value("Authorization"), options_.token)) {
      throw ApiError(401, "",
                     "this server wants a token: send the header 'Authorization: Bearer TOKEN'");
    }
    check_site(request);
    if (stopping_ && !route.rules.always) {
      throw ApiError(503, "", "the server is stopping: ask again in a while");
    }
    check_framing(request);
    check_query(route, target);
    return route;
  }

  // Whether the client may send its body; else it is told why not.
  bool admits(const httplib::Request& request, httplib::Response& response) const {
    return attempt(request, response, [&](const Target& target) { admit(request, target); });
  }

  // Answers what is wrong, and what has no body. False: the body is to be read.
  bool begin(const httplib::Request& request, httplib::Response& response) {
    bool body_follows = false;
    attempt(request, response, [&](const Target& target) {
      admit(request, target);
      body_follows = request.method == "POST" && body_of(request) != Connection::Body::kNone;
    });
    if (body_follows) return false;
    if (response.status == -1) answer(request, response, nullptr);
    return true;
  }

  void answer(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader* reader) {
    attempt(request, response, [&](const Target& target) {
      const Route& route = admit(request, target);
      PostedBody body(request, reader, options_.limits, *current);
      Call call{.request = request,
                .target = target,
                .parameters = parameters_of(route, target),
                .body = body,
                .response = response};
      route.handler(call);
    });
  }

  template <typename Work>
  bool attempt(const httplib::Request& request, httplib::Response& response,
               const Work& work) const {
    Target target;
    try {
      target = Target::parse(request.target);
      work(target);
      return true;
    } catch (...) {
      answer_error(response, std::current_exception());
      if (response.status == 405) response.set_header("Allow", router_.methods_of(target));
      return false;
    }
  }

  // The library found no request in what came.
  static void explain_head(httplib::Response& response) {
    if (current->head_was_too_large()) {
      return answer_error(response, 431, "the head of the request is too large: send less in it");
    }
    if (current->timed_out()) {
      return answer_error(response, 408, "the request came too slowly: send it at one go");
    }
    if (response.status == 416) {
      return answer_error(response, 416, "the header Range is malformed: leave it out");
    }
    answer_error(response, 400, "this is no request of HTTP/1.1: send one");
  }

  void finish(httplib::Response& response) {
    counts_->add(response.status);
    response.headers.erase("Keep-Alive");
    response.headers.erase("Accept-Ranges");
    if (!response.has_header("Cache-Control")) response.set_header("Cache-Control", "no-store");
    response.set_header("X-Content-Type-Options", "nosniff");
    if ((stopping_ || current->is_spoilt()) && !response.has_header("Connection")) {
      response.set_header("Connection", "close");
    }
  }

  const ServerOptions options_;
  const Router router_;
  const std::shared_ptr<StatusCounts> counts_;
  IdleSignal idle_;
  std::atomic<bool> stopping_{false};
};

HttpServer::HttpServer(ServerOptions options, Router router, std::shared_ptr<StatusCounts> counts)
    : listener_(
          std::make_unique<Listener>(std::move(options), std::move(router), std::move(counts))) {}
HttpServer::~HttpServer() = default;

int HttpServer::bind() { return listener_->bind(); }
bool HttpServer::serve() { return listener_->serve(); }
void HttpServer::stop() { listener_->stop(); }
const Router& HttpServer::router() const { return listener_->router(); }

}  // namespace elias::server
