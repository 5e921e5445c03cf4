#include "fleet/fleet.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/accumulate.h"
#include "fleet/attribute.h"
#include "fleet/candidates.h"
#include "fleet/emit.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;
using telemetry::Sample;

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kStart = 1767225600;  // 2026-01-01, a whole hour

const catalog::Catalog& facts() {
  static const catalog::Catalog catalog = *catalog::load_catalog("");
  return catalog;
}

PriceBook book_at(double h100) {
  market::OwnPrices own;
  own.gpus["h100-sxm"] = usd_per_gpu_hour(h100);
  return {facts(), own};
}

// A GPU's life in readings a minute apart: activity by minute, with matching tensor and bandwidth use.
struct Life {
  std::string uuid = "GPU-0";
  std::string team = "a", pod = "job-0";
  double memory = 60 * kGiB;
  double tensor = 0.6, dram = 0.3;  // of activity
  std::string model = "NVIDIA H100 80GB HBM3";
  std::string mig_profile = {}, mig_id = {};
};

void live(Accumulator& sum, const Life& life, int minutes, double (*activity)(int)) {
  Device device{
      .uuid = life.uuid, .name = life.model, .host = "n1", .mig_profile = life.mig_profile, .mig_id = life.mig_id};
  if (!life.team.empty()) device.labels = {{"namespace", life.team}, {"pod", life.pod}};
  const int number = sum.open(device);
  for (int m = 0; m < minutes; ++m) {
    Sample sample;
    sample.time = kStart + 60 * m;
    const double level = activity(m);
    sample.set(Metric::kGraphicsActive, level);
    sample.set(Metric::kTensorActive, level * life.tensor);
    sample.set(Metric::kDramActive, level * life.dram);
    sample.set(Metric::kMemoryUsed, life.memory);
    sample.set(Metric::kPower, 100 + 500 * level);
    sum.add(number, sample);
  }
}

double busy(int) { return 0.98; }
double nothing(int) { return 0; }
double trickle(int) { return 0.08; }
double mornings(int m) { return m / 60 % 24 < 8 ? 0.6 : 0.0; }
double evenings(int m) { return m / 60 % 24 >= 16 ? 0.6 : 0.0; }

constexpr int kDay = 24 * 60;

TEST(Accumulator, CountsHoursIdlenessAndOwners) {
  Accumulator sum({});
  live(sum, {.memory = 30 * kGiB}, kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  ASSERT_EQ(gpus.size(), 1u);
  const GpuUse& gpu = gpus[0];
  EXPECT_DOUBLE_EQ(gpu.seconds, 86400);
  EXPECT_DOUBLE_EQ(gpu.step, 60);
  EXPECT_NEAR(gpu.idle_share, 16.0 / 24, 1e-9);
  EXPECT_NEAR(gpu.held_share, 16.0 / 24, 0.02);
  EXPECT_NEAR(gpu.metric(Metric::kGraphicsActive)->mean, 0.2, 1e-6);
  EXPECT_EQ(gpu.changes, 1);
  EXPECT_NEAR(*gpu.metric(Metric::kGraphicsActive)->p95, 0.6, 0.02);
  ASSERT_EQ(gpu.tenancies.size(), 1u);
  EXPECT_EQ(gpu.tenancies[0].owner.shown(), "a/job");
  EXPECT_LE(gpu.profile.steps(), 512u);
}

TEST(Accumulator, OrderAndDuplicatesDoNotMatter) {
  auto feed = [](bool backwards, int times) {
    Accumulator sum({});
    for (int copy = 0; copy < times; ++copy) {
      const int number = sum.open({.uuid = "G", .labels = {{"replica", std::to_string(copy)}}});
      for (int i = 0; i < 1000; ++i) {
        const int m = backwards ? 999 - i : i;
        sum.add(number, Metric::kGpuUtil, kStart + 60 * m + copy, m % 10 == 0 ? 0.5 : 0.0);
      }
    }
    return sum.finish().at(0);
  };
  const GpuUse forward = feed(false, 1), back = feed(true, 1), twice = feed(false, 2);
  EXPECT_DOUBLE_EQ(forward.seconds, back.seconds);
  EXPECT_DOUBLE_EQ(forward.idle_share, back.idle_share);
  EXPECT_EQ(forward.profile.activity.max, back.profile.activity.max);
  EXPECT_TRUE(twice.duplicated);
  EXPECT_NEAR(twice.seconds, forward.seconds, 61);
  EXPECT_NEAR(twice.idle_share, forward.idle_share, 1e-9);
}

TEST(Accumulator, RefusesNonsense) {
  Accumulator sum({});
  const int number = sum.open({.uuid = "G"});
  sum.add(number, Metric::kGpuUtil, kStart, std::nan(""));
  sum.add(number, Metric::kGpuUtil, kStart, 42);
  sum.add(number, Metric::kMemoryUsed, kStart, 1e18);
  sum.add(number, Metric::kGpuUtil, 1e12, 0.5);
  EXPECT_EQ(sum.refused(), 4u);
  EXPECT_EQ(sum.readings(), 0u);
}

// Readings in blocks are the readings one by one, in any order and with gaps of any size.
RC_GTEST_PROP(Accumulator, BlocksAreTheReadings, ()) {
  const auto seconds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40 * 86400));
  std::vector<telemetry::Point> points;
  for (int s : seconds) points.push_back({kStart + s, (s * 37 % 107) / 50.0 - 0.1});  // some of them nonsense
  Accumulator one({}), many({});
  const int a = one.open({.uuid = "G"}), b = many.open({.uuid = "G"});
  for (const telemetry::Point& p : points) one.add(a, Metric::kSmActive, p.time, p.value);
  many.add_points(b, Metric::kSmActive, points);
  RC_ASSERT(one.readings() == many.readings());
  RC_ASSERT(one.refused() == many.refused());
  const GpuUse left = one.finish().at(0), right = many.finish().at(0);
  RC_ASSERT(left.seconds == right.seconds);
  RC_ASSERT(left.idle_share == right.idle_share);
  RC_ASSERT(left.changes == right.changes);
  RC_ASSERT(left.profile.steps() == right.profile.steps());
  for (std::size_t i = 0; i < left.profile.steps(); ++i) {
    const float x = left.profile.activity.mean[i], y = right.profile.activity.mean[i];
    RC_ASSERT(x == y || (std::isnan(x) && std::isnan(y)));
  }
}

