#include "rightsize/typed/phrases.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A part of a sentence, and the flags that it means.
struct Part {
  std::string said;
  std::vector<std::string> flags;
};

// Parts of sentences about one job; one is taken of each list, and the job with its model always.
struct Topic {
  std::vector<Part> job;
  std::vector<std::vector<Part>> more;
};

std::vector<Topic> topics() {
  const std::vector<Part> deadlines = {{"in 3 weeks", {"--deadline=3 weeks"}},
                                       {"within 5 days", {"--deadline=5 days"}},
                                       {"by friday", {"--deadline=friday"}}},
                          power = {{"power is $0.14/kWh", {"--kwh-price=0.14"}},
                                   {"electricity costs $0.31 per kWh", {"--kwh-price=0.31"}}},
                          places = {{"on aws", {"--provider=aws"}}, {"in europe", {"--region=europe"}}};
  return {
      {{{"fine-tune llama 3.1 8b", {"--job=train"}}, {"fully fine-tune qwen2.5-7b", {"--job=train"}}},
       {{{"on 200M tokens", {"--tokens=200000000"}}, {"with 3B tokens", {"--tokens=3000000000"}}},
        {{"with activation checkpointing", {"--recompute=full"}},
         {"using gradient checkpointing", {"--recompute=full"}},
         {"with selective recomputation", {"--recompute=selective"}},
         {"with CPU offloading", {"--offload=optimizer"}},
         {"and ZeRO stage 2", {"--zero=2"}}},
        {{"sequences of 4096 tokens", {"--seq=4096"}}, {"examples of about 1500 tokens", {"--seq=1500"}}},
        {{"on a single A100 80GB", {"--gpu=1xA100-80GB"}}, {"on 8 H100", {"--gpu=8xH100"}}},
        deadlines,
        power,
        places}},
      {{{"serve llama 3.3 70b", {"--job=serve"}}, {"run an inference service with qwen3-32b", {"--job=serve"}}},
       {{{"at 6 rps", {"--rate=6/s"}},
         {"for 20 requests per second", {"--rate=20/s"}},
         {"3 billion input and 400 million output tokens per month", {"--rate=0.5946/s", "--isl=1920", "--osl=256"}},
         {"with 600M generated tokens and 1.2B input tokens a day", {"--rate=27.13/s", "--isl=512", "--osl=256"}}},
        {{"p95 time to first token under 800 ms", {"--ttft-slo=800ms", "--slo-percentile=95"}},
         {"99th percentile TTFT below 2 s", {"--ttft-slo=2s", "--slo-percentile=99"}},
         {"p99 time to first token at most 700 ms and p95 under 500 ms", {"--ttft-slo=500ms", "--slo-percentile=99"}}},
        {{"on H100", {"--gpu=H100"}}, {"using L40S", {"--gpu=L40S"}}},
        {{"for less than $5000 per month", {"--budget=5000.00"}}},
        power,
        places}},
      {{{"embed with bge-m3", {"--job=serve"}}},
       {{{"5 million documents a day", {"--items=5000000", "--deadline=24h"}},
         {"300k tickets per hour", {"--items=300000", "--deadline=1h"}}},
        {{"texts of 400 tokens", {"--isl=400"}}, {"passages of 256 tokens each", {"--isl=256"}}},
        places}},
      {{{"rerank with bge-reranker-v2-m3", {"--job=serve"}}},
       {{{"50 queries per second", {"--rate=50/s"}}, {"at 7 searches per second", {"--rate=7/s"}}},
        {{"100 passages per query", {"--docs-per-query=100"}},
         {"40 candidates for each search", {"--docs-per-query=40"}}},
        {{"passages of 256 tokens", {"--isl=256"}}, {"candidates of 180 tokens", {"--isl=180"}}},
        {{"p99 under 150 ms", {"--ttft-slo=150 ms", "--slo-percentile=99"}}},
        places}},
      {{{"GRPO of qwen2.5 7b", {"--job=rl"}}, {"RLHF with PPO of llama 3.1 8b", {"--job=rl"}}},
       {{{"8 samples per prompt", {"--samples=8"}},
         {"16 rollouts for each question", {"--samples=16"}},
         {"groups of 12", {"--samples=12"}}},
        {{"4k completions", {"--osl=max=4k"}},
         {"answers of 2048 tokens", {"--osl=max=2048"}},
         {"8k token answers", {"--osl=max=8k"}}},
        {{"128 prompts per step", {"--prompts=128"}}, {"batches of 64 prompts", {"--prompts=64"}}},
        {{"500 steps", {"--steps=500"}}},
        {{"on 8 H100", {"--gpu=8xH100"}}}}},
      {{{"video generation with Wan 2.1 14B", {"--job=serve"}}},
       {{{"300 clips of 5 seconds 720p a day",
          {"--items=300", "--frames=81", "--resolution=1280x720", "--deadline=24h"}},
         {"1200 videos at 480p of 3 s every hour",
          {"--items=1200", "--frames=49", "--resolution=832x480", "--deadline=1h"}},
         {"40 videos at 480p lasting 3 s per hour",
          {"--items=40", "--frames=49", "--resolution=832x480", "--deadline=1h"}}},
        places}},
  };
}

