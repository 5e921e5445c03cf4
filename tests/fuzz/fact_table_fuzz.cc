// Any bytes as catalogue files: CSV with places, merging, cells with units.
#include <cstdint>
#include <string>

#include "base/csv.h"
#include "base/date.h"
#include "base/parse_units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  auto csv = rightsize::Csv::parse("fuzz.csv", text);
  if (!csv) {
    (void)rightsize::describe(csv.error());
    return 0;
  }
  for (const rightsize::CsvRow& row : csv->rows()) {
    for (const std::string& column : csv->header()) {
      std::string_view cell = csv->cell(row, column);
      (void)rightsize::parse_bytes(cell);
      (void)rightsize::parse_bandwidth(cell);
      (void)rightsize::parse_flops(cell);
      (void)rightsize::parse_usd_per_machine_hour(cell);
      (void)rightsize::parse_duration(cell);
      (void)rightsize::parse_count(cell);
      (void)rightsize::parse_integer(cell);
      (void)rightsize::parse_date(cell);
      (void)csv->place(row, column);
    }
  }
  return 0;
}
