// The five steps to a right-sized GPU. Each has an answer, or says what to measure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "report/report.h"
#include "rightsize/checklist/input.h"

namespace rightsize::app {

struct ChecklistStep {
  std::string name;
  bool done = false;  // answered by a measurement or, where the answer says so, by a model
  std::string answer = {};
  std::vector<std::string> evidence = {};
  std::string next = {};  // what to do next, with the command
};

// A workload and its recommendation.
struct Advice {
  plan::Request request;
  std::shared_ptr<const market::PriceBook> prices;  // which the plans point into
  plan::Recommendation found;
};

// What the steps are answered from.
struct ChecklistFacts {
  const catalog::Catalog& catalog;
  std::vector<ProfiledGpu> profile = {};
  std::optional<MeasuredFleet> fleet = {};
  std::optional<Advice> advice = {};
};

// Profile, bottleneck, size, cloud, commit.
std::vector<ChecklistStep> checklist_steps(const ChecklistFacts& facts);

report::Report checklist_report(const std::string& title, std::vector<ChecklistStep> steps);

}  // namespace rightsize::app
