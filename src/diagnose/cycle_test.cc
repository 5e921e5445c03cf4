// Reinforcement learning is recognized by its cycle; other pauses are not.
#include "diagnose/cycle.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "diagnose/observer.h"
#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

constexpr Level kTraining{0.99, 0.95, 0.35, 0.5, 30, -1, 60};
constexpr Level kGenerating{0.98, 0.9, 0.6, 0.05, 30, -1, 60};
constexpr Level kWaitingHeld{0, 0, 0, 0, 0, 0, 60};

// Phases in order, each with its level and seconds.
class Phases {
 public:
  void add(const Level& level, double length) {
    levels_.push_back(level);
    ends_.push_back(length_ += length);
  }
  std::vector<Sample> recorded(double step) const {
    return record(
        length_,
        [&](double time) {
          const auto at = std::upper_bound(ends_.begin(), ends_.end(), time) - ends_.begin();
          return levels_[std::min(levels_.size() - 1, static_cast<std::size_t>(at))];
        },
        step);
  }

 private:
  std::vector<Level> levels_;
  std::vector<double> ends_;
  double length_ = 0;
};

class RandomPhases {
 public:
  explicit RandomPhases(unsigned seed) : random_(seed) {}
  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>()(random_));
  }
  double exponential(double mean) { return std::exponential_distribution<>(1 / mean)(random_); }
  bool coin() { return random_() % 2 == 0; }
  int count(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }

 private:
  std::mt19937 random_;
};

TEST(Cycle, ATrainerThatWaitsForRolloutsIsRecognizedAndNotIdle) {
  RandomPhases random(1);
  for (int i = 0; i < 60; ++i) {
    const double train = random.between(10, 600), wait = random.between(std::max(10.0, train / 4), 600);
    const int cycles = random.count(8, 16);
    Phases phases;
    Seconds waited;
    double all = 0;
    for (int c = 0; c < cycles; ++c) {
      // Steps differ by a few percent, answers grow slowly, and a step has short pauses.
      const double grown = 1 + 0.02 * c, each = train * random.between(0.9, 1.1),
                   rest = wait * grown * random.between(0.9, 1.1);
      for (int part = 0; part < 4; ++part) {
        phases.add(kTraining, each / 4 - 0.3);
        phases.add(kWaitingHeld, 0.3);
      }
      phases.add(kWaitingHeld, rest);
      waited += seconds(rest), all += each + rest;
    }
    const double step = std::max(0.1, (train + wait) * cycles / 16000);
    Observed observed;
    for (const Sample& sample : phases.recorded(step)) observed.whole.add(sample), observed.series.add(sample);
    static const catalog::Catalog kCatalog = *catalog::load_catalog("");
    const GpuProfile profile = understand(observed, kCatalog, *kCatalog.find_gpu("h100-sxm"), false);
    ASSERT_TRUE(profile.cycle) << "train " << train << " wait " << wait << " cycles " << cycles;
    EXPECT_EQ(profile.cycle->kind, CycleKind::kWaiting);
    EXPECT_NEAR(profile.cycle->wait_share, in_seconds(waited) / all, 0.1);
    EXPECT_EQ(profile.diagnosis.verdict, Verdict::kComputeBound) << name_of(profile.diagnosis.verdict);
    EXPECT_LT(profile.diagnosis.wasted, 0.3) << "its waits are not waste";
  }
}

