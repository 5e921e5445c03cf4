// The services in recommendations agree with direct calls of the capacity planner, as in `batch`.
#include "plan/search_serving.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "capacity/search.h"
#include "plan/test_requests.h"
#include "plan/test_services.h"

namespace rightsize::plan {
namespace {

std::vector<Plan> all_shown(const Recommendation& found) {
  std::vector<Plan> shown = found.plans;
  shown.insert(shown.end(), found.pareto.begin(), found.pareto.end());
  return shown;
}

// Every plan meets every limit in a longer simulation with other random numbers, and the reported figures match it.
void expect_kept(const Request& request, const Recommendation& found) {
  const perf::ModelWork work = perf::work_of(request.model);
  for (const Plan& plan : all_shown(found)) {
    const auto again = run_again(request, built_in_constants(), plan, 91);
    RC_ASSERT(again.has_value());
    for (const capacity::Slo& slo : service_of(request, work, 1).slos) {
      RC_ASSERT(least_seen(*again, slo) <= slo.limit);
      const Seconds told = slo.quantity == capacity::Quantity::kTpot ? plan.tpot : plan.ttft;
      RC_ASSERT(told <= slo.limit);
      // A batching server that is over 90 % busy varies by more than a tenth from run to run, and the upper end of the
      // slower of two runs is reported.
      const double apart = perf::serves_batches(work) ? 1.4 : 1.25;
      RC_ASSERT(told <= std::max(again->value(slo) * apart, again->high(slo)));
      RC_ASSERT(told >= std::min(again->value(slo) * (1 / apart), again->low(slo)));
    }
  }
}

RC_GTEST_PROP(RecommendAndBatch, AgreeOnRandomLanguageServices, ()) {
  const std::string model = *rc::gen::element<std::string>("llama-3.1-8b", "qwen2.5-1.5b", "mixtral-8x7b");
  const Request request = request_of({{"model", model},
                                      {"job", "serve"},
                                      {"gpu", *rc::gen::element<std::string>("l4,h100-sxm", "a100-80gb-sxm", "l40s")},
                                      {"providers", "aws,gcp"},
                                      {"isl", std::to_string(*rc::gen::inRange(64, 4096))},
                                      {"osl", std::to_string(*rc::gen::inRange(8, 512))},
                                      {"rate", std::to_string(*rc::gen::inRange(1, 30)) + "/s"},
                                      {"ttft-slo", std::to_string(*rc::gen::inRange(100, 3000)) + "ms"},
                                      {"tpot-slo", std::to_string(*rc::gen::inRange(10, 100)) + "ms"},
                                      {"slo-percentile", *rc::gen::element<std::string>("50", "95", "99")},
                                      {"top", "2"}});
  const Recommendation found = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  RC_CLASSIFY(!found.plans.empty());
  expect_kept(request, found);
}

RC_GTEST_PROP(RecommendAndBatch, AgreeOnRandomEncoderServices, ()) {
  const Request request = request_of({{"model", *rc::gen::element<std::string>("bert-base", "bert-large", "vit-l-16")},
                                      {"job", "serve"},
                                      {"gpu", *rc::gen::element<std::string>("l4,rtx-4090", "t4", "h100-sxm,a10g")},
                                      {"rate", std::to_string(*rc::gen::inRange(1, 3000)) + "/s"},
                                      {"ttft-slo", std::to_string(*rc::gen::inRange(5, 300)) + "ms"},
                                      {"slo-percentile", *rc::gen::element<std::string>("50", "95", "99")},
                                      {"top", "2"}});
  const Recommendation found = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  RC_CLASSIFY(!found.plans.empty());
  expect_kept(request, found);
}

// The figure that is shown is the one that was tested.
RC_GTEST_PROP(RecommendAndBatch, ALimitAtTheShownFigureKeepsThePlan, ()) {
  const bool tokens = *rc::gen::arbitrary<bool>();
  Request request = request_of({{"model", tokens ? "llama-3.1-8b" : "bert-large"},
                                {"job", "serve"},
                                {"gpu", *rc::gen::element<std::string>("l4", "a100-80gb-sxm", "l40s")},
                                {"isl", tokens ? std::to_string(*rc::gen::inRange(64, 4096)) : "512"},
                                {"rate", std::to_string(*rc::gen::inRange(1, tokens ? 30 : 2000)) + "/s"},
                                {"ttft-slo", std::to_string(*rc::gen::inRange(50, 3000)) + "ms"},
                                {"slo-percentile", *rc::gen::element<std::string>("50", "95", "99")},
                                {"top", "3"}});
  request.plans_only = true;
  const market::PriceBook book(built_in_catalog());
  const Recommendation found = recommend(request, book, built_in_constants());
  RC_CLASSIFY(!found.plans.empty());
  if (found.plans.empty()) return;
  const Plan& plan = found.plans.front();
  if (!tokens && request.limits.slo_percentile != capacity::Statistic::kP50) {  // a full batch must meet the limit, too
    const auto full = perf::estimate_batch(built_in_constants(), perf::work_of(request.model), plan.job,
                                           perf::gpu_speed(built_in_constants(), *plan.offer.gpu));
    RC_ASSERT(full.has_value());
    if (full->batch > plan.ttft) return;
  }
  request.limits.ttft = plan.ttft;
  const Recommendation again = recommend(request, book, built_in_constants());
  const auto same = std::find_if(again.plans.begin(), again.plans.end(),
                                 [&](const Plan& other) { return other.cost <= plan.cost * (1 + 1e-9); });
  RC_ASSERT(same != again.plans.end());
}

// `batch --slo` tries many settings at length; `recommend` needs at most one machine more than its best result.
TEST(RecommendAndBatch, RecommendAndBatchFindTheSameNumberOfReplicas) {
  for (const char* rate : {"5/s", "20/s", "45/s"}) {
    const Request request = request_of({{"model", "llama-3.1-8b"},
                                        {"job", "serve"},
                                        {"gpu", "l40s"},
                                        {"rate", rate},
                                        {"ttft-slo", "1s"},
                                        {"tpot-slo", "60ms"},
                                        {"top", "1"}});
    const Recommendation found = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
    ASSERT_FALSE(found.plans.empty()) << rate;
    const Plan& plan = found.plans.front();
    const perf::ModelWork work = perf::work_of(request.model);
    const capacity::Planner planner(service_of(request, work, in_requests_per_s(request.work.rate)),
                                    {replica_of(request, built_in_constants(), work, plan)});
    std::vector<capacity::Configuration> all;
    for (int replicas = 1; replicas <= plan.replicas + 2; ++replicas) {
      for (std::int64_t sequences : {64, 128, 256}) {
        for (std::int64_t budget : {512, 2048, 8192}) {
          capacity::Configuration c;
          c.groups = {{0, replicas}};
          c.engine.max_sequences = sequences, c.engine.token_budget = budget;
          c.price = replicas;
          all.push_back(c);
        }
      }
    }
    const capacity::ConfigurationSearch searched =
        capacity::search(planner, all, {.screening_requests = 1'500, .confirming_requests = 50'000});
    ASSERT_TRUE(searched.best) << rate;
    const int each = plan.replicas / plan.machines;
    const int best = searched.best->configuration.replicas();
    EXPECT_LE((best + each - 1) / each, plan.machines) << rate;
    EXPECT_LE(plan.machines, (best + each - 1) / each + 1) << rate;
  }
}

// A mix of short and long requests: percentiles over all of them, and no plan breaks its own limits.
TEST(RecommendAndBatch, AMixOfSizesMeetsItsLimits) {
  const Request request = request_of({{"model", "llama-3.1-8b"},
                                      {"job", "serve"},
                                      {"rate", "20/s"},
                                      {"mix", "512:256=0.8,8192:512=0.2"},
                                      {"ttft-slo", "2s"},
                                      {"tpot-slo", "50ms"},
                                      {"top", "5"}});
  const Recommendation found = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  for (const Plan& plan : all_shown(found)) {
    EXPECT_LE(plan.ttft, seconds(2)) << plan.offer.gpu->name;
    EXPECT_LE(plan.tpot, milliseconds(50)) << plan.offer.gpu->name;
    EXPECT_GT(plan.tpot, Seconds{});
  }
}

// A higher percentile, a tighter limit or more traffic never costs less.
TEST(RecommendAndBatch, MoreDemandingRequestsNeverCostLess) {
  double last = 0;
  for (const char* percentile : {"50", "95", "99"}) {
    const Recommendation found = recommend(request_of({{"model", "llama-3.1-8b"},
                                                       {"job", "serve"},
                                                       {"rate", "40/s"},
                                                       {"gpu", "l40s,a100-80gb-sxm,h100-sxm"},
                                                       {"ttft-slo", "400ms"},
                                                       {"tpot-slo", "30ms"},
                                                       {"slo-percentile", percentile},
                                                       {"top", "1"}}),
                                           market::PriceBook(built_in_catalog()), built_in_constants());
    ASSERT_FALSE(found.plans.empty()) << percentile;
    EXPECT_GE(in_usd(found.plans.front().cost), last) << percentile;
    last = in_usd(found.plans.front().cost);
  }
}

// Long prompts delay the tokens of other requests; with a tight TPOT, separate prefill workers need fewer GPUs.
TEST(ServingLayouts, SeparateWorkersAreChosenIfTheyPayOff) {
  std::vector<std::pair<std::string, std::string>> settings{
      {"model", "llama-3.1-8b"}, {"job", "serve"}, {"gpu", "h100-sxm"}, {"rate", "40/s"},
      {"isl", "8000"},           {"osl", "200"},   {"ttft-slo", "1s"},  {"tpot-slo", "15ms"},
      {"slo-percentile", "99"},  {"top", "1"}};
  const Request open = request_of(settings);
  const Recommendation found = recommend(open, market::PriceBook(built_in_catalog()), built_in_constants());
  settings.emplace_back("disaggregated", "off");
  const Recommendation plain =
      recommend(request_of(settings), market::PriceBook(built_in_catalog()), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  ASSERT_FALSE(plain.plans.empty());
  const Plan& first = found.plans.front();
  EXPECT_TRUE(first.job.serve.disaggregated.has_value());
  EXPECT_FALSE(plain.plans.front().job.serve.disaggregated.has_value());
  EXPECT_LT(first.cost * 1.05, plain.plans.front().cost);
  const auto again = run_again(open, built_in_constants(), first, 91);
  ASSERT_TRUE(again.has_value());
  for (const capacity::Slo& slo : service_of(open, perf::work_of(open.model), 1).slos)
    EXPECT_LE(in_seconds(least_seen(*again, slo)), in_seconds(slo.limit));
}

// Separate workers are one more layout to choose from, so excluding them is never cheaper.
RC_GTEST_PROP(ServingLayouts, LeavingSeparateWorkersOutNeverCostsLess, ()) {
  std::vector<std::pair<std::string, std::string>> settings{
      {"model", *rc::gen::element<std::string>("llama-3.1-8b", "qwen2.5-1.5b", "llama-3.1-70b")},
      {"job", "serve"},
      {"gpu", *rc::gen::element<std::string>("l40s", "a100-80gb-sxm", "h100-sxm,h200-sxm")},
      {"rate", std::to_string(*rc::gen::inRange(2, 40)) + "/s"},
      {"isl", std::to_string(*rc::gen::inRange(256, 8000))},
      {"osl", std::to_string(*rc::gen::inRange(10, 400))},
      {"ttft-slo", std::to_string(*rc::gen::inRange(500, 4000)) + "ms"},
      {"tpot-slo", std::to_string(*rc::gen::inRange(10, 60)) + "ms"},
      {"max-gpus", "128"},
      {"top", "1"}};
  Request request = request_of(settings);
  request.plans_only = true;
  const Recommendation open = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  request.choices.separate = false;
  const Recommendation plain = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  RC_CLASSIFY(!open.plans.empty() && open.plans.front().job.serve.disaggregated.has_value());
  if (plain.plans.empty()) return;
  RC_ASSERT(!open.plans.empty());
  RC_ASSERT(open.plans.front().cost <= plain.plans.front().cost * (1 + 1e-9));
  if (!open.plans.front().job.serve.disaggregated) return;
  RC_ASSERT(open.plans.front().cost <= plain.plans.front().cost * 0.85);  // what they must save
  RC_ASSERT(open.plans.front().ranked_cost <= plain.plans.front().ranked_cost * 0.85 * (1 + 1e-9));  // on average
}

// Also of separate workers, which share a machine.
TEST(ServingLayouts, PlansUseExactlyTheGivenGpus) {
  for (const int gpus : {3, 5, 6}) {
    Request request = request_of({{"model", "qwen3-32b"},
                                  {"job", "serve"},
                                  {"gpu", "b200-sxm"},
                                  {"rate", "10/s"},
                                  {"ttft-slo", "1s"},
                                  {"tpot-slo", "40ms"},
                                  {"gpus", std::to_string(gpus)}});
    request.plans_only = true;
    const Recommendation found = recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
    ASSERT_FALSE(found.plans.empty());
    for (const Plan& plan : found.plans) EXPECT_EQ(plan.gpus, gpus) << plan.offer.machine->instance;
  }
}

// Each plan of a larger load also serves a smaller one, so the smaller load costs more only by what separate workers
// must save before they are chosen, on average over the range of the speed.
RC_GTEST_PROP(ServingLayouts, ASmallerLoadDoesNotCostMore, ()) {
  const int rate = *rc::gen::inRange(4, 40), less = *rc::gen::inRange(2, rate);
  const auto found = [&, isl = *rc::gen::inRange(256, 8000), ttft = *rc::gen::inRange(500, 4000),
                      tpot = *rc::gen::inRange(10, 60)](int requests, bool separate) {
    Request request = request_of({{"model", "llama-3.1-8b"},
                                  {"job", "serve"},
                                  {"gpu", "h100-sxm"},
                                  {"rate", std::to_string(requests) + "/s"},
                                  {"isl", std::to_string(isl)},
                                  {"ttft-slo", std::to_string(ttft) + "ms"},
                                  {"tpot-slo", std::to_string(tpot) + "ms"},
                                  {"top", "1"}});
    request.plans_only = true, request.choices.separate = separate;
    return recommend(request, market::PriceBook(built_in_catalog()), built_in_constants());
  };
  for (const auto& [separate, allowed] : {std::pair{true, 1.3 / 0.85}, std::pair{false, 1.0}}) {
    const Recommendation more = found(rate, separate), fewer = found(less, separate);
    RC_CLASSIFY(!more.plans.empty());
    if (more.plans.empty()) continue;
    RC_ASSERT(!fewer.plans.empty());
    RC_ASSERT(fewer.plans.front().cost <= more.plans.front().cost * (allowed + 1e-9));
  }
}

// Expert parallelism within a replica is one more layout to choose from: requiring it is never cheaper than leaving it
// open.
TEST(ServingLayouts, SpreadExpertsAreSearched) {
  std::vector<std::pair<std::string, std::string>> settings{{"model", "gpt-oss-120b"}, {"job", "serve"},
                                                            {"rate", "20/s"},          {"tpot-slo", "40ms"},
                                                            {"gpu", "h100-sxm"},       {"tp", "4"}};
  const Recommendation open =
      recommend(request_of(settings), market::PriceBook(built_in_catalog()), built_in_constants());
  settings.emplace_back("ep", "4");
  const Recommendation spread =
      recommend(request_of(settings), market::PriceBook(built_in_catalog()), built_in_constants());
  ASSERT_FALSE(open.plans.empty());
  ASSERT_FALSE(spread.plans.empty());
  EXPECT_EQ(spread.plans.front().job.parallel.expert, 4);
  EXPECT_LE(open.plans.front().cost, spread.plans.front().cost);
}

// Engines refuse to start if their cache is smaller than --max-model-len.
TEST(ServingSearch, TheCacheHoldsTheLongestRequest) {
  for (const char* longest : {"4096", "32768", "65536", "131072"}) {
    const Request request = request_of({{"model", "llama-3.1-8b"},
                                        {"job", "serve"},
                                        {"rate", "1/s"},
                                        {"gpu", "rtx-4090,l40s,h100-sxm"},
                                        {"max-model-len", longest}});
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    ASSERT_FALSE(found.plans.empty()) << longest;
    for (const Plan& plan : found.plans) {
      EXPECT_GE(perf::kv_token_capacity(request.model, plan.job, *plan.offer.gpu), std::stod(longest))
          << plan.offer.gpu->name;
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
