#include "rightsize/diff/chart.h"

#include <filesystem>
#include <vector>

#include "rightsize/diff/program.h"

namespace rightsize::app {

void render_charts(const std::string& folder, std::map<std::string, std::string>& texts) {
  namespace fs = std::filesystem;
  std::vector<std::string> charts;
  for (const auto& [file, text] : texts) {
    if (file == "Chart.yaml") charts.emplace_back();
    if (file.ends_with("/Chart.yaml")) charts.push_back(file.substr(0, file.size() - 10));
  }
  for (const std::string& chart : charts) {
    std::optional<std::string> rendered =
        output_of({"helm", "template", "rendered", (fs::path(folder) / chart).string()});
    if (!rendered) continue;
    std::erase_if(texts, [&](const auto& entry) {
      const std::string& file = entry.first;
      return file.starts_with(chart) &&
             (file.substr(chart.size()).starts_with("templates/") || file.substr(chart.size()) == "values.yaml");
    });
    texts[chart + "rendered by helm.yaml"] = *std::move(rendered);
  }
}

}  // namespace rightsize::app
