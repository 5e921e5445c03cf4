// Speed estimates as sentences, tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "base/usage_units.h"
#include "market/price_book.h"
#include "memory/memory.h"
#include "report/fields.h"
#include "rightsize/input/electricity.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {

// An estimate for each value of one setting; for several GPU types also their number, whether they hold the job, and
// the cost.
struct SweepRow {
  std::string setting, value;
  Result<SpeedEstimate> estimate;
  std::optional<int> gpus = {};
  std::optional<memory::Verdict> memory = {};
  std::optional<double> usd_per_million = {};  // tokens, samples or images
  bool recomputes = false;                     // all activations
};

// A run over a number of tokens: trained, or generated when serving.
struct TokenRun {
  double tokens = 0;
  Seconds time, low, high;  // with the 80 % interval
  GpuTime gpu_time;
  std::optional<market::GpuQuote> price = {};  // the cheapest confirmed offer
};

// Units of work per GPU and second: tokens, or samples or images of other models.
double units_per_second(const SpeedInput& input, const SpeedEstimate& estimate);

// The operations of a pass under the GPU's roofline; empty for models without a roofline.
struct JobRoofline {
  FlopsPerSecond peak;
  BytesPerSecond bandwidth;
  std::vector<perf::RooflineOp> ops;
};
JobRoofline roofline_of(const SpeedInput& input);

// Everything that `rightsize estimate` answers.
struct SpeedAnswer {
  const SpeedInput& input;
  const Result<SpeedEstimate>& estimate;  // or why the job cannot run
  std::string memory_warning = {};        // empty: it fits, or memory was not estimated
  std::vector<SweepRow> sweep = {};
  std::optional<JobRoofline> roofline = {};
  std::optional<TokenRun> run = {};
  Electricity electricity = {};
  std::string per = {};  // also the amount of work in this time: "hour"
};

report::Report report_of(const SpeedAnswer& answer);
Json document_of(const SpeedAnswer& answer);

// The numbers and names of the document without its lists and objects, for loops over 100,000 estimates.
void read_numbers(const SpeedAnswer& answer, report::FieldReader& reader);

// The table of the parts of a time, the table of the sweep, and the picture of the roofline.
report::Table parts_table(const perf::TimeParts& parts);
report::Table sweep_table(const std::vector<SweepRow>& rows);
void add_roofline(report::Report& report, const SpeedInput& input, const JobRoofline& roofline);

// The notes of an estimate as sentences.
std::vector<std::string> texts_of(const perf::Notes& notes);

}  // namespace rightsize::app
