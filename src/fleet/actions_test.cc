// Finding, choosing and describing actions.
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "fleet/remedies.h"
#include "fleet/test_random_fleet.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;
using testing::HasSubstr;

Remedy remedy(std::vector<std::size_t> gpus, double usd) {
  return {.gpus = std::move(gpus), .saving = usd_per_month(usd)};
}

TEST(Choose, BeatsChoosingTheLargestFirst) {
  // The largest single remedy blocks two that save more together.
  const std::vector<Remedy> remedies = {remedy({0, 1, 2}, 10), remedy({0, 1}, 8), remedy({2, 3}, 7)};
  const Choice choice = choose_remedies(remedies, 4);
  EXPECT_EQ(choice.remedies, (std::vector<std::size_t>{1, 2}));
  EXPECT_NEAR(in_usd_per_month(choice.saving), 15, 1e-9);
  EXPECT_NEAR(in_usd_per_month(choice.bound), 15, 1e-6);
}

// Against trying every subset of the remedies.
RC_GTEST_PROP(Choose, MatchesTheBestOfAllSubsets, ()) {
  const std::size_t gpus = *rc::gen::inRange<std::size_t>(1, 6);
  std::vector<Remedy> remedies;
  for (int i = *rc::gen::inRange(0, 11); i > 0; --i) {
    const auto members =
        *rc::gen::nonEmpty(rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, gpus)));
    remedies.push_back(remedy({members.begin(), members.end()}, *rc::gen::inRange(1, 40)));
  }
  double best = 0;
  for (std::size_t mask = 0; mask < (std::size_t{1} << remedies.size()); ++mask) {
    std::vector<int> used(gpus, 0);
    double saved = 0;
    for (std::size_t r = 0; r < remedies.size(); ++r) {
      if ((mask >> r & 1U) == 0) continue;
      saved += in_usd_per_month(remedies[r].saving);
      for (std::size_t g : remedies[r].gpus) ++used[g];
    }
    if (*std::max_element(used.begin(), used.end()) <= 1) best = std::max(best, saved);
  }
  const Choice choice = choose_remedies(remedies, gpus);
  RC_ASSERT(std::abs(in_usd_per_month(choice.saving) - best) < 1e-6);
  RC_ASSERT(in_usd_per_month(choice.bound) >= best - 1e-6);
}

// The plan saves at least the sum of the best single-GPU actions.
RC_GTEST_PROP(Actions, PlansSaveAtLeastTheBestOfEveryGpuAlone, ()) {
  const Made made = random_fleet(true);
  const std::vector<GpuUse> uses = made.uses(true);
  const DevicePrices book = book_at(2);
  UsdPerSecond alone;
  for (const GpuUse& use : uses) alone += plan_actions(judge({use}, book), {book, speeds()}).saving;
  const ActionPlan plan = plan_actions(judge(uses, book), {book, speeds()});
  RC_ASSERT(plan.saving >= alone - usd_per_month(1e-6));
  RC_ASSERT(plan.bound >= plan.saving - usd_per_month(1e-6));
}

// Knowing more never makes the plan worse.
RC_GTEST_PROP(Actions, LabelsNeverLowerTheSaving, ()) {
  const Made made = random_fleet(true);
  const DevicePrices book = book_at(2);
  Thresholds thresholds;
  thresholds.across_teams = *rc::gen::arbitrary<bool>();
  const UsdPerSecond without = plan_actions(judge(made.uses(false), book), {book, speeds(), thresholds}).saving;
  const UsdPerSecond with = plan_actions(judge(made.uses(true), book), {book, speeds(), thresholds}).saving;
  RC_ASSERT(with >= without - usd_per_month(1e-6));
}