// Recordings of 8 hours to a day, with a sample per second: averages of several seconds blur the phases.
TEST(Cycle, LongRecordingsOfAWaitingTrainerAreRecognizedAndNotIdle) {
  RandomPhases random(7);
  for (int i = 0; i < 12; ++i) {
    const double train = random.between(10, 400),
                 wait = random.between(std::max(10.0, train / 3), std::min(400.0, 3 * train));
    const double length = 3600 * random.between(8, 24);
    Phases phases;
    double waited = 0, all = 0;
    while (all < length) {
      const double each = train * random.between(0.92, 1.08), rest = wait * random.between(0.92, 1.08);
      phases.add(kTraining, each);
      phases.add(kWaitingHeld, rest);
      waited += rest, all += each + rest;
    }
    Observed observed;
    for (const Sample& sample : phases.recorded(1)) observed.whole.add(sample), observed.series.add(sample);
    static const catalog::Catalog kCatalog = *catalog::load_catalog("");
    const GpuProfile profile = understand(observed, kCatalog, *kCatalog.find_gpu("h100-sxm"), false);
    ASSERT_TRUE(profile.cycle) << "train " << train << " wait " << wait << " hours " << length / 3600;
    EXPECT_EQ(profile.cycle->kind, CycleKind::kWaiting);
    EXPECT_NEAR(profile.cycle->wait_share, waited / all, 0.1);
    EXPECT_LT(profile.diagnosis.wasted, 0.3) << "its waits are not waste";
  }
}

// A day of requests at random times is not a cycle.
TEST(Cycle, LongRecordingsOfIrregularWorkAreNotACycle) {
  RandomPhases random(8);
  for (int i = 0; i < 8; ++i) {
    const double work = random.between(8, 200), gap = random.between(20, 600);
    Phases phases;
    for (double all = 0; all < 3600 * 10;) {
      const double each = 1 + random.exponential(work), rest = 1 + random.exponential(gap);
      phases.add(kTraining, each);
      phases.add(kWaitingHeld, rest);
      all += each + rest;
    }
    Observed observed;
    for (const Sample& sample : phases.recorded(1)) observed.whole.add(sample), observed.series.add(sample);
    static const catalog::Catalog kCatalog = *catalog::load_catalog("");
    EXPECT_FALSE(understand(observed, kCatalog, *kCatalog.find_gpu("h100-sxm"), false).cycle)
        << "work " << work << " gap " << gap;
  }
}

// A metrics server keeps averages of 1 to 5 minutes, as `fleet` reads them; a step that is mostly idle counts as idle.
std::vector<CycleStep> averaged(const std::vector<std::pair<bool, double>>& phases, double step) {
  std::vector<CycleStep> steps;
  double worked = 0, filled = 0;
  for (const auto& [works, length] : phases) {
    for (double left = length; left > 1e-9;) {
      const double part = std::min(left, step - filled);
      worked += works ? part : 0, filled += part, left -= part;
      if (filled < step - 1e-9) continue;
      const double share = worked / step;
      steps.push_back({seconds(step), share > 0.5 ? 0.99 * share : 0, {}, {}, gib(60)});
      worked = filled = 0;
    }
  }
  return steps;
}

TEST(Cycle, AveragesOfMinutesShowWaitsOfATrainerThatAreLongerThanTwoSteps) {
  RandomPhases random(9);
  for (int i = 0; i < 300; ++i) {
    const double step = random.between(60, 300), longest = 1500;
    const double train = random.between(2.5 * step, longest), wait = random.between(2.5 * step, longest);
    std::vector<std::pair<bool, double>> phases;
    const int cycles = random.count(8, 40);
    for (int c = 0; c < cycles; ++c) {
      phases.emplace_back(true, train * random.between(0.92, 1.08));
      phases.emplace_back(false, wait * random.between(0.92, 1.08));
    }
    const auto cycle = find_cycle(averaged(phases, step));
    ASSERT_TRUE(cycle) << "step " << step << " train " << train << " wait " << wait;
    EXPECT_NEAR(cycle->wait_share, wait / (train + wait), 0.1) << step << " " << train << " " << wait;
    EXPECT_NEAR(in_seconds(cycle->period) / (train + wait), 1, 0.2) << step << " " << train << " " << wait;
  }
}

