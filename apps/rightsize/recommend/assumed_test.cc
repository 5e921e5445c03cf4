// The assumptions that a plan states are those it uses, and every flag that it names belongs to this command.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "launch/hand_over.h"
#include "plan/layouts.h"
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

// What the files give the engine and the user did not set is on the first screen.
TEST(Assumed, SettingsOfTheFilesAreNamed) {
  const char* const limits[] = {"5/s", "20/s"};
  const char* const models[] = {"llama-3.1-8b", "qwen2.5-14b", "gpt-oss-120b", "deepseek-r1"};
  const char* const formats[] = {"bf16", "fp8"};
  for (const char* rate : limits) {
    for (const char* model : models) {
      for (const char* format : formats) {
        Settings given = {{"job", "serve"}, {"model", model}, {"rate", rate}, {"providers", "aws,lambda"}};
        if (std::string_view(model) == "llama-3.1-8b" || std::string_view(model) == "qwen2.5-14b")
          given.emplace_back("precision", format);
        const Told service = told(given);
        const auto file = launch::hand_over(launch::Target::kKubernetes, service.request(), service.best());
        ASSERT_TRUE(file) << describe(file.error());
        const std::int64_t longest = plan::longest_request(service.request(), service.best());
        EXPECT_THAT(*file, HasSubstr(fmt::format("--max-model-len {}", longest)));
        EXPECT_THAT(service.text, HasSubstr(fmt::format("requests up to {} tokens (--max-model-len)",
                                                        format_count(static_cast<double>(longest)))));
        EXPECT_EQ(file->find("--kv-cache-dtype fp8") != std::string::npos,
                  service.text.find("fp8 KV cache (--kv-precision)") != std::string::npos);
      }
    }
  }
  const Settings training = {{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"providers", "lambda"}};
  const Told trained = told(training);
  EXPECT_THAT(trained.text, HasSubstr(fmt::format("{} (--precision)", model::name_of(trained.best().job.precision))));
  Settings chosen = training;
  chosen.emplace_back("precision", "bf16");
  EXPECT_THAT(told(chosen).text, Not(HasSubstr("(--precision)")));
}

// A refusal lists what was assumed and the near misses first, and the smallest budget that works.
TEST(Assumed, RefusalsListAssumptionsAndNearMisses) {
  static const Facts kFacts = *open_facts("");
  const Settings given = {{"job", "serve"},       {"model", "llama-3.1-8b"}, {"rate", "200/d"}, {"isl", "2000"},
                          {"osl", "300"},         {"latency-slo", "20s"},    {"budget", "300"}, {"allow-single", "yes"},
                          {"providers", "runpod"}};
  const Checked<Recommended> made = recommend_for(plan::settings_of(given), kFacts, false);
  ASSERT_TRUE(made) << describe(made.error());
  ASSERT_TRUE(made->found.plans.empty());
  EXPECT_THAT(fmt::format("{}", fmt::join(assumptions(made->request, nullptr), "; ")),
              HasSubstr("lengths vary as in public traces"));
  Usd last;
  for (const plan::Rejection& r : made->found.rejected) {
    if (r.partly || r.nearest.kind != plan::Shortfall::Kind::kBudget) continue;
    EXPECT_GE(r.nearest.need_cost, last) << r.gpu;
    last = r.nearest.need_cost;
  }
  std::set<std::string> flags;
  for (const plan::RequestChange& c : made->found.changes) {
    flags.insert(c.flags.substr(0, c.flags.find(' ')));
    if (c.kind != plan::RequestChangeKind::kNoBudget) continue;
    Settings larger = given;
    larger[6].second = c.flags.substr(c.flags.find(' ') + 1);
    const Checked<Recommended> again = recommend_for(plan::settings_of(larger), kFacts, false);
    ASSERT_TRUE(again && !again->found.plans.empty()) << c.flags;
    EXPECT_EQ(in_usd(again->found.plans.front().cost), in_usd(c.plan.cost));
  }
  EXPECT_TRUE(flags.contains("--budget") && flags.contains("--hours-per-day")) << fmt::format("{}", flags.size());
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