// The solver aborts the process on huge coefficients, so it only sees relative savings.
RC_GTEST_PROP(Actions, PricesMayHaveAnyMagnitude, ()) {
  const Made made = random_fleet();
  const DevicePrices book = book_at(std::pow(10.0, *rc::gen::inRange(-3, 27)));
  const ActionPlan plan = plan_actions(judge(made.uses(true), book), {book, speeds()});
  RC_ASSERT(std::isfinite(in_usd_per_month(plan.saving)));
  RC_ASSERT(plan.saving <= plan.bound * (1 + 1e-9));
}

// Every GPU is in at most one action; every action lists its moves, its risk and how to undo it.
RC_GTEST_PROP(Actions, EveryActionIsCompleteAndUsesAGpuOnce, ()) {
  const Made made = random_fleet();
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(made.uses(true), {book, speeds()});
  std::set<std::size_t> seen;
  for (const FleetAction& action : a.actions) {
    for (std::size_t gpu : action.gpus) RC_ASSERT(seen.insert(gpu).second);
    RC_ASSERT(!action.what.empty() && !action.risk.empty() && !action.check.empty() && !action.rollback.empty());
    std::set<std::string> moved;
    for (const Move& move : action.moves) moved.insert(move.gpu);
    RC_ASSERT(action.kind == ActionKind::kCommit || moved.size() == action.gpus.size());
    for (const std::string& command : action.commands)
      RC_ASSERT(command.find("nodeSelector\":") == std::string::npos ||
                action.rollback.find(" rollout undo ") != std::string::npos);
    if (!action.forecast) continue;
    if (action.counted && (action.kind == ActionKind::kMig || action.kind == ActionKind::kDownsize))
      RC_ASSERT(!is_too_slow(*action.forecast, Thresholds{}));
    RC_ASSERT(action.forecast->too_small.low <= action.forecast->too_small.likely + 1e-12);
    RC_ASSERT(action.forecast->too_small.likely <= action.forecast->too_small.high + 1e-12);
    RC_ASSERT(action.forecast->too_small.likely <= Thresholds{}.most_overload + 1e-9);
    RC_ASSERT(!action.forecast->worst.empty());
  }
}

// Waste that no action removes is reported by owner; with the waste of the actions it adds up to all waste.
RC_GTEST_PROP(Actions, AllWasteIsReported, ()) {
  const Made made = random_fleet();
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(made.uses(true), {book, speeds()});
  std::set<std::size_t> planned;
  for (const FleetAction& action : a.actions) {
    if (action.kind != ActionKind::kCommit) planned.insert(action.gpus.begin(), action.gpus.end());
  }
  std::map<std::string, double> left, spent;
  double all = 0;
  for (std::size_t i = 0; i < a.gpus.size(); ++i) {
    const double waste = in_usd_per_month(a.gpus[i].spend_rate() * a.gpus[i].waste_share());
    all += waste;
    if (planned.contains(i)) continue;
    left[a.gpus[i].owner().shown()] += waste;
    spent[a.gpus[i].owner().shown()] += in_usd_per_month(a.gpus[i].spend_rate());
  }
  for (const UnplannedWaste& said : a.unplanned) {
    RC_ASSERT(std::abs(in_usd_per_month(said.rate) - left.at(said.owner)) < 1e-6);
    RC_ASSERT(said.gpus > 0u);
    left.erase(said.owner);
  }
  for (const auto& [owner, waste] : left) RC_ASSERT(waste <= std::max(0.05 * all, 0.1 * spent[owner]) + 1e-6);
}

// Without readings of memory no action and no reason may depend on it.
RC_GTEST_PROP(Actions, UnknownMemoryIsNotEmptyMemory, ()) {
  std::vector<GpuUse> uses = random_fleet().uses(*rc::gen::arbitrary<bool>());
  for (GpuUse& use : uses) {
    for (const Metric metric : {Metric::kMemoryUsed, Metric::kMemoryTotal}) use.metrics.erase(metric);
    use.profile.memory = {};
    use.held_share = 0;
    for (Tenancy& tenancy : use.tenancies) tenancy.memory_peak.reset();
  }
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(std::move(uses), {book, speeds()});
  for (const FleetAction& action : a.actions) {
    RC_ASSERT(action.kind == ActionKind::kStop || action.kind == ActionKind::kWatch ||
              action.kind == ActionKind::kCommit || action.kind == ActionKind::kConsolidate);
    RC_ASSERT(action.risk.find("no process holds memory") == std::string::npos);
    RC_ASSERT(action.check.find("memory peaks add up") == std::string::npos);
  }
  for (const UnplannedWaste& waste : a.unplanned) RC_ASSERT(!waste.memory_known);
}

