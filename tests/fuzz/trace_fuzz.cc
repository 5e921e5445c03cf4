// Any bytes as a trace and as the text of --arrivals: sorted arrivals, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "capacity/cache_tiers.h"
#include "capacity/service.h"
#include "sim/sessions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("trace:") == std::string::npos) {  // it would read files
    if (auto process = sim::parse_arrivals(text); process && !(*sim::mean_rate(*process) > RequestsPerSecond{}))
      std::abort();
  }
  (void)capacity::parse_slos(text);
  if (const auto sessions = sim::parse_sessions(text); sessions && !(sessions->rate(seconds(1)) > RequestsPerSecond{}))
    std::abort();
  (void)capacity::parse_tier(text);
  auto trace = sim::parse_trace("fuzz.csv", text);
  if (!trace) {
    if (trace.error().empty() || describe(trace.error()).empty()) std::abort();
    return 0;
  }
  sim::SimTime last = 0;
  for (const sim::Arrival& arrival : trace->arrivals) {
    if (arrival.at < last || arrival.size < 1 || arrival.output < 1) std::abort();
    last = arrival.at;
  }
  if (trace->arrivals.empty()) std::abort();
  return 0;
}
