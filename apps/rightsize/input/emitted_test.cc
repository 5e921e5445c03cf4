#include "rightsize/input/emitted.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "base/text.h"
#include "base/yaml.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

struct Emits {
  std::string command, words;  // words in the source folder: @/
  std::string yaml;            // targets with YAML files
  std::string other = {};
};
const Emits kEmits[] = {
    {"autoscale",
     "llama-3.1-8b l4 --arrivals diurnal:4,1.8,1h --duration 1h --isl 500 --osl 150 --slo ttft=2s,tpot=150ms",
     "keda hpa variantautoscaling dynamo knative skyserve keda,hpa"},
    {"batch", "--service a10=@/examples/batching/l4.csv --arrivals poisson:200 --slo p99=100ms", "kserve kubernetes",
     "triton"},
    {"batch", "--batch-times @/examples/batching/l4.csv --arrivals poisson:20", "kserve kubernetes", "triton"},
    {"bill", "@/examples/bill/focus.csv --team-budget 5000", "rules"},
    {"fleet", "--from @/examples/fleet/cluster.json --price h100-sxm=2.5", "rules portfolio", "grafana focus"},
    {"recommend", "--model gpt2-xl --tokens 300M --providers aws --gpu h100", "skypilot kubernetes karpenter", "slurm"},
    {"recommend", "--job rl --model qwen2.5-7b --prompts 128 --samples 8 --steps 20 --gpu h100-sxm --providers aws",
     "skypilot kubernetes", "verl slurm"},
    {"service", "--from @/examples/service/metrics.txt.gz --gpu h200-sxm --price h200-sxm=3.50 --slo tpot=50ms",
     "keda hpa deployment keda,hpa"},
};

// The output of --emit is the file, in every command: no report before or after it, and YAML that can be applied.
TEST(Emit, PrintsTheFileAlone) {
  for (const Emits& row : kEmits) {
    for (const std::string& targets : {row.yaml, row.other}) {
      for (const std::string_view target : split_list(targets, ' ')) {
        std::vector<std::string> words;
        for (const std::string_view word : split_list(row.words, ' ')) {
          words.emplace_back(word);
          if (const std::size_t at = words.back().find("@/"); at != std::string::npos)
            words.back().replace(at, 1, RIGHTSIZE_SOURCE_DIR);
        }
        words.push_back("--emit=" + std::string(target));
        const Checked<Outcome> outcome = call(row.command, words);
        ASSERT_TRUE(outcome) << row.command << " " << target << ": " << describe(outcome.error());
        EXPECT_EQ(outcome->report.title, "") << row.command << " " << target;
        ASSERT_EQ(outcome->report.blocks.size(), 1u) << row.command << " " << target;
        const auto* file = std::get_if<report::Verbatim>(&outcome->report.blocks.front());
        ASSERT_NE(file, nullptr) << row.command << " " << target;
        EXPECT_EQ(file->title, "");
        if (targets != row.yaml) continue;
        const YamlDocument::Several read = YamlDocument::parse_all("emitted.yaml", file->text);
        EXPECT_FALSE(read.mistake) << row.command << " " << target << ": " << describe(*read.mistake);
        ASSERT_FALSE(read.documents.empty());
        for (const YamlDocument& document : read.documents)
          EXPECT_EQ(document.root().kind, YamlValue::Kind::kMapping) << row.command << " " << target;
      }
    }
  }
}

TEST(Emit, EveryCommandWithItIsTested) {
  std::set<std::string> tested;
  for (const Emits& row : kEmits) tested.insert(row.command);
  for (const std::string& name : command_names()) {
    const auto flags = describe_command(name)->flags;
    const bool emits = std::ranges::any_of(flags, [](const auto& flag) { return flag.name == "--emit"; });
    EXPECT_EQ(emits, tested.contains(name)) << name;
  }
}

}  // namespace
}  // namespace rightsize::app