TEST(Stop, NamesThePodAndTheCommand) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "chat-7d4b9c6f5-x2x5z", .memory = 40 * kGiB}, kDay, nothing);
  live(sum, {.uuid = "B", .pod = "chat-7d4b9c6f5-b2b5b", .memory = 40 * kGiB, .index = 1}, kDay, busy);
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  ASSERT_EQ(a.actions.size(), 1u);
  const FleetAction& stop = a.actions[0];
  EXPECT_EQ(stop.kind, ActionKind::kStop);
  ASSERT_EQ(stop.moves.size(), 1u);
  EXPECT_EQ(stop.moves[0].owner.instance, "chat-7d4b9c6f5-x2x5z");
  EXPECT_EQ(stop.moves[0].to, "none");
  // The pod that works stays.
  EXPECT_THAT(stop.commands, testing::ElementsAre("kubectl -n a annotate pod chat-7d4b9c6f5-x2x5z "
                                                  "controller.kubernetes.io/pod-deletion-cost=-1000 --overwrite",
                                                  "kubectl -n a scale deployment/chat --replicas=1"));
  EXPECT_EQ(stop.rollback, "kubectl -n a scale deployment/chat --replicas=2");
}

// Whatever pods are idle, the commands never remove a busy one. A StatefulSet removes the highest numbers first.
RC_GTEST_PROP(Stop, BusyReplicasStay, ()) {
  const int pods = *rc::gen::inRange(2, 7);
  const int idle = *rc::gen::inRange(1, (1 << pods) - 1);  // a bit per pod
  const bool stateful = *rc::gen::arbitrary<bool>();
  const auto is_idle = [&](int i) { return (idle >> i & 1) != 0; };
  const auto name = [&](int i) {
    return stateful ? fmt::format("chat-{}", i) : fmt::format("chat-7d4b9c6f5-x2x5{}", "bcdfgh"[i]);
  };
  UseAccumulator sum({});
  for (int i = 0; i < pods; ++i)
    live(sum, {.uuid = fmt::format("G{}", i), .pod = name(i), .memory = 40 * kGiB, .index = i}, kDay,
         is_idle(i) ? nothing : busy);
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  RC_ASSERT(!a.actions.empty() && a.actions[0].kind == ActionKind::kStop);
  std::vector<std::string> commands = a.actions[0].commands;
  const std::string scale = commands.empty() ? "" : commands.back();
  const int remaining = scale.empty() ? pods : std::stoi(scale.substr(scale.rfind('=') + 1));
  for (int i = 0; i < pods; ++i) {
    const bool marked = std::ranges::any_of(commands, [&](const auto& c) { return c.find(name(i) + " ") != c.npos; });
    RC_ASSERT(is_idle(i) || (!marked && (!stateful || i < remaining)));
    RC_ASSERT(stateful || marked == is_idle(i));
  }
  RC_ASSERT(stateful || remaining == pods - std::popcount(static_cast<unsigned>(idle)));
}

