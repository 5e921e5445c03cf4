// An HTTP server with limits. It knows nothing about GPUs.
//
//   Server server({.address = "127.0.0.1", .port = 8080}, routes, log);
//   RIGHTSIZE_TRY(std::string address, server.listen());   // "127.0.0.1:8080"
//   server.run();                                          // until stop() or a signal
//
// One thread serves the network and never blocks: it answers simple requests itself and leaves the rest to worker
// threads. A request must arrive completely within `request_time`. When all connections are in use, the one that has
// been idle longest is closed for a new one. Refused requests are logged.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http_server/access.h"
#include "http_server/message.h"
#include "http_server/statistics.h"

namespace rightsize::http_server {

// Each kind of work has its own threads and queue: one kind must not hold up the others.
// Lookups; searches; work that waits for other servers; searches ahead of a question, at a lower priority.
enum class Lane { kLight, kHeavy, kExternal, kAhead };

struct ServerLimits {
  std::size_t body = 1U << 20, header = 16U << 10;  // bytes
  std::size_t connections = 512, streams = 64;
  std::array<std::size_t, 4> workers = {1, 2, 2, 1};  // by lane
  std::size_t queued = 64;                            // per lane
  std::chrono::milliseconds request_time = std::chrono::seconds(15);
  std::chrono::milliseconds work_time = std::chrono::seconds(60);
  std::chrono::milliseconds write_time = std::chrono::seconds(30);
  std::chrono::milliseconds stop_time = std::chrono::seconds(5);  // for requests in progress when the server stops
};

struct ListenOptions {
  std::string address = "127.0.0.1";
  int port = 0;                            // 0: any free port
  std::string token = {};                  // required if other machines can reach a route that is not `open`
  std::string certificate = {}, key = {};  // PEM files; empty: no TLS
  bool obey_signals = false;               // SIGINT and SIGTERM stop the server
  std::string timeout_message = "the request took too long";
  ServerLimits limits = {};
};

// "127.0.0.1:8477", "[::1]:0" or a port alone, which means the loopback address.
Result<std::pair<std::string, int>> parse_listen(const std::string& text);

// `path` is a complete path, or a prefix if it ends in "/*". The longest match wins.
struct Route {
  std::string method;  // "GET", "POST", "DELETE"
  std::string path;
  bool open = false;  // needs no token, and links from other sites may lead here
  // Runs on the network thread, so it must not block. If the result is empty, `work` or `stream` is called.
  std::function<std::optional<Response>(const Request&)> immediate = {};
  // Runs on a worker thread of the lane.
  std::function<Response(const Request&)> work = {};
  Lane lane = Lane::kLight;
  // Runs on the network thread; other threads may keep the stream and write to it.
  std::function<void(const Request&, std::shared_ptr<EventStream>)> stream = {};
  // The processor time that `work` may take; a larger request is the client's mistake (422). Work that waits for other
  // servers has no such limit, only `work_time`.
  std::optional<std::chrono::milliseconds> compute_time = {};
};

class Server {
 public:
  Server(ListenOptions options, std::vector<Route> routes, RefusalLog::Write log);
  ~Server();

  // Takes the port and returns the address with it. Fails if the port is taken, the address is not of this machine, a
  // certificate cannot be used, or other machines can reach a route that needs a token and none is set.
  Result<std::string> listen();
  // False if some work ignored its cancellation and still runs: the process should then end at once.
  bool run();
  // From any thread: accepts nothing new, gives requests in progress `stop_time`, cancels the rest, and ends run().
  void stop();

  ServerStatistics& statistics();

  // The state shared by connections; see state.h.
  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::http_server
