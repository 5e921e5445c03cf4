// Random small models on shared GPUs, compared with a simulation, with a GPU for each, and with their limits.
#include "sharing/sharing.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sharing/latency.h"

namespace rightsize::sharing {
namespace {

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

Tenant random_tenant(Random& random) {
  const char* const kinds[] = {"", "decode", "vision", "prefill", "train"};
  Tenant t;
  t.memory = gib(between(random, 1, 30));
  t.weights = t.memory * between(random, 0.5, 1);
  t.rate = std::exp(between(random, std::log(0.001), std::log(20)));
  t.service = seconds(std::min(2.0, between(random, 0.01, 0.4) / t.rate));
  t.busy = t.rate * in_seconds(*t.service);
  t.headroom = 0.2;
  t.kind = kinds[std::min(4, static_cast<int>(random.uniform() * 5))];
  if (random.uniform() < 0.7) t.limit = *t.service * std::exp(between(random, std::log(2), std::log(2000)));
  if (random.uniform() < 0.4) t.base = "base", t.adapter = mib(100);
  return t;
}

Demand random_demand(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Demand demand;
  demand.gpus = {{gib(80), 3, gb_per_s(50)}, {gib(48), 1.2, gb_per_s(25)}};
  demand.tenants.resize(2);
  for (std::size_t i = 0; i < count; ++i) {
    Tenant t = random_tenant(random);
    demand.tenants[0].push_back(t);
    t.service = *t.service * 2;
    t.busy *= 2;
    demand.tenants[1].push_back(t);
    demand.together.push_back(-1);
  }
  return demand;
}

TEST(Sharing, NeverCostsMoreThanOwnGpusOrOneMechanismForAll) {
  int cheaper = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Demand demand = random_demand(seed, 4 + seed % 9);
    const std::vector<Group> candidates = propose(demand);
    const SharingPlan mixed = *cheapest(candidates, demand.count());
    std::vector<Group> own;
    for (const Group& group : candidates) {
      if (group.how == Mechanism::kOwnGpu) own.push_back(group);
    }
    const SharingPlan each = *cheapest(own, demand.count());
    EXPECT_LE(mixed.unplaced.size(), each.unplaced.size());
    if (mixed.unplaced.size() < each.unplaced.size()) continue;
    EXPECT_LE(mixed.usd_per_hour, each.usd_per_hour + 1e-9);
    cheaper += mixed.usd_per_hour < 0.99 * each.usd_per_hour ? 1 : 0;
    for (const Mechanism how : {Mechanism::kMps, Mechanism::kTimeSlicing, Mechanism::kSleep, Mechanism::kLora}) {
      std::vector<Group> some = own;
      for (const Group& group : candidates) {
        if (group.how == how) some.push_back(group);
      }
      EXPECT_LE(mixed.usd_per_hour, cheapest(some, demand.count())->usd_per_hour + 1e-9);
    }
  }
  EXPECT_GT(cheaper, 10);
}

TEST(Sharing, EveryReplicaRunsOnceAndMeetsItsLimit) {
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    SCOPED_TRACE(seed);
    const Demand demand = random_demand(seed, 10);
    const SharingPlan plan = *cheapest(propose(demand), demand.count());
    std::vector<int> placed(demand.count(), 0);
    for (std::size_t r : plan.unplaced) ++placed[r];
    for (const Group& group : plan.groups) {
      ASSERT_EQ(group.tenants.size(), group.served.size());
      for (std::size_t i = 0; i < group.tenants.size(); ++i) {
        ++placed[group.tenants[i]];
        const Tenant& t = demand.tenants[group.gpu][group.tenants[i]];
        EXPECT_TRUE(group.served[i].meets);
        if (t.limit) {
          EXPECT_LE(*group.served[i].p95, *t.limit * (1 + 1e-6));
        }
      }
    }
    EXPECT_EQ(std::ranges::count(placed, 1), static_cast<std::ptrdiff_t>(demand.count()));
  }
}