bool means(const Typed& meant, const std::string& flag) {
  const auto plain = [](std::string word) { return std::erase(word, ' '), to_lower(word); };
  return std::ranges::any_of(meant.words, [&](const std::string& word) { return plain(word) == plain(flag); });
}

// Every part of a sentence, in any order, arrives at its flag, or the sentence is refused by the name of the part.
TEST(Phrases, EveryPartOfASentenceArrivesInAnyOrder) {
  Random random(17);
  const auto below = [&](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(count)));
  };
  const std::vector<Topic> all = topics();
  for (int round = 0; round < 150; ++round) {
    const Topic& topic = all[below(all.size())];
    std::vector<Part> parts{topic.job[below(topic.job.size())]};
    for (std::size_t i = 0; i < topic.more.size(); ++i)
      if (i == 0 || random.uniform() < 0.5) parts.push_back(topic.more[i][below(topic.more[i].size())]);
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[below(i)]);
    std::string line;
    for (const Part& part : parts) line += (line.empty() ? "" : random.uniform() < 0.5 ? ", " : " ") + part.said;
    const Typed meant = meant_words({line});
    const std::string shown =
        fmt::format("{}: {} ({})", line, fmt::join(meant.words, " "), fmt::join(meant.notes, "; "));
    const std::string refusal = meant.refusal ? meant.refusal->message : "";
    for (const Part& part : parts) {
      const bool named = !refusal.empty() && std::ranges::any_of(words_in(part.said), [&](const std::string& word) {
        return word.size() > 1 && refusal.find(word) != std::string::npos;
      });
      for (const std::string& flag : part.flags)
        EXPECT_TRUE(means(meant, flag) || named) << flag << "; " << shown << refusal;
    }
  }
}

// Whatever a setting is called, in any position.
TEST(Phrases, SpokenSettingsAreSettings) {
  const std::pair<const char*, const char*> spoken[] = {{"gradient checkpointing", "--recompute=full"},
                                                        {"activation checkpointing", "--recompute=full"},
                                                        {"8-bit adam", "--optimizer=adamw-8bit"},
                                                        {"deepspeed zero 3", "--zero=3"},
                                                        {"torch compile", "--compile=yes"},
                                                        {"flash attention 2", ""}};
  for (const auto& [name, flag] : spoken) {
    for (const char* form : {"does a full fine-tune of llama 3.2 3b fit an A100 40GB with {}",
                             "with {}, largest batch for fine-tuning llama 3.2 3b at 4096 tokens on an A100 40GB",
                             "how much memory does fine-tuning llama 3.1 8b with {} need on one H100?"}) {
      const Typed meant = meant_words({fmt::format(fmt::runtime(form), name)});
      EXPECT_EQ(meant.words.front(), "memory") << form;
      EXPECT_TRUE(*flag == '\0' || means(meant, flag)) << name << fmt::format(": {}", fmt::join(meant.words, " "));
      EXPECT_THAT(fmt::format("{}", fmt::join(meant.notes, "; ")), Not(HasSubstr("ignored"))) << name;
    }
  }
}

