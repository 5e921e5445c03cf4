// Properties of any file and any request.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/test_catalog.h"
#include "manifests/compare.h"
#include "manifests/hcl.h"
#include "manifests/mentions.h"
#include "manifests/read.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {
namespace {

RC_GTEST_PROP(Templated, TextWithoutTemplateExpressionsIsUnchanged, (const std::vector<std::string>& lines)) {
  std::string text;
  for (const std::string& line : lines) {
    for (const char c : line) {
      if (c != '{' && c != '\0') text += c;
    }
    text += '\n';
  }
  RC_ASSERT(Templated(text).text() == text);
}

RC_GTEST_PROP(Templated, ATemplateExpressionIsRestored, ()) {
  const auto name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  const std::string hole = "{{ .Values." + name + " }}";
  const Templated templated("replicas: " + hole + "\n");
  const std::string scalar = templated.text().substr(10, templated.text().size() - 11);
  RC_ASSERT(Templated::is_open(scalar));
  RC_ASSERT(templated.original(scalar) == hole);
}

RC_GTEST_PROP(Hcl, AStringIsUnescaped, (const std::string& any)) {
  std::string plain, escaped;
  for (const char c : any) {
    if (c == '\0' || c == '\n' || c == '$' || c == '%') continue;
    plain += c;
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  const auto root = parse_hcl("a.tf", "a = \"" + escaped + "\"\nb = 1\n");
  RC_ASSERT(root.has_value());
  RC_ASSERT(root->find("a")->text == plain);
  RC_ASSERT(root->find("b")->number == 1);
}

RC_GTEST_PROP(Price, TwiceTheReplicasCostTwice, ()) {
  const market::PriceBook book(built_in_catalog());
  GpuRequest request;
  const auto& gpus = built_in_catalog().gpus;
  request.gpus = {gpus[*rc::gen::inRange<std::size_t>(0, gpus.size())].name};
  request.per_unit = *rc::gen::inRange(1, 9);
  request.units = *rc::gen::inRange(1, 50);
  request.spot = *rc::gen::arbitrary<bool>();
  const Cost once = price_of(request, book, {});
  request.units = *request.units * 2;
  const Cost twice = price_of(request, book, {});
  RC_ASSERT(once.rate.has_value() == twice.rate.has_value());
  if (once.rate) RC_ASSERT(std::abs(in_usd_per_hour(*twice.rate) / in_usd_per_hour(*once.rate) - 2) < 1e-9);
}

RC_GTEST_PROP(Compare, FilesThatAreTheSameHaveNoChange, ()) {
  std::vector<Side> sides(*rc::gen::inRange<std::size_t>(0, 12));
  for (Side& side : sides) {
    side.request.kind = *rc::gen::element<std::string>("Job", "Pod");
    side.request.name = *rc::gen::element<std::string>("a", "b", "c");
    side.request.file = *rc::gen::element<std::string>("x.yaml", "y.yaml");
    side.request.part = std::to_string(&side - sides.data());
    side.request.per_unit = *rc::gen::inRange(1, 9);
  }
  for (const RequestChange& change : compare(sides, sides)) RC_ASSERT(!change.differs());
}

// The cost of a change is the cost of the new files minus that of the old ones, however requests are paired.
RC_GTEST_PROP(Compare, NoRequestIsLostOrCountedTwice, ()) {
  const auto some = [] {
    std::vector<Side> sides(*rc::gen::inRange<std::size_t>(0, 8));
    for (Side& side : sides) {
      side.request.kind = *rc::gen::element<std::string>("Job", "Pod");
      side.request.name = *rc::gen::element<std::string>("a", "b");
      side.request.per_unit = *rc::gen::inRange(1, 9);
    }
    return sides;
  };
  const std::vector<Side> before = some(), after = some();
  const auto sum = [](const std::vector<Side>& sides) {
    double total = 0;
    for (const Side& side : sides) total += *side.request.per_unit;
    return total;
  };
  double change = 0;
  for (const RequestChange& each : compare(before, after)) {
    if (each.after) change += *each.after->request.per_unit;
    if (each.before) change -= *each.before->request.per_unit;
  }
  RC_ASSERT(change == sum(after) - sum(before));
}

// Custom resources nest pods below any numbers of units; all of them multiply, and a part that is off has none.
RC_GTEST_PROP(Kubernetes, NestedCountsMultiply, ()) {
  const int depth = *rc::gen::inRange(1, 5);
  double pods = 1;
  std::string text = "apiVersion: x.io/v1\nkind: ServingThing\nmetadata: {name: a}\nspec:\n", indent = "  ";
  const bool off = *rc::gen::inRange(0, 4) == 0;
  if (off) text += indent + "enabled: false\n";
  for (int i = 0; i < depth; ++i) {
    const int count = *rc::gen::inRange(1, 6);
    text += fmt::format("{}{}: {}\n", indent,
                        *rc::gen::element<std::string>("replicas", "slices", "numWorkers", "nodeCount", "instances",
                                                       "minReplicas", "worker_count", "numOfHosts"),
                        count);
    pods *= count;
    text += indent + "part" + std::to_string(i) + ":\n";
    indent += "  ";
  }
  const int each = *rc::gen::inRange(1, 9);
  text += fmt::format("{}containers: [{{resources: {{limits: {{nvidia.com/gpu: {}}}}}}}]\n", indent, each);
  RC_LOG() << text;
  const Found found = read_files({{"a.yaml", text}});
  RC_ASSERT(found.requests.size() == (off ? 0U : 1U));
  if (!off) RC_ASSERT(found.requests.front().total() == std::optional(pods * each));
}

// Any number of units of unknown configuration that names GPUs is read or named.
RC_GTEST_PROP(UnreadChanges, CountsBesideGpusAreNotSilent, ()) {
  const std::string noun = *rc::gen::element<std::string>("runner", "pod", "replica", "server", "machine", "agent");
  const std::string key = *rc::gen::element<std::string>("min", "num_", "desired-", "") + noun + "s";
  const auto text = [&](int count) {
    return fmt::format("catalog:\n  model-a-l4:\n    enabled: true\n    {}: {}\n  plain-cpu:\n    {}: 1\n", key, count,
                       key);
  };
  const int count = *rc::gen::inRange(1, 9);
  const Texts before = {{"a.yaml", text(count)}}, after = {{"a.yaml", text(count + 1)}};
  RC_ASSERT(unread_changes(before, after, {}).size() == 1);
}

// A line that a request contains is understood wherever it moves; work without GPUs next to it does not matter.
TEST(UnreadChanges, KnowWhatWasRead) {
  const auto job = [](const char* image) {
    return fmt::format(
        "kind: Job\napiVersion: batch/v1\nmetadata: {{name: a}}\nspec:\n  parallelism: 2\n  template:\n    spec:\n"
        "      containers:\n      - image: {}\n        resources: {{limits: {{nvidia.com/gpu: 4, memory: {}}}}}\n",
        image, image[1] == '1' ? "1Gi" : "2Gi");
  };
  const auto nodes = [](int cpu) {
    return fmt::format(
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: a}}\nnodeGroups:\n- name: cpu\n  "
        "instanceType: m5.large\n  desiredCapacity: {}\n- name: gpu\n  instanceType: g6.xlarge\n  "
        "desiredCapacity: 1\n",
        cpu);
  };
  const std::pair<Texts, Texts> kPairs[] = {{{{"a.yaml", job("x1")}}, {{"b/c.yaml", job("x1")}}},
                                            {{{"a.yaml", job("x1")}}, {{"a.yaml", job("x2")}}},
                                            {{{"a.yaml", nodes(2)}}, {{"a.yaml", nodes(3)}}}};
  for (const auto& [before, after] : kPairs) {
    std::vector<Side> old_sides, new_sides;
    for (GpuRequest& request : read_files(before).requests) old_sides.push_back({std::move(request), {}});
    for (GpuRequest& request : read_files(after).requests) new_sides.push_back({std::move(request), {}});
    const auto changes = compare(old_sides, new_sides);
    EXPECT_TRUE(std::ranges::none_of(changes, &RequestChange::differs)) << after.begin()->second;
    EXPECT_THAT(unread_changes(before, after, changes), testing::IsEmpty());
  }
}

