#include "http/scrub.h"

#include <gtest/gtest.h>

namespace rightsize::http {
namespace {

TEST(Scrub, RemovesCredentialsThatAServerRepeats) {
  Auth auth;
  auth.bearer = "token-1234";
  auth.user = "me", auth.password = "hunter2 &";
  auth.headers = {{"X-Token", "header-secret"}};
  EXPECT_EQ(scrubbed("got 'Bearer token-1234'", auth, "http://a"), "got 'Bearer ***'");
  EXPECT_EQ(scrubbed("Basic bWU6aHVudGVyMiAm, hunter2%20%26", auth, "http://a"), "Basic ***, ***");
  EXPECT_EQ(scrubbed("X-Token: header-secret", auth, "http://a"), "X-Token: ***");
}

TEST(Scrub, RemovesTheSecretsOfTheAddress) {
  EXPECT_EQ(scrubbed("no user pass-word at you:pass-word@host", {}, "http://you:pass-word@host/x"),
            "no user *** at you:***@host");
  EXPECT_EQ(scrubbed("/api?token=abcdef not found", {}, "https://host/api?token=abcdef"), "/api?*** not found");
}

TEST(Scrub, LeavesTheRest) {
  EXPECT_EQ(scrubbed("out of memory", {}, "http://host:9090/api"), "out of memory");
  Auth auth;
  auth.password = "e";
  EXPECT_EQ(scrubbed("every e stays", auth, "http://host"), "every e stays");
}

}  // namespace
}  // namespace rightsize::http
