// A verification as sentences, a table and JSON.
#pragma once

#include <string>

#include "decisions/evidence.h"
#include "report/report.h"

namespace rightsize::app {

// "D3 is kept: ...", with what is missing where it is not decided.
std::string verdict_sentence(const decisions::Decision& decision, const decisions::Verification& found);
report::Table verdict_table(const decisions::Verification& found);
report::Json verification_json(const decisions::Decision& decision, const decisions::Verification& found);

}  // namespace rightsize::app
