// Any text as --name, --price and label values in PromQL: it is understood or refused with an explanation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fleet/price.h"
#include "gpu_use/promql.h"
#include "http/http.h"
#include "telemetry/feeds/interpret.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (auto names = telemetry::parse_name_map({text}); !names && describe(names.error()).empty()) std::abort();
  if (auto prices = market::parse_own_prices({text}, kCatalog); !prices && describe(prices.error()).empty())
    std::abort();
  (void)gpu_use::workload_of_pod(text);
  (void)http::shown_url(text);
  (void)http::retry_after_seconds(text);
  // Quotes inside a selector are escaped: only the two around the value are not.
  const std::string chosen = gpu_use::selector("M", {}, {"host", {text}});
  std::size_t bare = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] == '\\') {
      ++i;
    } else if (chosen[i] == '"') {
      ++bare;
    }
  }
  if (bare != 2) std::abort();
  return 0;
}
