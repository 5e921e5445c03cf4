// The time of a step of reinforcement learning as sentences, a table and JSON.
#pragma once

#include "report/report.h"
#include "rightsize/input/energy.h"
#include "rightsize/rl/rl_input.h"

namespace rightsize::app {

struct RlStepAnswer {
  const RlInput& input;
  const catalog::Gpu& gpu;
  const catalog::Gpu& rollout_gpu;
  const Result<rl::RlEstimate>& step;                      // or why it cannot run
  std::optional<Seconds> first_step = {}, last_step = {};  // if answers grow
  std::optional<JobEnergy> energy = {};
  bool sought_cap = false;  // --power-cap best
};

report::Report step_report(const RlStepAnswer& answer);

// `rightsize estimate --job rl`: everything from the flags to the report. Exit code kNoFeasibleAnswer if it cannot run.
Checked<Outcome> estimate_rl(const JobFlags& job, const RlFlags& flags, const Facts& facts,
                             const std::string& power_cap, const Electricity& electricity);

}  // namespace rightsize::app
