#include "sim/closed_users.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/continuous_engine.h"
#include "sim/sessions.h"

namespace rightsize::sim {
namespace {

Sessions random_sessions() {
  return {.users = static_cast<double>(*rc::gen::inRange(1, 60)),
          .turns = static_cast<double>(*rc::gen::inRange(1, 8)),
          .think = seconds(*rc::gen::inRange(1, 30)),
          .system = static_cast<double>(*rc::gen::inRange(0, 2) * 200),
          .turn_in = static_cast<double>(*rc::gen::inRange(10, 200)),
          .turn_out = static_cast<double>(*rc::gen::inRange(2, 60)),
          .fan_out = static_cast<double>(*rc::gen::inRange(1, 4))};
}

std::shared_ptr<const Trace> closed_trace(const Sessions& sessions, Seconds answer, std::uint64_t requests) {
  const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1'000'000));
  return std::make_shared<const Trace>(trace_of(sessions, {.rate = sessions.rate(answer),
                                                           .answer = answer,
                                                           .closed = true,
                                                           .requests = requests,
                                                           .in_variation = 0.5,
                                                           .out_variation = 0.5,
                                                           .seed = seed}));
}

RC_GTEST_PROP(ClosedUsers, WithoutServiceTimeArriveAsInTheOpenLoop, ()) {
  const auto trace = closed_trace(random_sessions(), seconds(0), 500);
  ClosedUsers users(*trace->closed);
  std::multiset<std::uint32_t> expected, found;
  const SimTime rounding = to_sim_time(milliseconds(0.001));
  for (const Arrival& open : trace->arrivals) {
    const Arrival closed = users.take();
    users.answered(closed.prompt, closed.at);
    RC_ASSERT(std::abs(closed.at - open.at) <= rounding);
    expected.insert(open.prompt), found.insert(closed.prompt);
  }
  // The last ones may be in a different order.
  std::vector<std::uint32_t> others;
  std::set_symmetric_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                                std::back_inserter(others));
  RC_ASSERT(others.size() <= 8);
}

ContinuousServer random_server() {
  ContinuousServer server;
  server.replicas = {{.base = *rc::gen::inRange(5, 60) * 1e6,
                      .prefill = *rc::gen::inRange(20, 400) * 1e3,
                      .sequence = *rc::gen::inRange(10, 500) * 1e3,
                      .kv_tokens = *rc::gen::inRange(8'000, 60'000)}};
  server.batching = {.token_budget = 2048, .max_sequences = *rc::gen::inRange(1, 20), .cache_block = 16};
  return server;
}

// Arrival times depend on the engine, but the engine treats the same times equally in a closed and an open loop.
RC_GTEST_PROP(ClosedUsers, AreServedAsTheirTimesInAnOpenLoop, ()) {
  constexpr std::uint64_t kRequests = 300;
  const auto trace = closed_trace(random_sessions(), seconds(1), kRequests);
  const ContinuousServer server = random_server();
  ContinuousTotals totals;
  std::vector<ContinuousTotals::Answer> answers;
  totals.answers = &answers;
  ContinuousEngine engine(server.replicas.front(), server.batching, Role::kWhole, totals, nullptr,
                          trace->prompts.get());
  ClosedUsers users(*trace->closed);
  Trace order;
  order.has_tokens = true, order.prompts = trace->prompts, order.warm_up = trace->warm_up;
  const std::uint64_t all = trace->arrivals.size();
  while (order.arrivals.size() < all) {
    const SimTime event = engine.next(), arrival = users.next();
    RC_ASSERT(std::min(event, arrival) != kNever);
    if (event <= arrival) {
      engine.end_step();
      for (const auto& answer : answers) users.answered(answer.prompt, answer.at);
      answers.clear();
    } else {
      order.arrivals.push_back(users.take());
      RC_PRE(std::int64_t{order.arrivals.back().size} + order.arrivals.back().output <= engine.most_tokens());
      engine.arrive(order.arrivals.back(), arrival);
    }
  }
  const LatencyProfile closed = start_run(server, trace, {}, 1)->to_the_end(all);
  const LatencyProfile open = start_run(server, std::make_shared<const Trace>(order), {}, 1)->to_the_end(all);
  RC_ASSERT(closed.completed == open.completed);
  RC_ASSERT(closed.latency_sum == open.latency_sum);
  RC_ASSERT(closed.hit_tokens == open.hit_tokens);
  RC_ASSERT(closed.prompt_tokens == open.prompt_tokens);
}

// Each user is either thinking or waiting: the rate is users over the time of both.
TEST(ClosedUsers, SlowAnswersReduceTheRate) {
  const Sessions sessions{.users = 40, .turns = 4, .think = seconds(5), .system = 100, .turn_in = 50, .turn_out = 30};
  const Trace trace = trace_of(sessions, {.rate = sessions.rate(seconds(1)),
                                          .answer = seconds(1),
                                          .closed = true,
                                          .requests = 8'000,
                                          .out_variation = 0.5});
  for (const double base : {5e6, 40e6, 400e6}) {
    ContinuousServer server;
    server.replicas = {{.base = base, .prefill = 1e5, .sequence = 1e6}};
    server.batching.max_sequences = 8;
    const LatencyProfile run = start_run(server, std::make_shared<const Trace>(trace), {}, 1)->until(8'000);
    const double rate = static_cast<double>(run.completed) / in_seconds(from_sim_time(run.elapsed));
    const double mean = static_cast<double>(run.latency_sum) / static_cast<double>(run.completed) * 1e-9;
    EXPECT_NEAR(rate * (5 + mean) / 40, 1, 0.04) << base;
  }
}

}  // namespace
}  // namespace rightsize::sim
