#include "http_server/access.h"

#include <gtest/gtest.h>

#include "http_server/statistics.h"

namespace rightsize::http_server {
namespace {

Request from(std::string host) {
  Request request;
  request.host = std::move(host);
  return request;
}

TEST(AccessRules, LoopbackAnswersOnlyToItsOwnNames) {
  const AccessRules access{"", true};
  for (const char* host : {"localhost:8477", "127.0.0.1:8477", "127.0.0.1", "[::1]:8477", "127.1.2.3:1"})
    EXPECT_FALSE(check_origin(access, from(host), true)) << host;
  for (const char* host : {"evil.example:8477", "127.0.0.1.evil.example", "", "localhost.evil.example:80", "[::2]:1",
                           "127.0.0.1:1@evil.example", "[::1", "[::1]x", "localhost:80x"})
    EXPECT_TRUE(check_origin(access, from(host), true)) << host;
}

TEST(AccessRules, PagesOfOtherSitesAreRefused) {
  const AccessRules access{"", true};
  Request request = from("localhost:8477");
  request.fetch_site = "cross-site";
  EXPECT_TRUE(check_origin(access, request, false));
  request.fetch_site = "same-origin";
  EXPECT_FALSE(check_origin(access, request, false));
  request.origin = "http://localhost:8477";
  EXPECT_FALSE(check_origin(access, request, false));
  for (const char* other : {"http://localhost:9999", "null", "https://evil.example"}) {
    request.origin = other;
    EXPECT_TRUE(check_origin(access, request, false)) << other;
  }
}

TEST(AccessRules, LinksOfOtherSitesOpenPagesAndNothingElse) {
  const AccessRules access{"", true};
  Request link = from("localhost:8477");
  link.method = "GET", link.fetch_site = "cross-site", link.fetch_mode = "navigate", link.fetch_dest = "document";
  EXPECT_FALSE(check_origin(access, link, true));
  EXPECT_TRUE(check_origin(access, link, false)) << "the API";
  Request frame = link;
  frame.fetch_dest = "iframe";
  EXPECT_TRUE(check_origin(access, frame, true));
  Request script = link;
  script.fetch_mode = "no-cors", script.fetch_dest = "script";
  EXPECT_TRUE(check_origin(access, script, true));
  Request form = link;
  form.method = "POST", form.origin = "https://evil.example";
  EXPECT_TRUE(check_origin(access, form, true));
}

TEST(AccessRules, OnlyTheWholeTokenOpens) {
  const AccessRules access{"secret-token", false};
  Request request = from("gpu.example");
  EXPECT_EQ(check_token(access, request)->status, 401);
  for (const char* given :
       {"Bearer secret-toke", "Bearer secret-token2", "secret-token", "Basic secret-token", "Bearer "}) {
    request.authorization = given;
    EXPECT_TRUE(check_token(access, request)) << given;
  }
  request.authorization = "Bearer secret-token";
  EXPECT_FALSE(check_token(access, request));
  EXPECT_FALSE(check_token({"", true}, from("localhost")));
}

TEST(TokenGuesses, AClientHasToWaitAfterManyWrongTokens) {
  TokenGuesses guesses;
  const TokenGuesses::Clock::time_point start{};
  for (int i = 0; i < TokenGuesses::kMost; ++i) {
    EXPECT_FALSE(guesses.must_wait("10.0.0.1", start)) << i;
    guesses.count("10.0.0.1", start + std::chrono::milliseconds(i));
  }
  EXPECT_TRUE(guesses.must_wait("10.0.0.1", start + std::chrono::seconds(59)));
  EXPECT_FALSE(guesses.must_wait("10.0.0.2", start)) << "another client";
  EXPECT_FALSE(guesses.must_wait("10.0.0.1", start + TokenGuesses::kPeriod));
  guesses.count("10.0.0.1", start + TokenGuesses::kPeriod);
  EXPECT_FALSE(guesses.must_wait("10.0.0.1", start + TokenGuesses::kPeriod)) << "the count starts again";
}

TEST(RefusalLog, WritesALineAndCountsAFlood) {
  std::vector<std::string> lines;
  RefusalLog log([&](const std::string& line) { lines.push_back(line); });
  const auto start = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  for (int i = 0; i < 100; ++i) log.refuse("10.0.0.1", "GET /\x1b[31m", 400, "why", start);
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(RefusalLog::kLinesPerSecond));
  EXPECT_EQ(lines.front(), "2027-01-15T08:00:00Z refused 10.0.0.1 400 GET /?[31m: why\n");
  log.refuse("10.0.0.1", "GET /", 400, "why", start + std::chrono::seconds(1));
  EXPECT_EQ(lines[lines.size() - 2], "refused 80 more\n");
}

TEST(ServerStatistics, AreWrittenAsMetrics) {
  ServerStatistics statistics;
  statistics.count_request("/api/x", 200, std::chrono::milliseconds(7));
  statistics.count_refusal("busy");
  statistics.set("rightsize_server_kept", "kept", 3);
  const std::string text = statistics.metrics();
  for (const char* line :
       {"rightsize_server_requests_total{route=\"/api/x\",code=\"200\"} 1\n", "le=\"0.005\"} 0\n", "le=\"0.01\"} 1\n",
        "rightsize_server_refused_total{reason=\"busy\"} 1\n", "# TYPE rightsize_server_kept gauge\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace rightsize::http_server
