// An HTTP server with limits: routes in, answers out. It knows nothing of GPUs.
//
//   Server server({.address = "127.0.0.1", .port = 8080}, routes, log);
//   RIGHTSIZE_TRY(std::string address, server.listen());   // "127.0.0.1:8080"
//   server.run();                                          // until stop() or a signal it was told to obey
//
// One thread talks to the network and never waits: answers at hand are given there, others are made by a few workers.
// A request must arrive whole within `request_time`, however slowly its bytes come; when all seats are taken, the
// connection that has been waiting longest without a complete request gives up its seat. What is refused is logged.
// The only place that knows Boost.Beast is connection.cc and listener.cc.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http_server/access.h"
#include "http_server/exchange.h"
#include "http_server/statistics.h"

namespace rightsize::http_server {

struct Limits {
  std::size_t body = 1U << 20, header = 16U << 10;  // bytes
  std::size_t connections = 512, streams = 64;
  std::size_t workers = 2, waiting = 64;  // requests being worked on, and those that may wait for it
  std::chrono::milliseconds request_time = std::chrono::seconds(15);  // from connection or last answer to a request
  std::chrono::milliseconds work_time = std::chrono::seconds(60);
  std::chrono::milliseconds write_time = std::chrono::seconds(30);
  std::chrono::milliseconds stop_time = std::chrono::seconds(10);  // for what is under way when it stops
};

struct Options {
  std::string address = "127.0.0.1";
  int port = 0;                            // 0 takes a free one
  std::string token = {};                  // must be set where the address is not loopback
  std::string certificate = {}, key = {};  // PEM files; empty: no TLS
  bool obey_signals = false;               // SIGINT and SIGTERM stop it
  Limits limits = {};
};

// Where a request goes. `path` is whole, or ends in "/*", which stands for anything. The longest one wins.
struct Route {
  std::string method;  // "GET", "POST", "DELETE"
  std::string path;
  bool open = false;  // without the token
  // On the network's thread, so it must not wait. Nothing: the next of these is asked.
  std::function<std::optional<Response>(const Request&)> at_once = {};
  // By a worker, from any thread.
  std::function<Response(const Request&)> work = {};
  // On the network's thread; the stream may be kept and written to by others.
  std::function<void(const Request&, std::shared_ptr<EventStream>)> stream = {};
};

class Server {
 public:
  Server(Options options, std::vector<Route> routes, RefusalLog::Write log);
  ~Server();

  // Takes the port; the address with it. Fails where the port is taken, the address is not this machine's, a
  // certificate cannot be used, or an address that others reach has no token.
  Result<std::string> listen();
  void run();
  // From any thread: takes nothing new, finishes what is under way, and lets run() return.
  void stop();

  Statistics& statistics();

  // What the connections share; state.h.
  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::http_server
