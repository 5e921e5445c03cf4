// Properties of caps on work that is known by its counters.
#include "diagnose/power_cap.h"

#include <random>

#include <gtest/gtest.h>

#include "perf/constants/sustained_rates.h"

namespace rightsize::diagnose {
namespace {

perf::GpuPower capped_gpu(const char* name) {
  static const perf::Constants kConstants = *perf::load_constants("");
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return perf::gpu_speed(kConstants, **kCatalog.find_gpu(name)).power;
}

struct CountedWork {
  Summary summary;
  TimeShares shares;
};

class RandomCounters {
 public:
  explicit RandomCounters(unsigned seed) : random_(seed) {}
  double share() { return std::uniform_real_distribution<>()(random_); }

  // Shares of the time that add up to 1, and counters that agree with them.
  CountedWork draw(const perf::GpuPower& gpu) {
    CountedWork work;
    double parts[6];
    double sum = 0;
    for (double& part : parts) sum += part = -std::log(1 - share());
    TimeShares& s = work.shares;
    double* into[6] = {&s.compute, &s.memory, &s.transfer, &s.launch, &s.stall, &s.wait};
    for (int i = 0; i < 6; ++i) *into[i] = parts[i] / sum;
    s.overlap = std::min(s.compute, s.memory) * share();
    OnOff turns;
    turns.idle_share = s.wait * share();
    work.summary.on_off = turns;
    set(work.summary, Metric::kTensorActive, s.compute);
    set(work.summary, Metric::kDramActive, s.memory);
    set(work.summary, Metric::kPower, in_watts(gpu.idle + (gpu.limit - gpu.idle) * share()));
    return work;
  }

  static void set(Summary& summary, Metric metric, double mean) { summary.set(metric, {mean, mean, mean, mean}); }

 private:
  std::mt19937 random_;
};

constexpr const char* kCappedGpus[] = {"h100-sxm", "a100-80gb-sxm", "l40s", "b200-sxm", "t4"};

TEST(PowerCap, LowerCapsNeverSpeedWorkUpAndNeverDrawMore) {
  RandomCounters counters(1);
  int slowed = 0;
  for (int i = 0; i < 400; ++i) {
    const perf::GpuPower gpu = capped_gpu(kCappedGpus[i % 5]);
    const CountedWork counted = counters.draw(gpu);
    const std::optional<PoweredWork> work = powered_work(counted.summary, counted.shares, gpu);
    if (!work) continue;
    CapEffect last = under_cap(*work, gpu.limit);
    for (double share : {0.9, 0.8, 0.7, 0.6, 0.5}) {
      const CapEffect effect = under_cap(*work, gpu.limit * share);
      EXPECT_GE(effect.time, last.time - 1e-6);
      const Watts drawn = work->drawn * (effect.energy / effect.time);
      EXPECT_LE(drawn, work->drawn * 1.0001);
      // Only the slowest clock may draw more than the cap.
      const bool slowest = effect.time > 3;
      EXPECT_TRUE(slowest || drawn <= gpu.limit * share * 1.001 || drawn <= gpu.idle * 1.5) << in_watts(drawn);
      last = effect;
    }
    if (last.time > 1.01) ++slowed;
  }
  EXPECT_GT(slowed, 50);
}

// Work without arithmetic keeps its speed while the clock stays above half of the highest.
TEST(PowerCap, MemoryBoundWorkLosesNothingAndComputeBoundWorkDoes) {
  for (const char* name : kCappedGpus) {
    const perf::GpuPower gpu = capped_gpu(name);
    const auto time_of = [&](double compute, double memory) {
      Summary summary;
      summary.on_off = OnOff{};
      RandomCounters::set(summary, Metric::kTensorActive, compute);
      RandomCounters::set(summary, Metric::kDramActive, memory);
      RandomCounters::set(summary, Metric::kPower, in_watts(gpu.limit * 0.9));
      TimeShares shares;
      shares.compute = compute, shares.memory = memory;
      return under_cap(*powered_work(summary, shares, gpu), gpu.limit * 0.75).time;
    };
    EXPECT_NEAR(time_of(0, 1), 1, 1e-6) << name;
    EXPECT_GT(time_of(1, 0), 1.03) << name;
  }
}

TEST(PowerCap, TheBestCapSavesEnergyWithinTheAllowedTime) {
  RandomCounters counters(2);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const perf::GpuPower gpu = capped_gpu(kCappedGpus[i % 5]);
    std::vector<WeightedWork> works;
    for (int n = 0; n < 3; ++n) {
      const CountedWork counted = counters.draw(gpu);
      if (const auto work = powered_work(counted.summary, counted.shares, gpu))
        works.push_back({*work, joules(1 + counters.share())});
    }
    const double most = 1 + 0.2 * counters.share();
    const std::optional<CapEffect> best = best_cap(works, most);
    if (!best) continue;
    ++found;
    EXPECT_LE(best->time, most);
    EXPECT_LT(best->energy, 0.99);
    for (double share : {0.95, 0.85, 0.7, 0.55}) {
      const CapEffect other = under_cap(works, gpu.limit * share);
      if (other.time <= most) {
        EXPECT_GE(other.energy, best->energy - 1e-9);
      }
    }
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace rightsize::diagnose
