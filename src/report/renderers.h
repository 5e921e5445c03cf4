// One function a format; render() picks.
#pragma once

#include <string>

#include "report/report.h"

namespace rightsize::report {

std::string render_text(const Report& report, const Style& style);
std::string render_csv(const Report& report);
std::string render_markdown(const Report& report);
std::string render_html(const Report& report);

}  // namespace rightsize::report
