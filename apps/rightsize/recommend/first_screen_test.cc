// The first screen fits the answer, its caveats and the plans on a terminal of 80 columns and 40 lines.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "plan/test_draws.h"
#include "plan/test_requests.h"
#include "rightsize/call.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/risks.h"
#include "rightsize/recommend/terms.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using Settings = std::vector<std::pair<std::string, std::string>>;

struct ScreenPlan {
  plan::Request request;
  plan::Recommendation found;
};

ScreenPlan planned(const Settings& given) {
  const plan::Request request = plan::request_of(given);
  return {request, plan::recommend(request, built_in_prices(), built_in_constants())};
}

std::string first_screen(const Settings& given) {
  const auto [request, found] = planned(given);
  return render(report_of({request, found, built_in_catalog()}), report::Format::kText,
                {.width = 80, .fit_tables = true});
}

TEST(FirstScreen, FitsATerminal) {
  const Settings all[] = {
      {{"model", "llama-2-7b"}, {"tokens", "1B"}, {"seq", "2048"}, {"deadline", "14d"}},
      {{"model", "llama-3.1-70b"}, {"tokens", "500M"}, {"method", "qlora"}},
      {{"model", "resnet-50"}, {"epochs", "90"}, {"dataset-samples", "1.28M"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}, {"tpot-slo", "40ms"}},
      {{"model", "deepseek-v3"}, {"job", "serve"}, {"rate", "5/s"}, {"ttft-slo", "2s"}, {"tpot-slo", "50ms"}},
      {{"model", "gpt-oss-120b"}, {"job", "serve"}, {"rate", "20/s"}, {"providers", "aws"}},
      {{"model", "sdxl"}, {"job", "serve"}, {"rate", "1/s"}, {"ttft-slo", "5s"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"items", "1M"}, {"deadline", "12h"}}};
  for (const Settings& settings : all) {
    const std::string text = first_screen(settings);
    std::size_t lines = 0;  // a terminal wraps longer lines
    for (std::size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
      lines += std::max<std::size_t>(1, (to - from + 79) / 80);
    EXPECT_LE(lines, 40u) << text;  // the title and the evidence may take two lines each
  }
}

// "The next GPU" is the cheapest other GPU in the table, unless the sentence says which ones it skips.
TEST(FirstScreen, TheNextGpuIsTheNextOfTheTable) {
  const Settings all[] = {{{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}},
                          {{"model", "llama-3.1-8b"}, {"tokens", "50B"}, {"deadline", "14d"}},
                          {{"model", "gemma-3-12b"}, {"tokens", "20M"}, {"method", "lora"}},
                          {{"model", "qwen3-32b"}, {"job", "serve"}, {"rate", "3/s"}, {"providers", "runpod,aws"}},
                          {{"model", "bge-m3"}, {"job", "serve"}, {"rate", "200/s"}, {"ttft-slo", "100ms"}}};
  for (const Settings& settings : all) {
    const auto [request, found] = planned(settings);
    const std::string sentence = decision_sentence(request, found);
    plan::Recommendation unsure = found;
    unsure.confidence = 0.3;
    if (unsure.rival() != nullptr) {
      EXPECT_THAT(decision_sentence(request, unsure), HasSubstr("30 % chance"));
    }
    const std::string_view before = ": the next GPU, ";
    const std::size_t at = sentence.find(before);
    if (at == std::string::npos) continue;
    const std::size_t from = at + before.size();
    const std::string named = sentence.substr(from, sentence.find(", costs") - from);
    const auto next = std::ranges::find_if(found.plans, [&](const auto& p) { return p.offer.gpu->name == named; });
    ASSERT_NE(next, found.plans.end()) << sentence;
    for (const plan::Plan& plan : found.plans) {
      // Cheaper plans are listed with the reason for their rank.
      if (plan.offer.gpu == found.plans.front().offer.gpu || plan.cost < found.plans.front().cost) continue;
      EXPECT_GE(plan.cost, next->cost) << plan.offer.gpu->name << ": " << sentence;
    }
  }
}

// Every plan of the table that costs less than the first has its reason below the table, and no GPU of the table is
// passed over in the verdict.
TEST(FirstScreen, CheaperPlansHaveAReason) {
  const Settings all[] = {
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}, {"tpot-slo", "40ms"}},
      {{"model", "gpt-oss-120b"}, {"job", "serve"}, {"rate", "6/s"}, {"ttft-slo", "2s"}, {"tpot-slo", "30ms"}},
      {{"model", "qwen2.5-1.5b"}, {"tokens", "30B"}, {"stack", "megatron"}, {"deadline", "30d"}},
      {{"model", "qwen3-32b"}, {"tokens", "300M"}, {"deadline", "2d"}, {"regions", "eu"}, {"max-power", "12kW"}},
      {{"model", "bge-m3"}, {"job", "serve"}, {"rate", "500/s"}, {"ttft-slo", "150ms"}}};
  for (const Settings& settings : all) {
    const auto [request, found] = planned(settings);
    ASSERT_FALSE(found.plans.empty());
    const std::string reasons = ranked_lower_sentence(request, found), verdict = decision_sentence(request, found);
    const plan::Plan* next = found.next_gpu();
    for (std::size_t i = 1; i < found.plans.size(); ++i) {
      const plan::Plan& p = found.plans[i];
      const auto is_dearer = [&](const plan::Plan& above) { return p.cost < above.cost * 0.999; };
      const bool cheaper = std::any_of(found.plans.data(), &p, is_dearer);
      const bool in_verdict = &p == next && verdict.find("ranks lower") != std::string::npos;
      EXPECT_EQ(reasons.find(fmt::format("plan {} (", i + 1)) != std::string::npos, cheaper && !in_verdict)
          << i << ": " << reasons;
    }
    const plan::Decision decision = found.decision();
    if (next != nullptr && decision != plan::Decision::kExtrapolation && decision != plan::Decision::kClose) {
      EXPECT_THAT(verdict + held_back_sentence(found) + experiment_sentence(request, found),
                  HasSubstr(next->offer.gpu->name));
    }
  }
}