// A bin's mean stays what it was, whatever the number of readings and the order in which steps are merged.
RC_GTEST_PROP(Accumulator, CurveKeepsTheMean, ()) {
  const int count = *rc::gen::inRange(1, 3000);
  const int gap = *rc::gen::element(1, 7, 30, 300, 3600);
  Accumulator sum({});
  const int number = sum.open({.uuid = "G"});
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const double value = (i * 37 % 101) / 100.0;
    total += value;
    sum.add(number, Metric::kSmActive, kStart + static_cast<double>(i) * gap, value);
  }
  const GpuUse gpu = sum.finish().at(0);
  RC_ASSERT(gpu.profile.steps() <= 512u);
  RC_ASSERT(std::abs(gpu.metric(Metric::kSmActive)->mean - total / count) < 1e-9);
  double peak = 0;
  for (float v : gpu.profile.activity.max) peak = std::max(peak, std::isnan(v) ? 0.0 : static_cast<double>(v));
  RC_ASSERT(std::abs(peak - gpu.metric(Metric::kSmActive)->max) < 1e-6);
}

TEST(Use, AlignedProfilesShareAnAxis) {
  Accumulator sum({});
  live(sum, {.uuid = "A"}, kDay, mornings);
  live(sum, {.uuid = "B"}, 3 * kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  align(gpus);
  ASSERT_EQ(gpus[0].profile.steps(), gpus[1].profile.steps());
  EXPECT_EQ(gpus[0].profile.start, gpus[1].profile.start);
  EXPECT_TRUE(std::isnan(gpus[0].profile.activity.max.back()));
  EXPECT_NEAR(gpus[0].profile.activity.max[0], 0.6, 1e-6);
  EXPECT_NEAR(gpus[1].profile.activity.max[0], 0.6, 1e-6);
}

TEST(Use, WorkloadsOfPods) {
  EXPECT_EQ(workload_of_pod("chat-7d4b9c6f5-x2x5z"), "chat");
  EXPECT_EQ(workload_of_pod("train-0"), "train");
  EXPECT_EQ(workload_of_pod("big-model-12"), "big-model");
  EXPECT_EQ(workload_of_pod("daemon-kx8zq"), "daemon");
  EXPECT_EQ(workload_of_pod("notebook-alice"), "notebook-alice");
  EXPECT_EQ(workload_of_pod("solo"), "solo");
}

TEST(Use, OwnersFromLabels) {
  auto owner = [](std::map<std::string, std::string> labels) {
    return owner_of({.labels = std::move(labels)}).shown();
  };
  EXPECT_EQ(owner({{"exported_namespace", "ml"},
                   {"exported_pod", "chat-0"},
                   {"pod", "nvidia-dcgm-exporter-abcde"},
                   {"namespace", "gpu-operator"}}),
            "ml/chat");
  EXPECT_EQ(owner({{"pod", "nvidia-dcgm-exporter-x2x5z"}, {"namespace", "gpu-operator"}}), "(nobody)");
  EXPECT_EQ(owner({{"user", "ann"}, {"account", "vision"}, {"jobid", "7"}, {"job_name", "train"}}), "vision/train");
  EXPECT_EQ(owner({{"hpc_job", "99"}}), "job 99");
  EXPECT_EQ(owner({{"job", "dcgm"}}), "(nobody)");  // Prometheus's own label
}

TEST(Prices, GivenMachineAssumedUnknown) {
  const PriceBook book(facts(), *market::parse_own_prices({"h200=5", "p5.48xlarge=44USD/h", "a100=2"}, facts()));
  const GpuPrice h200 = book.price({.name = "NVIDIA H200"});
  EXPECT_EQ(h200.basis, PriceBasis::kGiven);
  EXPECT_NEAR(in_usd(*h200.cost(3600)), 5, 1e-9);
  const GpuPrice p5 = book.price({.name = "NVIDIA H100 80GB HBM3", .labels = {{"instance_type", "p5.48xlarge"}}});
  EXPECT_NEAR(in_usd(*p5.cost(3600)), 44.0 / 8, 1e-9);
  const GpuPrice g6 =
      book.price({.labels = {{"node_kubernetes_io_instance_type", "g6.xlarge"}, {"region", "us-east-1"}}});
  EXPECT_EQ(g6.basis, PriceBasis::kMachine);
  EXPECT_EQ(g6.gpu->name, "l4");
  // Slurm says only "a100": its members have one price, whichever it is.
  const GpuPrice family = book.price({.name = "a100"});
  EXPECT_EQ(family.basis, PriceBasis::kGiven);
  EXPECT_NEAR(in_usd(*family.cost(3600)), 2, 1e-9);
  const GpuPrice t4 = book.price({.name = "Tesla T4"});
  EXPECT_EQ(t4.basis, PriceBasis::kAssumed);
  EXPECT_FALSE(book.price({.name = "Voodoo 2"}).rate);
}

TEST(Prices, MigInstancesTakeTheirShare) {
  auto share = [](const char* profile) {
    Device device{.name = "NVIDIA H100 80GB HBM3", .mig_profile = profile, .mig_id = "1"};
    return mig_share(device, *facts().find_gpu("h100-sxm"), facts());
  };
  EXPECT_NEAR(share("1g.10gb"), 1.0 / 7, 1e-9);  // 1 of 7 compute, 1 of 8 memory
  EXPECT_NEAR(share("1g.20gb"), 2.0 / 8, 1e-9);  // 1 of 7 compute, 2 of 8 memory
  EXPECT_NEAR(share("3g.40gb"), 4.0 / 8, 1e-9);
  EXPECT_NEAR(share("7g.80gb"), 1, 1e-9);
}

std::vector<GpuUse> mixed_fleet() {
  Accumulator sum({});
  live(sum, {.uuid = "GPU-busy"}, kDay, busy);
  live(sum, {.uuid = "GPU-held", .pod = "notebook-0", .memory = 40 * kGiB}, kDay, nothing);
  live(sum, {.uuid = "GPU-free", .team = "", .memory = 0.5 * kGiB}, kDay, nothing);
  live(sum, {.uuid = "GPU-trickle", .team = "b", .pod = "api-0", .memory = 6 * kGiB, .tensor = 0.1, .dram = 0.2}, kDay,
       trickle);
  return sum.finish();
}

const GpuRow& row(const FleetAnalysis& a, const std::string& uuid) {
  for (const GpuRow& gpu : a.gpus) {
    if (gpu.use.device.uuid == uuid) return gpu;
  }
  ADD_FAILURE() << uuid;
  return a.gpus.front();
}

TEST(Analyse, EveryCaseInItsPlace) {
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), book, {});
  EXPECT_EQ(row(a, "GPU-busy").verdict, Verdict::kComputeBound);
  EXPECT_EQ(row(a, "GPU-held").verdict, Verdict::kIdleHeld);
  EXPECT_EQ(row(a, "GPU-free").verdict, Verdict::kIdle);
  EXPECT_EQ(row(a, "GPU-trickle").verdict, Verdict::kUnderused);
  EXPECT_EQ(a.totals.gpus, 4u);
  EXPECT_NEAR(a.totals.gpu_hours, 96, 1e-9);
  EXPECT_NEAR(a.totals.spend_usd, 192, 1e-9);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdleHeld)].usd, 48, 1e-9);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdle)].usd, 48, 1e-9);
  EXPECT_GT(a.ledger[static_cast<std::size_t>(Category::kOversized)].usd, 30);
  EXPECT_EQ(a.owners.front().waste_usd, 48);
  std::set<std::string> kinds;
  for (const Action& action : a.actions) kinds.insert(std::string(name_of(action.kind)));
  EXPECT_TRUE(kinds.contains("stop"));
  EXPECT_TRUE(kinds.contains("downsize"));
}

