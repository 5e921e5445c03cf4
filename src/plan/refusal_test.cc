// Properties of refusals, terms and the user's machines, tested on random requests.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/parse_units.h"
#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/session_rate.h"
#include "plan/test_draws.h"
#include "plan/test_requests.h"
#include "presets/presets.h"

namespace rightsize::plan {
namespace {

Given drawn_work(Draw& draw, bool serve) {
  Given given = {{"gpu", draw.one_of({"l4,l40s,h100-sxm", "a100-80gb-sxm,rtx-4090", "h200-sxm,l4"})}, {"top", "3"}};
  if (serve)
    given.insert(given.end(), {{"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "bert-large"})},
                               {"job", "serve"},
                               {"rate", draw.whole(1, 40) + "/s"},
                               {"ttft-slo", draw.whole(50, 2000) + "ms"}});
  else
    given.insert(given.end(), {{"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "qwen2.5-1.5b"})},
                               {"tokens", draw.whole(1e8, 5e9)},
                               {"method", draw.one_of({"full", "lora"})},
                               {"max-gpus", "16"}});
  return given;
}

// A limit that the best plan of the request misses.
Request too_tight(Request request, const Plan& best, Draw& draw) {
  const double share = draw.between(0.05, 0.6);
  const std::string limit = draw.one_of({"budget", "budget", "power", "other"});
  if (limit == "budget") request.limits.budget = best.cost * share;
  if (limit == "power" && best.power > Watts{}) request.limits.power = best.power * share;
  if (limit != "other") return request;
  if (request.work.kind == WorkKind::kServing)
    request.limits.ttft = best.ttft * share;
  else
    request.limits.deadline = best.elapsed() * share;
  return request;
}

void set_to_need(const Shortfall& s, PlanLimits& limits) {
  constexpr double kRounding = 1 + 1e-9;
  if (s.kind == Shortfall::Kind::kSloAlone)
    (s.slos.front().quantity == capacity::Quantity::kTpot ? limits.tpot : limits.ttft) = s.need_time;
  else if (s.have_time > Seconds{})
    limits.deadline = s.need_time * kRounding;
  if (s.have_cost > Usd{}) limits.budget = s.need_cost * kRounding;
  if (s.have_power > Watts{}) limits.power = s.need_power * kRounding;
}

bool exceeds(const Shortfall& s) {
  using Kind = Shortfall::Kind;
  switch (s.kind) {
    case Kind::kDeadline:
    case Kind::kSloAlone:
      return s.need_time > s.have_time;
    case Kind::kBudget:
      return s.need_cost > s.have_cost;
    case Kind::kPower:
      return s.need_power > s.have_power || s.need_power == Watts{};
    case Kind::kMemory:
      return s.need_bytes > s.have_bytes;
    case Kind::kGpus:
    case Kind::kReplicas:
      return s.need_gpus > s.have_gpus;
    default:
      return true;
  }
}

// What a refusal says that a GPU needs exceeds the limit, and a request with that limit succeeds on the GPU.
TEST(RandomRefusals, NeedsExceedTheLimitsAndMeetingThemSucceeds) {
  int refused = 0, settled = 0;
  for (int i = 0; i < 2 * requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Given settings = drawn_work(draw, i % 2 == 0);
    SCOPED_TRACE(shown(settings));
    Request free = request_of(settings);
    free.plans_only = true;
    const Recommendation open = recommend(free, built_in_prices(), built_in_constants());
    if (open.plans.empty()) continue;
    Request request = too_tight(free, open.plans.front(), draw);
    request.plans_only = false;
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    if (!found.plans.empty()) continue;
    ++refused;
    for (const Rejection& row : found.rejected) {
      if (row.partly || row.stage == RejectionStage::kPrice) continue;
      const Shortfall& s = row.nearest;
      EXPECT_TRUE(exceeds(s)) << row.gpu << ", stage " << name_of(row.stage);
      EXPECT_FALSE(s.kind == Shortfall::Kind::kBudget && !row.settled) << "no plan costs this: " << row.gpu;
      if (!row.settled || (s.kind == Shortfall::Kind::kPower && s.need_power == Watts{})) continue;
      Request met = request;
      met.plans_only = true;
      met.filter.gpus = {row.gpu};
      set_to_need(s, met.limits);
      EXPECT_FALSE(recommend(met, built_in_prices(), built_in_constants()).plans.empty())
          << row.gpu << " needs " << in_usd(s.need_cost) << " USD, " << in_hours(s.need_time) << " h, "
          << in_watts(s.need_power) << " W";
      ++settled;
    }
  }
  EXPECT_GT(refused, requests_to_try() / 2);
  EXPECT_GT(settled, refused / 2);
}

// Every change that a refusal offers leads to its plan.
TEST(Refusals, NameTheFlagThatWasGiven) {
  const Request request = request_of({{"model", "sdxl"},
                                      {"job", "serve"},
                                      {"rate", "3000/d"},
                                      {"latency-slo", "1s"},
                                      {"gpu", "a40,l4,rtx-4090"},
                                      {"allow-single", "yes"}});
  ASSERT_TRUE(request.limits.ttft_is_latency);
  for (const PossibleChange& change : possible_changes(request))
    EXPECT_EQ(change.flags.find("ttft"), std::string::npos) << change.flags;
}

// A budget of exactly the cost of a plan allows it, also where formulas alone would count more machines.
TEST(RandomRequests, ABudgetOfTheCostIsEnough) {
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Given settings = drawn_work(draw, true);
    if (i % 4 == 0)
      settings = {
          {"model", "llama-3.1-8b"},
          {"job", "serve"},
          {"gpu", "h100-sxm,l40s"},
          {"ttft-slo", "2s"},
          {"sessions", "users=" + draw.whole(50, 300) + ",turns=10,think=10s,system=4000,turn-in=500,turn-out=200"}};
    SCOPED_TRACE(shown(settings));
    Request request = request_of(settings);
    request.plans_only = true;
    const Recommendation open = recommend(request, built_in_prices(), built_in_constants());
    if (open.plans.empty()) continue;
    request.limits.budget = open.plans.front().cost * (1 + 1e-9);
    const Recommendation within = recommend(request, built_in_prices(), built_in_constants());
    ASSERT_FALSE(within.plans.empty());
    EXPECT_LE(within.plans.front().cost, *request.limits.budget);
  }
}

Given conversations(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.1-8b", "gpt-oss-120b"})},
          {"job", "serve"},
          {"ttft-slo", draw.whole(800, 3000) + "ms"},
          {"tpot-slo", draw.whole(12, 40) + "ms"},
          {"sessions", "users=" + draw.whole(100, 600) + ",turns=10,think=10s,system=4000,turn-in=700,turn-out=250"}};
}

Given drawn_batch(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.1-8b", "qwen3-30b-a3b", "bge-m3"})},
          {"job", "serve"},
          {"items", draw.whole(1e5, 1e7)},
          {"purchase", draw.one_of({"on-demand", "on-demand,spot", "on-demand,1y"})},
          {"regions", draw.one_of({"us", "eu"})}};
}

// The offered budget is what the nearest GPU needs. It is enough, and a dollar less is not, whatever the price and the
// evidence of its plan.
TEST(RandomRefusals, TheOfferedBudgetIsTheLeastThatIsEnough) {
  int offered = 0;
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Given settings = i % 8 == 7 ? conversations(draw) : i % 4 == 3 ? drawn_batch(draw) : drawn_work(draw, i % 2 == 0);
    if (i % 3 == 0) std::erase_if(settings, [](const auto& setting) { return setting.first == "gpu"; });
    SCOPED_TRACE(shown(settings));
    const Request asked = request_of(settings);
    const auto with_budget = [&](double dollars, bool plans_only) {
      Request request = asked;
      request.plans_only = plans_only;
      request.limits.budget = usd(dollars);
      return recommend(settled(request, built_in_prices(), built_in_constants()), built_in_prices(),
                       built_in_constants());
    };
    const Recommendation open = with_budget(1e9, true);
    if (open.plans.empty()) continue;
    const double budget = in_usd(open.best()->cost) * draw.between(0.1, 0.9);
    const Recommendation refused = with_budget(budget, false);
    if (!refused.plans.empty() || budget < 1) continue;
    const auto larger = std::ranges::find(refused.changes, RequestChangeKind::kNoBudget, &RequestChange::kind);
    ASSERT_NE(larger, refused.changes.end());
    const double enough = std::stod(larger->flags.substr(std::string("--budget ").size()));
    const Recommendation then = with_budget(enough, true);
    ASSERT_FALSE(then.plans.empty()) << larger->flags;
    EXPECT_LE(in_usd(then.best()->cost), enough + 0.01);
    const Recommendation less = with_budget(enough - 1, true);
    EXPECT_TRUE(less.plans.empty()) << in_usd(less.best()->cost) << " instead of " << larger->flags;
    EXPECT_LE(in_usd(refused.rejected.front().nearest.need_cost), enough + 0.01) << refused.rejected.front().gpu;
    ++offered;
  }
  EXPECT_GT(offered, requests_to_try() / 3);
}