// The chance of breaking a limit is on the first screen, in the JSON caveats and in the files of --emit, or nowhere; a
// GPU without a benchmark is a caveat.
TEST(FirstScreen, RisksAreStatedEverywhere) {
  int risky = 0, untested = 0;
  for (int i = 0; i < 2 * plan::requests_to_try(); ++i) {
    plan::Draw draw(plan::first_seed() + 1'700 + static_cast<std::uint64_t>(i));
    Settings given{{"model", draw.one_of({"llama-3.2-3b", "llama-3.1-8b", "mistral-7b"})},
                   {"gpu", draw.one_of({"l40s,a40", "rtx-4090,l4", "h100-sxm,rtx-5090", "gh200-96gb,a40"})}};
    if (i % 2 == 0)
      given.insert(given.end(), {{"job", "serve"}, {"rate", draw.whole(2, 30) + "/s"}, {"ttft-slo", "800ms"}});
    else
      given.insert(given.end(), {{"tokens", "1B"}, {"method", "lora"}, {"deadline", draw.whole(8, 100) + "h"}});
    SCOPED_TRACE(plan::shown(given));
    const auto [request, found] = planned(given);
    if (found.plans.empty()) continue;
    const plan::Plan& first = found.plans.front();
    const report::Report page = report_of({request, found, built_in_catalog()});
    const std::string risk = plan::limit_risk(request, first),
                      text = render(page, report::Format::kText, {.width = 4'000});
    const std::string caveats = page.document.find("caveats")->dump();
    EXPECT_EQ(caveats.find("% chance that it") != std::string::npos, !risk.empty()) << text;
    EXPECT_THAT(text, HasSubstr(risk));
    EXPECT_THAT(caveats, HasSubstr(risk));
    EXPECT_EQ(text.find("Caveats: ") != text.npos && text.find("no benchmark of " + first.offer.gpu->name) != text.npos,
              !first.benchmarked || first.extrapolated)
        << text;
    risky += risk.empty() ? 0 : 1, untested += first.benchmarked ? 0 : 1;
    if (risk.empty()) continue;
    std::vector<std::string> words;
    for (const auto& [name, value] : given) words.insert(words.end(), {"--" + name, value});
    words.insert(words.end(), {"--emit", "slurm"});
    if (const Checked<Outcome> files = call("recommend", words)) {
      EXPECT_THAT(files->report.document.dump(), HasSubstr("# Risk: " + risk));
    }
  }
  EXPECT_GT(risky, 0);
  EXPECT_GT(untested, 0);
}

// The first screen names every assumption.
TEST(FirstScreen, NamesWhatIsAssumed) {
  const Settings chat{{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}};
  EXPECT_THAT(first_screen(chat), HasSubstr("Assumed: 1,024 tokens in, 256 out, p95 2,848 and 712"));
  Settings given = chat;
  given.insert(given.end(), {{"isl", "500"}, {"osl", "100"}});
  EXPECT_THAT(first_screen(given), HasSubstr("Assumed: lengths vary as in public traces, p95 1,391 in, 278 out"));
  given = chat;
  given.insert(given.end(), {{"isl", "500,fixed"}, {"osl", "100,fixed"}});
  EXPECT_THAT(first_screen(given), Not(HasSubstr("public traces")));
  EXPECT_THAT(first_screen({{"model", "sdxl"}, {"job", "serve"}, {"rate", "1/s"}}), HasSubstr("30 steps, guidance"));
}

// Traffic that needs many replicas only for its bursts has no use for a shared GPU.
TEST(FirstScreen, LittleLoadOnManyReplicasMeansBursts) {
  const auto [request, found] = planned({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}});
  plan::Recommendation light = found;
  light.plans.front().load = 0.03;
  for (const int replicas : {1, 2, 3, 9}) {
    light.plans.front().replicas = replicas;
    const std::string sentence = scale_sentence(request, light);
    EXPECT_EQ(sentence.find("a shared GPU") != std::string::npos, replicas <= 2) << sentence;
    EXPECT_EQ(sentence.find("bursts") != std::string::npos, replicas > 2) << sentence;
  }
}

// A limit on latency that needs more GPUs than the load is named, with what a longer one saves.
TEST(FirstScreen, TheLimitThatDecidesTheSizeIsNamed) {
  const auto [request, found] = planned(
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}, {"tpot-slo", "40ms"}});
  plan::Recommendation large = found;
  plan::Plan& first = large.plans.front();
  for (const double load : {0.12, 0.6}) {
    for (const double used : {0.5, 0.99}) {
      for (const int machines : {2, 28}) {
        first.load = load, first.machines = machines, first.tpot = milliseconds(40) * used;
        const std::string sentence = levers_sentence(request, large);
        EXPECT_EQ(sentence.find("TPOT decides the number of GPUs") != sentence.npos,
                  load < 0.5 && used > 0.9 && machines > 2)
            << sentence;
      }
    }
  }
}

