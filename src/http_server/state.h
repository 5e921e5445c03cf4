// What the connections of a server share. All of it belongs to the network's thread, but the statistics and the pool.
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

// One client, whatever it speaks.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  // Ends at once where no answer is under way, else after it.
  virtual void retire() = 0;
  virtual void drop() = 0;
};

// Everybody who is connected, those who have not asked yet in the order in which they came.
class Seats {
 public:
  using Seat = std::list<std::weak_ptr<Connection>>::iterator;

  Seat sit(const std::shared_ptr<Connection>& who) { return quiet_.insert(quiet_.end(), who); }
  // It asks: it no longer gives way to newcomers. And back, behind the others, when it has its answer.
  void ask(Seat seat) { asking_.splice(asking_.end(), quiet_, seat); }
  void rest(Seat seat) { quiet_.splice(quiet_.end(), asking_, seat); }
  void leave_quiet(Seat seat) { quiet_.erase(seat); }
  void leave_asking(Seat seat) { asking_.erase(seat); }

  std::size_t size() const { return quiet_.size() + asking_.size(); }
  std::shared_ptr<Connection> longest_quiet() const { return quiet_.empty() ? nullptr : quiet_.front().lock(); }
  std::vector<std::shared_ptr<Connection>> everybody() const;

 private:
  std::list<std::weak_ptr<Connection>> quiet_, asking_;
};

struct Server::State {
  State(Options o, std::vector<Route> r, RefusalLog::Write write)
      : options(std::move(o)), routes(std::move(r)), log(std::move(write)) {}

  Options options;
  std::vector<Route> routes;
  Statistics statistics;
  RefusalLog log;
  Access access;
  boost::asio::io_context network{1};
  std::optional<boost::asio::ip::tcp::acceptor> acceptor;
  std::optional<boost::asio::ssl::context> tls;
  std::optional<boost::asio::signal_set> signals;
  boost::asio::steady_timer patience{network};  // with what is under way when it stops
  boost::asio::steady_timer breath{network};    // before connections are taken again
  std::optional<WorkPool> pool;
  Seats seats;
  std::size_t streams = 0;
  bool stopping = false;

  const Route* find(std::string_view method, std::string_view path, bool& path_known) const;
  void refuse(const std::string& peer, std::string_view what, const Refusal& refusal, std::string_view kind);
};

std::shared_ptr<Connection> make_connection(Server::State& state, boost::asio::ip::tcp::socket socket);

// The headers every answer carries.
const std::vector<std::pair<std::string, std::string>>& security_headers();

}  // namespace rightsize::http_server