// A slower GPU takes longer for what is arithmetic and traffic, not for starting kernels: less than the worst ratio.
TEST(Downsize, GrowthFollowsWhatTheTimeWasSpentOn) {
  const PriceBook book = book_at(2);
  FleetAnalysis a = analyse(mixed_fleet(), book, {});
  GpuRow trickling = row(a, "GPU-trickle");
  const std::map<std::string, double> growth = projected_growth(trickling, facts());
  const catalog::Gpu& here = *trickling.price.gpu;
  int below_bound = 0;
  for (const auto& [name, times] : growth) {
    const catalog::Gpu& there = **facts().find_gpu(name);
    const double arithmetic = *here.half_rate() / *there.half_rate(), traffic = here.bandwidth / there.bandwidth;
    if (arithmetic < 1 || traffic < 1) continue;
    EXPECT_GE(times, 1) << name;
    EXPECT_LE(times, std::max(arithmetic, traffic) * 1.2 * 1.0001) << name;  // a fifth for what peaks do not tell
    below_bound += times < std::max(arithmetic, traffic) ? 1 : 0;
  }
  EXPECT_GT(below_bound, 5);
  EXPECT_TRUE(projected_growth(row(a, "GPU-busy"), facts()).empty());  // it would only be slower
  trickling.use.metrics[static_cast<std::size_t>(Metric::kTensorActive)].reset();
  EXPECT_TRUE(projected_growth(trickling, facts()).empty());  // nobody knows what it did: the bound stands
}

