// elias serve: models behind HTTP, until a signal says that it is enough. docs/serving.md is the
// guide.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "base/errors.h"
#include "base/readable.h"
#include "cli/number_range.h"
#include "cli/verbs.h"
#include "server/api.h"
#include "server/http_server.h"
#include "server/secrets.h"

namespace elias::cli {
namespace {

struct Options {
  std::vector<std::string> models, tests;
  std::string token_file, index = "own";
  server::ServerOptions server;
  RequestQueue::Settings queue;
  int64_t batch_wait = 200;           // microseconds
  double timeout = 10;                // seconds
  size_t max_body = 8, max_text = 1;  // MiB
};

constexpr const char* kExamples = R"(Examples:
  A model, and the page to try it, on http://127.0.0.1:8080/:
    elias serve --model model/

  Two models by name; a request says which it means:
    elias serve --model en=english/ --model fi=finnish/
    curl -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/predict \
      -d '{"model": "fi", "text": "vihreä tee"}'

  For other machines, with a token:
    elias serve --model model/ --host 0.0.0.0 --token-file token.txt

  Load models anew after 'elias fit' or 'elias threshold'; stop when all is answered:
    kill -HUP $(pidof elias)
    kill -TERM $(pidof elias))";

struct Named {
  std::string name, path;
};

/// "NAME=PATH", or a path that has a name in it.
Named named(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && text.find('/') > equals) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  auto path = std::filesystem::absolute(text).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return {path.filename().string(), text};
}

/// Of models by name. Without one, the test file is that of the only model.
std::map<std::string, std::string> test_files(const Options& options) {
  std::vector<std::string> names;
  for (const std::string& model : options.models) names.push_back(named(model).name);
  std::map<std::string, std::string> files;
  for (const std::string& test : options.tests) {
    const size_t equals = test.find('=');
    const std::string name = test.substr(0, std::min(equals, test.size()));
    if (equals != std::string::npos && std::ranges::count(names, name) > 0) {
      files[name] = test.substr(equals + 1);
    } else if (names.size() == 1) {
      files[names.front()] = test;
    } else {
      throw InputError("--test {}: say for which model, as in {}={}", shown(test), names.front(),
                       test);
    }
  }
  return files;
}

bool is_loopback(const std::string& host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1";
}

// --- signals -------------------------------------------------------------------------------------

