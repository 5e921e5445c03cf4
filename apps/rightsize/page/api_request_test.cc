#include "rightsize/page/api_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "rightsize/page/endpoints.h"

namespace rightsize::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Endpoint& endpoint(std::string_view name) { return *find_endpoint(name); }

TEST(ApiRequest, BecomesTheWordsOfACommandLine) {
  const auto asked = parse_api_request(endpoint("recommend"), {{"deadline", "7d"}},
                                       R"({"model": "llama-3.1-8b", "max-gpus": 8, "explain": true, "stats": false,
                                    "price": ["h100-sxm=2", "l4=0.5"], "tokens": null})");
  ASSERT_TRUE(asked) << describe(asked.error());
  EXPECT_THAT(asked->arguments(), ElementsAre("--deadline=7d", "--explain", "--max-gpus=8", "--model=llama-3.1-8b",
                                              "--price=h100-sxm=2", "--price=l4=0.5"));
}

TEST(ApiRequest, AnArgumentAfterTheDashesIsNotAFlag) {
  const auto asked = parse_api_request(endpoint("prices"), {{"what", "--store=x"}, {"gpu", "h100"}}, "");
  ASSERT_TRUE(asked) << describe(asked.error());
  EXPECT_THAT(asked->arguments(), ElementsAre("--gpu=h100", "--", "--store=x"));
}

TEST(ApiRequest, QueryAndBodyMeanTheSame) {
  const auto body = parse_api_request(endpoint("memory"), {}, R"({"model": "llama-3.1-8b", "batch": 4, "seq": 2048})");
  const auto query =
      parse_api_request(endpoint("memory"), {{"seq", "2048"}, {"batch", "4"}, {"model", "llama-3.1-8b"}}, "");
  ASSERT_TRUE(body && query);
  EXPECT_EQ(body->cache_key(), query->cache_key());
  EXPECT_EQ(body->arguments(), query->arguments());
}

TEST(ApiRequest, EverySpellingOfAFlagWorks) {
  int spellings = 0;
  for (const Endpoint& each : endpoints()) {
    for (const auto& [name, flag] : each.flags) {
      if (!flag.name.starts_with("--")) continue;
      const std::string value = flag.values.empty() ? "true" : "1";
      const auto asked = parse_api_request(each, {{name, value}}, "");
      ASSERT_TRUE(asked) << each.name << ' ' << name;
      for (std::string_view other : flag.others) {
        if (!other.starts_with("--")) continue;
        ++spellings;
        const auto same = parse_api_request(each, {{std::string(other.substr(2)), value}}, "");
        ASSERT_TRUE(same) << each.name << ' ' << other;
        EXPECT_EQ(same->cache_key(), asked->cache_key()) << each.name << ' ' << other;
      }
    }
  }
  EXPECT_GE(spellings, 2);
  EXPECT_TRUE(
      parse_api_request(endpoint("recommend"), {{"ttft_slo", "1s"}, {"providers", "aws"}, {"regions", "us"}}, ""));
}

TEST(ApiRequest, EveryMistakeIsReportedWithASuggestion) {
  const auto asked =
      parse_api_request(endpoint("recommend"), {}, R"({"modle": "x", "deadline": {"a": 1}, "explain": "maybe"})");
  ASSERT_FALSE(asked);
  ASSERT_EQ(asked.error().size(), 3U);
  EXPECT_THAT(asked.error()[0].hints, Contains(HasSubstr("model")));
}

TEST(ApiRequest, NoEndpointReadsFilesContactsServersOrChangesState) {
  for (const Endpoint& each : endpoints()) {
    for (const char* never : {"catalog", "store", "from", "prometheus", "bearer-file", "password-file", "header", "out",
                              "resume", "service", "trace", "rate-profile", "profile", "url", "write-to", "record"}) {
      if (each.name == "prices" && std::string_view(never) == "from") continue;      // a day
      if (each.name == "service" && std::string_view(never) == "service") continue;  // a name
      EXPECT_FALSE(each.flags.contains(never)) << each.name << " " << never;
    }
    for (const auto& [name, flag] : each.flags) {
      if (name != "model") {
        EXPECT_THAT(flag.values, Not(HasSubstr("FILE"))) << each.name << " " << name;
        EXPECT_THAT(flag.meaning, Not(HasSubstr("folder"))) << each.name << " " << name;
      }
    }
  }
  EXPECT_FALSE(parse_api_request(endpoint("batch"), {{"arrivals", "trace:/etc/passwd"}}, ""));
  EXPECT_FALSE(parse_api_request(endpoint("prices"), {{"what", "forget"}}, ""));
  EXPECT_FALSE(parse_api_request(endpoint("recommend"), {{"model", std::string(5000, 'x')}}, ""));
}

TEST(ApiRequest, AnythingButAnObjectIsRefused) {
  for (const char* bad : {"[]", "1", "{", "\"x\"", "{\"a\":1,\"a\":2}", "null"})
    EXPECT_FALSE(parse_api_request(endpoint("gpus"), {}, bad)) << bad;
}

RC_GTEST_PROP(ApiRequest, RequestsWithDifferentMeaningsHaveDifferentKeys,
              (std::string a, std::string b, std::string c, std::string d)) {
  const auto first = parse_api_request(endpoint("recommend"), {{"name", a}, {"model", b}}, "");
  const auto second = parse_api_request(endpoint("recommend"), {{"name", c}, {"model", d}}, "");
  if (!first || !second) return;
  RC_ASSERT((first->cache_key() == second->cache_key()) == (first->arguments() == second->arguments()));
}

TEST(OpenApi, NamesEveryEndpointAndFlag) {
  const Json document = openapi_document();
  const std::string text = document.dump();
  for (const Endpoint& each : endpoints()) {
    const Json* path = document.find("paths")->find("/api/" + each.name);
    ASSERT_NE(path, nullptr) << each.name;
    EXPECT_NE(path->find("post"), nullptr);
    for (const auto& [name, flag] : each.flags) EXPECT_THAT(text, HasSubstr("\"" + name + "\""));
  }
  // Every reference has a target.
  for (std::size_t at = text.find("schemas/"); at != std::string::npos; at = text.find("schemas/", at + 1)) {
    const std::string name = text.substr(at + 8, text.find('"', at) - at - 8);
    EXPECT_NE(document.find("components")->find("schemas")->find(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace rightsize::app