TEST(Stop, YoungEndedAndServingWorkloadsAreNotStopped) {
  UseAccumulator sum({});
  constexpr int kWeek = 7 * kDay;
  live(sum, {.uuid = "busy"}, kWeek, busy);
  live(sum, {.uuid = "young", .pod = "young-0", .from_minute = kWeek - 10}, 10, nothing);
  live(sum, {.uuid = "ended", .pod = "ended-0"}, kWeek / 2, nothing);
  live(sum, {.uuid = "rare", .pod = "rare-0"}, kWeek, [](int m) { return m % 600 < 10 ? 0.5 : 0.0; });
  live(sum, {.uuid = "held", .pod = "held-0"}, kWeek, nothing);
  const Judged fleet(sum.finish());
  std::set<std::string> stopped;
  for (const Remedy& r : find_stops(fleet.input())) {
    if (r.kind != RemedyKind::kPark) stopped.insert(fleet.gpus[r.gpus[0]].use.device.uuid);
  }
  EXPECT_EQ(stopped, std::set<std::string>{"held"});
}

TEST(Stop, OnlyTheCurrentOwnersActivityCounts) {
  // Four days of work by another pod, then three idle days of the current one.
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "before-0"}, 4 * kDay, busy);
  live(sum, {.uuid = "A", .pod = "now-0", .from_minute = 4 * kDay}, 3 * kDay, nothing);
  const Judged fleet(sum.finish());
  const std::vector<Remedy> stops = find_stops(fleet.input());
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].owner, "a/now");
  EXPECT_NEAR(in_usd_per_month(stops[0].saving), 1460, 15);
}

TEST(Stop, GpusIdleForHoursEveryDayAreParked) {
  // Half-hourly readings, which leave gaps in steps of five minutes: idle from 8 to 24 h, two thirds of the day.
  UseAccumulator sum({});
  const int number =
      sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3", .labels = {{"namespace", "a"}, {"pod", "x-0"}}});
  for (int i = 0; i < 48; ++i) {
    sum.add(number, Metric::kGraphicsActive, kStart + seconds(1800.0 * i), i < 16 ? 0.9 : 0.0);
    sum.add(number, Metric::kMemoryUsed, kStart + seconds(1800.0 * i), 30 * kGiB);
  }
  const Judged fleet(sum.finish());
  const std::vector<Remedy> found = find_stops(fleet.input());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(in_usd_per_month(found[0].saving), 1460 * 2.0 / 3, 1);
  const FleetAction park = describe({&found[0]}, fleet.input());
  EXPECT_EQ(park.to, "scaled to zero when idle");
  EXPECT_THAT(park.manifest, HasSubstr("start: 0 0 * * *"));
  EXPECT_THAT(park.manifest, HasSubstr("end: 0 8 * * *"));
}

// Nothing is stopped or parked because of a recording shorter than --min-age.
RC_GTEST_PROP(Stop, ShortRecordingsStopNothing, ()) {
  Made made = random_fleet();
  const int minutes = *rc::gen::inRange(1, 4 * kDay);
  const int min_age = *rc::gen::inRange(60, 3 * kDay);
  for (int& each : made.minutes) each = minutes;
  Thresholds thresholds;
  thresholds.min_age = seconds(60.0 * min_age);
  const Judged fleet(made.uses(true), thresholds);
  const ActionPlan plan = plan_actions(fleet.gpus, {fleet.book, speeds(), thresholds});
  for (const FleetAction& action : plan.actions) {
    if (action.kind == ActionKind::kStop) RC_ASSERT(minutes >= 0.98 * min_age && minutes >= 20);
    if (action.kind == ActionKind::kWatch) RC_ASSERT(!action.counted && action.commands.empty());
  }
}

// A service with few requests and an unused one look the same, so its owner is asked and nothing is stopped.
TEST(Stop, AlmostIdleWorkIsReviewed) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "train-0", .memory = 70 * kGiB}, 2 * kDay, [](int) { return 0.02; });
  live(sum, {.uuid = "B", .pod = "chat-0", .memory = 70 * kGiB, .index = 1}, 2 * kDay, [](int) { return 0.1; });
  const Judged fleet(sum.finish());
  const std::vector<Remedy> found = find_stops(fleet.input());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].kind == RemedyKind::kReview && !found[0].counted);
}