// A volume of tokens is neither the length of a text nor a model.
TEST(Phrases, VolumesOfTokensAreNotLengthsOrModels) {
  for (const char* tokens : {"200M", "1B", "1.5 billion", "30 million", "900M"}) {
    for (const char* form : {"can we fine-tune llama 3.1 8b on {} tokens on one A100?",
                             "is it possible to fine-tune llama 3.1 8b on {} tokens in 3 weeks on 2 H100s?",
                             "could a single A100 fine-tune llama 3.1 8b with {} tokens in 10 days"}) {
      const Typed meant = meant_words({fmt::format(fmt::runtime(form), tokens)});
      const std::string shown = fmt::format("{} {}", tokens, fmt::join(meant.words, " "));
      EXPECT_EQ(typed_value(meant, "--seq") + typed_value(meant, "--isl"), "") << shown;
      EXPECT_NE(typed_value(meant, "--tokens"), "") << shown;
    }
    for (const char* form : {"serve qwen2.5 72b with {0} input and {0} output tokens a month",
                             "qwen2.5 72b for {0} output tokens and {0} input tokens per day"}) {
      const Typed meant = meant_words({fmt::format(fmt::runtime(form), tokens)});
      EXPECT_THAT(meant.words, Not(Contains(HasSubstr(" like ")))) << form;
      EXPECT_EQ(typed_value(meant, "--isl"), "256") << form;
      EXPECT_NE(typed_value(meant, "--rate"), "") << form;
    }
  }
}

// The bill of an API for a volume is a price per token, to compare with.
TEST(Phrases, BillsOfAnApiAreComparedWith) {
  for (const char* line :
       {"we pay OpenAI $11,000 a "
        "month for 3 billion input and 400 million output tokens, would self-hosting qwen2.5 72b be cheaper?",
        "for 400M output and 3B input tokens our openai bill is $11,000 per month, can qwen2.5 72b "
        "on our own GPUs be cheaper"}) {
    const Typed meant = meant_words({line});
    EXPECT_EQ(typed_value(meant, "--api-price"), "3.235") << fmt::format("{}", fmt::join(meant.words, " "));
    EXPECT_EQ(typed_value(meant, "--budget"), "");
    EXPECT_EQ(typed_value(meant, "--rate"), "0.5946/s");
  }
}

// From one value to another, versus, or: both are in the answer.
TEST(Phrases, TwoValuesAreCompared) {
  for (const char* between : {"going from {} to {}", "moving from {} to {}", "{} versus {}", "{} instead of {}"}) {
    const std::string both = fmt::format(fmt::runtime(between), "bf16", "fp8");
    const Typed meant =
        meant_words({fmt::format("what does {} save for llama 3.1 70b at 128k context with 10 users", both)});
    const std::string shown = fmt::format("{}", fmt::join(meant.words, " "));
    EXPECT_EQ(meant.words.front(), "memory") << shown;
    EXPECT_EQ(typed_value(meant, "--sweep"), "precision=bf16,fp8") << shown;
    EXPECT_EQ(typed_value(meant, "--concurrency"), "10") << shown;
    EXPECT_EQ(typed_value(meant, "--isl"), "130816") << shown;
  }
  const Typed meant = meant_words({"co2 of 32 H100 for 10 days: Sweden or Virginia?"});
  EXPECT_THAT(meant.words, Contains("--carbon=sweden"));
  EXPECT_THAT(meant.notes, Contains(StartsWith("in virginia: ")));
}

