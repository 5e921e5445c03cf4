#include "fleet/jobs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using telemetry::JobTable;
using telemetry::SlurmJob;

SlurmJob job(const std::string& id, const char* state, double start_h, double hours_long, int gpus,
             const std::string& host = "n1") {
  static telemetry::TextArena texts;
  SlurmJob j{
      .id = texts.keep(id), .user = "ann", .account = "vision", .partition = "gpu", .name = "train", .state = state};
  j.gpu_model = "a100";
  j.start = kStart + hours(start_h);
  j.end = j.start + hours(hours_long);
  j.elapsed = hours(hours_long);
  j.gpu_count = static_cast<std::uint32_t>(gpus);
  j.nodes = telemetry::Word(host);
  return j;
}

const GroupLine& line(const std::vector<GroupLine>& lines, const std::string& name) {
  for (const GroupLine& l : lines) {
    if (l.name == name) return l;
  }
  ADD_FAILURE() << name;
  return lines.front();
}

TEST(Jobs, JobsCostTheirGpuTimeInAnyState) {
  JobTable table;
  table.jobs = {job("1", "COMPLETED", 0, 2, 4), job("2", "FAILED", 0, 1, 2), job("3", "TIMEOUT", 1, 3, 1),
                job("4", "RUNNING", 2, 1, 1)};
  table.jobs[1].user = "bob";
  const DevicePrices book(facts(), *market::parse_own_prices({"a100=2"}, facts()));
  const JobLedger ledger = make_job_ledger(table, book, {}, {});
  EXPECT_DOUBLE_EQ(in_gpu_hours(ledger.gpu_time), 8 + 2 + 3 + 1);
  EXPECT_NEAR(in_usd(ledger.spend), 28, 1e-9);
  EXPECT_DOUBLE_EQ(in_gpu_hours(line(ledger.users, "bob").gpu_time), 2);
  EXPECT_DOUBLE_EQ(in_gpu_hours(line(ledger.states, "FAILED").gpu_time), 2);
  EXPECT_NEAR(in_usd(line(ledger.states, "COMPLETED").spend), 16, 1e-9);
  EXPECT_DOUBLE_EQ(in_gpu_hours(line(ledger.accounts, "vision").unsuccessful), 5);
  ASSERT_EQ(ledger.issues.size(), 2u);
  EXPECT_EQ(name_of(ledger.issues[0].issue), "timed-out");
  EXPECT_DOUBLE_EQ(in_gpu_hours(ledger.issues[0].lost), 3);
  EXPECT_EQ(ledger.issues[1].examples.at(0).id, "2");
  EXPECT_FALSE(ledger.users[0].idle);  // nothing was measured
}

// The telemetry of a host prices its jobs more precisely, but only if it may be the GPU that the job names.
TEST(Jobs, AJobIsNotPricedAsAnotherGpu) {
  const DevicePrices book(facts(), *market::parse_own_prices({"h100-sxm=5", "a100=2"}, facts()));
  for (const auto& [model, usd] : {std::pair("a100", 2.0), {"nvidia_h100", 5.0}, {"h100", 5.0}, {"", 5.0}}) {
    for (const char* host : {"", "n1"}) {
      JobTable table;
      table.jobs = {job("1", "COMPLETED", 0, 1, 1, host)};
      table.jobs[0].gpu_model = telemetry::Word(model);
      GpuRow row;
      row.use.device = {.name = "NVIDIA H100 80GB HBM3", .host = host};
      row.price = book.price(row.use.device);
      EXPECT_NEAR(in_usd(make_job_ledger(table, book, {}, {row}).spend), usd, 1e-9) << model << " on " << host;
    }
  }
}

// A user of GPUs without a price has no cost, which is not a cost of 0.
TEST(Jobs, NoPriceIsNotAPriceOfZero) {
  JobTable table;
  table.jobs = {job("1", "COMPLETED", 0, 2, 4), job("2", "COMPLETED", 0, 1, 2)};
  table.jobs[1].user = "bob";
  table.jobs[1].gpu_model = "voodoo2";
  const JobLedger ledger = make_job_ledger(table, DevicePrices(facts(), {}), {}, {});
  EXPECT_TRUE(line(ledger.users, "ann").priced);
  EXPECT_FALSE(line(ledger.users, "bob").priced);
  EXPECT_EQ(ledger.priced, 1u);
}

