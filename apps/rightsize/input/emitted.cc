#include "rightsize/input/emitted.h"

namespace rightsize::app {

void show_only(const std::map<std::string, std::string>& files, report::Report& report) {
  if (files.empty()) return;
  std::string all;
  for (const auto& [tool, text] : files) all += (all.empty() || text.starts_with("---") ? "" : "---\n") + text;
  report.title.clear();
  report.blocks = {report::Verbatim{"", std::move(all)}};
}

}  // namespace rightsize::app
