#include "fleet/filter.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "fleet/cluster.h"
#include "fleet/jobs.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using telemetry::ClusterState;
using telemetry::JobTable;
using testing::HasSubstr;

JobTable some_jobs() {
  JobTable table;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    telemetry::SlurmJob job;
    job.id = "1";
    job.user = *rc::gen::element("ann", "bob", "eve");
    job.account = *rc::gen::element("vision", "speech");
    job.partition = *rc::gen::element("gpu", "long");
    job.start = kStart;
    job.elapsed = hours(*rc::gen::inRange(1, 9));
    job.end = kStart + job.elapsed;
    job.gpu_count = static_cast<std::uint32_t>(*rc::gen::inRange(1, 9));
    table.jobs.push_back(job);
  }
  return table;
}

GpuTime total(const JobTable& table) {
  GpuTime sum;
  for (const telemetry::SlurmJob& job : table.jobs) sum += job.gpu_time();
  return sum;
}

// The users of a log add up to the whole log; two filters keep only work that passes both.
RC_GTEST_PROP(Filter, PartsOfALogAddUpToIt, ()) {
  const JobTable all = some_jobs();
  std::set<std::string> users;
  for (const telemetry::SlurmJob& job : all.jobs) users.insert(job.user);
  GpuTime sum;
  for (const std::string& user : users) {
    JobTable part = all;
    ClusterState none;
    RC_ASSERT(keep({.users = {user}}, part, none).has_value());
    sum += total(part);
    std::erase_if(part.jobs, [](const telemetry::SlurmJob& job) { return job.partition != "gpu"; });
    JobTable both = all;
    const bool kept = keep({.users = {user}, .partitions = {"gpu"}}, both, none).has_value();
    const bool same = kept ? total(both) == total(part) : part.jobs.empty();
    RC_ASSERT(same);
  }
  RC_ASSERT(sum == total(all));
}

TEST(Filter, NamesThatDoNotOccurAreRefused) {
  JobTable table;
  telemetry::SlurmJob job;
  job.user = "anna", job.gpu_count = 1;
  table.jobs = {job};
  ClusterState none;
  EXPECT_THAT(describe(keep({.users = {"annna"}}, table, none).error()), HasSubstr("did you mean 'anna'"));
  EXPECT_THAT(describe(keep({.accounts = {"vision"}}, table, none).error()), HasSubstr("--account vision"));
  EXPECT_THAT(describe(keep({.namespaces = {"prod"}}, table, none).error()), HasSubstr("no namespace"));
  EXPECT_EQ(table.jobs.size(), 1U);
}

// Other teams' GPUs are neither shown as free nor paid for.
TEST(Filter, NodesKeepTheGpusOfTheNamespace) {
  ClusterState state;
  for (const char* name : {"a", "b"}) {
    telemetry::ClusterNode& node = state.nodes.emplace_back();
    node.name = name, node.gpus = 8;
  }
  const auto add = [&](const char* team, const char* name, const char* node, double gpus) {
    telemetry::ClusterPod& pod = state.pods.emplace_back();
    pod.team = team, pod.name = name, pod.node = node, pod.requested = gpus;
  };
  add("prod", "x", "a", 3), add("dev", "y", "a", 5), add("dev", "z", "b", 8);
  JobTable none;
  ASSERT_TRUE(keep({.namespaces = {"prod"}}, none, state));
  ASSERT_EQ(state.nodes.size(), 1U);
  EXPECT_EQ(state.nodes[0].gpus, 3);
  EXPECT_EQ(gpus_of_cluster(state).size(), 3U);
  EXPECT_THAT(describe(keep({.users = {"ann"}}, none, state).error()), HasSubstr("--namespace"));
}

}  // namespace
}  // namespace rightsize::fleet