Given tight_service(Draw& draw) {
  const std::string model = draw.one_of({"sdxl", "llama-3.1-8b", "bge-m3", "qwen3-30b-a3b"});
  Given given = {{"model", model},
                 {"job", "serve"},
                 {"gpu", draw.one_of({"l4,l40s", "a100-80gb-sxm,rtx-4090", "h100-sxm,l40s"})},
                 {"rate", draw.whole(1, 20) + (model == "sdxl" ? "000/d" : "/s")}};
  const bool tokens = model != "sdxl" && model != "bge-m3";
  if (!tokens) given.emplace_back("latency-slo", draw.whole(5, 60) + "ms");
  if (tokens) given.emplace_back("ttft-slo", draw.whole(2, 40) + "ms");
  if (tokens && draw.one_of({"one", "two"}) == "two") given.emplace_back("tpot-slo", draw.whole(1, 4) + "ms");
  return given;
}

// Where no latency limit is met, with or without a budget, the refusal offers limits that are met, however far they
// are, and clearly shorter ones are not.
TEST(RandomRefusals, TheOfferedLatencyIsTheLeastThatIsEnough) {
  int offered = 0;
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Request request = request_of(tight_service(draw));
    if (i % 2 == 0) request.limits.budget = usd(draw.between(1000, 20'000));
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    if (!found.plans.empty()) continue;
    for (const RequestChange& change : found.changes) {
      const bool all = change.kind == RequestChangeKind::kLongerLimits;
      if (!all && !extends(change.kind)) continue;
      SCOPED_TRACE(change.flags);
      const auto with_limits = [&](double factor) {
        Request longer = request;
        longer.plans_only = true;
        std::istringstream flags(change.flags);
        for (std::string flag, value; flags >> flag >> value;) {
          const Seconds limit = *parse_duration(value) * factor;
          (flag == "--tpot-slo" ? longer.limits.tpot : longer.limits.ttft) = limit;
        }
        return recommend(longer, built_in_prices(), built_in_constants());
      };
      const Recommendation then = with_limits(1);
      ASSERT_FALSE(then.plans.empty());
      EXPECT_NEAR(in_usd(then.best()->cost), in_usd(change.plan.cost), 0.02 * in_usd(change.plan.cost));
      EXPECT_TRUE(with_limits(0.75).plans.empty());
      ++offered;
    }
  }
  EXPECT_GT(offered, requests_to_try() / 3);
}

// More terms, providers and regions never cost more.
TEST(RandomRequests, MoreTermsProvidersAndRegionsCostNoMore) {
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Given settings = i % 4 == 0 ? conversations(draw) : drawn_work(draw, i % 4 == 3);
    SCOPED_TRACE(shown(settings));
    Request request = request_of(settings);
    request.filter.gpus.clear();
    request.plans_only = true;
    Request more = request;
    if (i % 3 == 0) more.filter.purchases.push_back(catalog::Purchase::kSpot);
    if (i % 3 == 1) request.filter.providers = {"aws", "gcp", "lambda", "nebius"};
    if (i % 3 == 2) request.filter.regions = {"us"};
    const Recommendation few = recommend(request, built_in_prices(), built_in_constants());
    const Recommendation all = recommend(more, built_in_prices(), built_in_constants());
    if (few.plans.empty()) continue;
    ASSERT_FALSE(all.plans.empty());
    const bool as_sound = all.best()->price.may_lead() == few.best()->price.may_lead();
    const double tie = request.work.kind == WorkKind::kServing || i % 3 > 0 ? 1.02 : 1;
    EXPECT_TRUE(!as_sound || all.best()->ranked_cost <= tie * few.best()->ranked_cost)
        << in_usd(all.best()->cost) << " instead of " << in_usd(few.best()->cost);
  }
}