// A guess is called sooner than a measured plan only if it is sooner at the slow end of its speed.
TEST(FirstScreen, SoonerPlansAreSoonerEvenIfAGuessIsSlow) {
  const auto [request, found] = planned({{"model", "llama-3.2-1b"}, {"tokens", "10B"}, {"gpu", "h100-sxm"}});
  plan::Recommendation two = found;
  two.pareto.clear();
  two.plans.resize(1, found.plans.front());
  const plan::Plan& first = two.plans.front();
  for (const double speed : {0.4, 0.6}) {
    plan::Plan guess = first, known = first;
    guess.extrapolated = true, known.extrapolated = false;
    guess.speed.high = 1.5;
    guess.offer.machine = known.offer.machine;
    guess.time.work = first.time.work * speed, known.time.work = first.time.work * 0.7;
    guess.gpus = 3, known.gpus = 5;
    two.pareto = {guess, known};
    EXPECT_THAT(sooner_sentence(request, two), HasSubstr(speed * 1.5 < 0.7 ? "3 x " : "5 x "));
  }
}

// A plan at up to twice the cost is worth a line for long jobs if it takes much less time, and the line tells both.
TEST(FirstScreen, MuchSoonerPlansAreAGoodTrade) {
  auto [request, found] = planned({{"model", "llama-3.2-1b"}, {"tokens", "10B"}, {"gpu", "h100-sxm"}});
  plan::Recommendation two = found;
  two.plans.resize(1, found.plans.front());
  two.plans.front().time = {hours(100), {}, {}, {}};
  Random random(2);
  int shown = 0;
  for (int i = 0; i < 200; ++i) {
    two.plans.front().time.work = hours(i % 2 == 0 ? 100 : 6);
    plan::Plan other = two.plans.front();
    const double cost = 1 + 1.5 * random.uniform(), time = 0.05 + random.uniform();
    other.cost = other.cost * cost, other.time.work = other.time.work * time, other.gpus = 57;
    two.pareto = {other};
    const std::string line = sooner_sentence(request, two);
    const bool good = i % 2 == 0 && cost < 2 && time <= 0.5 && cost * cost * std::max(time, 0.08) < 0.75;
    EXPECT_EQ(line.find("57 x") != line.npos,
              good || (cost <= 1.05 && other.time.work < two.plans.front().time.work * 0.75))
        << cost << " " << time << " " << line;
    shown += good ? 1 : 0;
    two.pareto.front().gpus = std::max(64, two.plans.front().gpus) + 1;  // more than a provider has at once
    EXPECT_EQ(sooner_sentence(request, two), "");
    plan::Request many = request;  // unless the user allows them
    many.limits.max_gpus = 2048, many.limits.max_gpus_assumed = false;
    EXPECT_EQ(sooner_sentence(many, two).empty(), line.empty());
  }
  EXPECT_GT(shown, 10);
}

