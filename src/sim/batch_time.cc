#include "sim/batch_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "base/suggest.h"

namespace rightsize::sim {
namespace {

constexpr std::int64_t kLargestBatch = 65536;
constexpr double kLongestMilliseconds = 1e9;  // eleven days; a larger number has the wrong unit

// Reads the cells of one row and collects errors.
class RowReader {
 public:
  RowReader(const Csv& csv, const CsvRow& row, Errors& errors) : csv_(csv), row_(row), errors_(errors) {}

  bool ok() const { return ok_; }
  bool has(std::string_view column) const { return !csv_.cell(row_, column).empty(); }

  int batch(std::string_view column) {
    Result<std::int64_t> value = parse_integer(csv_.cell(row_, column));
    if (value && *value >= 1 && *value <= kLargestBatch) return static_cast<int>(*value);
    complain(column,
             fmt::format("batch '{1}' must be a whole number from 1 to {0}", kLargestBatch, csv_.cell(row_, column)));
    return 0;
  }
  double positive(std::string_view column, double most) {
    Result<double> value = parse_number(csv_.cell(row_, column));
    if (value && *value > 0 && *value <= most) return *value;
    complain(column, fmt::format("'{}' is not a positive time", csv_.cell(row_, column)));
    return 0;
  }
  double at_least_zero(std::string_view column) {
    if (!has(column)) return 0;
    Result<double> value = parse_number(csv_.cell(row_, column));
    if (value && *value >= 0 && *value <= kLongestMilliseconds * 1e3) return *value;
    complain(column, fmt::format("'{}' is not a time", csv_.cell(row_, column)));
    return 0;
  }
  void complain(std::string_view column, std::string message) {
    errors_.push_back(bad_input(std::move(message)).at(csv_.place(row_, column)));
    ok_ = false;
  }

