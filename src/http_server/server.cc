#include "http_server/server.h"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "http_server/state.h"

namespace rightsize::http_server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

void accept_next(Server::State& state);

// No handle is left, most often. Those who knock stay in the system's queue; asking at once again would only spin.
void accept_later(Server::State& state, const error_code& failed) {
  state.refuse("-", "connection", {503, "cannot take a connection: " + failed.message()}, "no handles");
  state.breath.expires_after(std::chrono::milliseconds(100));
  state.breath.async_wait([&state](error_code cancelled) {
    if (!cancelled && !state.stopping) accept_next(state);
  });
}

void accept_next(Server::State& state) {
  state.acceptor->async_accept([&state](error_code failed, tcp::socket socket) {
    if (failed == asio::error::operation_aborted || state.stopping) return;
    if (failed && failed != asio::error::connection_aborted) return accept_later(state, failed);
    if (!failed) {
      // Whoever has been quiet longest makes room: a slow sender cannot keep others out.
      if (state.seats.size() >= state.options.limits.connections) {
        if (const auto quiet = state.seats.longest_quiet()) {
          state.refuse("-", "connection", {503, "all connections are taken; the one quiet longest was closed"},
                       "too many connections");
          quiet->drop();
        }
      }
      if (state.seats.size() < state.options.limits.connections) make_connection(state, std::move(socket))->start();
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

Result<tcp::endpoint> endpoint_of(const Options& options) {
  error_code failed;
  const std::string host = options.address == "localhost" ? "127.0.0.1" : options.address;
  const asio::ip::address address = asio::ip::make_address(host, failed);
  if (failed) {
    return fail(bad_input(fmt::format("'{}' is not an IP address", options.address))
                    .with_hint("127.0.0.1, ::1, or 0.0.0.0 for every address of this machine"));
  }
  return tcp::endpoint(address, static_cast<unsigned short>(options.port));
}

// Ends everything that is quiet, gives the rest its time.
void retire_all(Server::State& state) {
  if (state.stopping) return;
  state.stopping = true;
  error_code ignored;
  state.acceptor->close(ignored);
  state.breath.cancel();
  for (const auto& one : state.seats.everybody()) one->retire();
  state.patience.expires_after(state.options.limits.stop_time);
  state.patience.async_wait([&state](error_code failed) {
    if (!failed) state.network.stop();
  });
}

}  // namespace

Server::Server(Options options, std::vector<Route> routes, RefusalLog::Write log)
    : state_(std::make_unique<State>(std::move(options), std::move(routes), std::move(log))) {}

// Workers first: what they hold points into the state.
Server::~Server() { state_->pool.reset(); }

Statistics& Server::statistics() { return state_->statistics; }

Result<std::string> Server::listen() {
  State& state = *state_;
  RIGHTSIZE_TRY(const tcp::endpoint endpoint, endpoint_of(state.options));
  state.access = {state.options.token, endpoint.address().is_loopback()};
  if (!state.access.loopback_only && state.access.token.empty()) {
    return fail(
        bad_input(fmt::format("'{}' can be reached from other machines: a token is needed", state.options.address))
            .with_hint("--token-file FILE, or listen on 127.0.0.1"));
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
                    .with_hint("--listen takes another port; port 0 any free one"));
  }
  // From here on: whoever hears the address may already stop us.
  if (state.options.obey_signals) state.signals.emplace(state.network, SIGINT, SIGTERM);
  const unsigned short port = state.acceptor->local_endpoint().port();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", endpoint.address().to_string(), port)
                                    : fmt::format("{}:{}", endpoint.address().to_string(), port);
}

void Server::run() {
  State& state = *state_;
  state.pool.emplace(state.options.limits.workers, state.options.limits.waiting);
  accept_next(state);
  if (state.signals) {
    state.signals->async_wait([&](error_code failed, int) {
      if (!failed) retire_all(state);
    });
  }
  // Ends when nobody is connected any more, or when patience has.
  while (!(state.stopping && state.seats.size() == 0)) {
    if (state.network.run_one_for(std::chrono::milliseconds(200)) == 0 && state.network.stopped()) {
      if (state.stopping) break;
      state.network.restart();
    }
  }
  for (const auto& one : state.seats.everybody()) one->drop();
  state.pool.reset();
}

void Server::stop() {
  asio::post(state_->network, [this] { retire_all(*state_); });
}

}  // namespace rightsize::http_server