// Percentages are read aloud: an 8 %, an 11 %, an 18 %, an 80 %, but a 1.8 %, a 28 %.
TEST(FirstScreen, ChancesHaveTheirArticle) {
  for (const auto& [share, words] : {std::pair{0.088, "an 8.8 %"},
                                     {0.11, "an 11 %"},
                                     {0.18, "an 18 %"},
                                     {0.85, "an 85 %"},
                                     {0.018, "a 1.8 %"},
                                     {0.28, "a 28 %"},
                                     {0.5, "a 50 %"}})
    EXPECT_EQ(percent_chance(share), words + std::string(" chance"));
}

// A doubtful price of terms that were asked for is stated once.
TEST(FirstScreen, DoubtfulPricesOfOtherTermsAreStatedOnce) {
  const auto [request, found] = planned({{"model", "llama-3.2-1b"}, {"tokens", "10B"}, {"gpu", "h100-sxm"}});
  plan::Recommendation two = found;
  two.held_back = {found.plans.front()};
  two.held_back.front().cost = found.plans.front().cost * 0.5;
  two.other_terms.clear();
  EXPECT_THAT(held_back_sentence(two), HasSubstr("confirms the price"));
  for (const double times : {0.9, 1.0, 1.1}) {
    two.other_terms = two.held_back;
    two.other_terms.front().cost = two.held_back.front().cost * times;
    EXPECT_EQ(held_back_sentence(two).empty(), times <= 1) << times;
  }
}

// Cached prompts need a router that knows the caches, and offline work has a price per unit.
TEST(FirstScreen, StatesTheRouterOfCachesAndTheCostOfAUnit) {
  const Settings cached{{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "40/s"}, {"prefix-hit", "0.6"}};
  EXPECT_THAT(first_screen(cached), HasSubstr("only if the router"));
  EXPECT_THAT(first_screen({{"model", "bge-m3"}, {"job", "serve"}, {"items", "10M"}}), HasSubstr(" per 1M texts"));
  EXPECT_THAT(first_screen({{"model", "whisper-large-v3"}, {"job", "serve"}, {"audio-hours", "1000"}}),
              HasSubstr(" per 1,000 h of audio"));
}

}  // namespace
}  // namespace rightsize::app