/// The signals of a server, which wait until they are asked for. To be made before any thread is.
/// Whoever started it may have had it ignore those that stop (a shell's background job); the one to
/// load models again is nobody else's.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGHUP);
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction action {};
      ::sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::sigaddset(&set_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  int next() const {
    int signal = 0;
    ::sigwait(&set_, &signal);
    return signal;
  }
  /// From now on they do what they do in every program.
  void release() const { ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_{};
};

// --- the verb ------------------------------------------------------------------------------------

class ServeRun {
 public:
  ServeRun(const Options& options, int threads)
      : options_(options),
        api_(options.server.limits,
             {.service = {.replicas = threads, .queue = options.queue},
              .use = options.index == "exact" ? IndexUse::kExact : IndexUse::kOwn,
              .test_files = test_files(options)}),
        server_(options.server, api_.routes(), api_.statuses()) {}

  void run(const Signals& signals) {
    const int port = server_.bind();  // a port that is taken shows before models are loaded
    for (const std::string& model : options_.models) {
      const auto [name, folder] = named(model);
      api_.shelf().add(name, folder);
    }
    std::atomic<bool> lost{false};
    std::thread listener([&] {
      lost = !server_.serve();
      if (lost) ::kill(::getpid(), SIGHUP);  // wakes the loop below
    });
    say_ready(port);
    while (signals.next() == SIGHUP && !lost) reload_all();
    if (lost) {
      listener.join();
      throw InputError("--port {}: the system takes no connections any more: start again", port);
    }
    fmt::print(stderr,
               "elias: stopping when all requests are answered; a second signal stops at "
               "once\n");
    signals.release();
    server_.stop();
    listener.join();
  }

 private:
  void say_ready(int port) const {
    if (options_.server.token.empty() && !is_loopback(options_.server.host)) {
      fmt::print(
          stderr,
          "elias: --host {}: whoever reaches this machine may ask: --token-file FILE wants a "
          "token of them\n",
          options_.server.host);
    }
    std::string models;
    for (const std::string& name : api_.shelf().names()) {
      models += fmt::format("{}{} ({})", models.empty() ? "" : ", ", name,
                            counted(api_.choose(name, "").model().labels(), "label"));
    }
    const std::string& host = options_.server.host;
    const bool brackets = host.find(':') != std::string::npos;
    fmt::print("elias: serving {} on http://{}:{}/\n", models,
               brackets ? fmt::format("[{}]", host) : host, port);
    std::fflush(stdout);  // somebody may wait for this line
  }

  void reload_all() {
    for (const std::string& name : api_.shelf().names()) {
      try {
        api_.reload(name);
        fmt::print(stderr, "elias: {} was loaded again\n", name);
      } catch (const std::exception& refused) {
        fmt::print(stderr, "elias: {} stays as it is: {}\n", name, refused.what());
      }
    }
  }

  const Options& options_;
  server::Api api_;
  server::HttpServer server_;
};

void run(Options& options, int threads) {
  options.queue.batch_wait = std::chrono::microseconds(options.batch_wait);
  server::Limits& limits = options.server.limits;
  limits.answer = std::chrono::milliseconds(static_cast<int64_t>(1000 * options.timeout));
  limits.body = options.max_body << 20;
  limits.text = options.max_text << 20;
  if (!options.token_file.empty()) options.server.token = server::read_token(options.token_file);
  const Signals signals;
  ServeRun(options, threads).run(signals);
}

void add_limits(CLI::App& verb, Options& options) {
  const auto number = [&verb](const std::string& name, auto& value, const char* what, auto low,
                              auto high) {
    verb.add_option(name, value, what)
        ->check(number_range(low, high))
        ->type_name("N")
        ->capture_default_str();
  };
  number("--batch", options.queue.batch, "Texts that a replica takes at a time, at most", size_t{1},
         size_t{4096});
  number("--batch-wait", options.batch_wait,
         "Microseconds to wait for more of them, while requests come together", int64_t{0},
         int64_t{1'000'000});
  number("--queue", options.queue.capacity,
         "Texts that may wait; more are told to come again (429)", size_t{1}, size_t{10'000'000});
  number("--timeout", options.timeout, "Seconds in which a request is answered, or refused (503)",
         0.001, 86400.0);
  number("--max-body", options.max_body, "MiB of a request, but for bulk, which has no limit",
         size_t{1}, size_t{4096});
  number("--max-text", options.max_text, "MiB of a text", size_t{1}, size_t{1024});
  number("--max-texts", options.server.limits.texts, "Texts of a request, but for bulk", size_t{1},
         size_t{1'000'000});
  number("--connections", options.server.connections, "Connections that are served at a time",
         size_t{1}, size_t{10'000});
}

}  // namespace

void add_serve(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("serve", "Answer over HTTP, with a page to try models");
  verb->footer(kExamples);
  verb->add_option("--model", options->models,
                   "The folder that 'elias fit' wrote, with a name for it or without; may be given "
                   "again")
      ->required()
      ->type_name("[NAME=]DIR")
      ->allow_extra_args(false);
  verb->add_option("--host", options->server.host, "Address to listen on; 0.0.0.0 for all")
      ->type_name("ADDRESS")
      ->capture_default_str();
  verb->add_option("--port", options->server.port, "Port to listen on; 0 for any that is free")
      ->check(number_range(0, 65535))
      ->type_name("N")
      ->capture_default_str();
  add_limits(*verb, *options);
  verb->add_option("--token-file", options->token_file,
                   "Answer only requests that bear the token in this file")
      ->type_name("FILE");
  verb->add_option("--index", options->index,
                   "own: find labels by what the model has for it; exact: score every label, also "
                   "of a model that has a graph of neighbours")
      ->check(CLI::IsMember({"own", "exact"}).description(""))
      ->type_name("own|exact")
      ->capture_default_str();
  verb->add_option("--test", options->tests,
                   "Points with their true labels: adds recall by frequency to the page; may be "
                   "given again")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  verb->callback([options, &global] { run(*options, global.threads); });
}

}  // namespace elias::cli
