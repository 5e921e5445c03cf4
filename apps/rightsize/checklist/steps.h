// The five steps to a right-sized GPU, each answered from what is known or with what to measure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::app {

struct Step {
  std::string name;
  bool done = false;  // answered; by a measurement or, where the answer says so, by a model
  std::string answer = {};
  std::vector<std::string> evidence = {};
  std::string next = {};  // what would make it surer, or answer it; with the command
};

// One GPU of `rightsize profile --format json`; what the file leaves out is absent.
struct MeasuredGpu {
  std::string name, verdict;
  std::optional<double> confidence = {}, seconds = {};
  std::optional<double> sm_active = {}, gpu_util = {};  // means, 0-1
  std::optional<Bytes> memory_peak = {};
  std::vector<std::string> evidence = {}, actions = {};
};
Checked<std::vector<MeasuredGpu>> read_profile(const std::string& file);

// The totals of `rightsize fleet --format json`.
struct MeasuredFleet {
  double gpus = 0;
  std::optional<double> spend_usd = {}, waste_usd = {}, idle_gpu_hours = {}, gpu_hours = {};
  std::string first_action = {};
};
Checked<MeasuredFleet> read_fleet(const std::string& file);

// A workload and what came of it.
struct Advice {
  plan::Request request;
  plan::Recommendation found;
};

struct Known {
  const catalog::Catalog& catalog;
  std::optional<market::PriceBook> prices = {};  // with the workload's own prices; set when there is advice
  std::vector<MeasuredGpu> profile = {};
  std::optional<MeasuredFleet> fleet = {};
  std::optional<Advice> advice = {};
};

// Profile, bottleneck, size, cloud, commit.
std::vector<Step> checklist_steps(const Known& known);

}  // namespace rightsize::app
