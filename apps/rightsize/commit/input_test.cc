#include "rightsize/commit/input.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

double mean_gpus(const CommitFlags& flags) {
  const DemandHistory usage = *usage_of(flags);
  return std::accumulate(usage.gpus.begin(), usage.gpus.end(), 0.0) / static_cast<double>(usage.gpus.size());
}

TEST(CommitInput, HoursPerDayAreTheShareOfTimeInUse) {
  for (int hours = 1; hours <= 24; ++hours) {
    CommitFlags flags;
    flags.base = "32", flags.hours_per_day = hours;
    EXPECT_NEAR(mean_gpus(flags), 32.0 * hours / 24, 1e-9);
    flags.base = "8,peak=20,share=0.3";
    EXPECT_NEAR(mean_gpus(flags), 11.6 * hours / 24, 1e-9);
  }
  CommitFlags file;
  file.usage = "usage.csv", file.hours_per_day = 10;
  EXPECT_FALSE(usage_of(file));
}

TEST(CommitInput, TheNumberOfGpusIsBounded) {
  for (const char* base : {"1e30", "1000001", "8,peak=1e12,share=0.3", "nan", "-1"}) {
    CommitFlags flags;
    flags.base = base;
    EXPECT_FALSE(usage_of(flags)) << base;
  }
}

TEST(CommitInput, TheTermThatIsAskedForIsPlanned) {
  const auto years = [](const char* purchase, const char* term) {
    CommitFlags flags;
    flags.purchase = purchase, flags.term_years = term;
    return with_terms(flags).years;
  };
  EXPECT_EQ(years("", ""), 3);
  EXPECT_EQ(years("1y", ""), 1);
  EXPECT_EQ(years("1y,spot", ""), 1);
  EXPECT_EQ(years("1y,3y", ""), 3);
  EXPECT_EQ(years("3y", ""), 3);
  EXPECT_EQ(years("", "1"), 1);
  EXPECT_EQ(years("1y", "3"), 3);
}

// A discount sets the price of its term at every provider.
TEST(CommitInput, ADiscountAppliesToTheOnDemandPrice) {
  const market::PriceBook book(built_in_catalog(), {});
  const catalog::Gpu* gpu = *built_in_catalog().find_gpu("h100-sxm");
  for (const char* term : {"", "3"}) {
    CommitFlags flags;
    flags.gpu = gpu->name, flags.base = "8", flags.discount = 0.3, flags.term_years = term;
    const auto plans = candidates(with_terms(flags), book, gpu);
    ASSERT_TRUE(plans);
    ASSERT_FALSE(plans->empty());
    for (const CommitPlan& plan : *plans) {
      const std::optional<double>& price = *term == '3' ? plan.prices.three_years : plan.prices.one_year;
      ASSERT_TRUE(price);
      EXPECT_NEAR(*price, 0.7 * plan.prices.on_demand, 1e-9) << plan.provider;
    }
  }
  CommitFlags wrong;
  wrong.gpu = gpu->name, wrong.base = "8", wrong.one_year = "130%";
  EXPECT_FALSE(candidates(wrong, book, gpu));
}

// The report names a provider as without commitment price only if 'prices' lists none of it.
TEST(CommitReport, NoCommitmentPriceMeansThatPricesListsNone) {
  for (const char* gpu : {"h100-sxm", "a100-80gb-sxm", "l40s", "l4"}) {
    for (const char* base : {"8", "0,peak=32,share=0.6", "4,peak=64,share=0.1"}) {
      const Checked<Outcome> answer = call("commit", {"--gpu", gpu, "--base", base, "--purchase", "1y,3y,on-demand"});
      ASSERT_TRUE(answer) << describe(answer.error());
      std::string text = report::render(answer->report, report::Format::kText);
      std::replace(text.begin(), text.end(), '\n', ' ');
      const std::size_t begin = text.find("No commitment price on file: ");
      if (begin == std::string::npos) continue;
      const std::string names = text.substr(begin, text.find("Prices: ", begin) - begin);
      for (const catalog::Price& price : built_in_catalog().prices) {
        const bool term =
            price.purchase == catalog::Purchase::kOneYear || price.purchase == catalog::Purchase::kThreeYears;
        const catalog::Machine* machine = built_in_catalog().find_machine(price.provider, price.instance);
        if (!term || machine == nullptr || machine->gpu != gpu) continue;
        EXPECT_EQ(names.find(" " + price.provider), std::string::npos) << gpu << " " << base << ": " << names;
      }
    }
  }
}

// Without a price on file, the answer is the break-even discount, and a plan at that discount agrees with it.
TEST(CommitReport, AMissingPriceIsNoVerdict) {
  for (const int share : {20, 30, 65}) {
    const std::string base = "16,peak=40,share=" + std::to_string(share / 100.0);
    const auto answer = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"--base", base, "--on-demand", "4", "--years", "1", "--increment", "1"});
      return call("commit", more).value().report;
    };
    const std::string text = report::render(answer({}), report::Format::kText);
    EXPECT_EQ(text.find("Stay on demand"), std::string::npos) << text;
    EXPECT_NE(text.find("No 1-year price"), std::string::npos) << text;
    EXPECT_NE(text.find("--one-year"), std::string::npos) << text;
    for (const auto& [discount, gpus] : {std::pair{1, "16"}, {99 - share, "16"}, {101 - share, "40"}}) {
      const report::Report priced = answer({"--one-year", std::to_string(discount) + "%"});
      EXPECT_EQ(priced.document.find("one_year_gpus")->dump(), gpus) << base << " " << discount;
    }
    std::string words = text;
    std::replace(words.begin(), words.end(), '\n', ' ');
    EXPECT_NE(words.find("16 GPUs at any discount"), std::string::npos) << text;
    EXPECT_NE(words.find("all 40 at a discount above " + std::to_string(100 - share) + " %"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace rightsize::app
