#include "telemetry/read.h"

#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/raw_bytes.h"
#include "base/text.h"
#include "telemetry/formats/bare_csv.h"
#include "telemetry/formats/cell_scan.h"
#include "telemetry/formats/keyword_csv.h"
#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kChunk = 1u << 20;
constexpr std::size_t kEnoughToDetect = 16u << 10;

std::string_view line_of(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool names_metric(std::string_view line) {
  const std::size_t end = line.find_first_of("{ ");
  if (end == std::string_view::npos || end == 0) return false;
  for (char c : line.substr(0, end)) {
    const bool fits =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    if (!fits) return false;
  }
  return line[end] == '{' || line.starts_with("nvidia_") || line.starts_with("DCGM_");
}

SampleFormat format_of_line(std::string_view line) {
  const std::string lower = to_lower(line);
  if (line.front() == '#') {
    if (lower.find("entity") != std::string::npos) return SampleFormat::kDcgmiDmon;
    if (line.starts_with("# HELP") || line.starts_with("# TYPE")) return SampleFormat::kExposition;
    if (lower.find("gpu") != std::string::npos) return SampleFormat::kSmiDmon;
    return SampleFormat::kUnknown;
  }
  if (line.starts_with("+--") || line.starts_with("| NVIDIA-SMI") || line.find("NVSMI LOG") != std::string_view::npos)
    return SampleFormat::kSmiText;
  if (names_metric(line)) return SampleFormat::kExposition;
  if (line.find(',') == std::string_view::npos) return SampleFormat::kUnknown;
  const std::string framed = "," + lower;
  if (framed.find(",t_s,") != std::string::npos || lower.find("_pct") != std::string::npos)
    return SampleFormat::kRecording;
  for (std::string_view known : {"utilization.", "memory.used", "power.draw", "clocks."}) {
    if (lower.find(known) != std::string::npos) return SampleFormat::kSmiQuery;
  }
  if (!keyword_columns(line).empty()) return SampleFormat::kKeywordCsv;
  const BareHeader header = inferred_header(line);
  return header.names.empty() && !header.unclear ? SampleFormat::kUnknown : SampleFormat::kSmiQuery;
}

std::unique_ptr<LineReader> make_reader(SampleFormat format, Intake& intake) {
  switch (format) {
    case SampleFormat::kRecording:
      return make_csv_reader(intake, true);
    case SampleFormat::kSmiQuery:
      return make_csv_reader(intake, false);
    case SampleFormat::kSmiDmon:
    case SampleFormat::kDcgmiDmon:
      return make_dmon_reader(intake, format == SampleFormat::kDcgmiDmon);
    case SampleFormat::kSmiXml:
      return make_xml_reader(intake);
    case SampleFormat::kSmiText:
      return make_smi_text_reader(intake);
    case SampleFormat::kGpustat:
      return make_gpustat_reader(intake);
    case SampleFormat::kExposition:
      return make_exposition_reader(intake);
    case SampleFormat::kKeywordCsv:
      return make_keyword_reader(intake);
    default:
      return nullptr;
  }
}

Error cannot_read(std::string_view name, std::string_view head, SampleFormat format) {
  static constexpr std::pair<std::string_view, std::string_view> kProfilers[] = {
      {"Total Time (ns)", "a summary of Nsight Systems"},
      {"\"Metric Name\"", "a report of Nsight Compute"},
      {"Self CUDA", "a summary of the PyTorch profiler"},
      {"\"traceEvents\"", "a trace of the PyTorch profiler"}};
  for (const auto& [mark, what] : kProfilers) {
    if (head.find(mark) == std::string_view::npos) continue;
    return bad_input(fmt::format("'{}' is {}: it lists kernels, not the use of the GPU over time", name, what))
        .with_hint("record that while the program runs: rightsize profile --record run.csv -- COMMAND");
  }
  if (format == SampleFormat::kJson) {
    return bad_input(fmt::format("'{}' is JSON without samples of GPUs in a format that we know", name))
        .with_hint(
            "supported: gpustat --json; with 'rightsize fleet' also query results of Prometheus, "
            "CloudWatch, Google Cloud or Azure, sacct --json and kubectl -o json");
  }
  return bad_input(fmt::format("'{}' has an unrecognized format", name))
      .with_hint(
          "record one with: nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,utilization.memory,memory.used,"
          "memory.total,power.draw --format=csv -l 1 > smi.csv")
      .with_hint(
          "supported: nvidia-smi --query-gpu=... --format=csv, nvidia-smi dmon and pmon, nvidia-smi -q with or without "
          "-x, the table of nvidia-smi, gpustat --json, dcgmi dmon, dcgm-exporter's text, system metrics of Weights & "
          "Biases or MLflow "
          "(CSV), and recordings of 'rightsize profile --record'");
}

Error unnamed_columns(std::string_view name) {
  return bad_input(fmt::format("'{}' names no columns, and its numbers do not tell which is the utilization", name))
      .with_hint(fmt::format("put the names first, in the order of your columns: sed -i '1i timestamp, name, "
                             "temperature.gpu, utilization.gpu, memory.used, memory.total' {}",
                             name))
      .with_hint("or record with --format=csv instead of --format=csv,noheader,nounits");
}

// The bytes of a source in a buffer that does not grow.
class Buffer {
 public:
  explicit Buffer(ByteSource& source) : source_(source), bytes_(kCapacity + kSlack) {}

  // Reads more bytes after those not yet dropped; false at the end.
  Result<bool> fill() {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    RIGHTSIZE_TRY(const std::size_t got, source_.read(bytes_.from(end_, kCapacity - end_)));
    end_ += got;
    return got > 0;
  }

  std::string_view pending() const { return {bytes_.data() + begin_, end_ - begin_}; }
  bool full() const { return end_ - begin_ == kCapacity; }
  void drop(std::size_t size) { begin_ += size; }

 private:
  static constexpr std::size_t kCapacity = 2 * kChunk;
  ByteSource& source_;
  RawBytes bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

Result<> read_lines(Buffer& buffer, Intake& intake, LineReader& reader, ReadSummary& summary) {
  const auto take = [&](std::string_view line) {
    ++summary.lines;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    reader.line(line);
  };
  bool skipping = false;  // the rest of a line longer than the buffer
  for (bool more = true; more;) {
    const std::string_view text = buffer.pending();
    std::size_t at = 0;
    while (const void* end = std::memchr(text.data() + at, '\n', text.size() - at)) {
      const auto stop = static_cast<std::size_t>(static_cast<const char*>(end) - text.data());
      if (!skipping) take(text.substr(at, stop - at));
      skipping = false;
      at = stop + 1;
    }
    buffer.drop(skipping ? text.size() : at);
    if (buffer.full()) {
      intake.refuse(buffer.pending(), {}, "a line longer than 2 MiB");
      skipping = true;
      buffer.drop(buffer.pending().size());
    }
    RIGHTSIZE_TRY(more, buffer.fill());
  }
  if (!buffer.pending().empty() && !skipping) take(buffer.pending());
  reader.finish();
  return {};
}

}  // namespace

std::string_view name_of(SampleFormat format) {
  static constexpr std::string_view kNames[] = {
      "unknown",    "recording",       "nvidia-smi csv",  "nvidia-smi dmon", "nvidia-smi xml",
      "dcgmi dmon", "exposition text", "nvidia-smi text", "table",           "gpustat",
      "JSON"};
  return kNames[static_cast<std::size_t>(format)];
}

SampleFormat detect_format(std::string_view beginning) {
  if (beginning.starts_with("\xEF\xBB\xBF")) beginning.remove_prefix(3);
  const std::string_view whole = beginning;
  while (!beginning.empty()) {
    const std::string_view line = trim(line_of(beginning));
    if (line.empty()) continue;
    if (line.front() == '{' || line.front() == '[') {
      const auto holds = [&](std::string_view part) { return whole.find(part) != std::string_view::npos; };
      return line.front() == '{' && holds("\"gpus\"") && holds("\"utilization.gpu\"") ? SampleFormat::kGpustat
                                                                                      : SampleFormat::kJson;
    }
    if (line.front() == '<') return SampleFormat::kSmiXml;
    if (const SampleFormat format = format_of_line(line); format != SampleFormat::kUnknown) return format;
    // The table of nvidia-smi begins with the time.
    if (line.front() != '#' && !parse_xml_time(line)) return SampleFormat::kUnknown;
  }
  return SampleFormat::kUnknown;
}

int Intake::open(const Device& device) {
  const std::string key = device.key();
  if (auto found = devices_.find(key); found != devices_.end()) return found->second;
  const int opened = open_series(device);
  if (opened >= 0) devices_.emplace(key, opened);
  return opened;
}

int Intake::open_series(const Device& device) {
  if (opened_ >= kMostDevices) return -1;
  ++opened_;
  if (!device.host.empty() || options_.host.empty()) return sink_.open(device);
  Device named = device;
  named.host = options_.host;
  return sink_.open(named);
}

TimePoint Intake::untimed(int device) {
  const auto at = static_cast<std::size_t>(device);
  if (untimed_rows_.size() <= at) untimed_rows_.resize(at + 1, 0);
  return scrape(untimed_rows_[at]++);
}

void Intake::add(int device, const Sample& sample, std::uint32_t unusable) {
  for (; unusable != 0; unusable &= unusable - 1) {
    sink_.add_unusable(device, static_cast<Metric>(std::countr_zero(unusable)), sample.time);
  }
  if (sample.empty()) return;
  ++summary_.samples;
  sink_.add(device, sample);
}

void Intake::refuse(std::string_view line, std::string_view what, std::string message) {
  ++summary_.refused;
  if (summary_.reasons.size() >= kReasons) return;
  Place place;
  place.file = std::string(file_);
  place.line = static_cast<int>(summary_.lines);
  constexpr std::size_t kShown = 100;
  place.excerpt = std::string(line.substr(0, kShown));
  const std::size_t column = what.empty() ? 0 : static_cast<std::size_t>(what.data() - line.data());
  place.column = static_cast<int>(std::min(column, kShown)) + 1;
  place.length = static_cast<int>(std::max<std::size_t>(1, std::min(what.size(), kShown - std::min(column, kShown))));
  summary_.reasons.push_back(bad_input(std::move(message)).at(std::move(place)));
}

namespace {

// Numbers that plain_number() does not read: exponents, many digits, "inf", hexadecimal.
std::optional<double> slow_number(const char* begin, const char* last, const char*& end) {
  if (last - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X')) {
    std::uint64_t bits = 0;
    auto [stop, failed] = std::from_chars(begin + 2, last, bits, 16);
    if (failed != std::errc()) return std::nullopt;
    end = stop;
    return static_cast<double>(bits);
  }
  double value = 0;
  auto [stop, failed] = std::from_chars(begin, last, value);
  if (failed != std::errc()) return std::nullopt;
  end = stop;
  return value;
}

}  // namespace

std::optional<double> leading_number(const char* begin, const char* last, const char*& end) {
  while (begin != last && *begin == ' ') ++begin;
  double value = 0;
  if (const char* behind = plain_number(begin, last, value)) {
    end = behind;
    return value;
  }
  return slow_number(begin, last, end);
}

std::optional<double> leading_number(std::string_view text) {
  const char* end = nullptr;
  return leading_number(text.data(), text.data() + text.size(), end);
}

void set_metric(const MetricSpec& spec, std::string_view text, Sample& sample) {
  if (is_blank(text)) return;
  const std::optional<double> raw = leading_number(text);
  const std::optional<double> value = raw ? canonical(spec, *raw) : std::nullopt;
  if (value) sample.set(spec.metric, *value);
}

Result<ReadSummary> read_samples(std::string_view name, ByteSource& source, SampleSink& sink,
                                 const SampleReadOptions& options) {
  ReadSummary summary;
  Buffer buffer(source);
  summary.format = options.format;
  while (summary.format == SampleFormat::kUnknown) {
    RIGHTSIZE_TRY(const bool more, buffer.fill());
    const std::string_view head = buffer.pending();
    // The first part of a line could look like another format.
    if (!more || head.size() >= kEnoughToDetect || head.find('\n') != std::string_view::npos) {
      summary.format = detect_format(head);
      if (!more || head.size() >= kEnoughToDetect) break;
      if (summary.format == SampleFormat::kJson) summary.format = SampleFormat::kUnknown;  // it may become gpustat's
    }
  }
  if (buffer.pending().starts_with("\xEF\xBB\xBF")) buffer.drop(3);
  Intake intake(name, sink, summary, options);
  std::unique_ptr<LineReader> reader = make_reader(summary.format, intake);
  if (reader == nullptr) {
    if (trim(buffer.pending()).empty()) return fail(bad_input(fmt::format("'{}' is empty", name)));
    return fail(cannot_read(name, buffer.pending(), summary.format));
  }
  if (summary.format == SampleFormat::kSmiQuery) {
    const BareHeader header = inferred_header(buffer.pending());
    if (header.unclear) return fail(unnamed_columns(name));
    if (!header.names.empty()) reader->line(header.names);
    if (header.guessed) summary.assumed = fmt::format("{} names no columns; they are read as {}", name, header.names);
  }
  if (summary.format == SampleFormat::kKeywordCsv) {
    std::string_view head = buffer.pending();
    summary.assumed =
        fmt::format("The columns of {} are read by their names: {}", name, keyword_columns(line_of(head)));
  }
  if (Result<> done = read_lines(buffer, intake, *reader, summary); !done) return fail(std::move(done).error());
  if (intake.problem()) return fail(*intake.problem());
  if (summary.samples > 0) return summary;
  if (!summary.reasons.empty()) return fail(summary.reasons.front());
  Error none = bad_input(fmt::format("'{}' ({}) has no samples", name, name_of(summary.format)));
  if (summary.format == SampleFormat::kExposition) {
    none.hints.emplace_back(
        "it has no GPU metric that we know (requests of pods alone do not show how GPUs are used): add "
        "dcgm-exporter's, "
        "or name yours with --name gpu_util=MY_METRIC*0.01");
  }
  return fail(std::move(none));
}

}  // namespace rightsize::telemetry
