#include "http_server/server.h"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/parse_units.h"
#include "http_server/state.h"

namespace rightsize::http_server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

void accept_next(Server::State& state);

// Usually no file handle is left. New connections stay in the system's queue; retrying at once would only spin.
void accept_later(Server::State& state, const error_code& failed) {
  state.refuse("-", "connection", {503, "cannot accept a connection: " + failed.message()}, "no handles");
  state.accept_retry_timer.expires_after(std::chrono::milliseconds(100));
  state.accept_retry_timer.async_wait([&state](error_code cancelled) {
    if (!cancelled && !state.stopping) accept_next(state);
  });
}

// A slow sender must not keep others out.
void close_oldest_idle(Server::State& state) {
  for (const std::weak_ptr<Connection>& each : state.connections) {
    const std::shared_ptr<Connection> connection = each.lock();
    if (!connection || connection->is_busy()) continue;
    state.refuse("-", "connection", {503, "all connections are in use; closed the one idle longest"},
                 "too many connections");
    return connection->close();
  }
}

std::vector<std::shared_ptr<Connection>> all_connections(const Server::State& state) {
  std::vector<std::shared_ptr<Connection>> all;
  for (const std::weak_ptr<Connection>& each : state.connections) {
    if (auto connection = each.lock()) all.push_back(std::move(connection));
  }
  return all;
}

void accept_next(Server::State& state) {
  state.acceptor->async_accept([&state](error_code failed, tcp::socket socket) {
    if (failed == asio::error::operation_aborted || state.stopping) return;
    if (failed && failed != asio::error::connection_aborted) return accept_later(state, failed);
    if (!failed) {
      const std::size_t most = state.options.limits.connections;
      if (state.connections.size() >= most) close_oldest_idle(state);
      if (state.connections.size() < most) make_connection(state, std::move(socket))->start();
    }
    accept_next(state);
  });
}

Result<> use_certificate(Server::State& state) {
  const auto& [certificate, key] = std::pair(state.options.certificate, state.options.key);
  if (certificate.empty() && key.empty()) return {};
  if (certificate.empty() || key.empty()) return fail(bad_input("TLS needs both a certificate and its key"));
  state.tls.emplace(asio::ssl::context::tls_server);
  state.tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
  error_code failed;
  state.tls->use_certificate_chain_file(certificate, failed);
  if (failed)
    return fail(unreadable(fmt::format("cannot use the certificate '{}': {}", certificate, failed.message())));
  state.tls->use_private_key_file(key, asio::ssl::context::pem, failed);
  if (failed) return fail(unreadable(fmt::format("cannot use the key '{}': {}", key, failed.message())));
  return {};
}

Result<tcp::endpoint> endpoint_of(const ListenOptions& options) {
  error_code failed;
  const std::string host = options.address == "localhost" ? "127.0.0.1" : options.address;
  const asio::ip::address address = asio::ip::make_address(host, failed);
  if (failed) {
    return fail(bad_input(fmt::format("'{}' is not an IP address", options.address))
                    .with_hint("127.0.0.1, ::1, or 0.0.0.0 for every address of this machine"));
  }
  return tcp::endpoint(address, static_cast<unsigned short>(options.port));
}

void start_stopping(Server::State& state) {
  if (state.stopping) return;
  state.stopping = true;
  error_code ignored;
  state.acceptor->close(ignored);
  state.accept_retry_timer.cancel();
  for (const auto& connection : all_connections(state)) connection->retire();
  state.stop_timer.expires_after(state.options.limits.stop_time);
  state.stop_timer.async_wait([&state](error_code cancelled) {
    if (!cancelled) state.network.stop();
  });
}

bool matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  return path.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

Result<std::pair<std::string, int>> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const Result<std::int64_t> port = parse_integer(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return fail(
        bad_input(fmt::format("--listen '{}': expected address:port", text)).with_hint("for example 127.0.0.1:8477"));
  }
  std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::pair(host.empty() ? std::string("127.0.0.1") : host, static_cast<int>(*port));
}

