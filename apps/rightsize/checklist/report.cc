#include "rightsize/checklist/report.h"

#include <fmt/format.h>

namespace rightsize::app {
namespace {

std::string paragraph(std::size_t number, const Step& step) {
  std::string text = fmt::format("{} {}. {}\n    {}", step.done ? "[x]" : "[ ]", number, step.name, step.answer);
  for (const std::string& line : step.evidence) text += "\n    - " + line;
  if (!step.next.empty()) text += "\n    Next: " + step.next;
  return text;
}

}  // namespace

report::Report checklist_report(const std::string& title, const std::vector<Step>& steps) {
  report::Report report;
  report.title = title;
  report.document = {{"schema", "rightsize/checklist/1"}, {"steps", report::Json::array()}};
  for (const Step& step : steps) {
    report.blocks.emplace_back(report::Paragraph{paragraph(report.blocks.size() + 1, step)});
    report.document["steps"].push_back({{"name", step.name},
                                        {"done", step.done},
                                        {"answer", step.answer},
                                        {"evidence", step.evidence},
                                        {"next", step.next.empty() ? report::Json(nullptr) : report::Json(step.next)}});
  }
  return report;
}

}  // namespace rightsize::app