TEST(Phrases, TwoMethodsAreBothPlanned) {
  for (const char* both : {"lora versus qlora", "LoRA or QLoRA", "lora vs qlora"})
    EXPECT_EQ(typed_value(meant_words({fmt::format("fine-tune llama 3.1 8b with {} on 50M tokens on an L40S", both)}),
                          "--method"),
              "lora,qlora")
        << both;
}

// Spot machines and the checkpoints of a job of known length.
TEST(Phrases, CheckpointsAndHoursPriceSpot) {
  for (const char* line : {"should I train on spot? 72 hours on 4 A100s on GCP, checkpoint every 30 minutes",
                           "train on spot for 72 hours on 4 A100s, checkpoint every 30 min",
                           "4 A100s on spot for 3 days with a checkpoint every 0.5 hours, is it worth it"}) {
    const Typed meant = meant_words({line});
    const std::string shown = fmt::format("{}", fmt::join(meant.words, " "));
    EXPECT_THAT(shown, StartsWith("prices spot"));
    EXPECT_EQ(typed_value(meant, "--checkpoint-every"), "30min") << shown;
    EXPECT_EQ(typed_value(meant, "--hours"), "72h") << shown;
  }
}

// A quota of vCPUs limits the GPUs to what its machines have.
TEST(Phrases, QuotasLimitTheGpus) {
  for (const auto& [vcpus, most] : {std::pair(192, "8"), std::pair(384, "16")}) {
    const Typed meant = meant_words({fmt::format(
        "our AWS quota is {} vCPUs of P instances in eu-west-1, fastest way to fine-tune llama 3.1 8b on 2B tokens",
        vcpus)});
    EXPECT_EQ(typed_value(meant, "--max-gpus"), most);
    EXPECT_EQ(typed_value(meant, "--region"), "eu-west-1");
    EXPECT_THAT(typed_value(meant, "--gpu"), HasSubstr("h100-sxm"));
    EXPECT_THAT(typed_value(meant, "--gpu"), Not(HasSubstr("a10g")));
  }
}

// GPUs that are owned are compared with those that could be rented.
TEST(Phrases, OwnedGpusStandBesideRentedOnes) {
  const Typed meant = meant_words(
      {"we own 16 V100 32GB, power is $0.14/kWh, is it cheaper to keep them than renting L40S for batch inference with "
       "llama 3 8b 400M tokens a day"});
  EXPECT_EQ(meant.words.front(), "recommend");
  EXPECT_EQ(to_lower(typed_value(meant, "--on-prem")), "8xv100-32gb");
  EXPECT_EQ(typed_value(meant, "--on-prem-machines"), "2");
  EXPECT_EQ(to_lower(typed_value(meant, "--gpu")), "l40s,v100-32gb");
  EXPECT_EQ(typed_value(meant, "--kwh-price"), "0.14");
  EXPECT_EQ(typed_value(meant, "--hours"), "");
  EXPECT_EQ(typed_value(meant, "--deadline"), "24h");
}

// Texts that are too long for an encoder are read in chunks; of two prices, none is dropped.
TEST(Phrases, LongTextsAreChunksAndNoValueIsDropped) {
  const Typed long_text = meant_words({"embed 5 million documents a day of 700 tokens with bge-large"});
  EXPECT_EQ(typed_value(long_text, "--isl"), "350");
  EXPECT_EQ(typed_value(long_text, "--items"), "10000000");
  const Typed second = meant_words({"how many h100 for llama 3.1 8b at 5 rps, power is $0.10/kWh and $0.20/kWh"});
  EXPECT_TRUE(second.refusal || std::ranges::count_if(second.words, [](const auto& word) {
                                  return word.starts_with("--kwh-price");
                                }) == 2);
}

}  // namespace
}  // namespace rightsize::app
