#include "rightsize/exporter/server.h"

#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "base/parse_units.h"

namespace rightsize::app {

struct MetricsServer::State {
  httplib::Server server;
  std::thread thread;
};

MetricsServer::MetricsServer(std::function<std::string()> page, std::function<std::pair<int, std::string>()> health)
    : state_(std::make_unique<State>()) {
  state_->server.Get("/metrics", [page](const httplib::Request&, httplib::Response& response) {
    response.set_content(page(), "text/plain; version=0.0.4; charset=utf-8");
  });
  state_->server.Get("/healthz", [health](const httplib::Request&, httplib::Response& response) {
    auto [status, text] = health();
    response.status = status;
    response.set_content(text, "text/plain; charset=utf-8");
  });
  state_->server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("<a href=\"/metrics\">metrics</a> <a href=\"/healthz\">health</a>\n", "text/html");
  });
  // The library would share the port with another program that listens there, and each would get some of the requests.
  state_->server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  state_->server.set_read_timeout(5);
  state_->server.set_write_timeout(30);
}

MetricsServer::~MetricsServer() { stop(); }

Result<std::string> MetricsServer::start(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  Result<std::int64_t> port = parse_integer(colon == std::string::npos ? "" : listen.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return fail(
        bad_input(fmt::format("--listen '{}': address:port expected", listen)).with_hint("for example 0.0.0.0:9477"));
  }
  const std::string host = listen.substr(0, colon);
  int bound = static_cast<int>(*port);
  if (bound == 0) {
    bound = state_->server.bind_to_any_port(host);
  } else if (!state_->server.bind_to_port(host, bound)) {
    bound = -1;
  }
  if (bound < 0) return fail(unreadable(fmt::format("cannot listen on {}: is the port taken?", listen)));
  state_->thread = std::thread([this] { state_->server.listen_after_bind(); });
  return fmt::format("{}:{}", host, bound);
}

void MetricsServer::stop() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace rightsize::app