 private:
  const Csv& csv_;
  const CsvRow& row_;
  Errors& errors_;
  bool ok_ = true;
};

using Rows = std::map<int, TableTime::Row>;

// Other names of the two columns that a table must have.
constexpr const char* kBatchNames[] = {"batch", "batch_size", "bs"};
constexpr const char* kTimeNames[] = {"ms_p50", "latency_ms", "ms", "p50_ms", "time_ms", "mean_ms"};

template <std::size_t kCount>
const char* first_column(const Csv& csv, const char* const (&names)[kCount]) {
  const auto found =
      std::find_if(names, names + kCount, [&](const char* name) { return csv.column(name).has_value(); });
  return found == names + kCount ? nullptr : *found;
}

void read_plain_row(RowReader& reader, const char* batch_column, const char* time_column, Rows& rows) {
  const int batch = reader.batch(batch_column);
  const double p50 = reader.positive(time_column, kLongestMilliseconds);
  const double p90 = reader.has("ms_p90") ? reader.positive("ms_p90", kLongestMilliseconds) : p50;
  if (reader.ok() && p90 < p50) reader.complain("ms_p90", "the 90th percentile is below the median");
  if (reader.ok() && rows.count(batch) > 0)
    reader.complain(batch_column, fmt::format("batch {} is listed twice", batch));
  if (reader.ok()) rows[batch] = {batch, {milliseconds(p50), milliseconds(p90)}};
}

constexpr const char* kComputeColumns[] = {"Server Compute Input", "Server Compute Infer", "Server Compute Output"};
constexpr const char *kRate = "Inferences/Second", *kLoad = "Concurrency";

// One request at a time takes the server's compute time. With several in flight, the server does batch * concurrency
// inferences in the time that its measured rate gives: that is its capacity, and the latency that Little's law gives.
void read_perf_analyzer_row(RowReader& reader, bool sweep, Rows& rows, std::vector<std::string>& notes) {
  const int size = reader.has("Batch") ? reader.batch("Batch") : 1;
  const std::int64_t load = reader.has(kLoad) ? reader.batch(kLoad) : 1;
  double taken = 0;
  for (const char* column : kComputeColumns) taken += reader.at_least_zero(column);
  if (reader.ok() && !(taken > 0)) reader.complain(kComputeColumns[1], "the compute time is zero");
  double tail = 1;
  if (sweep) {
    const double rate = reader.positive(kRate, 1e12);
    const double p50 = reader.at_least_zero("p50 latency"), p90 = reader.at_least_zero("p90 latency");
    if (reader.ok() && size * load > kLargestBatch)
      reader.complain(kLoad, fmt::format("more than {} requests in flight", kLargestBatch));
    if (reader.ok()) taken = static_cast<double>(size * load) / rate * 1e6;
    if (p50 > 0 && p90 > p50) tail = p90 / p50;
  }
  if (!reader.ok()) return;
  const int batch = sweep ? static_cast<int>(size * load) : size;
  const TableTime::Row row{batch, {microseconds(taken), microseconds(taken * tail)}};
  auto [seen, fresh] = rows.try_emplace(batch, row);
  if (fresh) return;
  notes.push_back(fmt::format("{} requests in flight were measured more than once: the fastest is used", batch));
  if (row.time.p50 < seen->second.time.p50) seen->second = row;
}

Error unknown_columns(const Csv& csv, const std::string& file) {
  return bad_input(fmt::format("{}: no columns 'batch' and 'ms_p50'", file))
      .with_hint(csv.header().empty() ? "" : did_you_mean("ms_p50", csv.header()))
      .with_hint("a service table begins with 'batch,ms_p50,ms_p90'; perf_analyzer's CSV is read too");
}

}  // namespace

Checked<ServiceTable> parse_service_table(const std::string& file, std::string text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, std::move(text)));
  const char *batch_column = first_column(csv, kBatchNames), *time_column = first_column(csv, kTimeNames);
  const bool plain = batch_column != nullptr && time_column != nullptr;
  const bool perf_analyzer = csv.column("Server Compute Infer").has_value();
  if (!plain && !perf_analyzer) return fail(unknown_columns(csv, file));
  Errors errors;
  Rows rows;
  ServiceTable table;
  std::set<std::string> loads;
  for (const CsvRow& row : csv.rows()) loads.insert(csv.column(kLoad) ? std::string(csv.cell(row, kLoad)) : "");
  const bool sweep = !plain && loads.size() > 1;
  if (sweep && !csv.column(kRate))
    return fail(bad_input(fmt::format("{}: rows of several concurrencies need the column '{}'", file, kRate)));
  for (const CsvRow& row : csv.rows()) {
    RowReader reader(csv, row, errors);
    if (plain) {
      read_plain_row(reader, batch_column, time_column, rows);
    } else {
      read_perf_analyzer_row(reader, sweep, rows, table.notes);
    }
  }
  if (errors.empty() && rows.empty()) errors.push_back(bad_input(fmt::format("{}: the table has no rows", file)));
  if (!errors.empty()) return fail(std::move(errors));
  for (const auto& [batch, row] : rows) table.rows.push_back(row);
  if (sweep)
    table.notes.push_back(
        fmt::format("{}: N requests in flight are taken as a batch of N, at the measured rate", file));
  return table;
}

BatchSeconds TableTime::time_of(int batch) const {
  const auto above =
      std::lower_bound(rows_.begin(), rows_.end(), batch, [](const Row& row, int size) { return row.batch < size; });
  if (above == rows_.end()) {  // beyond the table in proportion, like a saturated GPU
    const double factor = static_cast<double>(batch) / rows_.back().batch;
    return {rows_.back().time.p50 * factor, rows_.back().time.p90 * factor};
  }
  if (above->batch == batch || pad_ || above == rows_.begin()) return above->time;
  const Row& below = *(above - 1);
  const double share = static_cast<double>(batch - below.batch) / (above->batch - below.batch);
  auto between = [share](Seconds a, Seconds b) { return a + (b - a) * share; };
  return {between(below.time.p50, above->time.p50), between(below.time.p90, above->time.p90)};
}

ServiceTimes tabulate(const BatchTime& time, int max_batch, Seconds overhead) {
  // median = shortest + scale ln 2, 90th percentile = shortest + scale ln 10
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  ServiceTimes times;
  times.shortest.push_back(0);
  times.scale.push_back(0);
  for (int batch = 1; batch <= max_batch; ++batch) {
    const BatchSeconds taken = time.time_of(batch);
    // A wide spread must not make the shortest time negative.
    const double scale = std::min(in_seconds(taken.p90 - taken.p50) / ln5, in_seconds(taken.p50) / ln2);
    const SimTime shortest = to_sim_time(taken.p50 - seconds(scale * ln2) + overhead);
    times.shortest.push_back(std::max<SimTime>(shortest, 1));
    times.scale.push_back(scale * 1e9);
  }
  return times;
}

}  // namespace rightsize::sim
