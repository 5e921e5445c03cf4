// What a change of an RL plan is offered for is what it costs when it is requested.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using FlagValues = std::map<std::string, std::string>;

Json rl_plans_for(const FlagValues& flags) {
  std::vector<std::string> words;
  for (const auto& [flag, value] : flags) words.insert(words.end(), {flag, value});
  Checked<Outcome> found = call("recommend", words);
  EXPECT_TRUE(found) << (found ? "" : describe(found.error()));
  return found ? std::move(found->report.document) : Json();
}

double amount_in(const Json& row, const char* name) {
  return row.find(name)->visit([](const auto& content) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(content)>>) return static_cast<double>(content);
    return 0.0;
  });
}

TEST(RlOffers, CostWhatTheyPromise) {
  Random random(3);
  const auto between = [&](double low, double high) {
    return fmt::format("{:.0f}", low + random.uniform() * (high - low));
  };
  int offers = 0;
  for (int i = 0; i < 6; ++i) {
    const FlagValues flags = {{"--job", "rl"},
                              {"--model", "qwen2.5-7b"},
                              {"--prompts", between(32, 256)},
                              {"--samples", between(4, 16)},
                              {"--osl", between(400, 3000)},
                              {"--steps", between(50, 2000)},
                              {"--gpu", "h100-sxm"},
                              {"--gpus", i % 2 == 0 ? "8" : "4"},
                              {"--provider", "hyperstack"},
                              {"--stack", i % 3 == 2 ? "trl" : "verl"},
                              {"--layout", "colocated"},
                              {"--top", "1"}};
    const Json found = rl_plans_for(flags);
    if (found.find("changes") == nullptr) continue;  // long answers need more GPUs
    for (const Json& change : *found.find("changes")->items()) {
      FlagValues changed = flags;
      const std::string said = *change.find("flags")->text();
      const std::vector<std::string_view> parts = split_list(said, ' ');
      for (std::size_t p = 0; p + 1 < parts.size(); p += 2) changed[std::string(parts[p])] = std::string(parts[p + 1]);
      const Json plan = rl_plans_for(changed).find("plans")->items()->front();
      const double promised = amount_in(change, "usd_total"), asked = amount_in(plan, "usd_total");
      EXPECT_LE(asked, promised * 1.005) << said;
      EXPECT_GE(asked, promised * 0.995) << said;
      ++offers;
    }
  }
  EXPECT_GT(offers, 8);
}

// GPUs of the answer keep their order and cost if the request names only them. Providers keep their costs: a fresh
// price of another provider may hold an old one back.
TEST(RlOffers, NamingGpusOfTheAnswerKeepsTheirOrder) {
  const auto key_of = [](const Json& row) {
    std::string key;
    for (const char* name : {"provider", "gpu", "purchase", "layout"}) key += *row.find(name)->text() + " ";
    return key + fmt::format("{:.4f}", amount_in(row, "usd_total"));
  };
  Random random(7);
  for (int i = 0; i < 4; ++i) {
    FlagValues flags = {{"--job", "rl"},
                        {"--model", i % 2 == 0 ? "qwen2.5-7b" : "llama-3.2-3b"},
                        {"--osl", fmt::format("{:.0f}", 500 + 2000 * random.uniform())},
                        {"--steps", fmt::format("{:.0f}", 50 + 500 * random.uniform())},
                        {"--top", "12"}};
    const Json found = rl_plans_for(flags);
    for (const char* what : {"gpu", "provider"}) {
      std::set<std::string> kept;
      for (const Json& row : *found.find("plans")->items())
        if (random.uniform() < 0.5) kept.insert(*row.find(what)->text());
      if (kept.empty()) continue;
      FlagValues only = flags;
      only[std::string("--") + what] = fmt::format("{}", fmt::join(kept, ","));
      const Json again = rl_plans_for(only);
      auto next = again.find("plans")->items()->begin();
      for (const Json& row : *found.find("plans")->items()) {
        if (!kept.contains(std::string(*row.find(what)->text()))) continue;
        if (what == std::string_view("provider")) {
          EXPECT_TRUE(std::ranges::any_of(*again.find("plans")->items(), [&](const Json& one) {
            return key_of(one) == key_of(row);
          })) << key_of(row);
          continue;
        }
        ASSERT_NE(next, again.find("plans")->items()->end());
        EXPECT_EQ(key_of(*next++), key_of(row)) << what;
      }
    }
  }
}

