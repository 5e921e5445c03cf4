#include "catalog/hourly_amount.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/catalog.h"

namespace rightsize::catalog {
namespace {

// Every spelling of the currency and the hour gives the same amount and code.
RC_GTEST_PROP(HourlyAmount, IsReadInEverySpelling, ()) {
  const double amount = *rc::gen::inRange(1, 1'000'000) / 10'000.0;
  const auto [name, code] =
      *rc::gen::element(std::pair{"EUR", "EUR"}, std::pair{"eur", "EUR"}, std::pair{"€", "EUR"},
                        std::pair{"GBP", "GBP"}, std::pair{"£", "GBP"}, std::pair{"USD", "USD"}, std::pair{"$", "USD"});
  const std::string hour = *rc::gen::element("", "/h", "/hr", " per hour", "/hour");
  const std::string space = *rc::gen::element("", " ");
  const std::string text = *rc::gen::arbitrary<bool>() ? fmt::format("{}{}{}{}", name, space, amount, hour)
                                                       : fmt::format("{}{}{}{}", amount, space, name, hour);
  const Result<HourlyAmount> read = parse_hourly_amount(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->currency == code);
  RC_ASSERT(read->amount == amount);
}

TEST(HourlyAmount, OtherTextIsRefused) {
  for (const char* text :
       {"", "EUR", "1,234.50", "2.60 EUR 3", "-1EUR/h", "0", "nan", "1e999", "2.6EURO/GPU", "EUR2.6USD"})
    EXPECT_FALSE(parse_hourly_amount(text)) << text;
}

// The rate is from the month before the day if there is one, and never later if a recent earlier one exists.
RC_GTEST_PROP(ExchangeRate, IsTheNearestOfTheMonthBefore, ()) {
  Catalog catalog;
  const auto days = *rc::gen::container<std::set<int>>(rc::gen::inRange(20'000, 20'400));
  RC_PRE(!days.empty());
  for (const int day : days) catalog.exchange_rates.push_back({"EUR", 1 + day / 1e6, Date{day}, "test"});
  const Date day{*rc::gen::inRange(19'990, 20'410)};
  const Result<ExchangeRate> rate = catalog.exchange_rate("EUR", day);
  RC_ASSERT(rate.has_value());
  for (const ExchangeRate& other : catalog.exchange_rates) {
    const bool recent = other.date <= day && day - other.date <= 31;
    if (recent) RC_ASSERT(rate->date >= other.date && rate->date <= day);
  }
  RC_ASSERT(catalog.exchange_rate("USD", day)->usd == 1);
  RC_ASSERT(!catalog.exchange_rate("XYZ", day));
}

TEST(ExchangeRate, BuiltInRatesAreSane) {
  const Catalog catalog = *load_catalog("");
  for (const ExchangeRate& rate : catalog.exchange_rates) {
    EXPECT_NE(catalog.find_source(rate.source), nullptr) << rate.currency;
    EXPECT_LE(rate.date, today()) << rate.currency;
  }
  EXPECT_NEAR(catalog.exchange_rate("EUR", *parse_date("2026-09-30"))->usd, 1.1355, 1e-9);
}

// Every list price that is not in dollars is its amount times its rate.
TEST(ExchangeRate, ConvertedPricesKeepTheirAmountAndRate) {
  const Catalog catalog = *load_catalog("");
  int converted = 0;
  for (const Price& price : catalog.prices) {
    const ProviderFacts* facts = catalog.find_provider(price.provider);
    EXPECT_EQ(price.converted.has_value(), facts != nullptr && !facts->currency.empty()) << price.instance;
    if (!price.converted) continue;
    ++converted;
    EXPECT_EQ(price.converted->rate.currency, facts->currency);
    EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(price.machine_price), price.converted->amount * price.converted->rate.usd);
  }
  EXPECT_GT(converted, 5);
}

}  // namespace
}  // namespace rightsize::catalog