// The ledger adds up, owners add up, and no dollar is saved twice, whatever the fleet.
RC_GTEST_PROP(Analyse, DollarsAddUp, ()) {
  using Activity = double (*)(int);
  const std::vector<Activity> kinds = {busy, nothing, trickle, mornings, evenings};
  Accumulator sum({});
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    Life life;
    life.uuid = "GPU-" + std::to_string(i);
    life.team = *rc::gen::element<std::string>("a", "b", "");
    life.pod = *rc::gen::element<std::string>("x-0", "y-1", "z-7d4b9c6f5-x2x5z");
    life.memory = *rc::gen::element(0.4, 5.0, 30.0, 70.0) * kGiB;
    life.model = *rc::gen::element<std::string>("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "Voodoo 2");
    live(sum, life, *rc::gen::inRange(2, kDay), *rc::gen::elementOf(kinds));
  }
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), book, {});
  double usd_sum = 0, hours_sum = 0, owners_usd = 0, owners_waste = 0;
  for (const LedgerLine& line : a.ledger) {
    usd_sum += line.usd;
    hours_sum += line.gpu_hours;
    RC_ASSERT(line.usd >= 0);
  }
  for (const OwnerLine& line : a.owners) {
    owners_usd += line.usd;
    owners_waste += line.waste_usd;
  }
  RC_ASSERT(std::abs(usd_sum - a.totals.spend_usd) < 1e-6);
  RC_ASSERT(std::abs(hours_sum - a.totals.gpu_hours) < 1e-6);
  RC_ASSERT(std::abs(owners_usd - a.totals.spend_usd) < 1e-6);
  RC_ASSERT(std::abs(owners_waste - a.totals.waste_usd) < 1e-6);
  RC_ASSERT(a.totals.savings_usd_per_month <= a.totals.usd_per_month + 1e-6);
  std::set<std::size_t> seen;
  for (const Action& action : a.actions) {
    double cost = 0;
    for (std::size_t i : action.gpus) {
      RC_ASSERT(seen.insert(i).second);
      cost += a.gpus[i].usd_per_month();
    }
    RC_ASSERT(action.usd_per_month <= cost + 1e-6);
    RC_ASSERT(!action.risk.empty() && !action.check.empty() && !action.rollback.empty());
  }
}