// Every action in the total has a command or a file; none makes another service of the work.
RC_GTEST_PROP(Actions, EveryCountedActionHasAStep, ()) {
  const Judged fleet(random_fleet().uses(*rc::gen::arbitrary<bool>()));
  for (const FleetAction& action : plan_actions(fleet.gpus, {fleet.book, speeds()}).actions) {
    RC_ASSERT(!action.forecast || !is_different_service(*action.forecast));
    const bool has_step = !action.manifest.empty() || !action.commands.empty();
    RC_ASSERT(!action.counted || has_step || action.kind == ActionKind::kCommit);
  }
}

// Actions in the total can be carried out one after the other: one number of replicas and one schedule for each
// workload, one document in each file, and a command that undoes what was stopped.
RC_GTEST_PROP(Actions, DoNotContradictEachOther, ()) {
  const Judged fleet(random_fleet().uses(true));
  std::set<std::string> targets;
  for (const FleetAction& action : plan_actions(fleet.gpus, {fleet.book, speeds()}).actions) {
    RC_ASSERT(action.manifest.rfind("version: ") == action.manifest.find("version: "));
    for (const std::string& command : action.commands) {
      if (command.starts_with("scancel ")) RC_ASSERT(action.rollback.find("sbatch job-") != action.rollback.npos);
      RC_ASSERT(command.find("...") == command.npos);
    }
    if (!action.counted) continue;
    const std::size_t name = action.manifest.find("kind: ScaledObject");
    if (name != action.manifest.npos)
      RC_ASSERT(targets.insert(action.manifest.substr(name, action.manifest.find("minReplicaCount") - name)).second);
  }
}

TEST(Stop, PodsWithABusyGpuStay) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "train-0", .index = 0}, 2 * kDay, nothing);
  live(sum, {.uuid = "B", .pod = "train-0", .index = 1}, 2 * kDay, busy);
  const Judged fleet(sum.finish());
  EXPECT_TRUE(find_stops(fleet.input()).empty());
}

// Two of six replicas are idle outside of office hours: the four others stay, whatever their number.
TEST(Park, ReplicasThatWorkAreKept) {
  UseAccumulator sum({});
  for (int i = 0; i < 6; ++i) {
    live(sum,
         {.uuid = "G" + std::to_string(i),
          .pod = "chat-7d4b9c6f5-x2x5" + std::string(1, "bcdfgh"[i]),
          .memory = 70 * kGiB,
          .index = i},
         2 * kDay, [=](int m) { return i < 4 ? 0.9 : mornings(m); });
  }
  const Judged fleet(sum.finish());
  std::vector<const Remedy*> parks;
  const std::vector<Remedy> found = find_stops(fleet.input());
  for (const Remedy& remedy : found) parks.push_back(&remedy);
  ASSERT_EQ(parks.size(), 2u);
  const FleetAction park = describe(parks, fleet.input());
  EXPECT_THAT(park.manifest, HasSubstr("minReplicaCount: 4"));
  EXPECT_THAT(park.manifest, HasSubstr("desiredReplicas: \"6\""));
  EXPECT_THAT(park.commands, testing::Contains(HasSubstr("annotate pod chat-7d4b9c6f5-x2x5g")));
  EXPECT_THAT(park.commands, testing::Not(testing::Contains(HasSubstr("x2x5b"))));
}

