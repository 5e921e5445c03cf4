// The state shared by the connections of a server. Only the network thread uses it, except for the statistics and the
// pools.
#pragma once

#include <list>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http_server/server.h"
#include "http_server/work_pool.h"

namespace rightsize::http_server {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  // Closes now if no response is in progress, otherwise after it.
  virtual void retire() = 0;
  virtual void close() = 0;
  // Whether a complete request has arrived and is not answered yet.
  virtual bool is_busy() const = 0;
};

// The open connections, ordered by the time of their last response, or else of their arrival.
using ConnectionList = std::list<std::weak_ptr<Connection>>;

struct Server::State {
  State(ListenOptions o, std::vector<Route> r, RefusalLog::Write write)
      : options(std::move(o)), routes(std::move(r)), log(std::move(write)) {}

  ListenOptions options;
  std::vector<Route> routes;
  ServerStatistics statistics;
  RefusalLog log;
  AccessRules access;
  TokenGuesses guesses;
  ConnectionList connections;  // declared before the network, because its handlers hold connections
  boost::asio::io_context network{1};
  std::optional<boost::asio::ip::tcp::acceptor> acceptor;
  std::optional<boost::asio::ssl::context> tls;
  std::optional<boost::asio::signal_set> signals;
  boost::asio::steady_timer stop_timer{network}, accept_retry_timer{network};
  std::vector<std::unique_ptr<WorkPool>> pools;  // by lane
  std::size_t streams = 0;
  bool stopping = false;

  const Route* find(std::string_view method, std::string_view path, bool& path_known) const;
  void refuse(const std::string& peer, std::string_view what, const Refusal& refusal, std::string_view kind);
};

std::shared_ptr<Connection> make_connection(Server::State& state, boost::asio::ip::tcp::socket socket);

}  // namespace rightsize::http_server
