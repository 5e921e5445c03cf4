#include "base/url.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize {
namespace {

TEST(Url, ShowsTheAddressWithoutCredentials) {
  EXPECT_EQ(shown_url("http://user:secret@host:9090/api?token=abc#x"), "http://host:9090/api");
  EXPECT_EQ(shown_url("host:9090"), "host:9090");
  EXPECT_EQ(shown_url("http://[::1]:9090/x"), "http://[::1]:9090/x");
  EXPECT_EQ(shown_url("postgres://rightsize-production@db/prices?password=hunter2"), "postgres://db/prices");
  EXPECT_EQ(shown_url("postgres://db/prices?user=a@b&password=hunter2"), "postgres://***");
  EXPECT_EQ(shown_url("http://user:pass/word@host/x"), "http://***");
  EXPECT_EQ(shown_url("http://user:secret"), "http://***");
}

// No part of a secret is shown, wherever it is and whatever it contains, escaped or not.
RC_GTEST_PROP(Url, NoSecretIsEverShown, ()) {
  const auto special = rc::gen::element<std::string>("", "@", ":", "/", "?", "#", "&", "=", "%", " ", "[", "://");
  const std::string secret = "zq7" + *special + "zq8" + *special + "zq9";
  const std::string written = *rc::gen::arbitrary<bool>() ? percent_encoded(secret) : secret;
  const std::string host = *rc::gen::element<std::string>("db", "127.0.0.1:1", "[::1]:5432");
  const std::string path = *rc::gen::element<std::string>("", "/", "/prices", "/a/b");
  const std::string query = *rc::gen::element<std::string>("", "?sslmode=disable", "?user=a%40b");
  const std::string url =
      "postgres://" + *rc::gen::element("me:" + written + "@" + host + path + query,
                                        written + "@" + host + path + query, host + path + "?password=" + written,
                                        host + path + "?user=x&password=" + written,
                                        "me@" + host + path + "?a=b#" + written);
  const std::string shown = shown_url(url);
  for (const char* piece : {"zq7", "zq8", "zq9"}) RC_ASSERT(shown.find(piece) == std::string::npos);
}

}  // namespace
}  // namespace rightsize