// The saving is that of the emitted schedule: every hour outside of it, weekends included.
RC_GTEST_PROP(Park, SavesTheHoursOutsideItsSchedule, ()) {
  const int from = *rc::gen::inRange(0, 20), length = *rc::gen::inRange(1, std::min(12, 24 - from) + 1);
  const bool weekends = *rc::gen::arbitrary<bool>();
  const auto works = [=](int m) {
    const int hour = m / 60 % 24, day = m / kDay % 7;  // kStart is a Thursday
    return hour >= from && hour < from + length && (weekends || (day != 2 && day != 3)) ? 0.6 : 0.0;
  };
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "chat-7d4b9c6f5-x2x5z", .memory = 70 * kGiB}, 7 * kDay, works);
  const Judged fleet(sum.finish());
  const std::vector<Remedy> found = find_stops(fleet.input());
  if (found.empty() || found[0].kind != RemedyKind::kPark) return;  // works too little or too much
  const double share = 1 - length * (weekends ? 7 : 5) / 168.0;
  RC_ASSERT(std::abs(found[0].saving / fleet.gpus[0].spend_rate() - share) < 0.02);
  const std::string manifest = describe({&found[0]}, fleet.input()).manifest;
  RC_ASSERT(manifest.find(fmt::format("start: 0 {} * * {}\n", from, weekends ? "*" : "1-5")) != manifest.npos);
}

// The GPUs of one pod exchange data, those of two replicas do not.
TEST(Downsize, WorkThatWouldLoseNvlinkIsNotCounted) {
  for (const bool one_pod : {true, false}) {
    UseAccumulator sum({});
    for (int i = 0; i < 2; ++i)
      live(sum,
           {.uuid = fmt::format("G{}", i),
            .pod = one_pod ? "chat-0" : fmt::format("chat-{}", i),
            .memory = 5 * kGiB,
            .tensor = 0.05,
            .dram = 0.05,
            .index = i},
           kDay, trickle);
    const Judged fleet(sum.finish());
    const std::vector<Remedy> found = find_downsizes(fleet.input());
    ASSERT_FALSE(found.empty());
    for (const Remedy& remedy : found) {
      EXPECT_EQ(remedy.loses_link, one_pod && remedy.instead->gpu->nvlink_kind == "none");
      EXPECT_FALSE(remedy.loses_link && remedy.counted);
    }
  }
}

std::vector<Remedy> consolidations(double (*first)(int), double (*second)(int), double memory) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "x-0", .memory = memory, .tensor = 0.2, .dram = 0.2}, 2 * kDay, first);
  live(sum, {.uuid = "B", .pod = "y-0", .memory = memory, .tensor = 0.2, .dram = 0.2, .index = 1}, 2 * kDay, second);
  Judged fleet(sum.finish());
  for (GpuRow& gpu : fleet.gpus) gpu.verdict = Verdict::kBursty;
  return find_consolidations(fleet.input());
}

TEST(Consolidate, WorkloadsWithCoincidingPeaksDoNotShareAGpu) {
  // 0.6 and 0.6 at the same hours are more than one GPU holds; at different hours they are not.
  EXPECT_TRUE(consolidations(mornings, mornings, 20 * kGiB).empty());
  const std::vector<Remedy> apart = consolidations(mornings, evenings, 20 * kGiB);
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].gpus.size(), 2u);
  EXPECT_NEAR(in_usd_per_month(apart[0].saving), 1460, 1);  // $2 x 730 h of one GPU
  ASSERT_EQ(apart[0].moves.size(), 2u);
  EXPECT_EQ(apart[0].moves[0].to, apart[0].moves[1].to);
  EXPECT_NEAR(apart[0].forecast->load_peak, 0.6, 0.01);
  EXPECT_EQ(apart[0].forecast->too_small.high, 0);
  // Memory is held at all hours.
  EXPECT_TRUE(consolidations(mornings, evenings, 45 * kGiB).empty());
}

TEST(Consolidate, TeamsShareAGpuOnlyWhenAllowed) {
  auto found = [](bool across) {
    UseAccumulator sum({});
    live(sum, {.uuid = "A", .team = "a", .pod = "x-0", .memory = 20 * kGiB, .tensor = 0.2, .dram = 0.2}, kDay, trickle);
    live(sum, {.uuid = "B", .team = "b", .pod = "y-0", .memory = 20 * kGiB, .tensor = 0.2, .dram = 0.2, .index = 1},
         kDay, trickle);
    Thresholds thresholds;
    thresholds.across_teams = across;
    const Judged fleet(sum.finish(), thresholds);
    return find_consolidations(fleet.input()).size();
  };
  EXPECT_EQ(found(false), 0u);
  EXPECT_EQ(found(true), 1u);
}

