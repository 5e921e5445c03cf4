#include "rightsize/typed/account.h"

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

template <class List>
const auto& one_of(const List& list, Random& random) {
  return list[std::min(std::size(list) - 1,
                       static_cast<std::size_t>(random.uniform() * static_cast<double>(std::size(list))))];
}

std::string refusal_of(const Typed& typed) { return typed.refusal ? typed.refusal->message : std::string(); }

// What is excluded is never required, however and in whatever position it is said.
TEST(Exclusion, IsNeverARequirement) {
  const char* const kForms[] = {"not on {}",       "not {}",       "without {}",    "no {}",         "except {}",
                                "anything but {}", "excluding {}", "neither {}",    "but not on {}", "avoid {}",
                                "other than {}",   "never on {}",  "do not use {}", "not from {}"};
  const std::vector<std::string> sellers = {"aws", "azure", "gcp", "runpod", "lambda", "oci"},
                                 gpus = {"T4", "L4", "A100", "MI300X", "RTX 4090", "H100 PCIe"};
  const char* const kBefore[] = {"cheapest GPU to serve llama 3.1 8b at 5 requests per second",
                                 "what does it cost to fine-tune qwen2.5-7b on 100M tokens",
                                 "embed 20M documents with bge-m3 in 12 hours"};
  Random random(3);
  for (int round = 0; round < 120; ++round) {
    const auto& names = random.uniform() < 0.5 ? sellers : gpus;
    std::vector<std::string> excluded{one_of(names, random)};
    if (random.uniform() < 0.5)
      if (const auto& other = one_of(names, random); other != excluded.front()) excluded.push_back(other);
    const std::string form = one_of(kForms, random);
    const std::string list = fmt::format("{}", fmt::join(excluded, form.starts_with("neither") ? " nor "
                                                                   : random.uniform() < 0.5    ? " or "
                                                                                               : ", "));
    const std::string line = fmt::format("{}, {}", one_of(kBefore, random), fmt::format(fmt::runtime(form), list));
    const Typed meant = meant_words({line});
    const std::string left_out = typed_value(meant, "--exclude");
    for (std::string name : excluded) {
      std::replace(name.begin(), name.end(), ' ', '-');
      EXPECT_THAT("," + left_out + ",", HasSubstr("," + to_lower(name) + ",")) << line;
      for (const std::string& word : meant.words)
        EXPECT_FALSE(!word.starts_with("--exclude") && to_lower(word).ends_with(to_lower(name)))
            << line << ": " << word;
    }
    EXPECT_EQ(refusal_of(meant), "") << line;
  }
}

TEST(Exclusion, OfTermsPlacesAndSettingsIsTheirOpposite) {
  const std::pair<const char*, const char*> kMeant[] = {
      {"cheapest H100 in Asia right now, not spot", "--purchase=on-demand"},
      {"h100 prices without spot instances please", "--purchase=on-demand"},
      {"cheapest h100 per hour with no commitment", "--purchase=on-demand"},
      {"memory to fine-tune llama 3.1 8b without gradient checkpointing", "--recompute=none"},
      {"memory to fine-tune llama 3.1 8b on 1 h100, no lora", "--method=full"},
      {"how much memory does llama 3.1 8b need without quantization", "--precision=bf16"},
      {"cheapest h100 outside the us", "--region=canada,latin-america,europe,asia,oceania,middle-east,africa"},
      {"which GPUs with 80GB are there without nvlink", "nvlink=no"},
  };
  for (const auto& [line, meant] : kMeant) EXPECT_THAT(meant_words({line}).words, Contains(meant)) << line;
}

// Limits and questions contain the same words.
TEST(Exclusion, LeavesLimitsAlone) {
  for (const char* line : {"serve llama 3.1 8b at 5 rps for no more than $2000 per month", "why is my GPU not busy",
                           "fine-tune mistral 7b on 50M tokens, not more than 12 hours",
                           "I am not sure which gpu I need for llama 3.1 8b at 3 rps"}) {
    const Typed meant = meant_words({line});
    EXPECT_EQ(typed_value(meant, "--exclude"), "") << line;
    EXPECT_EQ(refusal_of(meant), "") << line;
  }
  EXPECT_THAT(refusal_of(meant_words({"serve llama 3.1 8b at 5 rps without any downtime"})), HasSubstr("without any"));
}

