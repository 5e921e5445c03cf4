#include "base/result.h"

#include <gtest/gtest.h>

namespace rightsize {
namespace {

TEST(Diagnostics, ErrorsShowPlaceCaretAndHint) {
  const std::string text = "model: x\ngpu: h10\n";
  Error error =
      bad_input("unknown GPU 'h10'").at(place_in("w.yaml", text, 14, 3)).with_hint("did you mean 'h100-sxm'?");
  EXPECT_EQ(describe(error),
            "error: w.yaml:2:6: unknown GPU 'h10'\n"
            "  gpu: h10\n"
            "       ^~~\n"
            "hint: did you mean 'h100-sxm'?\n");
}

TEST(Diagnostics, PlacesAtTheEdgesOfATextAreRight) {
  EXPECT_EQ(place_in("f", "", 0).line, 1);
  EXPECT_EQ(place_in("f", "ab\ncd", 99).line, 2);
  EXPECT_EQ(place_in("f", "ab\ncd", 3).column, 1);
  EXPECT_EQ(place_in("f", "ab\r\ncd", 1).excerpt, "ab");
}

TEST(Diagnostics, LongLinesAreShownAroundTheCaret) {
  const std::string text(5000, 'x');
  std::string shown = describe(bad_input("no").at(place_in("f", text, 4000, 5)));
  EXPECT_LT(shown.size(), 500u);
  EXPECT_NE(shown.find("^~~~~"), std::string::npos);
}

TEST(Diagnostics, TabsAndControlBytesDoNotMoveTheCaret) {
  EXPECT_EQ(describe(bad_input("no").at(place_in("f", "\ta\x01z", 3))), "error: f:1:4: no\n   a z\n     ^\n");
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(bad_input("odd"));
  return n / 2;
}
Result<int> quarter(int n) {
  RIGHTSIZE_TRY(int h, half(n));
  return half(h);
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(exit_code(unreadable("x")), 3);
  EXPECT_EQ(exit_code(bug("x")), 70);
}

}  // namespace
}  // namespace rightsize