std::vector<Candidate> consolidations(double (*first)(int), double (*second)(int), double memory) {
  Accumulator sum({});
  live(sum, {.uuid = "A", .pod = "x-0", .memory = memory, .tensor = 0.2, .dram = 0.2}, 2 * kDay, first);
  live(sum, {.uuid = "B", .pod = "y-0", .memory = memory, .tensor = 0.2, .dram = 0.2}, 2 * kDay, second);
  static const PriceBook book = book_at(2);
  std::vector<GpuRow> gpus = judge(sum.finish(), book, {});
  for (GpuRow& gpu : gpus) gpu.verdict = Verdict::kBursty;
  static const Thresholds thresholds;
  return find_consolidations({gpus, book, thresholds});
}

TEST(Consolidate, PeaksThatMeetDoNotShare) {
  // 0.6 and 0.6 at the same hours are more than one GPU holds; at different hours they are not.
  EXPECT_TRUE(consolidations(mornings, mornings, 20 * kGiB).empty());
  const std::vector<Candidate> apart = consolidations(mornings, evenings, 20 * kGiB);
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].action.gpus.size(), 2u);
  // $2 x 730 h of one GPU.
  EXPECT_NEAR(apart[0].action.usd_per_month, 1460, 1);
  // Memory is held at all hours.
  EXPECT_TRUE(consolidations(mornings, evenings, 45 * kGiB).empty());
}

TEST(Actions, ManySmallJobsGoIntoSlicesOrFewerReplicas) {
  Accumulator sum({});
  for (int i = 0; i < 7; ++i) {
    live(sum,
         {.uuid = "GPU-" + std::to_string(i),
          .pod = "svc" + std::string(1, static_cast<char>('a' + i)),
          .memory = 7 * kGiB,
          .tensor = 0.05,
          .dram = 0.05},
         kDay, trickle);
  }
  const PriceBook book = book_at(2);
  const std::vector<GpuRow> gpus = judge(sum.finish(), book, {});
  const Thresholds thresholds;
  const std::vector<Candidate> slices = find_partitions({gpus, book, thresholds});
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].action.to, "1 h100-sxm");  // seven 1g.10gb
  EXPECT_NEAR(slices[0].action.usd_per_month, 6 * 1460, 1);
}

TEST(Actions, ReplicasBeyondThePeak) {
  Accumulator sum({});
  for (int i = 0; i < 8; ++i) {
    live(sum,
         {.uuid = "GPU-" + std::to_string(i),
          .pod = "chat-7d4b9c6f5-" + std::string("x2x5") + static_cast<char>('b' + i % 3),
          .memory = 50 * kGiB,
          .tensor = 0.05,
          .dram = 0.05},
         kDay, trickle);
  }
  const PriceBook book = book_at(2);
  FleetAnalysis a = analyse(sum.finish(), book, {});
  // 8 x 0.08 = 0.64 of one GPU at its busiest: one replica within 80 %.
  EXPECT_GT(a.ledger[static_cast<std::size_t>(Category::kOverprovisioned)].usd, 0);
  ASSERT_FALSE(a.actions.empty());
  EXPECT_EQ(a.actions[0].what, "run 1 replica of a/chat instead of 8");
}

TEST(Analyse, PartitionedGpusAddUpToOne) {
  Accumulator sum({});
  for (int i = 0; i < 3; ++i) {
    live(sum, {.uuid = "GPU-0", .memory = 5 * kGiB, .mig_profile = "1g.10gb", .mig_id = std::to_string(7 + i)}, kDay,
         busy);
  }
  live(sum, {.uuid = "GPU-0", .team = ""}, kDay, busy);  // the whole GPU reports, too
  const PriceBook book = book_at(7);
  const FleetAnalysis a = analyse(sum.finish(), book, {});
  EXPECT_EQ(a.gpus.size(), 4u);
  EXPECT_NEAR(a.totals.spend_usd, 7 * 24, 1e-6);
  EXPECT_NEAR(a.totals.gpu_hours, 24, 1e-6);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdle)].usd, 7 * 24 * 4.0 / 7, 1e-6);
}

