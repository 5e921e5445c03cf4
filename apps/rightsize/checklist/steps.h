// The five steps to a right-sized GPU. Each has an answer, or says what to measure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/located_json.h"
#include "report/report.h"
#include "rightsize/recommend/answer.h"

namespace rightsize::app {

struct ChecklistStep {
  std::string name;
  bool done = false;  // answered by a measurement, or by a model, which the answer then names
  std::string answer = {};
  std::vector<std::string> evidence = {};
  std::string next = {};  // what to do next, with the command
};

// The facts that answer the steps.
struct ChecklistFacts {
  const catalog::Catalog& catalog;
  std::optional<LocatedJson> profile = {}, fleet = {};  // the documents of `rightsize profile` and `rightsize fleet`
  std::optional<Recommended> advice = {};
};

// Profile, bottleneck, size, cloud, commit.
std::vector<ChecklistStep> checklist_steps(const ChecklistFacts& facts);

report::Report checklist_report(const std::string& title, const std::vector<ChecklistStep>& steps);

}  // namespace rightsize::app
