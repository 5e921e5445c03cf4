// Any bytes as a service table: usable times in ascending order of batch, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/batch_time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  auto table = sim::parse_service_table("fuzz.csv", std::string(reinterpret_cast<const char*>(data), size));
  if (!table) {
    if (table.error().empty() || describe(table.error()).empty()) std::abort();
    return 0;
  }
  int last = 0;
  for (const sim::TableTime::Row& row : table->rows) {
    if (row.batch <= last || !(row.time.p50 > seconds(0)) || row.time.p90 < row.time.p50) std::abort();
    last = row.batch;
  }
  const sim::ServiceTimes times = sim::tabulate(sim::TableTime(table->rows, last % 2 == 0), last < 64 ? last + 1 : 64);
  for (int batch = 1; batch <= times.max_batch(); ++batch) {
    if (times.shortest[static_cast<std::size_t>(batch)] < 1 || !(times.rate(batch) > RequestsPerSecond{})) std::abort();
  }
  return 0;
}