Server::Server(ListenOptions options, std::vector<Route> routes, RefusalLog::Write log)
    : state_(std::make_unique<State>(std::move(options), std::move(routes), std::move(log))) {}

// Workers first: they use the state.
Server::~Server() { state_->pools.clear(); }

const Route* Server::State::find(std::string_view method, std::string_view path, bool& path_known) const {
  const Route* best = nullptr;
  for (const Route& route : routes) {
    if (!matches(route.path, path)) continue;
    path_known = path_known || route.path != "/*";
    if (route.method == method && (best == nullptr || route.path.size() > best->path.size())) best = &route;
  }
  // The catch-all route must not answer for a known path with an unsupported method.
  return best != nullptr && best->path == "/*" && path_known ? nullptr : best;
}

void Server::State::refuse(const std::string& peer, std::string_view what, const Refusal& refusal,
                           std::string_view kind) {
  statistics.count_refusal(kind);
  log.refuse(peer, what, refusal.status, refusal.reason);
}

ServerStatistics& Server::statistics() { return state_->statistics; }

Result<std::string> Server::listen() {
  State& state = *state_;
  RIGHTSIZE_TRY(const tcp::endpoint endpoint, endpoint_of(state.options));
  state.access = {state.options.token, endpoint.address().is_loopback()};
  const bool all_open = std::all_of(state.routes.begin(), state.routes.end(), [](const Route& r) { return r.open; });
  if (!state.access.loopback_only && state.access.token.empty() && !all_open) {
    return fail(
        bad_input(fmt::format("'{}' can be reached from other machines and needs a token", state.options.address))
            .with_hint("pass --token-file FILE, or listen on 127.0.0.1"));
  }
  if (Result<> used = use_certificate(state); !used) return fail(used.error());
  error_code failed;
  state.acceptor.emplace(state.network);
  state.acceptor->open(endpoint.protocol(), failed);
  if (!failed) state.acceptor->set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) state.acceptor->bind(endpoint, failed);
  if (!failed) state.acceptor->listen(asio::socket_base::max_listen_connections, failed);
  if (failed) {
    return fail(unreadable(fmt::format("cannot listen on {}:{}: {}", state.options.address, state.options.port,
                                       failed.message()))
                    .with_hint("choose another port with --listen; port 0 takes a free one"));
  }
  // Must happen before the address is announced: a reader may stop the server immediately.
  if (state.options.obey_signals) state.signals.emplace(state.network, SIGINT, SIGTERM);
  const unsigned short port = state.acceptor->local_endpoint().port();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", endpoint.address().to_string(), port)
                                    : fmt::format("{}:{}", endpoint.address().to_string(), port);
}

bool Server::run() {
  State& state = *state_;
  constexpr int kAheadNiceness = 5;
  const ServerLimits& limits = state.options.limits;
  for (std::size_t lane = 0; lane < limits.workers.size(); ++lane) {
    const int niceness = lane == static_cast<std::size_t>(Lane::kAhead) ? kAheadNiceness : 0;
    state.pools.push_back(std::make_unique<WorkPool>(limits.workers[lane], limits.queued, niceness));
  }
  accept_next(state);
  if (state.signals) {
    state.signals->async_wait([&](error_code failed, int) {
      if (!failed) start_stopping(state);
    });
  }
  while (!(state.stopping && state.connections.empty())) {
    if (state.network.run_one_for(std::chrono::milliseconds(200)) == 0 && state.network.stopped()) {
      if (state.stopping) break;
      state.network.restart();
    }
  }
  for (const auto& connection : all_connections(state)) connection->close();  // cancels its work
  bool ended = true;
  constexpr std::chrono::milliseconds kToNoticeCancellation{1000};
  for (const auto& pool : state.pools) ended = pool->stop_within(kToNoticeCancellation) && ended;
  return ended;
}

void Server::stop() {
  asio::post(state_->network, [this] { start_stopping(*state_); });
}

}  // namespace rightsize::http_server
