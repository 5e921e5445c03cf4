// Shared by the readers of one format each: lines come in, samples and refusals go out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "telemetry/formats/cell_scan.h"
#include "telemetry/metric_names.h"
#include "telemetry/read.h"
#include "telemetry/times.h"

namespace rightsize::telemetry {

// Receives the results of a reader. Devices are identified by Device::key(); a text may name at most kMostDevices.
class Intake {
 public:
  Intake(std::string_view file, SampleSink& sink, ReadSummary& summary, const SampleReadOptions& options)
      : file_(file), sink_(sink), summary_(summary), options_(options) {}

  static constexpr std::size_t kMostDevices = 200000;
  static constexpr std::size_t kReasons = 5;

  // The sink's number for this device, or -1 when there are too many.
  int open(const Device& device);
  // The same without checking whether the device is already open, for readers that know.
  int open_series(const Device& device);
  // Empty samples are dropped. `unusable` is the set of metrics (bit i: number i) with impossible values.
  void add(int device, const Sample& sample, std::uint32_t unusable = 0);
  void refuse(std::string_view line, std::string_view what, std::string message);
  const NameMap& names() const { return options_.names; }
  // Stops reading an ambiguous text: read_samples() fails with this error.
  void give_up(Error error) {
    if (!problem_) problem_ = std::move(error);
  }
  const std::optional<Error>& problem() const { return problem_; }
  // The time of the scrape with this number, counted from 0, in a text without times.
  TimePoint scrape(std::uint64_t number) const { return TimePoint(options_.interval * static_cast<double>(number)); }
  // The time of the next row of a device: its rows are one interval apart.
  TimePoint untimed(int device);

 private:
  std::string_view file_;
  SampleSink& sink_;
  ReadSummary& summary_;
  const SampleReadOptions& options_;
  std::vector<std::uint64_t> untimed_rows_;  // by device
  std::unordered_map<std::string, int> devices_;
  std::size_t opened_ = 0;
  std::optional<Error> problem_;
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // Without the line end; kSlack bytes (cell_scan.h) after it are readable.
  virtual void line(std::string_view line) = 0;
  virtual void finish() {}
};

std::unique_ptr<LineReader> make_csv_reader(Intake& intake, bool recording);
std::unique_ptr<LineReader> make_dmon_reader(Intake& intake, bool dcgmi);
std::unique_ptr<LineReader> make_exposition_reader(Intake& intake);
std::unique_ptr<LineReader> make_xml_reader(Intake& intake);
std::unique_ptr<LineReader> make_smi_text_reader(Intake& intake);
std::unique_ptr<LineReader> make_gpustat_reader(Intake& intake);

// The number at the beginning of the text, after spaces; `end` is set to the character after it. Empty without a
// number. Hexadecimal numbers start with 0x (nvidia-smi's event reasons).
std::optional<double> leading_number(const char* begin, const char* last, const char*& end);
std::optional<double> leading_number(std::string_view text);

// Sets a metric from a cell or an element such as "693.14 W"; blanks and impossible values leave it unset.
void set_metric(const MetricSpec& spec, std::string_view text, Sample& sample);

}  // namespace rightsize::telemetry