TEST(Sharing, NeighboursAndWakeUpsNeverMakeAModelFaster) {
  int compared = 0;
  for (std::uint64_t seed = 200; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Demand demand = random_demand(seed, 6);
    for (const Group& group : propose(demand)) {
      if (group.how == Mechanism::kLora) continue;  // one process: its requests have a different length
      for (std::size_t i = 0; i < group.tenants.size(); ++i) {
        const Served best = alone(demand.tenants[group.gpu][group.tenants[i]]);
        EXPECT_GE(in_seconds(*group.served[i].p95), in_seconds(*best.p95) * (1 - 1e-5)) << name_of(group.how);
        EXPECT_GE(group.served[i].busy, best.busy * (1 - 1e-9));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(Sharing, MoreNeighboursNeverMakeAModelFaster) {
  for (std::uint64_t seed = 300; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Tenant> tenants;
    for (int i = 0; i < 5; ++i) {
      tenants.push_back(random_tenant(random));
      tenants.back().limit.reset();
      tenants.back().memory = gib(2);
    }
    std::vector<const Tenant*> group;
    double before = 0;
    for (const Tenant& t : tenants) {
      group.push_back(&t);
      const std::optional<Group> made = evaluate(Mechanism::kMps, group, {gib(80), 1, gb_per_s(50)});
      if (!made) break;
      EXPECT_GE(in_seconds(*made->served[0].p95), 0.99 * before);  // delays are rounded to steps
      before = in_seconds(*made->served[0].p95);
    }
  }
}

TEST(Sharing, InterferenceIsASlowdown) {
  for (const Mechanism how : {Mechanism::kMps, Mechanism::kTimeSlicing, Mechanism::kSleep}) {
    std::vector<std::string> kinds = known_kinds();
    kinds.emplace_back();
    for (const std::string& a : kinds) {
      for (const std::string& b : kinds) {
        EXPECT_GT(speed_beside(how, a, b), 0) << a << " beside " << b;
        EXPECT_LT(speed_beside(how, a, b), 1) << a << " beside " << b;
      }
    }
  }
  EXPECT_LT(lora_speed(), 1);
}

// Each model serves its requests one by one; a model's speed is lower while others are busy. Time advances in events.
struct Simulated {
  const Tenant* tenant;
  std::queue<double> waiting;  // arrival times; the front one is served
  double left = 0, next = 0;
  std::vector<double> latencies = {};
};

void simulate(Mechanism how, std::vector<Simulated>& models, Random& random, int requests) {
  const auto gap = [&](const Tenant& t) { return -std::log(1 - random.uniform()) / t.rate; };
  for (Simulated& m : models) m.next = gap(*m.tenant);
  double now = 0;
  std::vector<std::vector<double>> delay(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const Simulated& other : models)
      delay[i].push_back(1 / speed_beside(how, models[i].tenant->kind, other.tenant->kind) - 1);
  }
  const auto speed = [&](std::size_t i) {
    double slower = 1;
    for (std::size_t j = 0; j < models.size(); ++j) {
      if (j != i && !models[j].waiting.empty()) slower += delay[i][j];
    }
    return 1 / slower;
  };
  const auto done = [&] {
    return std::ranges::all_of(
        models, [&](const Simulated& m) { return m.latencies.size() >= static_cast<std::size_t>(requests); });
  };
  while (!done()) {
    double step = INFINITY;
    std::vector<double> speeds;
    for (std::size_t i = 0; i < models.size(); ++i) {
      speeds.push_back(speed(i));
      step = std::min(step, models[i].next - now);
      if (!models[i].waiting.empty()) step = std::min(step, models[i].left / speeds[i]);
    }
    now += step;
    for (std::size_t i = 0; i < models.size(); ++i) {
      Simulated& m = models[i];
      if (!m.waiting.empty()) {
        m.left -= step * speeds[i];
        if (m.left <= 1e-12) {
          m.latencies.push_back(now - m.waiting.front());
          m.waiting.pop();
          m.left = in_seconds(*m.tenant->service);
        }
      }
      if (m.next <= now) {
        if (m.waiting.empty()) m.left = in_seconds(*m.tenant->service);
        m.waiting.push(m.next);
        m.next = now + gap(*m.tenant);
      }
    }
  }
}

TEST(Sharing, PredictedLatencyCoversASimulation) {
  int short_by = 0, compared = 0;
  double ratios = 0;
  for (std::uint64_t seed = 500; seed < 540; ++seed) {
    Random random(seed);
    std::vector<Tenant> tenants;
    for (int i = 0; i < 3; ++i) {
      Tenant t = random_tenant(random);
      t.limit.reset();
      t.memory = gib(5);
      t.rate = between(random, 0.3, 3);
      t.service = seconds(between(random, 0.02, 0.25) / t.rate);
      t.busy = t.rate * in_seconds(*t.service);
      tenants.push_back(t);
    }
    std::vector<const Tenant*> group;
    std::vector<Simulated> models;
    for (const Tenant& t : tenants) group.push_back(&t), models.push_back({&t, {}});
    for (const Mechanism how : {Mechanism::kMps, Mechanism::kTimeSlicing}) {
      const std::optional<Group> made = evaluate(how, group, {gib(80), 1, gb_per_s(50)});
      if (!made) continue;
      for (Simulated& m : models) m.latencies.clear(), m.waiting = {};
      simulate(how, models, random, 1000);
      for (std::size_t i = 0; i < models.size(); ++i) {
        std::vector<double>& all = models[i].latencies;
        std::ranges::sort(all);
        const double p95 = all[all.size() * 95 / 100], predicted = in_seconds(*made->served[i].p95);
        ratios += predicted / p95;
        short_by += predicted < 0.85 * p95 ? 1 : 0;
        ++compared;
      }
    }
  }
  ASSERT_GT(compared, 60);
  EXPECT_LT(short_by, compared / 20) << "of " << compared;
  EXPECT_LT(ratios / compared, 2) << "the prediction is too pessimistic to be useful";
}

TEST(RequestTime, QuantilesGrowWithDelaysAndLoad) {
  RequestTime plain(1), delayed(1);
  delayed.add(0.2, 3);
  EXPECT_NEAR(plain.quantile(0.95, 0), 1, 1e-3);
  EXPECT_NEAR(delayed.quantile(0.95, 0), 4, 0.02);
  EXPECT_NEAR(delayed.quantile(0.5, 0), 1, 1e-3);
  EXPECT_GT(plain.quantile(0.95, 0.8), plain.quantile(0.95, 0.3));
  EXPECT_TRUE(std::isinf(plain.quantile(0.95, 1)));
}

}  // namespace
}  // namespace rightsize::sharing
