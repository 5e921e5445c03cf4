// Any bytes as the JSON of a plan: a decision with named predictions, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "decisions/decision.h"
#include "decisions/read_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto decision = decisions::read_plan("fuzz.json", text, {});
  if (!decision && decision.error().empty()) std::abort();
  if (decision) {
    for (const decisions::PredictedMetric& p : decision->predictions) {
      if (p.metric.empty()) std::abort();
    }
  }
  (void)decisions::parse_time(text);
  return 0;
}