TEST(Kubernetes, PodsHaveTheGpusOfTheirPool) {
  const Found found = read_files(
      {{"a.yaml",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec:\n  limits: {nvidia.com/gpu: 8}\n  "
        "template:\n    metadata: {labels: {use: chat}}\n    spec:\n      requirements:\n      - {key: "
        "karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}\n"},
       {"b.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: {use: chat}\n  containers:\n  - "
        "resources: {limits: {nvidia.com/gpu: 1}}\n"}});
  ASSERT_EQ(found.requests.size(), 2U);
  EXPECT_THAT(found.requests[1].machines, testing::ElementsAre("g6e.*"));
}

TEST(Terraform, NodesOfAZonalCountAreThoseOfEveryZone) {
  const Found found = read_files(
      {{"a.tf",
        "resource \"google_container_node_pool\" \"a\" {\n  node_count = 2\n  node_locations = [\"us-central1-a\", "
        "\"us-central1-b\", \"us-central1-c\"]\n  node_config {\n    machine_type = \"a3-highgpu-8g\"\n  }\n}\n"}});
  ASSERT_EQ(found.requests.size(), 1U);
  EXPECT_EQ(found.requests[0].units, 6);
}

TEST(UnreadChanges, ProgramsThatNameGpus) {
  const auto text = [](const char* gpu) {
    return fmt::format("import modal\nGPU = \"{}\"\n\n@app.cls(gpu=GPU, min_containers=2)\nclass A: pass\n", gpu);
  };
  EXPECT_THAT(unread_changes({{"a.py", text("L4:1")}}, {{"a.py", text("H100:4")}}, {}),
              testing::ElementsAre(testing::HasSubstr("a.py:2")));
}

