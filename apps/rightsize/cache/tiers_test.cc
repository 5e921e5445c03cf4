#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/text.h"
#include "rightsize/cache/report.h"

namespace rightsize::app {
namespace {

// Every flag of vLLM and SGLang in data/flags.csv.
std::set<std::string> engine_flags() {
  const Csv csv = *Csv::parse("flags.csv", std::string(embedded_file("flags.csv")));
  std::set<std::string> flags;
  for (const CsvRow& row : csv.rows()) {
    const std::string_view project = csv.cell(row, "project");
    if (project == "vllm" || project == "sglang") flags.emplace(csv.cell(row, "flag"));
  }
  return flags;
}

TEST(CacheCommands, UseFlagsThatTheEnginesHave) {
  const std::set<std::string> known = engine_flags();
  for (const char* name : {"host", "disk", "remote"}) {
    for (const int gpus : {1, 4}) {
      const auto commands = cache_commands({name, bytes(300e9), gb_per_s(6), std::string_view(name) == "remote"},
                                           bytes(40e9), gpus, "llama-3.1-8b");
      EXPECT_GE(commands.size(), 1u);
      for (const auto& [engine, line] : commands) {
        for (const std::string_view word : split_list(line, ' ')) {
          const bool is_flag = word.starts_with("--");
          EXPECT_TRUE(!is_flag || known.contains(std::string(word))) << engine << ": " << word;
        }
        EXPECT_NE(line.find("llama-3.1-8b"), std::string::npos);
      }
    }
  }
}

TEST(CacheCommands, SizesUseTheUnitsOfEachEngine) {
  const auto commands = cache_commands({"host", gib(200), gb_per_s(50), false}, gib(40), 4, "m");
  const auto line = [&](std::string_view engine) {
    for (const auto& [name, text] : commands)
      if (name == engine) return text;
    return std::string();
  };
  EXPECT_NE(line("vllm").find("--kv-offloading-size 200"), std::string::npos) << line("vllm");
  EXPECT_NE(line("sglang").find("--hicache-size 54"), std::string::npos) << line("sglang");
  EXPECT_NE(line("lmcache").find("LMCACHE_MAX_LOCAL_CPU_SIZE=54"), std::string::npos) << line("lmcache");
  EXPECT_NE(line("dynamo").find("DYN_KVBM_CPU_CACHE_GB=215"), std::string::npos) << line("dynamo");
}

}  // namespace
}  // namespace rightsize::app
