// Compares the simulator's prefix cache with a simple reference, and tests properties for any traffic.
#include <list>
#include <unordered_map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/continuous_batching.h"
#include "sim/sessions.h"

namespace rightsize::sim {
namespace {

constexpr std::int32_t kBlock = 64;

StepCost usual_cost() { return {.base = 6e6, .prefill = 15e3, .sequence = 20e3, .context = 4}; }

ContinuousServer caching_server(int replicas, std::int64_t kv_tokens, std::int64_t block = kBlock) {
  ContinuousServer server;
  server.replicas.assign(static_cast<std::size_t>(replicas), usual_cost());
  server.batching.kv_tokens = kv_tokens;
  server.batching.cache_block = block;
  return server;
}

// Prompts of whole blocks that share beginnings, `gap` nanoseconds apart.
std::shared_ptr<const Trace> block_trace(std::uint64_t seed, int requests, SimTime gap, std::int32_t output) {
  Random random(seed);
  const auto below = [&](double n) { return static_cast<std::size_t>(random.uniform() * n); };
  Trace trace;
  trace.has_tokens = true;
  Prompts prompts;
  std::vector<std::vector<Segment>> open(3);
  const auto grow = [&](std::vector<Segment>& to) { to.push_back({prompts.chains++, kBlock}); };
  for (std::vector<Segment>& beginning : open)
    for (std::size_t n = 1 + below(6); n > 0; --n) grow(beginning);
  for (int i = 0; i < requests; ++i) {
    std::vector<Segment> next = open[below(static_cast<double>(open.size()))];
    for (std::size_t n = below(4); n > 0; --n) grow(next);
    prompts.add(next);
    trace.arrivals.push_back({.at = i * gap,
                              .size = static_cast<std::int32_t>(next.size()) * kBlock,
                              .output = output,
                              .prompt = static_cast<std::uint32_t>(i + 1)});
    if (next.size() < 20 && random.uniform() < 0.7) open.push_back(std::move(next));
    if (open.size() > 40) open.erase(open.begin() + 3);
  }
  trace.prompts = std::make_shared<const Prompts>(std::move(prompts));
  return std::make_shared<const Trace>(std::move(trace));
}

// Tokens found by a cache of `room` blocks. The last token of a prompt is always computed.
std::uint64_t hits_by_force(const Trace& trace, std::size_t room) {
  std::list<std::uint32_t> order;
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> at;
  std::uint64_t hits = 0;
  for (const Arrival& arrival : trace.arrivals) {
    const std::span<const Segment> blocks = trace.prompts->of(arrival.prompt);
    for (std::size_t i = 0; i + 1 < blocks.size() && at.contains(blocks[i].chain); ++i) hits += kBlock;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (const auto found = at.find(block->chain); found != at.end()) order.erase(found->second);
      order.push_front(block->chain);
      at[block->chain] = order.begin();
    }
    while (order.size() > room) at.erase(order.back()), order.pop_back();
  }
  return hits;
}

LatencyProfile run_of(const ContinuousServer& server, const std::shared_ptr<const Trace>& trace) {
  return start_run(server, trace, {}, 1)->to_the_end(trace->arrivals.size());
}

TEST(PrefixCache, HitsEqualThoseOfAReferenceCache) {
  constexpr SimTime kApart = 1'000'000'000;  // each request leaves before the next one arrives
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto trace = block_trace(seed, 300, kApart, 1);
    for (const std::int64_t room : {25, 40, 80, 200, 5'000}) {
      const LatencyProfile run = run_of(caching_server(1, room * kBlock), trace);
      ASSERT_EQ(run.completed, 300u);
      ASSERT_EQ(run.hit_tokens, hits_by_force(*trace, static_cast<std::size_t>(room))) << seed << ", " << room;
    }
  }
}

TEST(PrefixCache, MoreCacheNeverLowersHits) {
  constexpr SimTime kApart = 1'000'000'000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto trace = block_trace(seed, 300, kApart, 40);
    std::uint64_t before = 0;
    for (const std::int64_t room : {30, 40, 60, 100, 200, 400, 5'000}) {
      const LatencyProfile run = run_of(caching_server(1, room * kBlock), trace);
      ASSERT_GE(run.hit_tokens, before) << seed << ", " << room;
      before = run.hit_tokens;
    }
  }
}

// Under load, with preemptions and evictions while sequences decode, every request completes and all memory returns.
TEST(PrefixCache, ConservesRequestsAndTimeUnderPressure) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto trace = block_trace(seed, 1'000, 2'000'000, 200);
    for (const Routing routing : {Routing::kRandom, Routing::kLeastLoaded, Routing::kPrefixAware}) {
      ContinuousServer server = caching_server(3, 4'000);
      server.batching.routing = routing;
      server.replicas[1].lower_tokens = 10'000, server.replicas[1].load_token = 2e3;
      const LatencyProfile run = run_of(server, trace);
      ASSERT_EQ(run.completed, 1'000u);
      ASSERT_EQ(run.latency_sum, run.presence);
      ASSERT_LT(run.hit_tokens + run.loaded_tokens, run.prompt_tokens);
      ASSERT_GT(run.hit_tokens, 0u);
    }
  }
}

TEST(PrefixCache, AConversationFindsItsEarlierTurns) {
  Sessions sessions{.users = 20, .turns = 5, .system = 512, .turn_in = 128, .turn_out = 64};
  const auto trace = std::make_shared<const Trace>(trace_of(sessions, {.rate = requests_per_s(2), .requests = 2'000}));
  const LatencyProfile run = run_of(caching_server(1, 10'000'000, 1), trace);
  const double upper = repeated_tokens(*trace) / mean_shape(trace, {}).size;
  EXPECT_NEAR(*run.prefix_hit(), upper, 0.02);
  EXPECT_GT(*run.prefix_hit(), 0.75);
  EXPECT_LT(run.ttft[0], run_of(caching_server(1, 10'000'000, 0), trace).ttft[0]);
}

TEST(PrefixCache, RoutingByPrefixFindsMoreThanRandomRouting) {
  Sessions sessions{.users = 200, .turns = 8, .system = 256, .turn_in = 200, .turn_out = 100};
  const auto trace = std::make_shared<const Trace>(trace_of(sessions, {.rate = requests_per_s(8), .requests = 4'000}));
  double hits[2];
  for (const Routing routing : {Routing::kRandom, Routing::kPrefixAware}) {
    ContinuousServer server = caching_server(4, 150'000, 16);
    server.batching.routing = routing;
    hits[routing == Routing::kPrefixAware ? 1 : 0] = *run_of(server, trace).prefix_hit();
  }
  EXPECT_GT(hits[1], hits[0] + 0.1);
}

TEST(PrefixCache, ALowerTierPaysOffOnlyIfLoadingBeatsComputing) {
  Sessions sessions{.users = 100, .turns = 6, .system = 1'000, .turn_in = 300, .turn_out = 150};
  const auto trace = std::make_shared<const Trace>(trace_of(sessions, {.rate = requests_per_s(3), .requests = 3'000}));
  const auto ttft = [&](std::int64_t lower, double load, bool always) {
    ContinuousServer server = caching_server(1, 60'000, 16);
    server.replicas[0].lower_tokens = lower, server.replicas[0].load_token = load;
    server.replicas[0].always_load = always;
    return run_of(server, trace).ttft[0];
  };
  const double none = ttft(0, 0, false);
  EXPECT_LT(ttft(1'000'000, 1.5e3, false), 0.8 * none) << "ten times as fast as computing";
  EXPECT_GT(ttft(1'000'000, 30e3, true), 1.1 * none) << "half as fast";
  EXPECT_DOUBLE_EQ(ttft(1'000'000, 30e3, false), none) << "an engine that compares does not load";
}

TEST(PrefixCache, ASharedTierFindsWhatOtherReplicasComputed) {
  Sessions sessions{.users = 100, .turns = 6, .system = 1'000, .turn_in = 300, .turn_out = 150};
  const auto trace = std::make_shared<const Trace>(trace_of(sessions, {.rate = requests_per_s(8), .requests = 3'000}));
  std::uint64_t loaded[2];
  for (const bool shared : {false, true}) {
    ContinuousServer server = caching_server(4, 60'000, 16);
    for (StepCost& cost : server.replicas) cost.lower_tokens = 100'000, cost.load_token = 1e3;
    server.batching.routing = Routing::kRandom;
    server.batching.shared_lower = shared;
    loaded[shared ? 1 : 0] = run_of(server, trace).loaded_tokens;
  }
  EXPECT_GT(static_cast<double>(loaded[1]), 1.5 * static_cast<double>(loaded[0]));
}

TEST(Sessions, ReadsItsParts) {
  const auto read = parse_sessions("users=2k,turns=6,think=30s,system=1200,turn-in=150,turn-out=300,repeat=yes");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->users, 2000);
  EXPECT_TRUE(read->repeat);
  EXPECT_DOUBLE_EQ(in_requests_per_s(read->rate(seconds(10))), 50);
  for (const char* wrong : {"", "users=5", "users=0,turn-in=1,turn-out=1", "users=5,turn-in=1,turn-out=1,think=x",
                            "user=5,turn-in=1,turn-out=1", "users,turn-in=1,turn-out=1", "repeat=maybe"})
    EXPECT_FALSE(parse_sessions(wrong)) << wrong;
}

TEST(Sessions, KeepTheirRateAndLengths) {
  for (const double fan : {1.0, 3.0}) {
    Sessions sessions{.users = 300, .turns = 4, .system = 100, .turn_in = 50, .turn_out = 20, .fan_out = fan};
    const Trace trace = trace_of(sessions, {.rate = requests_per_s(25), .answer = seconds(1), .requests = 30'000});
    const auto shared = std::make_shared<const Trace>(trace);
    EXPECT_NEAR(in_requests_per_s(*mean_rate(shared)), 25, 1.5);
    SimTime before = 0;
    for (const Arrival& arrival : trace.arrivals) {
      std::int32_t sum = 0;
      for (const Segment& s : trace.prompts->of(arrival.prompt)) sum += s.tokens;
      ASSERT_EQ(sum, arrival.size);
      ASSERT_GE(arrival.at, before);
      before = arrival.at;
    }
    // Turn k has the system prompt, k questions and k-1 turns of answers.
    if (fan == 1) {
      EXPECT_NEAR(mean_shape(shared, {}).size, 100 + 50 * 2.5 + 20 * 1.5, 3);
    }
  }
}

}  // namespace
}  // namespace rightsize::sim