// Fewer GPUs never cost less, no plan has more than allowed, and a refusal names a number that is enough.
TEST(RlOffers, PlansHaveAtMostMaxGpus) {
  Random random(5);
  const char* const deadlines[] = {"6h", "1d", "30d"};
  int plans = 0, refusals = 0;
  for (const char* deadline : deadlines) {
    FlagValues flags = {{"--job", "rl"}, {"--model", "qwen2.5-7b"}, {"--osl", "2500"}, {"--deadline", deadline}};
    flags["--steps"] = fmt::format("{:.0f}", 100 + 200 * random.uniform());
    double less = 0;
    for (const int most : {32, 8, 4, 2, 1}) {
      flags["--max-gpus"] = std::to_string(most);
      const Json found = rl_plans_for(flags);
      const std::vector<Json>& rows = *found.find("plans")->items();
      for (const Json& row : rows) EXPECT_LE(amount_in(row, "gpus"), most);
      if (rows.empty()) {
        const std::vector<Json>& fixes = *found.find("fixes")->items();
        ++refusals;
        for (const Json& fix : fixes) {
          const std::string said = *fix.find("flags")->text();
          if (!said.starts_with("--max-gpus ")) continue;
          FlagValues more = flags;
          more["--max-gpus"] = said.substr(said.find(' ') + 1);
          EXPECT_FALSE(rl_plans_for(more).find("plans")->items()->empty()) << said;
        }
        break;
      }
      ++plans;
      EXPECT_GE(amount_in(rows.front(), "usd_total"), less * 0.999) << deadline << " " << most;
      less = amount_in(rows.front(), "usd_total");
    }
  }
  EXPECT_GT(plans, 5);
  EXPECT_GT(refusals, 1);
}

// A plan that is much sooner takes at most half the time for at most twice the cost, and is found with that deadline.
TEST(RlOffers, SoonerPlansMeetTheirDeadline) {
  int seen = 0;
  for (const char* steps : {"20", "500", "2000"}) {
    FlagValues flags = {{"--job", "rl"},
                        {"--model", "qwen2.5-7b"},
                        {"--osl", "2000"},
                        {"--steps", steps},
                        {"--provider", "lambda,nebius,aws"}};
    const Json found = rl_plans_for(flags);
    const Json *sooner = found.find("sooner"), &first = found.find("plans")->items()->front();
    if (sooner == nullptr) continue;
    ++seen;
    EXPECT_GT(amount_in(first, "hours"), 8);
    EXPECT_LE(amount_in(*sooner, "hours"), amount_in(first, "hours") / 2);
    EXPECT_LE(amount_in(*sooner, "usd_total"), amount_in(first, "usd_total") * 2);
    flags["--deadline"] = fmt::format("{:.3f}h", amount_in(*sooner, "hours") * 1.001);
    const Json within = rl_plans_for(flags);
    EXPECT_LE(amount_in(within.find("plans")->items()->front(), "usd_total"), amount_in(*sooner, "usd_total") * 1.05);
  }
  EXPECT_GT(seen, 0);
}