// The first plan of other terms is the one that a request for those terms alone gets.
TEST(RandomRequests, OtherTermsAreTheFirstPlanOfTheirOwnRequest) {
  int compared = 0;
  for (int i = 0; i < requests_to_try() / 2; ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Given settings = drawn_work(draw, i % 2 == 0);
    SCOPED_TRACE(shown(settings));
    Request request = request_of(settings);
    request.filter.purchases = {catalog::Purchase::kOnDemand, catalog::Purchase::kSpot};
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    for (const Plan& other : found.other_terms) {
      if (other.extrapolated) continue;
      Request alone = request;
      alone.plans_only = true;
      alone.filter.purchases = {other.offer.price->purchase};
      const Recommendation own = recommend(alone, built_in_prices(), built_in_constants());
      ASSERT_FALSE(own.plans.empty());
      EXPECT_NEAR(in_usd(other.cost), in_usd(own.best()->cost), 0.02 * in_usd(other.cost));
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

// A later deadline that saves money is the least that does, in whole hours or tenths of days, and leads to its plan.
TEST(RandomRequests, OfferedDeadlinesAreShortAndLeadToTheirPlan) {
  int offered = 0;
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Given settings = drawn_work(draw, false);
    settings.emplace_back("deadline", draw.whole(4, 400) + "h");
    SCOPED_TRACE(shown(settings));
    const Recommendation found = recommend(request_of(settings), built_in_prices(), built_in_constants());
    for (const RequestChange& change : found.changes) {
      if (change.kind != RequestChangeKind::kLaterDeadline || found.plans.empty()) continue;
      if (change.plan.cost > found.best()->cost * 0.9) continue;
      settings.back().second = change.flags.substr(std::string("--deadline ").size());
      Request later = request_of(settings);
      later.plans_only = true;
      EXPECT_LE(in_usd(recommend(later, built_in_prices(), built_in_constants()).best()->cost),
                in_usd(change.plan.cost) * (1 + 1e-9));
      EXPECT_LE(in_seconds(*later.limits.deadline),
                in_seconds(change.plan.elapsed() * change.plan.speed.high) * 1.02 + 3600);
      ++offered;
    }
  }
  EXPECT_GT(offered, 0);
}

// The verdict is clear only if the whole range of the first plan keeps the deadline and the budget, and its price is
// not old with one source.
TEST(RandomRequests, AClearVerdictHasNoRiskLeft) {
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Request request = request_of(drawn_work(draw, i % 2 == 0));
    request.plans_only = true;
    const Recommendation open = recommend(request, built_in_prices(), built_in_constants());
    if (open.plans.empty()) continue;
    const double room = draw.between(1.001, 2);
    (i % 4 < 2) ? void(request.limits.budget = open.best()->cost * room)
                : void(request.limits.deadline = open.best()->elapsed() * room);
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    if (found.plans.empty() || found.decision() != Decision::kClear) continue;
    const Plan& first = *found.best();
    EXPECT_FALSE(first.has_old_price());
    EXPECT_TRUE(!request.limits.budget || !first.interval_known || first.cost_high <= *request.limits.budget);
    EXPECT_TRUE(request.work.kind == WorkKind::kServing || keeps_limits_if_slow(request, first));
  }
}

// The cost of the user's machines is their purchase price over the hours in use and the plan's energy at its price.
TEST(RandomRequests, OwnMachinesCostTheirPurchaseAndTheirEnergy) {
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    Given settings = drawn_work(draw, i % 2 == 0);
    settings[0] = {"on-prem", draw.one_of({"8xh100-sxm=250000USD", "4xl40s=60000USD", "8xa100-80gb-sxm"})};
    settings.insert(settings.end(), {{"on-prem-machines", "2"}, {"kwh-price", draw.one_of({"0.05", "0.18", "0.4"})}});
    const std::string hours = draw.one_of({"24", "10", "6"});
    const bool off_at_night = i % 2 == 0 && hours != "24";
    if (off_at_night) settings.emplace_back("hours-per-day", hours);
    SCOPED_TRACE(shown(settings));
    Request request = request_of(settings);
    request.filter.providers = {market::kOwn};
    request.plans_only = true;
    catalog::Catalog catalog = built_in_catalog();
    ASSERT_TRUE(market::add_own_hardware(catalog, request.own));
    const market::PriceBook book(catalog);
    const market::OwnHardware& own = request.own.front();
    for (const Plan& p : recommend(request, book, built_in_constants()).plans) {
      const double purchase = in_usd(own.price) / (own.years * 8760 * own.busy) * p.machines * in_hours(p.time.total());
      const double electricity = p.energy_kwh() * own.usd_per_kwh;
      const double share = off_at_night ? std::stod(hours) / 24 : 1;  // a service draws power while it has traffic
      EXPECT_NEAR(p.energy_kwh(), in_watts(p.power) * p.pue * in_hours(p.time.total()) * share / 1e3,
                  0.001 * p.energy_kwh());
      EXPECT_NEAR(in_usd(p.cost), purchase + electricity, 1e-6 * in_usd(p.cost) + 0.01);
      EXPECT_NEAR(in_usd(*p.electricity), electricity, 1e-6 * in_usd(p.cost) + 0.01);
      EXPECT_NEAR(in_usd(p.rate() * p.time.total()), in_usd(p.cost), 1e-6 * in_usd(p.cost) + 0.01);
      EXPECT_EQ(terms_name(p.offer), "own");
    }
  }
}

