// 'estimate' and 'memory' give the same answer about memory, and 'estimate' gives it first.
#include <map>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using report::Json;

TEST(EstimateAndMemory, AJobThatDoesNotFitIsReportedFirst) {
  // Images, videos, single passes, training: every job without an engine that would refuse to start.
  const std::vector<std::vector<std::string>> jobs = {
      {"flux.1-dev", "--job", "serve"},
      {"sdxl", "--job", "serve", "--batch", "16"},
      {"wan2.1-t2v-14b", "--job", "serve"},
      {"bert-large", "--job", "serve", "--batch", "4096", "--seq", "512"},
      {"vit-l-16", "--job", "train", "--batch", "512"},
      {"llama-3.1-8b", "--job", "train", "--batch", "1"},
      {"llama-3.1-8b", "--job", "train", "--method", "qlora", "--batch", "1"},
      {"resnet-50", "--job", "train", "--batch", "64"},
      {"llama-3.1-8b", "--job", "serve", "--stack", "hf", "--batch", "64"},
  };
  int too_large = 0, fitting = 0;
  std::mt19937 random(7);
  for (const std::vector<std::string>& job : jobs) {
    for (const char* gpu : {"t4", "rtx-4090", "l40s", "h100-sxm", "b200-sxm"}) {
      if (random() % 2 == 0) continue;
      std::vector<std::string> words = job;
      words.insert(words.end(), {"--gpu", gpu});
      const Checked<Outcome> need = call("memory", words), speed = call("estimate", words);
      ASSERT_TRUE(need) << describe(need.error());
      ASSERT_TRUE(speed) << describe(speed.error());
      if (*speed->report.document.find("feasible") != Json(true)) continue;
      const bool fits = *need->report.document.find("fits")->items()->front().find("verdict")->text() != "no";
      const std::string first = std::get<report::Paragraph>(speed->report.blocks.front()).text;
      EXPECT_EQ(first.find("run out of memory") == std::string::npos, fits) << job[0] << " on " << gpu << ": " << first;
      fits ? ++fitting : ++too_large;
    }
  }
  EXPECT_GT(fitting, 3);
  EXPECT_GT(too_large, 3);
}

std::string verdict_of(const Outcome& memory) {
  return *memory.report.document.find("fits")->items()->front().find("verdict")->text();
}

// A comparison checks every GPU, each with the number of GPUs that holds the job.
TEST(EstimateAndMemory, AComparisonChecksEveryGpu) {
  for (const char* model : {"llama-3.1-8b", "llama-3.1-70b", "gpt2-xl"}) {
    const Checked<Outcome> compared =
        call("estimate", {model, "--gpu", "h100-sxm", "--job", "train", "--sweep", "gpu=h100-sxm,l40s,l4"});
    ASSERT_TRUE(compared) << describe(compared.error());
    for (const Json& row : *compared->report.document.find("sweep")->items()) {
      const std::string gpu = *row.find("gpu")->text(), gpus = row.find("gpus")->dump();
      std::vector<std::string> words = {model, "--job", "train", "--gpu", gpu, "--gpus", gpus};
      if (row.find("recompute") != nullptr) words.insert(words.end(), {"--recompute", "full"});
      const Checked<Outcome> need = call("memory", words);
      ASSERT_TRUE(need) << describe(need.error());
      EXPECT_EQ(*row.find("memory")->text(), verdict_of(*need)) << model << " on " << gpus << " x " << gpu;
      EXPECT_NE(row.find("usd_per_million_units"), nullptr);
    }
  }
}

// Recomputation is cheaper than a second GPU.
TEST(EstimateAndMemory, OneGpuIsEnoughIfRecomputationFitsIt) {
  int enough = 0;
  std::mt19937 random(3);
  for (const char* model : {"mistral-7b", "llama-3.1-8b", "qwen2.5-1.5b", "gpt2-xl"}) {
    for (const char* gpu : {"a100-40gb-sxm", "a100-80gb-sxm", "l40s", "rtx-4090"}) {
      const std::string seq = std::to_string(1024 << random() % 5);
      const std::vector<std::string> job = {model, "--job", "train", "--method", "lora", "--seq", seq, "--gpu", gpu};
      std::vector<std::string> small = job;
      small.insert(small.end(), {"--recompute", "full"});
      const Checked<Outcome> need = call("memory", small);
      if (!need || verdict_of(*need) != "fits") continue;
      std::vector<std::string> compared = job;
      compared.insert(compared.end(), {"--sweep", std::string("gpu=") + gpu});
      const Checked<Outcome> speed = call("estimate", compared);
      ASSERT_TRUE(speed) << describe(speed.error());
      EXPECT_EQ(speed->report.document.find("sweep")->items()->front().find("gpus")->dump(), "1")
          << model << " on " << gpu << " with " << seq;
      ++enough;
    }
  }
  EXPECT_GT(enough, 5);
}

// Machines with the lower price win at a low load, those with the lower cost per token at a high one: the comparison
// says so if they differ.
TEST(Estimate, AComparisonNamesTheCheaperMachinesByLoad) {
  int differ = 0;
  for (const char* gpus : {"4xa100-80gb-sxm,2xh200-sxm", "2xh200-sxm,1xl4", "8xl4,1xh100-sxm", "1xl40s,1xh100-sxm"}) {
    const std::string first(gpus, std::string_view(gpus).find(','));
    const Checked<Outcome> compared = call("estimate", {"llama-3.1-8b", "--gpu", first, "--job", "serve",
                                                        "--concurrency", "32", "--sweep", std::string("gpu=") + gpus});
    ASSERT_TRUE(compared) << describe(compared.error());
    const std::string text = std::get<report::Paragraph>(compared->report.blocks.front()).text;
    const std::size_t at = text.find(" costs less, above that ");
    if (at == text.npos) continue;
    ++differ;
    std::string cheapest;
    double least = 1e300;
    for (const Json& row : *compared->report.document.find("sweep")->items()) {
      const double each = std::stod(row.find("usd_per_million_units")->dump());
      if (each < least) least = each, cheapest = *row.find("gpu")->text();
    }
    EXPECT_EQ(text.substr(at).find(" costs less, above that " + cheapest + "."), 0) << text;
  }
  EXPECT_GT(differ, 0);
}