// What others use is not counted by itself, and a change of who uses it is a change.
TEST(UnreadChanges, NameReferences) {
  const Found runtime = read_files(
      {{"a.yaml",
        "apiVersion: x/v1\nkind: ServingRuntime\nmetadata: {name: a}\nspec:\n  containers:\n  - resources: {limits: "
        "{nvidia.com/gpu: 1}}\n"}});
  ASSERT_EQ(runtime.requests.size(), 1U);
  EXPECT_FALSE(runtime.requests[0].total().has_value());
  const auto text = [](const char* name) {
    std::string all = fmt::format(
        "apiVersion: x/v1\nkind: MachineDeployment\nmetadata: {{name: d}}\nspec:\n  replicas: 2\n  ref:\n    name: "
        "{}\n",
        name);
    for (const char* size : {"24", "96"})
      all += fmt::format(
          "---\napiVersion: x/v1\nkind: AzureMachineTemplate\nmetadata:\n  name: nc{}\nspec:\n  vmSize: "
          "Standard_NC{}ads_A100_v4\n",
          size, size);
    return all;
  };
  const Texts before = {{"a.yaml", text("nc24")}}, after = {{"a.yaml", text("nc96")}};
  std::vector<Side> old_sides, new_sides;
  for (GpuRequest& request : read_files(before).requests) old_sides.push_back({std::move(request), {}});
  for (GpuRequest& request : read_files(after).requests) new_sides.push_back({std::move(request), {}});
  EXPECT_EQ(unread_changes(before, after, compare(old_sides, new_sides)).size(), 1U);
}

}  // namespace
}  // namespace rightsize::manifests