TEST(Jobs, UnusedGpusAndLongTimeLimitsAreIssues) {
  JobTable table;
  table.jobs = {job("1", "COMPLETED", 0, 2, 2), job("2", "COMPLETED", 0, 1, 4), job("3", "COMPLETED", 3, 1, 1)};
  table.jobs[0].utilization = 0;
  std::vector<telemetry::JobGpu> known(4, {.host = "n1", .utilization = Ratio::fraction(0)});
  known[0].utilization = Ratio::fraction(0.9);
  table.jobs[1].known_gpus = std::make_shared<const std::vector<telemetry::JobGpu>>(known);
  table.jobs[2].time_limit = hours(48);
  const DevicePrices book(facts(), *market::parse_own_prices({"*=1"}, facts()));
  const JobLedger ledger = make_job_ledger(table, book, {}, {});
  ASSERT_EQ(ledger.issues.size(), 3u);
  EXPECT_EQ(ledger.issues[0].issue, JobIssue::kGpusUnused);
  EXPECT_DOUBLE_EQ(in_gpu_hours(ledger.issues[0].lost), 4);
  EXPECT_EQ(ledger.issues[1].issue, JobIssue::kTooManyGpus);
  EXPECT_DOUBLE_EQ(in_gpu_hours(ledger.issues[1].lost), 3);
  EXPECT_NEAR(in_usd(*ledger.issues[1].spend), 3, 1e-9);
  EXPECT_EQ(ledger.issues[2].issue, JobIssue::kTimeLimitTooLong);
}

// Jobs that share a node at the same time get different GPUs, for any number, order and length.
RC_GTEST_PROP(Jobs, GpuHoursEqualTheHoursOfJobs, ()) {
  JobTable table;
  double sum = 0, idle = 0;
  for (int i = *rc::gen::inRange(0, 40); i > 0; --i) {
    SlurmJob j = job(std::to_string(i), "COMPLETED", *rc::gen::inRange(0, 200) / 10.0, *rc::gen::inRange(1, 100) / 10.0,
                     *rc::gen::inRange(1, 5), *rc::gen::element<std::string>("n1", "n2"));
    const int percent = *rc::gen::element(-1, 0, 40);
    if (percent >= 0) j.utilization = static_cast<float>(percent) / 100;
    sum += in_gpu_hours(j.gpu_time());
    idle += percent == 0 ? in_gpu_hours(j.gpu_time()) : 0;
    table.jobs.push_back(j);
  }
  const DevicePrices book(facts(), *market::parse_own_prices({"*=2.25"}, facts()));
  const FleetAnalysis a = analyse(gpus_of_jobs(table, {}), {book, speeds()});
  const JobLedger ledger = make_job_ledger(table, book, {}, a.gpus);
  RC_ASSERT(std::abs(in_gpu_hours(a.totals.gpu_time) - sum) < 1e-6);
  RC_ASSERT(std::abs(in_usd(a.totals.spend) - 2.25 * sum) < 1e-6);
  RC_ASSERT(std::abs(in_gpu_hours(a.totals.idle) - idle) < 1e-6);
  RC_ASSERT(std::abs(in_gpu_hours(ledger.gpu_time) - sum) < 1e-6);
  for (const std::vector<GroupLine>* lines : {&ledger.users, &ledger.accounts, &ledger.partitions, &ledger.states}) {
    double all = 0;
    for (const GroupLine& l : *lines) all += in_gpu_hours(l.gpu_time);
    RC_ASSERT(std::abs(all - sum) < 1e-6);
  }
  double lost = 0;
  for (const JobIssueLine& l : ledger.issues) lost += in_gpu_hours(l.lost);
  RC_ASSERT(lost <= sum + 1e-6);
}

// The order of rows does not matter: steps may come before their job, and logs are merged.
RC_GTEST_PROP(Jobs, ShuffledRowsGiveTheSameAnswer, ()) {
  std::vector<std::string> rows;
  const int count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    const int start = *rc::gen::inRange(0, 50'000), length = *rc::gen::inRange(1, 90'000),
              gpus = *rc::gen::inRange(1, 9);
    const auto pick = [](auto... names) { return *rc::gen::element<std::string>(names...); };
    const auto at = [&](int second) { return fmt::format("{}", 1'790'000'000 + second); };
    rows.push_back(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|600|gres/gpu:{}={}|n{}|", i, pick("ann", "bob", ""),
                               pick("vision", "speech"), pick("gpu", "debug"),
                               pick("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 7"), at(start - 100 * i), at(start),
                               at(start + length), length, pick("a100", "h100"), gpus, i % 3));
    for (int step = *rc::gen::inRange(0, 3); step > 0; --step)
      rows.push_back(fmt::format("{}.{}||||COMPLETED||{}|{}|{}||gres/gpu={}|n1|gres/gpuutil={}", i, step, at(start),
                                 at(start + length), length / step, gpus, *rc::gen::inRange(0, 100)));
  }
  const DevicePrices book(facts(), *market::parse_own_prices({"a100=2", "h100-sxm=3"}, facts()));
  const auto answer = [&] {
    std::string text =
        "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|NodeList|"
        "TRESUsageInAve\n";
    for (const std::string& row : rows) text += row + "\n";
    const JobLedger ledger = make_job_ledger(*telemetry::read_jobs(*bytes_of(text), "log"), book, {}, {});
    std::map<std::string, double> figures = {{"spend", in_usd(ledger.spend)},
                                             {"jobs", static_cast<double>(ledger.jobs)}};
    for (const auto* lines : {&ledger.users, &ledger.accounts, &ledger.partitions, &ledger.states}) {
      for (const GroupLine& l : *lines) {
        figures[l.name] = in_usd(l.spend);
        figures[l.name + " idle"] = in_gpu_hours(l.idle.value_or(GpuTime{}));
      }
    }
    for (const WaitLine& w : ledger.waits) figures[w.partition + " p95"] = in_seconds(w.p95);
    for (const JobIssueLine& issue : ledger.issues)
      figures[std::string(name_of(issue.issue))] = in_gpu_hours(issue.lost) + static_cast<double>(issue.jobs);
    return figures;
  };
  const std::map<std::string, double> in_order = answer();
  std::ranges::shuffle(rows, std::mt19937(*rc::gen::arbitrary<unsigned>()));
  RC_ASSERT(std::ranges::equal(answer(), in_order, [](const auto& a, const auto& b) {
    return a.first == b.first && std::abs(a.second - b.second) <= 1e-9 * (1 + std::abs(b.second));
  }));
}

