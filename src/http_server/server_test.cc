// A real server on a free port, and plain sockets that behave well or badly.
#include "http_server/server.h"

#include <algorithm>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cancel.h"
#include "http_server/work_pool.h"

namespace rightsize::http_server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    timeval timeout{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view text) { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  // Everything until the server closes the connection.
  std::string rest() {
    std::string all;
    char block[4096];
    for (ssize_t n = 0; (n = ::recv(socket_, block, sizeof block, 0)) > 0;)
      all.append(block, static_cast<std::size_t>(n));
    return all;
  }
  // Until this text has arrived, or the server closes the connection.
  std::string until(const std::string& text) {
    std::string all;
    char block[4096];
    while (all.find(text) == std::string::npos) {
      const ssize_t n = ::recv(socket_, block, sizeof block, 0);
      if (n <= 0) break;
      all.append(block, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "Connection: close\r\n\r\n";
}

class Running {
 public:
  explicit Running(ServerLimits limits = {}, std::string token = {}) {
    ListenOptions options;
    options.limits = limits;
    options.token = std::move(token);
    server_.emplace(options, routes(), [this](const std::string& line) { log_ += line; });
    const auto address = server_->listen();
    EXPECT_TRUE(address) << address.error().message;
    port_ = std::stoi(address->substr(address->rfind(':') + 1));
    thread_ = std::thread([this] { ended = server_->run(); });
  }
  ~Running() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  int port() const { return port_; }
  const std::string& log() const { return log_; }  // after stop()
  std::atomic<int> worked{0}, cancelled{0};
  std::atomic<bool> ended{false}, release{false};

  std::string ask(const std::string& request) {
    Client client(port_);
    client.send(request);
    return client.rest();
  }

 private:
  std::vector<Route> routes() {
    std::vector<Route> all;
    all.push_back({"GET", "/open", true, [](const Request&) { return text_response(200, "open\n"); }});
    all.push_back({"GET", "/quick", false, [](const Request&) { return text_response(200, "quick\n"); }});
    Route work{"GET", "/work"};
    work.work = [this](const Request&) {
      ++worked;
      return text_response(200, "worked\n");
    };
    work.compute_time = 100ms;
    Route slow{"GET", "/slow"};
    slow.work = [this](const Request& request) {
      for (int i = 0; i < 1000 && !request.work->is_cancelled(); ++i) std::this_thread::sleep_for(10ms);
      if (request.work->is_cancelled()) ++cancelled;
      return text_response(200, "slow\n");
    };
    Route endless{"GET", "/endless"};
    endless.compute_time = 200ms;
    endless.work = [this](const Request& request) {
      while (!request.work->is_cancelled()) {
      }
      ++cancelled;
      return text_response(200, "endless\n");
    };
    Route patient{"GET", "/patient"};
    patient.compute_time = 100ms;
    patient.work = [](const Request&) {
      std::this_thread::sleep_for(300ms);
      return text_response(200, "patient\n");
    };
    Route stuck{"GET", "/stuck"};
    stuck.lane = Lane::kExternal;
    stuck.work = [this](const Request&) {
      while (!release) std::this_thread::sleep_for(10ms);
      return text_response(200, "late\n");
    };
    Route search{"GET", "/search"};
    search.lane = Lane::kHeavy;
    search.work = [this](const Request& request) {
      while (!request.query.empty() && !release) std::this_thread::sleep_for(10ms);
      return text_response(200, "found\n");
    };
    Route echo{"POST", "/echo"};
    echo.work = [](const Request& request) { return text_response(200, request.body); };
    Route events{"GET", "/events"};
    events.stream = [](const Request&, std::shared_ptr<EventStream> stream) {
      stream->send("one", "a\nb");
      stream->send("two", "c");
      stream->close();
    };
    Route throws{"GET", "/throws"};
    throws.work = [](const Request&) -> Response { throw std::runtime_error("oops"); };
    for (Route* route : {&work, &slow, &endless, &patient, &stuck, &search, &echo, &events, &throws})
      all.push_back(std::move(*route));
    return all;
  }

  std::optional<Server> server_;
  std::string log_;
  int port_ = 0;
  std::thread thread_;
};

TEST(Server, KeepsConnectionsAlive) {
  Running server;
  Client client(server.port());
  for (int i = 0; i < 5; ++i) {
    client.send("GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.until("quick\n"), StartsWith("HTTP/1.1 200"));
  }
}

TEST(Server, EveryResponseHasTheSecurityHeaders) {
  Running server;
  for (const char* path : {"/quick", "/nothing-here"}) {
    const std::string answer = server.ask(get(path));
    for (const char* header :
         {"Content-Security-Policy: default-src 'none'; script-src 'self'", "X-Content-Type-Options: nosniff",
          "Referrer-Policy: no-referrer", "X-Frame-Options: DENY", "Cache-Control: no-store"})
      EXPECT_THAT(answer, HasSubstr(header));
  }
}

TEST(Server, WorkersRespondAndBodiesArrive) {
  Running server;
  EXPECT_THAT(server.ask(get("/work")), HasSubstr("worked"));
  EXPECT_EQ(server.worked, 1);
  EXPECT_THAT(
      server.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"),
      HasSubstr("\r\n\r\nhello"));
  EXPECT_THAT(server.ask(get("/throws")), StartsWith("HTTP/1.1 500"));
}

TEST(Server, HeadHasTheLengthAndNoBody) {
  Running server;
  const std::string answer = server.ask("HEAD /quick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 6"));
  EXPECT_THAT(answer, Not(HasSubstr("quick")));
}

TEST(Server, UnknownPathsAndMethodsAndPathTraversalAreRefusedAndLogged) {
  Running server;
  EXPECT_THAT(server.ask(get("/nothing")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(server.ask("PUT /quick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(server.ask(get("/../../etc/passwd")), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(server.ask(get("/%2e%2e/%2e%2e/etc/passwd")), StartsWith("HTTP/1.1 400"));
  server.stop();
  EXPECT_THAT(server.log(), HasSubstr("refused 127.0.0.1 400 GET /../../etc/passwd: the path leaves"));
  EXPECT_THAT(server.log(), HasSubstr("405"));
}

TEST(Server, BytesThatAreNotHttpAreRefusedAndLogged) {
  Running server;
  EXPECT_THAT(server.ask("\x16\x03\x01 not a request\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(server.ask("GET /quick HTTP/1.1\r\nHost localhost\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(server.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(server.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
              StartsWith("HTTP/1.1 400"));
  server.stop();
  EXPECT_THAT(server.log(), HasSubstr("not an HTTP request"));
}

TEST(Server, OversizedBodiesAndHeadersAreRefusedAndLogged) {
  ServerLimits limits;
  limits.body = 1000, limits.header = 2000;
  Running server(limits);
  EXPECT_THAT(server.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(server.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
                         std::string(2000, 'x') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(server.ask(get("/quick", "X-Long: " + std::string(3000, 'x') + "\r\n")), StartsWith("HTTP/1.1 431"));
  server.stop();
  EXPECT_THAT(server.log(), HasSubstr("413"));
  EXPECT_THAT(server.log(), HasSubstr("431"));
}

TEST(Server, ASlowSenderIsCutOffAndDoesNotKeepOthersOut) {
  ServerLimits limits;
  limits.request_time = 600ms;
  limits.connections = 8;
  Running server(limits);
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Client>(server.port()));
    slow.back()->send("GET /quick HTTP/1.1\r\nHost: local");
  }
  // All connections are in use, and others are still served.
  EXPECT_THAT(server.ask(get("/quick")), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 5; ++i) {
    for (const auto& client : slow) client->send("x");
    std::this_thread::sleep_for(200ms);
  }
  for (const auto& client : slow) EXPECT_THAT(client->rest(), Not(HasSubstr("200 OK")));
  server.stop();
  EXPECT_THAT(server.log(), HasSubstr("the request did not arrive in time"));
  EXPECT_THAT(server.log(), HasSubstr("closed the one idle longest"));
}

TEST(Server, AFullQueueIsRefused) {
  ServerLimits limits;
  limits.workers = {1, 1, 1, 1}, limits.queued = 1, limits.stop_time = 200ms;
  Running server(limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(get("/slow"));
    std::this_thread::sleep_for(100ms);
  }
  const std::string answer = server.ask(get("/slow"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1"));
  // The clients have left, so their work is cancelled.
  clients.clear();
  for (int i = 0; i < 200 && server.cancelled < 1; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_GE(server.cancelled, 1);
}

TEST(Server, WorkThatTakesTooLongIsCancelled) {
  ServerLimits limits;
  limits.work_time = 200ms;
  Running server(limits);
  EXPECT_THAT(server.ask(get("/slow")), StartsWith("HTTP/1.1 504"));
  for (int i = 0; i < 200 && server.cancelled < 1; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.cancelled, 1);
}

TEST(Server, ARequestThatTakesTooLongToComputeIsTheClientsMistake) {
  ServerLimits limits;
  limits.workers = {1, 1, 1, 1};
  Running server(limits);
  // The second request waits for the thread longer than the limit, but its computation is within the limit.
  Client first(server.port());
  first.send(get("/endless"));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(server.ask(get("/work")), HasSubstr("worked"));
  EXPECT_THAT(server.ask(get("/endless")), StartsWith("HTTP/1.1 422"));
  for (int i = 0; i < 200 && server.cancelled < 2; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.cancelled, 2);
  // Work that only waits is not computing.
  EXPECT_THAT(server.ask(get("/patient")), HasSubstr("patient"));
}

TEST(Server, WorkOfOneLaneDoesNotHoldUpTheOthers) {
  ServerLimits limits;
  limits.workers = {1, 1, 1, 1}, limits.stop_time = 100ms;
  Running server(limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(get("/stuck"));
  }
  EXPECT_THAT(server.ask(get("/work")), HasSubstr("worked"));
  server.release = true;
}

TEST(Server, LessUrgentSearchesDoNotDelayOthers) {
  ServerLimits limits;
  limits.workers = {1, 1, 1, 1}, limits.stop_time = 100ms;
  Running server(limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (const char* urgency : {"u=4", "i, u=7"}) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(get("/search?stuck=1", std::string("Priority: ") + urgency + "\r\n"));
  }
  std::this_thread::sleep_for(50ms);
  for (const char* header : {"", "Priority: u=3\r\n", "Priority: i\r\n"})
    EXPECT_THAT(server.ask(get("/search", header)), HasSubstr("found"));
  server.release = true;
}

TEST(Server, StopsInTimeEvenIfWorkIgnoresCancellation) {
  ServerLimits limits;
  limits.stop_time = 100ms;
  auto server = std::make_unique<Running>(limits);
  Client client(server->port());
  client.send(get("/stuck"));
  std::this_thread::sleep_for(100ms);
  const auto start = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_FALSE(server->ended);
  server->release = true;
  static_cast<void>(server.release());  // an abandoned thread still uses the server; a program would end here
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
  Running server;
  Client client(server.port());
  client.send("GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/work"));
  const std::string answers = client.rest();
  EXPECT_LT(answers.find("quick\n"), answers.find("worked\n"));
  EXPECT_NE(answers.find("worked\n"), std::string::npos);
}

TEST(Server, ARequestMayArriveByteByByte) {
  Running server;
  Client client(server.port());
  for (const char c :
       std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"))
    client.send(std::string_view(&c, 1));
  EXPECT_THAT(client.rest(), HasSubstr("\r\n\r\nhello"));
}

TEST(WorkPool, SurvivesWorkThatThrows) {
  WorkPool pool(1, 4);
  std::atomic<bool> done{false};
  EXPECT_TRUE(pool.submit([] { throw std::runtime_error("oops"); }));
  EXPECT_TRUE(pool.submit([&] { done = true; }));
  for (int i = 0; i < 500 && !done; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(done);
}

TEST(Server, EventsArriveInOrder) {
  Running server;
  const std::string answer = server.ask(get("/events"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(answer, HasSubstr("event: one\ndata: a\ndata: b\n\nevent: two\ndata: c\n\n"));
}

TEST(Server, AForeignHostNameIsRefused) {
  Running server;
  EXPECT_THAT(server.ask("GET /quick HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
}

TEST(Server, OnlyOpenRoutesNeedNoToken) {
  Running server({}, "0123456789abcdef");
  EXPECT_THAT(server.ask(get("/open")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(server.ask(get("/quick")), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(server.ask(get("/quick", "Authorization: Bearer 0123456789abcdeX\r\n")), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(server.ask(get("/quick", "Authorization: Bearer 0123456789abcdef\r\n")), StartsWith("HTTP/1.1 200"));
}

TEST(Server, PublicAddressesNeedATokenAndTlsNeedsBothFiles) {
  ListenOptions options;
  options.address = "0.0.0.0";
  const std::vector<Route> guarded{{.method = "GET", .path = "/quick"}},
      open{{.method = "GET", .path = "/", .open = true}};
  EXPECT_FALSE(Server(options, guarded, {}).listen());
  EXPECT_TRUE(Server(options, open, {}).listen());
  options.token = "0123456789abcdef";
  EXPECT_TRUE(Server(options, {}, {}).listen());
  options.certificate = "cert.pem";
  EXPECT_FALSE(Server(options, {}, {}).listen());
  options.key = "no-such-key.pem";
  EXPECT_FALSE(Server(options, {}, {}).listen());
  options = {};
  options.address = "not an address";
  EXPECT_FALSE(Server(options, {}, {}).listen());
}

TEST(Server, StopFinishesRequestsInProgress) {
  Running server;
  Client client(server.port());
  client.send(get("/work"));
  Client quiet(server.port());
  EXPECT_THAT(client.rest(), HasSubstr("worked"));
  server.stop();
  EXPECT_EQ(quiet.rest(), "");
  EXPECT_FALSE(Client(server.port()).connected());
}

TEST(Cancel, AScopeAppliesToItsThreadUntilItEnds) {
  EXPECT_FALSE(cancelled());
  const auto work = std::make_shared<Work>();
  work->cancel();
  {
    const CancelScope scope(work);
    EXPECT_TRUE(cancelled());
    std::thread([handed = cancellation()] {
      EXPECT_FALSE(cancelled());
      const CancelScope inner(handed);
      EXPECT_TRUE(cancelled());
    }).join();
  }
  EXPECT_FALSE(cancelled());
}

TEST(Server, WaitsForAFileHandleWithoutSpinning) {
  Running server;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{200, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken;
  for (int handle = 0; (handle = ::dup(0)) >= 0;) taken.push_back(handle);
  ASSERT_FALSE(taken.empty());
  ::close(taken.back());  // the client's own
  taken.pop_back();
  Client client(server.port());
  client.send(get("/open"));
  std::this_thread::sleep_for(350ms);
  for (int handle : taken) ::close(handle);
  EXPECT_THAT(client.rest(), HasSubstr("open\n"));
  setrlimit(RLIMIT_NOFILE, &before);
  server.stop();
  const std::string& log = server.log();
  EXPECT_THAT(log, HasSubstr("cannot accept a connection"));
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), RefusalLog::kLinesPerSecond / 2);
}

}  // namespace
}  // namespace rightsize::http_server
