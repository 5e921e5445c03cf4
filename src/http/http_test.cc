#include "http/http.h"

#include <ctime>

#include <gtest/gtest.h>

namespace rightsize::http {
namespace {

TEST(Http, ShownAddressesHideCredentials) {
  EXPECT_EQ(shown_url("http://user:secret@host:9090/api?token=abc#x"), "http://host:9090/api");
  EXPECT_EQ(shown_url("https://host/path@x"), "https://host/path@x");
  EXPECT_EQ(shown_url("host:9090"), "host:9090");
}

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

}  // namespace
}  // namespace rightsize::http
