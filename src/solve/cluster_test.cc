// Random clusters: every packing is feasible, and none of the simple rules packs better.
#include "solve/cluster.h"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::solve {
namespace {

struct RandomCluster {
  std::vector<ClusterTask> tasks;
  std::vector<ClusterNode> nodes;
};

// Sizes and shares as in Alibaba's GPU cluster of 2023: an eighth of the pods without a GPU, three eighths with a part
// of one, half with one, a few with two to eight; nodes with zero to eight GPUs.
RandomCluster random_cluster(std::uint64_t seed, int tasks, int nodes) {
  Random random(seed);
  const auto below = [&](int n) { return std::min(n - 1, static_cast<int>(random.uniform() * n)); };
  constexpr std::array kNodeGpus = {0, 1, 2, 2, 4, 4, 8, 8};
  constexpr std::array kShares = {0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  RandomCluster made;
  for (int n = 0; n < nodes; ++n) {
    const int gpus = kNodeGpus[static_cast<std::size_t>(below(8))];
    made.nodes.push_back({gpus == 0 ? 64.0 : 12.0 * gpus + 24, gpus == 0 ? 256.0 : 64.0 * gpus + 64, gpus, below(4)});
  }
  for (int t = 0; t < tasks; ++t) {
    ClusterTask task;
    const double kind = random.uniform();
    if (kind >= 0.13 && kind < 0.51) task.share = kShares[static_cast<std::size_t>(below(10))];
    if (kind >= 0.51) task.gpus = kind < 0.985 ? 1 : kind < 0.99 ? 2 : kind < 0.995 ? 4 : 8;
    task.cpu = std::max(1, task.gpus) * (2 << below(3));
    task.memory = task.cpu * (2 + 2 * below(3));
    if (random.uniform() < 0.2) task.types = 1ULL << below(4) | 1ULL << below(4);
    made.tasks.push_back(task);
  }
  return made;
}

void expect_feasible(const RandomCluster& c, const ClusterPacking& packed) {
  std::vector<double> cpu(c.nodes.size(), 0), memory = cpu, whole = cpu;
  std::map<std::pair<int, int>, double> shares;
  double gpus = 0;
  ASSERT_EQ(packed.places.size(), c.tasks.size());
  for (std::size_t t = 0; t < c.tasks.size(); ++t) {
    const ClusterPlace& at = packed.places[t];
    if (at.node < 0) continue;
    const auto n = static_cast<std::size_t>(at.node);
    EXPECT_NE(c.tasks[t].types >> c.nodes[n].type & 1, 0U);
    cpu[n] += c.tasks[t].cpu, memory[n] += c.tasks[t].memory, whole[n] += c.tasks[t].gpus;
    if (c.tasks[t].share > 0) shares[{at.node, at.gpu}] += c.tasks[t].share;
    gpus += c.tasks[t].gpu_demand();
  }
  for (const auto& [at, share] : shares) {
    EXPECT_LE(share, 1 + 1e-6);
    ++whole[static_cast<std::size_t>(at.first)];  // shared GPUs are not free for whole ones
  }
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    EXPECT_LE(cpu[n], c.nodes[n].cpu + 1e-6);
    EXPECT_LE(memory[n], c.nodes[n].memory + 1e-6);
    EXPECT_LE(whole[n], c.nodes[n].gpus + 1e-6);
  }
  EXPECT_NEAR(gpus, packed.gpus, 1e-6);
}

TEST(Cluster, IsFeasibleAndAtLeastAsGoodAsBestFitAndLeastFragmentation) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCluster c = random_cluster(seed, 40 + static_cast<int>(seed) * 7, 12 + static_cast<int>(seed % 20));
    const ClusterPacking packed = pack_cluster(c.tasks, c.nodes, [] { return false; });
    expect_feasible(c, packed);
    for (const ClusterRule rule : {ClusterRule::kBestFit, ClusterRule::kLeastFragmentation}) {
      const ClusterPacking simple = place_in_order(c.tasks, c.nodes, rule);
      expect_feasible(c, simple);
      EXPECT_FALSE(simple.is_better_than(packed));
      better += packed.is_better_than(simple) ? 1 : 0;
    }
  }
  EXPECT_GT(better, 30);
}

TEST(Cluster, PacksALargeClusterWhenStopped) {
  const RandomCluster c = random_cluster(99, 2000, 300);
  const ClusterPacking packed = pack_cluster(c.tasks, c.nodes, [] { return true; });
  expect_feasible(c, packed);
  EXPECT_FALSE(place_in_order(c.tasks, c.nodes, ClusterRule::kLeastFragmentation).is_better_than(packed));
}

}  // namespace
}  // namespace rightsize::solve