std::vector<GpuUse> seven_small(double level_at_noon) {
  UseAccumulator sum({});
  for (int i = 0; i < 7; ++i) {
    live(sum,
         {.uuid = "GPU-" + std::to_string(i),
          .pod = "svc" + std::string(1, static_cast<char>('a' + i)),
          .memory = 7 * kGiB,
          .tensor = 0.05,
          .dram = 0.05,
          .index = i},
         kDay, [=](int m) { return m / 60 == 12 ? level_at_noon : 0.08; });
  }
  return sum.finish();
}

TEST(Mig, SmallJobsAreMovedIntoNamedSlices) {
  const Judged fleet(seven_small(0.08));
  const std::vector<Remedy> slices = find_partitions(fleet.input());
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].gpus.size(), 7u);  // seven 1g.10gb
  EXPECT_NEAR(in_usd_per_month(slices[0].saving), 6 * 1460, 1);
  ASSERT_EQ(slices[0].moves.size(), 7u);
  std::set<std::string> places;
  for (const Move& move : slices[0].moves) {
    EXPECT_THAT(move.to, HasSubstr("slice 1g.10gb at "));
    EXPECT_TRUE(places.insert(move.to).second) << move.to;
  }
  EXPECT_THAT(slices[0].manifest, HasSubstr("nvidia-smi mig -i"));
  EXPECT_LT(slices[0].forecast->load_peak, 1);
}

TEST(Mig, SlicesAreSizedForTheirPeaks) {
  // An hour a day at 40 % of the GPU would be 280 % of a seventh for 4 % of the time.
  const Judged fleet(seven_small(0.4));
  for (const Remedy& slices : find_partitions(fleet.input())) {
    EXPECT_LE(slices.forecast->too_small.likely, fleet.thresholds.most_overload);
    for (const Move& move : slices.moves) EXPECT_THAT(move.to, testing::Not(HasSubstr("1g.10gb at")));
  }
}

TEST(Replicas, ReplicasBeyondThePeakAreRemoved) {
  UseAccumulator sum({});
  for (int i = 0; i < 8; ++i) {
    live(sum,
         {.uuid = "GPU-" + std::to_string(i),
          .pod = "chat-7d4b9c6f5-" + std::string("x2x5") + std::string(1, "bcdfghjk"[i]),
          .memory = 50 * kGiB,
          .tensor = 0.05,
          .dram = 0.05,
          .index = i},
         kDay, trickle);
  }
  const DevicePrices book = book_at(2);
  FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  // 8 x 0.08 = 0.64 of one GPU at the peak: one replica within 80 %, plus a spare.
  EXPECT_GT(in_usd(a.ledger[static_cast<std::size_t>(Category::kOverprovisioned)].spend), 0);
  ASSERT_FALSE(a.actions.empty());
  EXPECT_EQ(a.actions[0].what, "run 2 replicas of a/chat instead of 8");
  EXPECT_EQ(a.actions[0].commands.back(), "kubectl -n a scale deployment/chat --replicas=2");
  EXPECT_NEAR(a.actions[0].forecast->load_peak, 0.32, 0.01);
  // M/G/1 with processor sharing: (1 - 0.08) / (1 - 0.32).
  EXPECT_NEAR(*a.actions[0].forecast->latency_peak, 0.92 / 0.68, 0.05);
}

