#include "http/http.h"

#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cancel.h"

namespace rightsize::http {
namespace {

TEST(Http, RetryAfterIsSecondsOrADate) {
  EXPECT_EQ(retry_after_seconds("7"), 7);
  EXPECT_EQ(retry_after_seconds("soon"), 0);
  EXPECT_EQ(retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
  EXPECT_GT(retry_after_seconds("Fri, 01 Jan 2100 00:00:00 GMT"), 1e6);
}

TEST(Http, AServerThatCannotBeReachedIsAnError) {
  Traffic traffic;
  Client client(
      {.bearer = "secret", .user = {}, .password = {}, .certificate = {}, .key = {}, .authority = {}, .headers = {}},
      {.tries = 3, .first_wait = milliseconds(1)}, &traffic);
  Result<Answer> answer = client.get("http://127.0.0.1:1/", {{"a", "b c"}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(exit_code(answer.error()), 3);
  EXPECT_EQ(traffic.requests, 3u);
  EXPECT_EQ(traffic.retries, 2u);
  EXPECT_EQ(answer.error().message.find("secret"), std::string::npos);
  EXPECT_EQ(answer.error().message.find("b%20c"), std::string::npos);
  EXPECT_FALSE(client.get("ftp://127.0.0.1/", {}));
}

// A server that accepts connections (in the kernel) and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() { close(socket_); }
  const std::string& url() const { return url_; }

 private:
  int socket_;
  std::string url_;
};

double seconds_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST(Http, ARequestEndsSoonAfterItsWorkWasCancelled) {
  const SilentServer server;
  const auto work = std::make_shared<Work>();
  const double taken = seconds_of([&] {
    std::thread asking([&] {
      const CancelScope scope(work);
      Client client({}, {}, nullptr);
      EXPECT_FALSE(client.get(server.url(), {}));
      EXPECT_FALSE(client.post(server.url(), "x"));
      EXPECT_FALSE(client.download(server.url(), testing::TempDir() + "never-written"));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    work->cancel();
    asking.join();
  });
  EXPECT_LT(taken, 10);  // the limit is 120 s
}

TEST(Http, RetriesOfASilentServerEnd) {
  const SilentServer server;
  Client client({}, {.limit = milliseconds(200), .tries = 1'000, .first_wait = milliseconds(1)}, nullptr);
  const double taken = seconds_of([&] {
    const Result<Answer> answer = client.get(server.url(), {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 408);
  });
  EXPECT_LT(taken, 5);
}

}  // namespace
}  // namespace rightsize::http
