#include "fleet/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

std::string node_json(const std::string& name, int gpus, int shares) {
  return fmt::format(
      R"({{"kind": "Node", "metadata": {{"name": "{}", "labels": {{"nvidia.com/gpu.product": "NVIDIA-L4",
      "nvidia.com/gpu.replicas": "{}"}}}}, "status": {{"allocatable": {{"nvidia.com/gpu": "{}"}},
      "conditions": [{{"lastHeartbeatTime": "2026-11-01T12:00:00Z"}}]}}}})",
      name, shares, gpus * shares);
}

std::string pod_json(const std::string& space, const std::string& name, const std::string& node, int count,
                     const char* phase = "Running") {
  return fmt::format(
      R"({{"kind": "Pod", "metadata": {{"name": "{}", "namespace": "{}"}}, "spec": {{"nodeName": "{}",
      "containers": [{{"resources": {{"limits": {{"nvidia.com/gpu": "{}"}}}}}}]}},
      "status": {{"phase": "{}", "startTime": "2026-11-01T10:00:00Z"}}}})",
      name, space, node, count, phase);
}

telemetry::ClusterState cluster_of(const std::vector<std::string>& items) {
  const std::string text =
      fmt::format(R"({{"apiVersion": "v1", "items": [{}], "kind": "List"}})", fmt::join(items, ","));
  EXPECT_TRUE(telemetry::looks_like_cluster(text));
  auto source = bytes_of(text);
  auto state = telemetry::read_cluster(*source, "cluster.json");
  EXPECT_TRUE(state) << describe(state.error());
  return state ? *std::move(state) : telemetry::ClusterState();
}

TEST(Cluster, FreeGpusAndIdleNodesHaveTheirPrice) {
  const DevicePrices prices(facts(), *market::parse_own_prices({"l4=1"}, facts()));
  const ClusterLedger ledger = make_cluster_ledger(
      cluster_of({node_json("n1", 4, 1), node_json("n2", 4, 1), pod_json("a", "chat-7d4b9c6f5-x2x5z", "n1", 3),
                  pod_json("a", "done", "n2", 4, "Succeeded"), pod_json("b", "waits", "", 2, "Pending")}),
      prices);
  EXPECT_EQ(ledger.gpus, 8);
  EXPECT_EQ(ledger.requested, 3);
  EXPECT_EQ(ledger.waiting, 2);
  EXPECT_EQ(ledger.idle_nodes, 1u);
  EXPECT_NEAR(in_usd(ledger.free_rate * hours(1)), 5, 1e-9);
  EXPECT_NEAR(in_usd(ledger.idle_rate * hours(1)), 4, 1e-9);
  ASSERT_EQ(ledger.requests.size(), 1u);
  EXPECT_EQ(ledger.requests[0].workload, "chat");
  EXPECT_NEAR(in_gpu_hours(*ledger.requests[0].gpu_time), 6, 1e-9);
  EXPECT_EQ(ledger.nodes[0].name, "n2");
}

// Requested and free GPUs add up to those of the nodes, in the ledger and in the GPUs made from it, shared or not.
RC_GTEST_PROP(Cluster, RequestedAndFreeGpusAddUp, ()) {
  const int shares = *rc::gen::inRange(1, 4), per_node = *rc::gen::inRange(1, 9), nodes = *rc::gen::inRange(1, 6);
  std::vector<std::string> items;
  double requested = 0;
  for (int n = 0; n < nodes; ++n) {
    items.push_back(node_json(fmt::format("n{}", n), per_node, shares));
    int left = per_node * shares;
    for (int p = 0; left > 0 && p < 5; ++p) {
      const int count = *rc::gen::inRange(0, left + 1);
      items.push_back(
          pod_json(fmt::format("team{}", p % 3), fmt::format("pod-{}-{}", n, p), fmt::format("n{}", n), count));
      left -= count;
      requested += static_cast<double>(count) / shares;
    }
  }
  const DevicePrices prices(facts(), *market::parse_own_prices({"l4=1"}, facts()));
  const telemetry::ClusterState state = cluster_of(items);
  const ClusterLedger ledger = make_cluster_ledger(state, prices);
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
  RC_ASSERT(near(ledger.gpus, per_node * nodes));
  RC_ASSERT(near(ledger.requested, requested));
  RC_ASSERT(near(in_usd(ledger.free_rate * hours(1)), ledger.gpus - requested));
  double in_lines = 0, owned = 0, all = 0;
  for (const RequestLine& line : ledger.requests) in_lines += in_usd(*line.rate * hours(1));
  for (const GpuUse& gpu : gpus_of_cluster(state)) {
    Seconds sum;
    for (const Tenancy& t : gpu.tenancies) {
      sum += t.time;
      if (!t.owner.empty()) owned += t.time / hours(1);
    }
    RC_ASSERT(near(sum / gpu.covered, 1));
    all += 1;
  }
  RC_ASSERT(near(in_lines, requested));
  RC_ASSERT(near(owned, requested));
  RC_ASSERT(near(all, ledger.gpus));
}

}  // namespace
}  // namespace rightsize::fleet
