// For the same settings, the options of `memory`, an estimate and a recommendation agree on the speed of LoRA.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "memory/options.h"
#include "perf/job_time.h"
#include "plan/plan.h"
#include "plan/test_requests.h"
#include "presets/presets.h"

namespace rightsize::plan {
namespace {

using Settings = std::vector<model::Setting>;

struct Case {
  std::string model, gpu, batch, sequence, precision, recompute;

  Settings job(const std::string& method) const {
    return {{"batch", batch, {}},
            {"seq", sequence, {}},
            {"precision", precision, {}},
            {"recompute", recompute, {}},
            {"method", method, {}}};
  }
};

Case any_case() {
  return {*rc::gen::element<std::string>("llama-3.2-1b", "llama-3.1-8b", "qwen2.5-1.5b"),
          *rc::gen::element<std::string>("h100-sxm", "a100-80gb-sxm", "l40s"),
          std::to_string(1 << *rc::gen::inRange(0, 4)),
          *rc::gen::element<std::string>("512", "2048"),
          *rc::gen::element<std::string>("bf16", "mixed-bf16", "amp-bf16"),
          *rc::gen::element<std::string>("none", "full")};
}

Seconds estimated_step(const Case& c, const Settings& settings) {
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu(c.gpu);
  return perf::estimate_training(built_in_constants(), perf::work_of(*model::find_model(c.model)),
                                 *model::parse_job(settings), perf::gpu_speed(built_in_constants(), gpu),
                                 perf::default_cluster(gpu))
      ->step;
}

// Tokens per second on one GPU; empty if the job does not fit or there is no offer.
std::optional<double> recommended_rate(const Case& c, Settings settings) {
  for (auto [name, value] : {std::pair<std::string, std::string>{"model", c.model},
                             {"gpu", c.gpu},
                             {"gpus", "1"},
                             {"tokens", "10M"},
                             {"global-batch", c.batch}}) {
    settings.push_back({name, value, {}});
  }
  const Checked<Request> request = read_request(settings, built_in_catalog());
  RC_ASSERT(request.has_value());
  const Recommendation found = recommend(*request, built_in_prices(), built_in_constants());
  return found.plans.empty() ? std::nullopt : std::optional(found.plans.front().units_per_second);
}

// The user's settings plus an option's flags.
Settings with_flags(Settings settings, const std::string& flags) {
  std::istringstream words(flags);
  std::string name, value;
  while (words >> name >> value) {
    std::erase_if(settings, [&](const model::Setting& s) { return "--" + s.name == name; });
    settings.push_back({name.substr(2), value, {}});
  }
  return settings;
}

RC_GTEST_PROP(LoraSpeed, MemoryEstimateAndRecommendAgree, ()) {
  const Case c = any_case();
  const model::ModelShape model = *model::find_model(c.model);
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu(c.gpu);
  const memory::TimeOf time_of = [&](const model::Job& job) -> std::optional<Seconds> {
    return perf::job_time(built_in_constants(), model, job, gpu)->unit;
  };
  for (const memory::OptionEffect& effect : memory::each_option(model, *model::parse_job(c.job("full")), time_of)) {
    if (effect.job.train.method != model::Method::kLora) continue;
    const Settings lora = with_flags(c.job("full"), effect.flags);
    const double estimate = estimated_step(c, lora) / estimated_step(c, c.job("full"));
    RC_ASSERT(std::fabs(*effect.slowdown / estimate - 1) < 1e-9);
    const auto full_rate = recommended_rate(c, c.job("full")), lora_rate = recommended_rate(c, lora);
    if (!full_rate || !lora_rate) return;
    RC_ASSERT(std::fabs(*full_rate / *lora_rate / estimate - 1) < 1e-9);
    return;
  }
  RC_FAIL("LoRA is an option of every full training");
}

}  // namespace
}  // namespace rightsize::plan