TEST(Jobs, JobsOnHostsWithTelemetryMakeNoGpus) {
  JobTable table;
  table.jobs = {job("1", "COMPLETED", 0, 2, 4, "n1.cluster.local"), job("2", "COMPLETED", 0, 1, 2, "n2")};
  const std::vector<GpuUse> gpus = gpus_of_jobs(table, {}, {"n1"});
  EXPECT_EQ(gpus.size(), 2u);
  for (const GpuUse& gpu : gpus) EXPECT_EQ(gpu.device.host, "n2");
}

TEST(Jobs, JobsAreClippedToTheWindow) {
  JobTable table;
  table.jobs = {job("1", "COMPLETED", 0, 10, 1), job("2", "COMPLETED", 20, 1, 1)};
  table.jobs[0].elapsed = hours(5);  // suspended for half of it
  clip_jobs(table, {kStart + hours(4), kStart + hours(8)});
  ASSERT_EQ(table.jobs.size(), 1u);
  EXPECT_NEAR(in_hours(table.jobs[0].elapsed), 2, 1e-12);
}

// The waste of active GPUs goes to the owners with the least active jobs, however jobs share hosts.
RC_GTEST_PROP(Jobs, OwnersWasteWhatTheirJobsDidNotUse, ()) {
  JobTable table;
  std::map<std::string, double> unused;
  double all = 0;
  const int count = *rc::gen::inRange(2, 20);
  for (int i = 0; i < count; ++i) {
    const int gpus = *rc::gen::inRange(1, 5), length = *rc::gen::inRange(1, 12), percent = *rc::gen::inRange(20, 101);
    const std::string user = *rc::gen::element<std::string>("ann", "bob", "eve");
    table.jobs.push_back(job(std::to_string(i), "COMPLETED", *rc::gen::inRange(0, 50), length, gpus,
                             *rc::gen::element<std::string>("n1", "n2")));
    table.jobs.back().user = telemetry::Word(user);
    table.jobs.back().utilization = static_cast<float>(percent) / 100;
    unused["vision/" + user] += gpus * length * (1 - percent / 100.0);
    all += gpus * length * (1 - percent / 100.0);
  }
  const DevicePrices book(facts(), *market::parse_own_prices({"*=2"}, facts()));
  const FleetAnalysis a = analyse(gpus_of_jobs(table, {}), {book, speeds()});
  double waste = 0;
  for (const GroupLine& owner : a.owners) waste += in_usd(owner.waste);
  RC_ASSERT(std::abs(waste - in_usd(a.totals.waste)) < 1e-6 * (1 + waste));
  for (const GroupLine& owner : a.owners) {
    if (all > 0) RC_ASSERT(std::abs(in_usd(owner.waste) / std::max(1e-9, waste) - unused[owner.name] / all) < 1e-3);
  }
}

// A running job that does nothing can be cancelled; an ended job cannot.
TEST(Jobs, OnlyRunningJobsAreStopped) {
  JobTable table;
  table.jobs = {job("7", "COMPLETED", 0, 20, 1), job("8", "RUNNING", 20, 40, 1, "n2")};
  for (SlurmJob& j : table.jobs) j.utilization = 0;
  const DevicePrices book(facts(), *market::parse_own_prices({"*=2"}, facts()));
  const FleetAnalysis a = analyse(gpus_of_jobs(table, {}), {book, speeds()});
  ASSERT_EQ(a.actions.size(), 1u);
  EXPECT_EQ(a.actions[0].commands, (std::vector<std::string>{"scontrol write batch_script 8 job-8.sh", "scancel 8"}));
}

}  // namespace
}  // namespace rightsize::fleet