TEST(Analyse, SharedGpusAreSplitByTime) {
  Accumulator sum({});
  live(sum, {.uuid = "GPU-0", .team = "a", .pod = "x-0"}, kDay / 2, busy);
  live(sum, {.uuid = "GPU-0", .team = "b", .pod = "y-0"}, kDay, busy);
  const PriceBook book = book_at(3);
  const FleetAnalysis a = analyse(sum.finish(), book, {});
  ASSERT_EQ(a.owners.size(), 2u);
  EXPECT_NEAR(a.owners[0].usd + a.owners[1].usd, a.totals.spend_usd, 1e-9);
  EXPECT_NEAR(a.totals.gpu_hours, 24, 0.1);
}

TEST(Actions, WhatIsIdleForHoursIsParked) {
  // Half-hourly readings, from which steps of five minutes would have gaps: idle from 8 to 24 h, two thirds of the day.
  Accumulator sum({});
  const int number =
      sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3", .labels = {{"namespace", "a"}, {"pod", "x-0"}}});
  for (int i = 0; i < 48; ++i) {
    sum.add(number, Metric::kGraphicsActive, kStart + 1800.0 * i, i < 16 ? 0.9 : 0.0);
    sum.add(number, Metric::kMemoryUsed, kStart + 1800.0 * i, 30 * kGiB);
  }
  const PriceBook book = book_at(2);
  const std::vector<GpuRow> gpus = judge(sum.finish(), book, {});
  const Thresholds thresholds;
  const std::vector<Candidate> found = find_stops({gpus, book, thresholds});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].action.usd_per_month, 1460 * 2.0 / 3, 1);
  EXPECT_EQ(found[0].action.to, "scaled to zero when idle");
}

TEST(Attribute, JobsByIdAndByTime) {
  Accumulator sum({});
  live(sum, {.uuid = "A", .team = ""}, kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  gpus.push_back(gpus[0]);
  gpus[1].device.uuid = "B";
  gpus[1].tenancies = {{{"", "", "", "7"}, 86400, 0, kStart, kStart + 86400}};
  telemetry::JobTable table;
  // Twelve hours of the first GPU, of which it worked eight.
  table.jobs.push_back({"7", "ann", "vision", "train", "", kStart, kStart + 12 * 3600, {{"n1", 0, {}, {}, {}}}});
  gpus[0].device.host = "n1.cluster.local";
  const Attribution done = attribute_jobs(gpus, table);
  EXPECT_EQ(done.by_time, 1u);
  EXPECT_EQ(done.by_job, 1u);
  ASSERT_EQ(gpus[0].tenancies.size(), 2u);
  const Tenancy& job = gpus[0].tenancies[gpus[0].tenancies[0].owner.empty() ? 1 : 0];
  EXPECT_EQ(job.owner.shown(), "vision/train");
  EXPECT_NEAR(job.seconds, 12 * 3600, 61);
  EXPECT_NEAR(job.idle_seconds, 4 * 3600, 301);
  EXPECT_NEAR(gpus[0].tenancies[0].seconds + gpus[0].tenancies[1].seconds, 86400, 1);
  EXPECT_EQ(gpus[1].tenancies[0].owner.user, "ann");
}

TEST(Emit, RulesSpeakOfTheNamesThatWereFound) {
  const Sources sources = {{Metric::kGpuUtil, {"my_busy", 0.01}}, {Metric::kMemoryUsed, {"my_memory", 1}}};
  const LabelNames labels{"node", "gpu"};
  const FleetAnalysis nothing_found;
  const std::string rules = emit_rules({sources, labels, {}, nothing_found});
  EXPECT_NE(rules.find("expr: 'my_busy * 0.01'"), std::string::npos) << rules;
  EXPECT_NE(rules.find("$labels.node"), std::string::npos);
  const std::string board = emit_grafana({sources, labels, {}, nothing_found});
  EXPECT_NE(board.find("\"schemaVersion\""), std::string::npos);
  EXPECT_NE(board.find("by (node)"), std::string::npos);
}

}  // namespace
}  // namespace rightsize::fleet