// Replicas that are never busy in the same minute need one GPU, not one each.
TEST(Replicas, TheSimultaneousPeakDecides) {
  UseAccumulator sum({});
  constexpr int kPods = 5;
  for (int i = 0; i < kPods; ++i) {
    live(sum,
         {.uuid = "G" + std::to_string(i),
          .pod = "chat-7d4b9c6f5-x2x5" + std::string(1, "bcdfgh"[i]),
          .memory = 50 * kGiB,
          .tensor = 0.05,
          .dram = 0.05,
          .index = i},
         kDay, [=](int m) { return m % kPods == i ? 0.5 : 0.02; });
  }
  Judged fleet(sum.finish());
  for (GpuRow& gpu : fleet.gpus) gpu.verdict = Verdict::kBursty;
  const std::vector<Remedy> cuts = find_replica_cuts(fleet.input());
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].replicas, (std::pair<std::size_t, std::size_t>(kPods, 2)));  // 0.58 of 0.8, plus a spare
  EXPECT_NEAR(cuts[0].forecast->load_peak, 0.58 / 2, 0.02);
}

TEST(Downsize, ASmallerGpuMustCarryThePeaks) {
  auto smaller = [](double peak, int minutes) {
    UseAccumulator sum({});
    live(sum, {.uuid = "A", .memory = 6 * kGiB, .tensor = 0.2, .dram = 0.2}, kDay,
         [=](int m) { return m % 600 < minutes ? peak : 0.08; });
    const Judged fleet(sum.finish());
    std::vector<Remedy> found = find_downsizes(fleet.input());
    return found.empty() ? std::optional<Remedy>() : found[0];
  };
  const std::optional<Remedy> steady = smaller(0.08, 0);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->forecast->too_small.high, 0);
  EXPECT_GE(*steady->forecast->latency_p95, 1);
  // The GPU is full for 3 % of the time, so any proposed GPU must carry that load.
  if (const std::optional<Remedy> bursts = smaller(1.0, 18)) {
    EXPECT_LE(bursts->forecast->too_small.likely, Thresholds{}.most_overload);
    EXPECT_GE(bursts->forecast->load_peak, steady->forecast->load_peak);
    EXPECT_LE(bursts->saving, steady->saving);
  }
}

TEST(Downsize, ComparesGpusByTheSpeedsItIsGiven) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .memory = 6 * kGiB, .tensor = 0.2, .dram = 0.2}, kDay, trickle);
  const Judged fleet(sum.finish());
  const auto downsizes = [&](const perf::SpeedTable& table) {
    const ActionPlan plan = plan_actions(fleet.gpus, {fleet.book, table});
    return std::count_if(plan.actions.begin(), plan.actions.end(),
                         [](const FleetAction& a) { return a.kind == ActionKind::kDownsize; });
  };
  EXPECT_EQ(downsizes(speeds()), 1);
  const catalog::Catalog no_gpus;
  EXPECT_EQ(downsizes(perf::SpeedTable(no_gpus, *perf::load_constants(""))), 0) << "no built-in speeds are used";
}

TEST(Commit, CommitsOnlyToRealOffersForGpusWithoutOtherActions) {
  UseAccumulator sum({});
  for (int i = 0; i < 2; ++i) {
    Device device{.index = i, .uuid = "G" + std::to_string(i), .host = "n1"};
    device.labels = {{"instance_type", "a3-highgpu-8g"},
                     {"region", "us-central1"},
                     {"pod", "train-" + std::to_string(i)},
                     {"namespace", "a"}};
    const int number = sum.open(device);
    for (int m = 0; m < kDay; ++m)
      sum.add(number, Metric::kGraphicsActive, kStart + seconds(60.0 * m), i == 0 ? 0.98 : 0.0);
  }
  const DevicePrices book(facts(), {});
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  ASSERT_EQ(a.actions.size(), 2u);
  const FleetAction& commit = a.actions[0].kind == ActionKind::kCommit ? a.actions[0] : a.actions[1];
  EXPECT_EQ(commit.kind, ActionKind::kCommit);
  ASSERT_EQ(commit.gpus.size(), 1u);
  EXPECT_EQ(a.gpus[commit.gpus[0]].use.device.uuid, "G0");
  EXPECT_THAT(commit.to, HasSubstr("gcp a3-highgpu-8g"));
}

}  // namespace
}  // namespace rightsize::fleet
