// The answer, the decision record (Markdown) and the files of --emit name the same machines, and the test of a cheaper
// GPU is the one that was stated.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "plan/explain.h"
#include "plan/test_draws.h"
#include "rightsize/call.h"
#include "rightsize/input/facts.h"
#include "rightsize/recommend/answer.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> words_of(const std::vector<model::Setting>& settings) {
  std::vector<std::string> words;
  for (const model::Setting& s : settings) words.insert(words.end(), {"--" + s.name, s.value});
  return words;
}

// Machines of any value, so that their electricity is sometimes cheaper than renting and sometimes not.
std::vector<model::Setting> random_own(plan::Draw& draw) {
  const bool serving = draw.between(1, 4) < 2;
  std::vector<model::Setting> settings{
      {"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "qwen2.5-7b", "mistral-7b"}), {}},
      {"on-prem",
       draw.one_of({"8xh100-sxm", "4xl40s", "8xa100-80gb-sxm", "2xl4"}) + "=" + draw.whole(5e3, 6e5) + "USD",
       {}},
      {"on-prem-machines", draw.whole(1, 6), {}}};
  if (serving) {
    settings.push_back({"job", "serve", {}});
    settings.push_back({"rate", fmt::format("{:.2g}/s", draw.between(0.5, 20)), {}});
  } else {
    settings.push_back({"tokens", draw.whole(1e7, 3e9), {}});
    settings.push_back({"method", draw.one_of({"lora", "full"}), {}});
  }
  return settings;
}

TEST(OneDecision, TextMarkdownAndFilesNameTheSameMachines) {
  int own_named = 0, others_named = 0;
  for (int i = 0; i < 2 * plan::requests_to_try(); ++i) {
    plan::Draw draw(plan::first_seed() + 700 + static_cast<std::uint64_t>(i));
    const std::vector<model::Setting> settings = random_own(draw);
    std::vector<std::string> words = words_of(settings);
    const Checked<Outcome> answer = call("recommend", words);
    ASSERT_TRUE(answer) << fmt::format("{}", fmt::join(words, " ")) << describe(answer.error());
    const Json& document = answer->report.document;
    if (document.find("plans")->items()->empty()) continue;
    const Json* use = document.find("use");
    const std::size_t rank = use == nullptr ? 1 : std::stoul(use->dump());
    const Json& plan = (*document.find("plans")->items())[rank - 1];
    const std::string instance = plan.find("instance")->dump();
    const std::string bare = instance.substr(1, instance.size() - 2);
    (use != nullptr ? own_named : others_named) += 1;
    const std::string text = render(answer->report, report::Format::kText);
    const std::string decision = text.substr(text.find("\n\n") + 2);
    EXPECT_THAT(decision.substr(0, decision.find('\n')), HasSubstr(bare)) << text;
    const std::string record = render(answer->report, report::Format::kMarkdown);
    const std::size_t at = record.find("Decision");
    ASSERT_NE(at, std::string::npos) << record;
    EXPECT_THAT(record.substr(at, 200), HasSubstr(bare)) << record << text;
    words.insert(words.end(), {"--emit", "slurm"});
    const Checked<Outcome> files = call("recommend", words);
    if (!files) continue;  // no file starts this model
    EXPECT_THAT(files->report.document.dump(), HasSubstr(bare)) << text;
  }
  EXPECT_GT(own_named, 0);
  EXPECT_GT(others_named, 0);
}

// The nearest answer keeps the work: fewer hours or simpler requests are named only if nothing else helps.
TEST(OneDecision, TheClosestAnswerKeepsTheWork) {
  const Checked<Facts> facts = open_facts("");
  ASSERT_TRUE(facts);
  int kept = 0;
  for (int i = 0; i < plan::requests_to_try(); ++i) {
    plan::Draw draw(plan::first_seed() + 1'100 + static_cast<std::uint64_t>(i));
    const std::vector<model::Setting> settings{
        {"job", "serve", {}},
        {"model", draw.one_of({"llama-3.2-3b", "llama-3.1-8b", "qwen2.5-14b"}), {}},
        {"rate", fmt::format("{:.2g}/s", draw.between(0.5, 20)), {}},
        {"budget", draw.whole(150, 900), {}},
        {"providers", draw.one_of({"aws", "aws,gcp", "runpod", "azure,oci", "lambda,nebius"}), {}}};
    const Checked<Recommended> found = recommend_for(settings, *facts);
    ASSERT_TRUE(found);
    const std::vector<plan::RequestChange>& changes = found->found.changes;
    if (!found->found.plans.empty() || changes.empty()) continue;
    const std::string text = render(report_of({found->request, found->found, *found->catalog, settings}),
                                    report::Format::kText, {.width = 2'000});
    const std::size_t at = text.find("Closest, with ");
    ASSERT_NE(at, std::string::npos) << text;
    const std::string closest = text.substr(at, text.find(": ", at) - at);
    const auto reduces = [](const plan::RequestChange& c) { return plan::reduces_work(c.kind); };
    if (std::ranges::all_of(changes, reduces)) continue;
    for (const plan::RequestChange& c : changes)
      if (reduces(c)) {
        EXPECT_EQ(closest.find("(" + c.flags + ")"), std::string::npos) << text;
      }
    ++kept;
  }
  EXPECT_GT(kept, 0);
}

// A test is a separate request: on its machines, with their share of the work, for the time and at the cost stated.
TEST(OneDecision, TheTestOfACheaperGpuIsTheOneStated) {
  const Checked<Facts> facts = open_facts("");
  ASSERT_TRUE(facts);
  int tests = 0;
  for (int i = 0; i < 2 * plan::requests_to_try(); ++i) {
    plan::Draw draw(plan::first_seed() + 900 + static_cast<std::uint64_t>(i));
    const bool serving = draw.between(1, 4) < 2.5;
    std::vector<model::Setting> settings{
        {"model", draw.one_of({"llama-3.2-3b", "llama-3.1-8b", "qwen2.5-32b", "gpt-oss-20b", "llama-3.3-70b"}), {}}};
    if (serving) {
      settings.push_back({"job", "serve", {}});
      settings.push_back({"rate", fmt::format("{:.2g}/s", draw.between(5, 60)), {}});
    } else {
      settings.push_back({"tokens", draw.whole(1e8, 3e9), {}});
      settings.push_back({"method", draw.one_of({"lora", "full"}), {}});
    }
    const Checked<Recommended> found = recommend_for(settings, *facts);
    ASSERT_TRUE(found);
    if (!found->found.experiment || found->found.plans.front().extrapolated) continue;
    const plan::Experiment& test = *found->found.experiment;
    const RecommendAnswer answer{found->request, found->found, *found->catalog, settings};
    const std::string saved = short_usd(found->found.plans.front().cost - test.plan.cost);
    EXPECT_THAT(experiment_sentence(found->request, found->found), HasSubstr("(" + saved));
    const std::vector<model::Setting> own = test_settings(answer, test);
    const std::string command = test_command(answer, test);
    const Checked<Recommended> run = recommend_for(own, *facts, true);
    ASSERT_TRUE(run) << command << describe(run.error());
    ASSERT_FALSE(run->found.plans.empty()) << command;
    const plan::Plan& plan = run->found.plans.front();
    EXPECT_EQ(plan.offer.gpu->name, test.plan.offer.gpu->name) << command;
    EXPECT_EQ(plan.machines, test.machines) << command;
    const Usd cost = plan.rate() * test.test_time;
    EXPECT_NEAR(cost / test.test_cost, 1, 0.1) << command;
    if (!serving) {
      EXPECT_NEAR(plan.time.work / test.test_time, 1, 0.15) << command;
    }
    report::Report page = report_of(answer);
    add_record(page, answer);
    const std::string text = render(page, report::Format::kMarkdown);
    EXPECT_THAT(text, HasSubstr(experiment_sentence(found->request, found->found)));
    EXPECT_THAT(text, HasSubstr(command));
    ++tests;
  }
  EXPECT_GT(tests, 0);
}

}  // namespace
}  // namespace rightsize::app