// If nothing meets a limit, the limit that the answer names is enough, and a smaller budget is not.
TEST(RlOffers, NamedLimitsAreEnough) {
  const FlagValues flags = {{"--job", "rl"}, {"--model", "qwen2.5-7b"}, {"--steps", "300"}, {"--max-gpus", "16"}};
  for (const auto& [flag, value] :
       FlagValues{{"--max-power", "50W"}, {"--max-carbon", "0.02"}, {"--budget", "1"}, {"--deadline", "10min"}}) {
    FlagValues limited = flags;
    limited[flag] = value;
    const Json refused = rl_plans_for(limited);
    ASSERT_TRUE(refused.find("fixes") != nullptr && !refused.find("fixes")->items()->empty()) << flag;
    const std::string said = *refused.find("fixes")->items()->front().find("flags")->text();
    EXPECT_TRUE(said.starts_with(flag + " ")) << said;
    limited[flag] = said.substr(flag.size() + 1);
    EXPECT_FALSE(rl_plans_for(limited).find("plans")->items()->empty()) << said;
    if (flag != "--budget") continue;
    limited[flag] = fmt::format("{:.0f}", std::stod(limited[flag]) - 1);
    EXPECT_TRUE(rl_plans_for(limited).find("plans")->items()->empty()) << "less than " << said;
  }
}

bool has_words(const Json* value, const char* words) {
  return value != nullptr && value->dump().find(words) != std::string::npos;
}

// A plan that may miss the deadline says so wherever it is named: as the first plan, and as the plan of a cheaper offer
// or change. Every rented first plan has its availability.
TEST(RlOffers, SayIfTheyMayMissTheDeadline) {
  Random random(11);
  int late = 0;
  for (int i = 0; i < 4; ++i) {
    const FlagValues flags = {{"--job", "rl"},
                              {"--model", i % 2 == 0 ? "qwen2.5-7b" : "llama-3.2-3b"},
                              {"--steps", "200"},
                              {"--osl", fmt::format("{:.0f}", 800 + 2000 * random.uniform())},
                              {"--deadline", fmt::format("{:.0f}h", 20 + 100 * random.uniform())},
                              {"--provider", "aws,lambda,nebius"}};
    const Json found = rl_plans_for(flags);
    if (found.find("plans")->items()->empty()) continue;
    EXPECT_TRUE(has_words(found.find("availability"), "does not publish"));
    const double deadline = std::stod(flags.at("--deadline"));
    const Json& first = found.find("plans")->items()->front();
    const double high = amount_in(first, "step_high_seconds") / amount_in(first, "step_seconds");
    const double used = amount_in(first, "hours") * high / deadline;
    EXPECT_TRUE(std::abs(used - 1) < 0.02 || has_words(first.find("caveats"), "misses the deadline") == (used > 1));
    if (found.find("offers") == nullptr) continue;
    for (const Json& offer : *found.find("offers")->items()) {
      const std::string said = *offer.find("flags")->text();
      if (said.starts_with("--deadline")) continue;
      FlagValues changed = flags;
      if (said.starts_with("no "))
        changed.erase("--provider");
      else
        changed[said.substr(0, said.find(' '))] = said.substr(said.find(' ') + 1);
      const Json again = rl_plans_for(changed);
      const bool misses = has_words(again.find("plans")->items()->front().find("caveats"), "misses the deadline");
      EXPECT_EQ(has_words(offer.find("doubt"), "misses the deadline"), misses) << said;
      late += misses ? 1 : 0;
    }
  }
  EXPECT_GT(late, 0);
}

// What runs on several machines runs inside one: the same GPUs take no longer.
TEST(RlOffers, OneMachineIsAsFastAsSeveral) {
  Random random(13);
  int compared = 0;
  for (int i = 0; i < 4; ++i) {
    const FlagValues flags = {{"--job", "rl"},
                              {"--model", i % 2 == 0 ? "qwen2.5-7b" : "llama-3.1-8b"},
                              {"--osl", fmt::format("{:.0f}", 500 + 3000 * random.uniform())},
                              {"--gpu", "rtx-pro-6000"},
                              {"--gpus", i < 2 ? "2" : "4"},
                              {"--layout", "colocated"},
                              {"--top", "20"}};
    const Json found = rl_plans_for(flags);
    for (const Json& one : *found.find("plans")->items()) {
      for (const Json& several : *found.find("plans")->items()) {
        if (amount_in(one, "instances") > 1 || amount_in(several, "instances") < 2) continue;
        EXPECT_LE(amount_in(one, "step_seconds"), 1.001 * amount_in(several, "step_seconds"));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace rightsize::app