// Conversations that the context would end early are refused, with one that fits and, where listed, a longer model.
RC_GTEST_PROP(BeyondContext, ConversationsFitOrAreRefused, ()) {
  const std::string model = *rc::gen::element<std::string>("qwen3-30b-a3b", "qwen3-235b-a22b", "llama-3.1-8b");
  sim::Sessions sessions;
  sessions.users = *rc::gen::inRange(1, 10), sessions.turns = *rc::gen::inRange(1, 60);
  sessions.think = seconds(*rc::gen::inRange(0, 90)), sessions.system = *rc::gen::inRange(0, 20'000);
  sessions.turn_in = *rc::gen::inRange(1, 5000), sessions.turn_out = *rc::gen::inRange(1, 900);
  sessions.fan_out = *rc::gen::inRange(1, 3);
  const std::string text = fmt::format("users={},turns={},think={}s,system={},turn-in={},turn-out={},fan-out={}",
                                       sessions.users, sessions.turns, in_seconds(sessions.think), sessions.system,
                                       sessions.turn_in, sessions.turn_out, sessions.fan_out);
  const auto read = [](const std::string& name, const std::string& typed) {
    return read_given({{"model", name}, {"job", "serve"}, {"ttft-slo", "8s"}, {"sessions", typed}});
  };
  const auto found = read(model, text);
  const double need = sessions.system + sessions.turns * sessions.fan_out * (sessions.turn_in + sessions.turn_out);
  RC_ASSERT(found.has_value() == (need <= static_cast<double>(model::find_model(model)->context)));
  if (found) return;
  const std::string longer = "use --model ", fewer = "have fewer turns: --sessions ";
  int ways = 0;
  for (const std::string& hint : found.error().front().hints) {
    if (hint.starts_with(fewer)) {
      sim::Sessions fitting = *sim::parse_sessions(hint.substr(fewer.size()));
      RC_ASSERT(++ways > 0 && read(model, hint.substr(fewer.size())));
      fitting.turns = sessions.turns;
      RC_ASSERT(fitting == sessions);
    }
    if (hint.starts_with(longer))
      RC_ASSERT(++ways > 0 && read(hint.substr(longer.size(), hint.find(',') - longer.size()), text));
  }
  const bool one_fits = need - (sessions.turns - 1) * sessions.fan_out * (sessions.turn_in + sessions.turn_out) <=
                        static_cast<double>(model::find_model(model)->context);
  RC_ASSERT((ways > 0) == one_fits);
}

// Prompts that the context cuts are counted.
TEST(BeyondContext, CountsRequestsThatDoNotFit) {
  const auto share = [](Given given) {
    given.insert(given.end(), {{"job", "serve"}, {"ttft-slo", "8s"}});
    return request_of(given).work.beyond_context;
  };
  const Given long_prompts = {{"rate", "1/s"}, {"isl", "24000"}, {"osl", "800"}};
  Given small = long_prompts, large = long_prompts;
  small.push_back({"model", "qwen2.5-14b"});
  large.push_back({"model", "llama-3.1-8b"});
  EXPECT_GT(share(small), 0.1);
  EXPECT_LT(share(large), 0.02);
}

// A model known only by its name has at least the context that the user gives.
TEST(MaxModelLen, RaisesAnAssumedContext) {
  const Given given = {{"model", "someone/Qwen3-30B-A3B-finetune"}, {"rate", "1/s"}, {"max-model-len", "65536"}};
  EXPECT_EQ(request_of(given).model.context, 65'536);
  EXPECT_FALSE(read_given({{"model", "qwen3-30b-a3b"}, {"rate", "1/s"}, {"max-model-len", "65536"}}));
}

}  // namespace
}  // namespace rightsize::plan
