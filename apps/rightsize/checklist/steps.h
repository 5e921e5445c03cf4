// The five steps to a right-sized GPU, each answered from what is known or with what to measure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "rightsize/checklist/input.h"

namespace rightsize::app {

struct Step {
  std::string name;
  bool done = false;  // answered; by a measurement or, where the answer says so, by a model
  std::string answer = {};
  std::vector<std::string> evidence = {};
  std::string next = {};  // what would make it surer, or answer it; with the command
};

// A workload and what came of it.
struct Advice {
  plan::Request request;
  plan::Recommendation found;
};

// What the steps are answered from.
struct ChecklistFacts {
  const catalog::Catalog& catalog;
  std::optional<market::PriceBook> prices = {};  // with the workload's own prices; set when there is advice
  std::vector<MeasuredGpu> profile = {};
  std::optional<MeasuredFleet> fleet = {};
  std::optional<Advice> advice = {};
};

// The one place of the command's sentences. Profile, bottleneck, size, cloud, commit.
std::vector<Step> checklist_steps(const ChecklistFacts& facts);

}  // namespace rightsize::app
