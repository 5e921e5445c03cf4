// For every built-in model, memory, estimate and recommend give finite numbers, or refuse with a reason.
#include <cmath>

#include <gtest/gtest.h>

#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/plan.h"
#include "plan/read_request.h"
#include "presets/presets.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {
namespace {

const Facts& facts() {
  static const Facts kFacts = *open_facts("");
  return kFacts;
}

bool is_right(double value) { return std::isfinite(value) && value > 0; }

class EveryModel : public testing::TestWithParam<std::string> {};

std::map<std::string, std::string> settings_of(const std::string& kind, int gpus) {
  std::map<std::string, std::string> settings = {{"job", kind}};
  if (kind == "train") settings["precision"] = "bf16";
  if (gpus > 1) settings["gpus"] = std::to_string(gpus);
  if (gpus > 1 && kind == "train") settings["zero"] = "3";
  return settings;
}

void expect_reason(const Error& error) { EXPECT_GT(error.message.size(), 10u) << error.message; }

void expect_speed(const SpeedEstimate& estimate) {
  if (estimate.train) {
    EXPECT_TRUE(is_right(in_seconds(estimate.train->step)));
    EXPECT_TRUE(is_right(estimate.train->samples_per_second_per_gpu));
  }
  if (estimate.batch) {
    EXPECT_TRUE(is_right(in_seconds(estimate.batch->batch)));
    EXPECT_TRUE(is_right(estimate.batch->samples_per_second));
  }
  if (estimate.serve) {
    EXPECT_TRUE(is_right(in_seconds(estimate.serve->ttft)));
    EXPECT_TRUE(is_right(in_seconds(estimate.serve->tpot)));
    EXPECT_TRUE(is_right(estimate.serve->requests_per_second));
  }
}

TEST_P(EveryModel, HasMemoryAndSpeed) {
  const catalog::Gpu* gpu = *facts().catalog.find_gpu("h200-sxm");
  for (const char* kind : {"serve", "train"}) {
    for (int gpus : {1, 8}) {
      SCOPED_TRACE(testing::Message() << kind << " on " << gpus);
      JobFlags flags{GetParam(), "", settings_of(kind, gpus)};
      Checked<ModelAndJob> read = read_job(flags);
      if (!read) {
        for (const Error& error : read.error()) expect_reason(error);
        continue;
      }
      SpeedInput input;
      input.model = std::move(read->model);
      input.gpu = gpu;
      input.work = perf::work_of(input.model);
      input.job = perf::fitted_to(input.work, read->job);
      input.speed = perf::gpu_speed(facts().constants, *gpu);
      input.cluster = perf::default_cluster(*gpu);
      const memory::MemoryNeed need = memory::estimate_memory(input.model, input.job, gpu);
      EXPECT_TRUE(is_right(in_bytes(need.device)));
      EXPECT_LE(need.low, need.device);
      EXPECT_GE(need.high, need.device);
      // The least memory: only the weights, in the narrowest format of any checkpoint.
      const double least = gpus == 1 ? 0.5 * static_cast<double>(input.model.parameters()) : 0;
      EXPECT_GE(in_bytes(need.device), least);
      const Result<SpeedEstimate> speed = estimate_speed(facts().constants, input);
      if (speed)
        expect_speed(*speed);
      else
        expect_reason(speed.error());
    }
  }
}

TEST_P(EveryModel, HasAPlanOrReasonsWhyNot) {
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : std::map<std::string, std::string>{{"model", GetParam()},
                                                                      {"job", "serve"},
                                                                      {"rate", "1/s"},
                                                                      {"gpu", "h200-sxm"},
                                                                      {"providers", "aws"},
                                                                      {"purchase", "on-demand"}}) {
    settings.push_back({name, value, {}});
  }
  Checked<plan::Request> request = plan::read_request(settings, facts().catalog);
  ASSERT_TRUE(request) << describe(request.error());
  const market::PriceBook book(facts().catalog);
  const plan::Recommendation found = plan::recommend(*request, book, facts().constants);
  if (found.plans.empty()) {
    EXPECT_FALSE(found.rejected.empty());
    return;
  }
  EXPECT_TRUE(is_right(in_usd(found.plans.front().cost)));
  EXPECT_TRUE(is_right(in_seconds(found.plans.front().ttft)));
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(model::preset_names()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace rightsize::app
