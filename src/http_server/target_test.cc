#include "http_server/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::http_server {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RequestTarget, PathAndQueryAreDecoded) {
  const auto target = parse_target("/api/recommend?model=llama%2D8b&rate=5%2Fs&name=two+words&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/recommend");
  EXPECT_THAT(target->query,
              ElementsAre(Pair("model", "llama-8b"), Pair("rate", "5/s"), Pair("name", "two words"), Pair("flag", "")));
}

TEST(RequestTarget, ParentSegmentsAreRefusedInAnyEncoding) {
  for (const char* bad : {"/../etc/passwd", "/a/../../b", "/%2e%2e/etc", "/.%2e/x", "/a/..", "/./a", "/..%2fetc/passwd",
                          "/a\\..\\b", "/%5c..", "/a%00.html", "/a%0d%0aSet-Cookie:x", "etc/passwd", "", "*"}) {
    EXPECT_FALSE(parse_target(bad)) << bad;
  }
}

TEST(RequestTarget, DotsInsideNamesAreFine) {
  EXPECT_TRUE(parse_target("/assets/index.3f..js"));
  EXPECT_TRUE(parse_target("/.well-known"));
}

TEST(RequestTarget, BadPercentSignsAndLongAddressesAreRefused) {
  for (const char* bad : {"/%", "/%4", "/%zz", "/a?b=%", "/a?b=%1"}) EXPECT_FALSE(parse_target(bad)) << bad;
  EXPECT_FALSE(parse_target("/" + std::string(kLongestTarget, 'a')));
}

RC_GTEST_PROP(RequestTarget, AcceptedPathsStayInsideTheRoot, (std::string text)) {
  const auto target = parse_target("/" + text);
  if (!target) return;
  const std::string path = target->path + "/";
  RC_ASSERT(path.find("/../") == std::string::npos);
  RC_ASSERT(path.find("/./") == std::string::npos);
  RC_ASSERT(path.find('\0') == std::string::npos);
}

RC_GTEST_PROP(RequestTarget, EncodedTextIsDecodedAgain, (std::string text)) {
  std::string encoded;
  for (const char c : text) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%', encoded += kDigits[byte / 16], encoded += kDigits[byte % 16];
  }
  RC_ASSERT(percent_decode(encoded, true) == text);
}

}  // namespace
}  // namespace rightsize::http_server
