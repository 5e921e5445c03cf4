// The assumptions that a plan states are those it uses, and every flag that it names belongs to this command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/test_requests.h"
#include "rightsize/recommend/answer.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Told {
  Recommended made;
  std::string text;  // the first paragraphs and the terms

  const plan::Request& request() const { return made.request; }
  const plan::Plan& best() const { return made.found.plans.at(0); }
};

Told told(const Settings& given) {
  static const Facts kFacts = *open_facts("");
  Checked<Recommended> made = recommend_for(plan::settings_of(given), kFacts, false);
  EXPECT_TRUE(made) << describe(made.error());
  std::string text;
  for (const std::string& paragraph : answer_paragraphs(made->request, made->found)) text += paragraph + "\n";
  for (const std::string& sentence : terms_sentences(made->request, made->found)) text += sentence + "\n";
  return {*std::move(made), text};
}

// The hint repeats the prompt length that was typed; image tokens come on top.
TEST(Assumed, TheHintRepeatsTheTypedPrompt) {
  for (const char* images : {"1", "2", "5"}) {
    const Told vision = told({{"job", "serve"},
                              {"model", "qwen2.5-vl-7b"},
                              {"images", images},
                              {"isl", "300"},
                              {"osl", "150"},
                              {"rate", "1/s"}});
    EXPECT_THAT(vision.text, HasSubstr("--isl 300,fixed"));
  }
}

TEST(Assumed, SpeechCountsGeneratedTokens) {
  const Told speech = told({{"job", "serve"}, {"model", "whisper-large-v3-turbo"}, {"audio-hours", "1000"}});
  EXPECT_THAT(speech.text, HasSubstr(fmt::format("{} tokens of text per 30 s", speech.request().job.serve.osl)));
  EXPECT_THAT(speech.text, Not(HasSubstr("448")));
}

TEST(Assumed, OfflineWorkDescribesItsData) {
  const Told vectors =
      told({{"job", "serve"}, {"model", "qwen3-embedding-8b"}, {"items", "200M"}, {"isl", "400"}, {"osl", "1"}});
  EXPECT_THAT(vectors.text, HasSubstr("TiB out, with storage of "));
}

// A service runs all the time, so owned machines cost their full monthly cost.
TEST(Assumed, OwnedMachinesExplainTheirPrice) {
  const Settings service = {{"job", "serve"},     {"model", "llama-3.1-70b"},          {"rate", "1/s"},
                            {"precision", "fp8"}, {"on-prem", "8xh200-sxm=310000USD"}, {"on-prem-machines", "3"},
                            {"providers", "own"}};
  const Told always = told(service);
  ASSERT_TRUE(always.best().offer.is_own());
  for (const char* part : {"--amortise-years", "in use 100 % of the time (--busy-share)", "--kwh-price", "--pue"})
    EXPECT_THAT(always.text, HasSubstr(part));
  EXPECT_THAT(always.text, Not(HasSubstr("from own")));
  const double written_off = 310000.0 / (4 * 12) * always.best().machines;
  EXPECT_GE(in_usd(always.best().cost), written_off);
  EXPECT_LE(in_usd(always.best().cost), 1.25 * written_off);  // includes power
  Settings given = service;
  for (const auto& [name, value] : {std::pair("busy-share", "0.5"), {"amortise-years", "3"}, {"kwh-price", "0.3"}})
    given.emplace_back(name, value);
  const Told other = told(given);
  for (const char* part : {"--amortise-years", "--busy-share", "--kwh-price"})
    EXPECT_THAT(other.text, Not(HasSubstr(part)));
}

TEST(Assumed, NoFlagsOfOtherCommandsAreNamed) {
  const Told own = told({{"model", "phi-4"},
                         {"tokens", "2B"},
                         {"seq", "4096"},
                         {"on-prem", "8xa100-80gb-sxm=120000USD"},
                         {"on-prem-machines", "4"}});
  EXPECT_THAT(own.text, Not(HasSubstr("--network")));
}

TEST(Assumed, SpotPlansDoNotMentionReservations) {
  const Told spot = told({{"model", "resnet-50"},
                          {"dataset-samples", "1.28M"},
                          {"epochs", "90"},
                          {"providers", "aws"},
                          {"purchase", "spot"}});
  EXPECT_THAT(spot.text, HasSubstr("Availability: aws"));
  EXPECT_THAT(spot.text, Not(HasSubstr("Capacity Blocks")));
  EXPECT_THAT(spot.text, Not(HasSubstr("; 60 seconds")));
}

}  // namespace
}  // namespace rightsize::app
