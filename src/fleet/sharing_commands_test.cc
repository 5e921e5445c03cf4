#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/commands.h"
#include "fleet/remedies.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using testing::HasSubstr;

// Work that shares a GPU or a slice has to be moved there: every job and workload that moves is named in a command.
TEST(Sharing, EveryMoveHasACommand) {
  for (const char* pods : {"400%", "small-%-7d4b9c6f5-x2x5z", "notebook-%"}) {
    UseAccumulator sum({});
    const std::string pattern = pods;
    for (int i = 0; i < 3; ++i) {
      std::string pod = pattern;
      pod.replace(pod.find('%'), 1, std::to_string(i));
      live(sum,
           {.uuid = std::string(1, static_cast<char>('A' + i)),
            .pod = pod,
            .memory = 7 * kGiB,
            .tensor = 0.05,
            .dram = 0.05,
            .index = i},
           kDay, trickle);
    }
    const Judged fleet(sum.finish());
    std::vector<Remedy> found = find_consolidations(fleet.input());
    for (Remedy& remedy : find_partitions(fleet.input())) found.push_back(std::move(remedy));
    bool slices = false, shared = false;
    for (const Remedy& remedy : found) {
      const FleetAction action = describe({&remedy}, fleet.input());
      const std::string commands = fmt::format("{}", fmt::join(action.commands, "\n"));
      for (const Move& move : action.moves) {
        const bool job = orchestrator_of(move.owner) == Orchestrator::kSlurm;
        const std::string name = job ? move.owner.instance : kubernetes_object(move.owner);
        EXPECT_THAT(commands, HasSubstr(name)) << action.what;
        const std::string host = move.to.substr(0, move.to.find('/'));
        EXPECT_THAT(commands, HasSubstr(host));
        const bool slice = remedy.kind == RemedyKind::kMig;
        if (slice) {
          EXPECT_THAT(commands, HasSubstr(job ? "--gres=gpu:1g.10gb:1" : "nvidia.com/mig-1g.10gb"));
        }
        if (job && !slice) {
          EXPECT_THAT(commands + action.manifest, HasSubstr("shard"));
        }
        if (job) {
          EXPECT_THAT(action.risk, HasSubstr("checkpoint"));
        }
        if (job) {
          EXPECT_THAT(action.rollback, HasSubstr("sbatch job-" + name));
        }
        (slice ? slices : shared) = true;
      }
    }
    EXPECT_TRUE(slices && shared) << pods;
  }
}

}  // namespace
}  // namespace rightsize::fleet