// Every limit keeps its own number, in any order and form.
TEST(Limits, EachNameOwnsItsNumber) {
  const char* const kFirst[] = {"first token below {}", "TTFT under {}", "{} to the first token",
                                "time to first token at most {}"};
  const char* const kEach[] = {"between tokens below {}", "TPOT under {}", "less than {} between tokens",
                               "{} per token", "inter-token latency below {}"};
  Random random(7);
  for (int round = 0; round < 80; ++round) {
    const std::string first = fmt::format("{} ms", 200 + 10 * static_cast<int>(random.uniform() * 60)),
                      each = fmt::format("{}{}ms", 15 + static_cast<int>(random.uniform() * 80),
                                         random.uniform() < 0.5 ? " " : "");
    std::string one = fmt::format(fmt::runtime(one_of(kFirst, random)), first),
                other = fmt::format(fmt::runtime(one_of(kEach, random)), each);
    if (random.uniform() < 0.5) std::swap(one, other);
    const std::string line = fmt::format("serve qwen3-32b with 12 rps, prompts 3k, answers 500, {} and {}", one, other);
    const Typed meant = meant_words({line});
    const auto value = [&](const char* flag) {
      std::string text = typed_value(meant, flag);
      std::erase(text, ' ');
      return text;
    };
    const auto joined = [](std::string text) { return std::erase(text, ' '), text; };
    EXPECT_EQ(value("--ttft-slo"), joined(first)) << line;
    EXPECT_EQ(value("--tpot-slo"), joined(each)) << line;
    EXPECT_EQ(value("--isl"), "3k") << line;
    EXPECT_EQ(value("--osl"), "500") << line;
    EXPECT_EQ(refusal_of(meant), "") << line;
  }
}

TEST(Terms, MayBeAllowedOrRequired) {
  for (const char* allowed :
       {"spot is fine", "spot ok", "spot is ok", "spot allowed", "including spot", "spot is also fine"}) {
    EXPECT_EQ(typed_value(meant_words({fmt::format("cheapest h100 in europe, {}", allowed)}), "--purchase"),
              "on-demand,spot")
        << allowed;
    EXPECT_EQ(typed_value(meant_words({fmt::format("fine-tune llama 3.1 8b on 100M tokens in eu, {}", allowed)}),
                          "--purchase"),
              "on-demand,spot")
        << allowed;
  }
  for (const char* required : {"on spot", "spot only", "only spot", "on spot instances"})
    EXPECT_EQ(typed_value(meant_words({fmt::format("fine-tune llama 3.1 8b on 100M tokens in eu, {}", required)}),
                          "--purchase"),
              "spot")
        << required;
}

// GPUs that were bought are machines that are there.
TEST(Owned, GpusAreOnPremises) {
  for (const char* line : {"we bought 8 H200. How many users can llama 70b serve at less than 100 ms between tokens",
                           "8 own H200, max 40 ms, llama 70b", "how many users can our 8 H200 serve with llama 3.3 70b",
                           "we own 8 H200, serve llama 3.3 70b at 5 rps"}) {
    const Typed meant = meant_words({line});
    EXPECT_EQ(to_lower(typed_value(meant, "--on-prem")), "8xh200") << line;
    EXPECT_EQ(typed_value(meant, "--gpu"), "") << line;
    EXPECT_EQ(refusal_of(meant), "") << line;
  }
}

// No number is dropped silently: what no setting takes is refused by its name.
TEST(Account, RefusesNumbersThatNoSettingTakes) {
  const char* const kSentences[] = {
      "serve llama 3.3 70b at 10 requests per second on aws", "fine-tune mistral 7b on 50M tokens with lora",
      "cheapest h100 in europe for 2 weeks", "embed 20M documents with bge-m3 in 12 hours",
      "how many h100 for llama 3.1 8b at 40 rps with 2000 input tokens"};
  const char* const kExtra[] = {"with {} goats", "at {} % humidity", "for {} floors", "under {} bananas",
                                "and {} degrees"};
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    const std::string sentence = one_of(kSentences, random);
    EXPECT_EQ(refusal_of(meant_words({sentence})), "");
    const int number = 61 + 2 * static_cast<int>(random.uniform() * 15);
    const std::string line = fmt::format("{} {}", sentence, fmt::format(fmt::runtime(one_of(kExtra, random)), number));
    EXPECT_THAT(refusal_of(meant_words({line})), HasSubstr(std::to_string(number))) << line;
  }
}

TEST(Account, RefusesModelsThatAreNotOnFile) {
  EXPECT_THAT(refusal_of(meant_words({"embed 10 million products with bge-tiny in 2 hours"})), HasSubstr("bge-tiny"));
  EXPECT_THAT(refusal_of(meant_words({"5 replicas of llama 3.1 8b on L40S: monthly cost"})), HasSubstr("5 replicas"));
}

TEST(Account, DeadlinesAreDatesOrRefused) {
  for (const char* day :
       {"christmas", "new year", "the end of january", "december 20", "easter", "thanksgiving", "march"}) {
    const Typed meant =
        meant_words({fmt::format("fine-tune llama 8b on 300M tokens, must be done before {}, max 4000 dollars", day)});
    EXPECT_NE(typed_value(meant, "--deadline"), "") << day;
    EXPECT_EQ(refusal_of(meant), "") << day;
  }
  EXPECT_THAT(refusal_of(meant_words({"fine-tune llama 8b on 300M tokens, must be done before our launch"})),
              HasSubstr("our launch"));
}

}  // namespace
}  // namespace rightsize::app
