#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/amount.h"
#include "base/date.h"
#include "base/random.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

std::vector<std::string> converted(std::vector<std::string> words) {
  Typed typed{.words = std::move(words)};
  convert_money(typed);
  return typed.words;
}

// Every currency on file, in every form, becomes the dollars of its rate.
TEST(Currency, AmountsBecomeDollars) {
  Random random(1);
  for (const catalog::ExchangeRate& known : word_facts()->exchange_rates) {
    const double amount = std::round(1 + 1e5 * random.uniform()),
                 rate = word_facts()->exchange_rate(known.currency, today())->usd;
    const std::string number = fmt::format("{:.0f}", amount), code = known.currency;
    const auto near = [&](const std::string& text, std::string_view after) {
      const std::size_t dollar = text.find('$');
      ASSERT_NE(dollar, std::string::npos) << text;
      const std::string digits = text.substr(dollar + 1, text.size() - dollar - 1 - after.size());
      EXPECT_TRUE(text.ends_with(after)) << text;
      EXPECT_NEAR(parse_amount(digits)->count, amount * rate, 0.501 + amount * rate * 1e-3) << text;
    };
    near(converted({"recommend", "--budget", number + code}).back(), "");
    near(converted({"recommend", "--budget=" + number + code}).back(), "");
    near(converted({"prices", "--max-price", number + code + "/h"}).back(), "/h");
    near(converted({"spend", number, code}).back(), "");
    near(converted({"spend", code, number}).back(), "");
    near(converted({"prices", "buy", "--on-prem", "8xh100=" + number + code}).back(), "");
  }
  EXPECT_EQ(converted({"€1k"}), converted({"1000EUR"}));
  EXPECT_EQ(converted({"250", "euros", "a", "month"}), converted({"250EUR", "a", "month"}));
}

TEST(Currency, OtherWordsStay) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"bill", "focus.csv", "--currency", "EUR", "--top", "5"},
        {"prices", "h100", "--max-price", "3USD/h"},
        {"recommend", "llama-3.1-8b", "--tokens", "100B", "8xh100", "5", "gpu", "24gb", "7d"},
        {"profile", "--", "python", "train.py", "5", "EUR"}})
    EXPECT_EQ(converted(words), words);
}

}  // namespace
}  // namespace rightsize::app