// Training that pauses for evaluation or checkpoints on the host, and requests at random times.
TEST(Cycle, AveragesOfMinutesOfOrdinaryTrainingAreNotACycle) {
  RandomPhases random(10);
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const double step = random.between(60, 300), train = random.between(600, 7200);
    std::vector<std::pair<bool, double>> pauses, requests;
    for (double all = 0; all < 3600 * 24;) {
      const double each = train * random.between(0.95, 1.05), pause = each * random.between(0.01, 0.09);
      pauses.emplace_back(true, each), pauses.emplace_back(false, pause);
      requests.emplace_back(true, random.exponential(600)), requests.emplace_back(false, random.exponential(600));
      all += each + pause;
    }
    EXPECT_FALSE(find_cycle(averaged(pauses, step))) << step << " " << train;
    if (find_cycle(averaged(requests, step))) ++taken;
  }
  EXPECT_LE(taken, 3);
}

TEST(Cycle, GenerationAndTrainingOnTheSameGpusAreRecognized) {
  RandomPhases random(2);
  for (int i = 0; i < 60; ++i) {
    const double train = random.between(8, 300), generate = random.between(8, 600);
    Phases phases;
    const int cycles = random.count(8, 14);
    for (int c = 0; c < cycles; ++c) {
      phases.add(kGenerating, generate * random.between(0.85, 1.15));
      phases.add(kTraining, train * random.between(0.9, 1.1));
    }
    const std::vector<Sample> samples = phases.recorded(std::max(0.1, (train + generate) * cycles / 16000));
    const auto cycle = find_cycle(cycle_steps(samples));
    ASSERT_TRUE(cycle) << "train " << train << " generate " << generate;
    EXPECT_EQ(cycle->kind, CycleKind::kColocated);
    EXPECT_NEAR(in_seconds(cycle->period) / (train + generate), 1, 0.2);
  }
}

// Requests, notebooks and queues leave gaps of any length.
TEST(Cycle, IrregularGapsAreNotACycle) {
  RandomPhases random(3);
  int taken = 0;
  for (int i = 0; i < 200; ++i) {
    const double work = random.between(5, 300), gap = random.between(5, 300);
    Phases phases;
    for (int c = 0; c < 20; ++c) {
      phases.add(random.coin() ? kTraining : kGenerating, random.exponential(work));
      phases.add(kWaitingHeld, random.exponential(gap));
    }
    if (find_cycle(cycle_steps(phases.recorded(0.5)))) ++taken;
  }
  EXPECT_LE(taken, 2);
}

// Data loaders stall for a fraction of a step; checkpoints are rare.
TEST(Cycle, StallsOfDataLoadersAndCheckpointsAreNotACycle) {
  RandomPhases random(4);
  for (int i = 0; i < 100; ++i) {
    Phases stalls, checkpoints;
    const double work = random.between(0.2, 20), stall = random.between(0.05, 3);
    for (int c = 0; c < 80; ++c)
      stalls.add(kTraining, work), stalls.add(kWaitingHeld, stall * random.between(0.8, 1.2));
    const double between = random.between(200, 1200), save = between * random.between(0.01, 0.07);
    for (int c = 0; c < 12; ++c) checkpoints.add(kTraining, between), checkpoints.add(kWaitingHeld, save);
    EXPECT_FALSE(find_cycle(cycle_steps(stalls.recorded(0.1)))) << work << " " << stall;
    EXPECT_FALSE(find_cycle(cycle_steps(checkpoints.recorded(1)))) << between << " " << save;
  }
}

TEST(Cycle, JobsThatReleaseTheirMemoryAreNotACycle) {
  Level released = kWaitingHeld;
  released.memory_gib = 0.5;
  Phases phases;
  for (int c = 0; c < 10; ++c) phases.add(kTraining, 60), phases.add(released, 60);
  EXPECT_FALSE(find_cycle(cycle_steps(phases.recorded(1))));
}

}  // namespace
}  // namespace rightsize::diagnose