// --quiet shows only the first paragraph.
TEST(Estimate, TheFirstParagraphHasTheSpeedEvenWithoutEnoughMemory) {
  const Checked<Outcome> outcome = call("estimate", {"llama-3.1-70b", "--gpu", "l4", "--job", "train"});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  const std::string text = std::get<report::Paragraph>(outcome->report.blocks.front()).text;
  EXPECT_THAT(text, testing::HasSubstr("run out of memory"));
  EXPECT_THAT(text, testing::HasSubstr("tok/s per GPU"));
}

TEST(Estimate, TheLargestBatchOfAnEngineIsItsLoad) {
  const auto document = [](std::vector<std::string> load) {
    load.insert(load.begin(), {"llama-3.1-8b", "--gpu", "h100-sxm", "--job", "serve"});
    return call("estimate", load)->report.document.dump();
  };
  EXPECT_EQ(document({"--max-batch", "64"}), document({"--max-batch", "64", "--concurrency", "64"}));
  EXPECT_NE(document({"--max-batch", "64"}), document({"--max-batch", "64", "--concurrency", "1"}));
}

TEST(Estimate, TokensGiveTimeAndGpuHours) {
  const Checked<Outcome> outcome =
      call("estimate", {"llama-3.1-8b", "--gpu", "h100-sxm", "--gpus", "64", "--tokens", "1T"});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  const Json& document = outcome->report.document;
  const auto number = [](const Json* json) { return std::stod(json->dump()); };
  const double hours = 1e12 / (number(document.find("tokens_per_second_per_gpu")) * 64) / 3600;
  EXPECT_NEAR(number(document.find("run")->find("seconds")), hours * 3600, hours);
  EXPECT_NEAR(number(document.find("run")->find("gpu_hours")), hours * 64, hours * 0.1);
  EXPECT_GT(number(document.find("run")->find("usd")), 0);
  EXPECT_TRUE(document.find("warnings")->items()->empty() ||
              document.find("warnings")->dump().find("run out of memory") == std::string::npos);
}

// A suggested combination gets the same verdict as the same settings given as flags.
TEST(Memory, ACombinationIsJudgedAsItsFlagsWouldBe) {
  int judged = 0;
  for (const char* gpu : {"rtx-a6000", "rtx-4090", "l4"}) {
    for (const std::vector<std::string>& job :
         {std::vector<std::string>{"llama-3.3-70b", "--method", "qlora", "--seq", "1024"},
          {"llama-3.1-8b", "--batch", "4"},
          {"gpt2-xl", "--batch", "16"}}) {
      std::vector<std::string> words = job;
      words.insert(words.end(), {"--job", "train", "--gpu", gpu});
      const Checked<Outcome> need = call("memory", words);
      ASSERT_TRUE(need) << describe(need.error());
      const Json* options = need->report.document.find("options");
      if (options == nullptr) continue;
      for (const Json& one : *options->find("combinations")->items()) {
        std::map<std::string, std::string> flags;
        for (std::size_t i = 1; i + 1 < words.size(); i += 2) flags[words[i]] = words[i + 1];
        std::istringstream changed(*one.find("flags")->text());
        for (std::string name, value; changed >> name >> value;) flags[name] = value;
        std::vector<std::string> again{words.front()};
        for (const auto& [name, value] : flags) again.insert(again.end(), {name, value});
        EXPECT_EQ(verdict_of(*call("memory", again)), *one.find("verdict")->text())
            << job[0] << " on " << gpu << ": " << *one.find("flags")->text();
        ++judged;
      }
    }
  }
  EXPECT_GT(judged, 3);
}

TEST(Memory, TheLargestBatchFitsAndTheNextDoesNot) {
  for (const char* model : {"gpt2-xl", "resnet-50", "llama-3.2-1b"}) {
    const auto need = [&](const std::string& batch) {
      return call("memory", {model, "--job", "train", "--gpu", "rtx-4090", "--batch", batch, "--max-batch"});
    };
    const int largest = std::stoi(need("1")->report.document.find("largest_batch")->dump());
    ASSERT_GT(largest, 0);
    EXPECT_EQ(verdict_of(*need(std::to_string(largest))), "fits") << model;
    EXPECT_NE(verdict_of(*need(std::to_string(largest + 1))), "fits") << model;
  }
}

// For a language model that embeds texts the answer is in texts per second, as it is in samples per second for
// encoders.
TEST(Estimate, APassWithoutOutputTokensHasNoTimePerOutputToken) {
  for (const char* model : {"mistral-7b-v0.1", "llama-3.1-8b", "qwen3-0.6b"}) {
    const Checked<Outcome> outcome =
        call("estimate", {model, "--gpu", "l4", "--job", "serve", "--isl", "512", "--osl", "1", "--concurrency", "32"});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const std::string text = std::get<report::Paragraph>(outcome->report.blocks.front()).text;
    EXPECT_THAT(text, testing::HasSubstr("texts/s"));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("TPOT")));
  }
}

}  // namespace
}  // namespace rightsize::app
