// The first sentence of 'prices compare' and 'prices spot' must agree with the rows.
#include <limits>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using report::Json;
using testing::HasSubstr;

// The number of a member; infinity if it is absent.
double number_at(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  if (found == nullptr) return std::numeric_limits<double>::infinity();
  return found->visit([](const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) return static_cast<double>(value);
    return std::numeric_limits<double>::infinity();
  });
}

std::string first_text(const report::Report& report) {
  for (const report::Block& block : report.blocks) {
    if (const auto* paragraph = std::get_if<report::Paragraph>(&block)) return paragraph->text;
  }
  return {};
}

// Every GPU has its own cheapest price, and no GPU is described by the machine of another.
TEST(ComparePrices, TheConclusionNamesTheCheapestOfEachGpu) {
  for (const std::vector<std::string>& gpus :
       {std::vector<std::string>{"mi300x", "h100", "h200"}, {"a100"}, {"l4", "t4", "l40s"}, {"b200", "mi300x"}}) {
    std::vector<std::string> words{"compare"};
    words.insert(words.end(), gpus.begin(), gpus.end());
    const Checked<Outcome> outcome = call("prices", words);
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const std::string text = first_text(outcome->report);
    std::map<std::string, std::pair<bool, double>> cheapest;  // in doubt, price
    for (const Json& way : *outcome->report.document.find("ways")->items()) {
      const Json& offer = *way.find("on_demand");
      if (offer.empty()) continue;
      const std::pair price(number_at(offer, "may_lead") == 0, number_at(offer, "likely"));
      const auto [found, is_new] = cheapest.emplace(*way.find("gpu")->text(), price);
      if (!is_new) found->second = std::min(found->second, price);
    }
    ASSERT_FALSE(cheapest.empty());
    for (const auto& [gpu, price] : cheapest)
      EXPECT_THAT(text, HasSubstr(fmt::format("{}: on demand {}", gpu, format_usd_per_hour(price.second))));
  }
}

// A price over 60 days old with one source is in doubt, whether or not a fresher one exists.
TEST(ListPrices, OldPricesOfOneSourceAreMarked) {
  const std::regex row(R"(\$[0-9.,]+( \?)? .* (\d+) d +(\d+) )");
  int marked = 0, plain = 0;
  for (const char* gpu : {"h100", "a100", "v100", "l4", "mi300x", "gh200", "b200"}) {
    const Checked<Outcome> outcome = call("prices", {"--gpu", gpu, "--top", "40"});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const std::string text = render(outcome->report, report::Format::kText, {.width = 300});
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
      const bool old = std::stoi((*at)[2]) > 60 && std::stoi((*at)[3]) <= 1, doubted = (*at)[1].matched;
      if (old) {
        EXPECT_TRUE(doubted) << at->str();
      }
      (doubted ? marked : plain) += 1;
    }
  }
  EXPECT_GT(marked, 0);
  EXPECT_GT(plain, 0);
}

// A number of GPUs is a condition on the machine, under every name.
TEST(ListPrices, GpusAreThoseOfTheMachine) {
  for (const char* gpu : {"h100", "a100", "l4"}) {
    for (const int gpus : {1, 2, 4, 8}) {
      const std::string number = std::to_string(gpus);
      const Checked<Outcome> listed = call("prices", {gpu, "--gpus", number});
      const Checked<Outcome> named = call("prices", {fmt::format("{}:{}", gpu, gpus)});
      ASSERT_TRUE(listed && named);
      Json rows, same;
      listed->report.long_lists(rows), named->report.long_lists(same);
      EXPECT_EQ(rows.find("prices")->items()->size(), same.find("prices")->items()->size());
      for (const Json& row : *rows.find("prices")->items()) EXPECT_EQ(number_at(row, "gpus"), gpus);
    }
  }
}

// The first offer has the lowest printed cost per GPU, regardless of machine size.
TEST(PlanOnSpot, OffersAreRankedByThePrintedCostPerGpu) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"spot", "--gpu", "h100", "--hours", "500"},
                                             {"spot", "--gpu", "a100,l4", "--hours", "20", "--machines", "3"},
                                             {"spot", "--gpu", "t4", "--hours", "2000", "--interruptions", "0.01"}}) {
    const Checked<Outcome> outcome = call("prices", words);
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const Json::Array& offers = *outcome->report.document.find("offers")->items();
    ASSERT_FALSE(offers.empty());
    const auto rank = [](const Json& offer) {
      return std::pair(number_at(offer, "may_lead") == 0, number_at(offer, "usd_per_gpu"));
    };
    for (std::size_t i = 1; i < offers.size(); ++i) EXPECT_LE(rank(offers[i - 1]), rank(offers[i])) << i;
    EXPECT_THAT(first_text(outcome->report), HasSubstr(format_usd(usd(number_at(offers[0], "usd_per_gpu")))));
    EXPECT_THAT(first_text(outcome->report), HasSubstr(*offers[0].find("instance")->text()));
  }
}

// As many GPUs are bought as rented: machines follow from --gpus, and too few are refused.
TEST(BuyOrRent, BuysEnoughMachinesForTheRentedGpus) {
  const auto buy = [](std::vector<std::string> words) {
    words.insert(words.begin(), "buy");
    return call("prices", words);
  };
  for (const int of_each : {1, 4, 8}) {
    for (const int gpus : {1, 7, 8, 9, 32, 100}) {
      const std::string machine = fmt::format("{}xh100-sxm=70000USD", of_each), wanted = std::to_string(gpus);
      const int needed = (gpus + of_each - 1) / of_each;
      const Checked<Outcome> meant = buy({"--on-prem", machine, "--gpus", wanted});
      const Checked<Outcome> counted =
          buy({"--on-prem", machine, "--gpus", wanted, "--on-prem-machines", std::to_string(needed)});
      ASSERT_TRUE(meant && counted) << machine << wanted;
      EXPECT_EQ(meant->report.document, counted->report.document) << machine << wanted;
      EXPECT_GE(number_at(meant->report.document.find("rents")->items()->front(), "buy_usd"), 70000.0 * needed);
      if (needed > 1) {
        EXPECT_FALSE(buy({"--on-prem", machine, "--gpus", wanted, "--on-prem-machines", std::to_string(needed - 1)}));
      }
    }
  }
  const Checked<Outcome> whole = buy({"--on-prem", "8xh100=70000USD", "--gpu", "h100", "--gpus", "32"});
  ASSERT_TRUE(whole);
  for (const char* typed : {"70000USD", "8xh100,70000USD", "70000USD,8xh100"}) {
    const Checked<Outcome> price = buy({"--on-prem", typed, "--gpu", "h100", "--gpus", "32"});
    ASSERT_TRUE(price) << typed;
    EXPECT_EQ(price->report.document, whole->report.document) << typed;
  }
}

}  // namespace
}  // namespace rightsize::app
