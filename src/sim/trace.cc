// Reads recorded arrivals. The text comes from outside, so every line is checked.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/byte_source.h"
#include "base/confine.h"
#include "base/csv.h"
#include "base/date.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/random.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kv_cache/hashed_trace.h"
#include "sim/arrivals.h"
#include "sim/client_windows.h"
#include "sim/recorded_runs.h"
#include "sim/trace_file.h"

namespace rightsize::sim {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr const char* kTimeoutColumn = "timeout_ms";
constexpr double kLongestSeconds = 3.2e8;  // ten years

std::optional<double> number(std::string_view text) {
  Result<double> value = parse_number(trim(text));
  return value ? std::optional(*value) : std::nullopt;
}

// "HH:MM:SS.fraction" as seconds of the day.
std::optional<double> parse_clock(std::string_view text) {
  const auto parts = split_list(text, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto h = number(parts[0]), m = number(parts[1]), s = number(parts[2]);
  if (!h || !m || !s || *h < 0 || *h > 23 || *m < 0 || *m > 59 || *s < 0 || *s >= 61) return std::nullopt;
  return *h * 3600 + *m * 60 + *s;
}

// "2023-11-16 18:17:03.9799600", with 'T' for the space and an ending 'Z' or "+00:00" allowed. Seconds since `origin`,
// which the first call sets: as seconds since 1970, a double would only resolve microseconds.
std::optional<double> parse_timestamp(std::string_view text, std::optional<Date>& origin) {
  constexpr std::size_t kDateLength = 10;
  if (text.size() <= kDateLength + 1) return std::nullopt;
  Result<Date> date = parse_date(text.substr(0, kDateLength));
  std::string_view clock = text.substr(kDateLength + 1);
  if (clock.ends_with('Z')) clock.remove_suffix(1);
  if (clock.ends_with("+00:00")) clock.remove_suffix(6);
  const std::optional<double> of_day = parse_clock(clock);
  if (!date || !of_day) return std::nullopt;
  if (!origin) origin = *date;
  return (*date - *origin) * 86400.0 + *of_day;
}

// A time in seconds or milliseconds since 1970 or any other beginning, a date with a time, or a date.
std::optional<double> parse_moment(std::string_view text, std::optional<Date>& origin) {
  constexpr double kMilliseconds = 1e11;  // since 1970; in seconds, it would be the year 5138
  if (const std::optional<double> at = number(text)) return *at > kMilliseconds ? *at / 1000 : *at;
  return parse_timestamp(parse_date(text) ? std::string(text) + " 00:00:00" : std::string(text), origin);
}

struct Columns {
  std::string time, size, output;
  std::string requests;        // of usage exports: requests in a bucket of time; tokens are those of all of them
  bool with_failures = false;  // an output of 0 tokens is a request that failed (BurstGPT)
};

// Finds columns by name, for any tool: Azure's ContextTokens, num_prefill_tokens, "Request tokens", prompt_length.
std::optional<Columns> columns_of(const Csv& csv) {
  static constexpr std::string_view kTimes[] = {"t",         "time",      "timestamp",   "timestamps",  "ts",
                                                "datetime",  "date",      "arrivedat",   "arrivaltime", "starttime",
                                                "startedat", "createdat", "bucketstart", "hour",        "day"};
  static constexpr std::string_view kCounts[] = {"count", "calls", "requestcount", "totalcount", "countobservations"};
  static constexpr std::string_view kIn[] = {"input", "prompt", "context", "prefill", "request"};
  static constexpr std::string_view kOut[] = {"output", "generated", "completion", "decode", "response"};
  Columns found;
  for (const std::string& column : csv.header()) {
    const std::string name = fold_name(column);
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    const bool counts = has("token") || has("length");
    const bool many = !counts && (has("requests") || std::ranges::find(kCounts, name) != std::end(kCounts));
    if (found.requests.empty() && many && !has("second") && !has("failed")) found.requests = column;
    if (found.time.empty() && std::ranges::find(kTimes, name) != std::end(kTimes)) found.time = column;
    if (found.size.empty() && (name == "size" || (counts && std::ranges::any_of(kIn, has)))) found.size = column;
    if (found.output.empty() && (name == "output" || (counts && std::ranges::any_of(kOut, has)))) found.output = column;
  }
  found.with_failures = found.output == "Response tokens";
  return found.time.empty() ? std::nullopt : std::optional(found);
}

class TraceReader {
 public:
  TraceReader(const Csv& csv, Columns columns) : csv_(&csv), columns_(std::move(columns)) {
    has_size_ = csv.column(columns_.size).has_value();
    has_output_ = csv.column(columns_.output).has_value();
    has_timeout_ = csv.column(kTimeoutColumn).has_value();
  }

  // Continues with another part of the same table, which starts after `lines_before` lines of the file.
  void continue_with(const Csv& csv, int lines_before) {
    csv_ = &csv;
    lines_before_ = lines_before;
  }

  void read() {
    trace_.has_tokens = has_size_ && has_output_;
    for (const CsvRow& row : csv_->rows()) read_row(row, trace_);
  }

  void finish_part() { csv_ = nullptr; }

  void expect(std::size_t requests) {
    constexpr std::size_t kMost = 50'000'000;
    trace_.arrivals.reserve(std::min(requests, kMost));
  }

  Checked<Trace> finish(const std::string& file) {
    if (errors_.empty() && trace_.arrivals.empty())
      errors_.push_back(bad_input(fmt::format("{}: the trace is empty", file)));
    if (mistakes_ > 1)
      errors_.back().message += fmt::format(" (and {} more)", format_count(static_cast<double>(mistakes_ - 1)));
    if (!errors_.empty()) return fail(std::move(errors_));
    trace_.file = file;
    return std::move(trace_);
  }

 private:
  void read_row(const CsvRow& row, Trace& trace) {
    const std::string_view text = csv_->cell(row, columns_.time);
    // Seconds, or dates once one was read: a file has only one kind.
    std::optional<double> t = origin_ ? std::nullopt : number(text);
    if (!t && (origin_ || !previous_)) t = parse_timestamp(text, origin_);
    if (!t || !std::isfinite(*t)) {
      return complain(row, columns_.time,
                      fmt::format("'{}' is not a time in seconds, or such as 2023-11-16 18:17:03.98", text));
    }
    if (*t < 0) return complain(row, columns_.time, fmt::format("time {} is negative", text));
    if (previous_ && *t < *previous_) {
      return complain(row, columns_.time,
                      fmt::format("'{}' is earlier than the line above; sort the trace by time", text));
    }
    if (!first_) first_ = *t;
    if (*t - *first_ > kLongestSeconds) return complain(row, columns_.time, "more than ten years after the first");
    previous_ = *t;
    Arrival arrival{to_sim_time(seconds(*t - *first_)), 1, 1, 0};
    if (has_size_ && !read_count(row, columns_.size, arrival.size)) return;
    if (columns_.with_failures && trim(csv_->cell(row, columns_.output)) == "0") return;
    if (has_output_ && !read_count(row, columns_.output, arrival.output)) return;
    if (has_timeout_ && !read_timeout(row, arrival.timeout_us)) return;
    trace.has_timeouts = trace.has_timeouts || arrival.timeout_us > 0;
    trace.arrivals.push_back(arrival);
  }

  bool read_count(const CsvRow& row, const std::string& column, std::int32_t& value) {
    Result<std::int64_t> count = parse_integer(csv_->cell(row, column));
    if (count && *count >= 1 && *count <= 1'000'000'000) {
      value = static_cast<std::int32_t>(*count);
      return true;
    }
    complain(row, column, fmt::format("{} '{}' must be a whole number of at least 1", column, csv_->cell(row, column)));
    return false;
  }

  bool read_timeout(const CsvRow& row, std::int32_t& microseconds) {
    const std::string_view text = trim(csv_->cell(row, kTimeoutColumn));
    if (text.empty()) return true;
    const std::optional<double> ms = number(text);
    if (ms && *ms >= 0.001 && *ms <= 2'000'000) {
      microseconds = static_cast<std::int32_t>(std::lround(*ms * 1000));
      return true;
    }
    complain(row, kTimeoutColumn,
             fmt::format("{} '{}' must be 0.001 to 2000000 milliseconds, or empty", kTimeoutColumn, text));
    return false;
  }

  void complain(const CsvRow& row, const std::string& column, std::string message) {
    if (++mistakes_ > 1) return;
    Place place = csv_->place(row, column);
    place.line += lines_before_;
    errors_.push_back(bad_input(std::move(message)).at(std::move(place)));
  }

  const Csv* csv_;
  Columns columns_;
  int lines_before_ = 0;
  Trace trace_;
  bool has_size_ = false, has_output_ = false, has_timeout_ = false;
  std::optional<Date> origin_;
  std::optional<double> first_, previous_;
  std::int64_t mistakes_ = 0;
  Errors errors_;  // the first mistake
};

// Whole lines of a source in parts of a few megabytes, because parsed cells take much more memory than requests.
class LineParts {
 public:
  explicit LineParts(ByteSource& source) : source_(source) {}

  // The first line, without its end.
  Result<std::string> header() {
    while (buffer_.find('\n') == std::string::npos) {
      RIGHTSIZE_TRY(const bool more, fill());
      if (!more) break;
    }
    const std::size_t end = std::min(buffer_.find('\n'), buffer_.size());
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, std::min(end + 1, buffer_.size()));
    return line;
  }

  // The next lines; empty at the end.
  Result<std::string> next() {
    while (buffer_.size() < kPart) {
      RIGHTSIZE_TRY(const bool more, fill());
      if (!more) return std::exchange(buffer_, {});
    }
    const std::size_t end = buffer_.rfind('\n');
    if (end == std::string::npos) return std::exchange(buffer_, {});  // a line of megabytes, which the reader refuses
    std::string part = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return part;
  }

 private:
  static constexpr std::size_t kPart = 4U << 20, kBlock = 1U << 20;

  Result<bool> fill() {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kBlock);
    RIGHTSIZE_TRY(const std::size_t got, source_.read(std::span(buffer_).subspan(before)));
    buffer_.resize(before + got);
    return got > 0;
  }

  ByteSource& source_;
  std::string buffer_;
};

bool has_rates(const std::string& header) {
  static constexpr std::array<std::string_view, 5> kTimes = {"time", "timestamp", "date", "datetime", "ts"};
  const Checked<Csv> csv = Csv::parse("", header + "\n");
  if (!csv || csv->header().size() != 2 || to_lower(csv->header()[1]).find("token") != std::string::npos) return false;
  return std::ranges::find(kTimes, to_lower(csv->header()[0])) != kTimes.end();
}

Checked<RateSeries> read_rates(const std::string& file, std::string text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, std::move(text)));
  const std::string time = csv.header()[0], value = csv.header()[1], what = to_lower(value);
  std::vector<std::pair<double, double>> samples;
  std::optional<Date> origin;
  Errors errors;
  const auto complain = [&](const CsvRow& row, const std::string& column, const char* message) {
    if (errors.size() < kMostMistakes)
      errors.push_back(bad_input(fmt::format("'{}' {}", csv.cell(row, column), message)).at(csv.place(row, column)));
  };
  for (const CsvRow& row : csv.rows()) {
    const std::optional<double> at = parse_moment(csv.cell(row, time), origin);
    const std::string_view cell = trim(csv.cell(row, value));
    const std::optional<double> rate = number(cell);
    if (!at || (!samples.empty() && *at <= samples.back().first)) {
      complain(row, time, "is not a time after the row above");
    } else if (rate && *rate >= 0) {
      samples.emplace_back(*at, *rate);
    } else if (!cell.empty() && to_lower(cell) != "nan") {
      complain(row, value, "is not a rate");
    }
  }
  if (errors.empty() && samples.size() < 2)
    errors.push_back(bad_input(fmt::format("{}: a rate over time needs at least two rows", file)));
  if (!errors.empty()) return fail(std::move(errors));
  double step = INFINITY;
  for (std::size_t i = 1; i < samples.size(); ++i) step = std::min(step, samples[i].first - samples[i - 1].first);
  constexpr double kMostSteps = 1e7;
  if (!((samples.back().first - samples.front().first) / step < kMostSteps))
    return fail(bad_input(fmt::format("{}: the times are too far apart", file)));
  const bool counts = what == "requests" || what == "count" || what == "num_requests";
  RateSeries series{{}, seconds(step)};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double until = i + 1 < samples.size() ? samples[i + 1].first : samples[i].first + step;
    const auto end = static_cast<std::size_t>(std::llround((until - samples.front().first) / step));
    series.rates.resize(std::max(end, series.rates.size()), samples[i].second / (counts ? step : 1));
  }
  return series;
}

// Usage exports (OpenAI, LiteLLM, Langfuse, OpenRouter): requests and tokens in each bucket of time.
bool is_usage(const std::string& header) {
  const Checked<Csv> csv = Csv::parse("", header + "\n");
  const std::optional<Columns> columns = csv ? columns_of(*csv) : std::nullopt;
  return columns && !columns->requests.empty() && !columns->size.empty() && !columns->output.empty();
}

// Draws requests at random times at these rates.
Checked<Trace> drawn(const std::string& file, RateSeries series) {
  constexpr double kMost = 5e7;
  double expected = 0;
  for (const double rate : series.rates) expected += rate * in_seconds(series.step);
  if (!(expected <= kMost) || !(expected > 0))
    return fail(
        bad_input(fmt::format("{}: {:.3g} requests at these rates; 1 to 50 million are simulated", file, expected)));
  Trace trace{file, {}, false, false, {}, 0};
  Random random(1);
  for (std::size_t i = 0; i < series.rates.size(); ++i) {
    const double begin = static_cast<double>(i) * in_seconds(series.step), end = begin + in_seconds(series.step);
    for (double at = begin; series.rates[i] > 0;) {
      at += random.exponential() / series.rates[i];
      if (at >= end) break;
      trace.arrivals.push_back({to_sim_time(seconds(at)), 1, 1, 0});
    }
  }
  trace.rates = std::make_shared<const RateSeries>(std::move(series));
  return trace;
}

// Rates over time, and the mean lengths of each bucket. Rows of the same time (models, keys) are added; a missing
// bucket has no requests.
Checked<Trace> read_usage(const std::string& file, std::string text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, std::move(text)));
  const Columns columns = *columns_of(csv);
  struct Bucket {
    double requests = 0, input = 0, output = 0;
  };
  std::map<double, Bucket> buckets;
  std::optional<Date> origin;
  for (const CsvRow& row : csv.rows()) {
    const auto at = parse_moment(csv.cell(row, columns.time), origin);
    if (!at)
      return fail(
          bad_input(fmt::format("'{}' is not a time", csv.cell(row, columns.time))).at(csv.place(row, columns.time)));
    Bucket& bucket = buckets[*at];
    const auto add = [&](const std::string& column, double& sum) -> Result<> {
      const std::string_view cell = csv.cell(row, column);
      const std::optional<double> value = cell.empty() ? std::optional(0.0) : number(cell);
      if (!value || !(*value >= 0))
        return fail(bad_input(fmt::format("'{}' must be a number, 0 or more", cell)).at(csv.place(row, column)));
      sum += *value;
      return {};
    };
    for (const Result<>& added :
         {add(columns.requests, bucket.requests), add(columns.size, bucket.input), add(columns.output, bucket.output)})
      if (!added) return fail(added.error());
  }
  if (buckets.size() < 2)
    return fail(bad_input(fmt::format("{}: a rate over time needs at least two buckets of time", file)));
  const double first = buckets.begin()->first, last = buckets.rbegin()->first;
  double step = last - first;
  for (auto next = std::next(buckets.begin()); next != buckets.end(); ++next)
    step = std::min(step, next->first - std::prev(next)->first);
  constexpr double kMostSteps = 1e7;
  if (!((last - first) / step < kMostSteps))
    return fail(bad_input(fmt::format("{}: the times are too far apart", file)));
  const auto steps = static_cast<std::size_t>(std::llround((last - first) / step)) + 1;
  RateSeries series{std::vector<double>(steps), seconds(step)};
  std::vector<Bucket> by_step(steps);
  for (const auto& [at, bucket] : buckets) {
    const auto i = static_cast<std::size_t>(std::llround((at - first) / step));
    by_step[i] = bucket, series.rates[i] = bucket.requests / step;
  }
  RIGHTSIZE_TRY(Trace trace, drawn(file, std::move(series)));
  trace.has_tokens = true;
  const auto mean = [](double tokens, double requests) {
    return static_cast<std::int32_t>(std::clamp(std::round(tokens / std::max(1.0, requests)), 1.0, 1e9));
  };
  trace.arrivals.change([&](Arrival& arrival) {
    const auto i = static_cast<std::size_t>(in_seconds(from_sim_time(arrival.at)) / step);
    const Bucket& bucket = by_step[std::min(i, steps - 1)];
    arrival.size = mean(bucket.input, bucket.requests), arrival.output = mean(bucket.output, bucket.requests);
  });
  return trace;
}

// Empty if there is no such file, or it may not be read.
std::string lengths_beside(const std::string& trace) {
  const std::string file = lengths_file_of(trace);
  std::error_code unknown;
  if (file.empty() || !std::filesystem::exists(file, unknown) || !may_read(file)) return {};
  return read_file(file).value_or("");
}

// The clients of a folder, together.
Checked<Trace> read_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (const std::string file = entry.path().string(); !lengths_file_of(file).empty()) files.push_back(file);
  }
  if (files.empty())
    return fail(
        Errors{bad_input(fmt::format("'{}' is a folder without traces of clients (chunk-1-trace.csv)", folder))});
  std::ranges::sort(files);
  std::vector<Trace> clients;
  for (const std::string& file : files) {
    RIGHTSIZE_TRY(const std::string text, read_file(file));
    RIGHTSIZE_TRY(Trace client, draw_client(file, text, lengths_beside(file)));
    clients.push_back(std::move(client));
  }
  return merged(folder, std::move(clients));
}

// `bytes`: the size of the text, if it is known.
Checked<Trace> read_table(const std::string& file, ByteSource& source, std::size_t bytes) {
  LineParts parts(source);
  Result<std::string> header = parts.header();
  if (!header) return fail(std::move(header).error());
  const bool client = is_client_windows(*header);
  const bool usage = is_usage(*header);
  if (client || usage || has_rates(*header)) {
    std::string text = *header;
    for (;;) {
      const Result<std::string> part = parts.next();
      if (!part) return fail(part.error());
      if (part->empty()) break;
      text += "\n" + *part;
    }
    if (client) {
      RIGHTSIZE_TRY(Trace drawn_client, draw_client(file, text, lengths_beside(file)));
      return merged(file, {std::move(drawn_client)});
    }
    if (usage) return read_usage(file, std::move(text));
    RIGHTSIZE_TRY(RateSeries series, read_rates(file, std::move(text)));
    return drawn(file, std::move(series));
  }
  std::optional<TraceReader> reader;
  int lines = 0;
  for (;;) {
    Result<std::string> part = parts.next();
    if (!part) return fail(std::move(part).error());
    if (part->empty() && reader) break;
    Checked<Csv> parsed = Csv::parse(file, *header + "\n" + *part);
    if (!parsed) {
      for (Error& error : parsed.error()) error.place.line += lines;
      return fail(std::move(parsed).error());
    }
    const Csv& csv = *parsed;
    if (!reader) {
      const std::optional<Columns> columns = columns_of(csv);
      if (!columns) {
        return fail(
            Errors{bad_input(fmt::format("{}: no column 't', 'time' or 'timestamp'", file))
                       .with_hint("a trace has the columns 'time,input_tokens,output_tokens' (seconds or dates; "
                                  "names such as ContextTokens and completion_tokens are known), or 't,size' "
                                  "for items; JSON of Mooncake, aiperf and GuideLLM is read, too")
                       .with_hint("a rate over time has two columns: 'timestamp,rps'")});
      }
      reader.emplace(csv, *columns);
      // Growing the list of requests would take twice its memory.
      if (!part->empty()) reader->expect(csv.rows().size() * (bytes / part->size() + 1));
    } else {
      reader->continue_with(csv, lines);
    }
    reader->read();
    reader->finish_part();
    lines += static_cast<int>(std::ranges::count(*part, '\n')) + 1;
  }
  return reader->finish(file);
}

// Every block is a separate chain; the same number is the same block after the same beginning. A prompt that lists more
// blocks than its length is extended.
Checked<Trace> read_hashed_trace(const std::string& file, ByteSource& source, std::int32_t block_tokens) {
  Trace trace{file, {}, true, false, {}, 0};
  Prompts prompts;
  std::unordered_map<std::uint64_t, std::uint32_t> chains;
  std::vector<Segment> segments;
  double first = 0;
  const Result<> read = kv_cache::each_request(
      source, file,
      [&](const kv_cache::HashedRequest& request) {
        if (trace.arrivals.empty()) first = request.at_ms;
        segments.clear();
        std::int64_t size = 0;
        for (std::size_t i = 0; i < request.blocks.size(); ++i) {
          const std::int64_t left = request.input - size;
          const bool last = i + 1 == request.blocks.size();
          const auto tokens =
              static_cast<std::int32_t>(last ? std::clamp<std::int64_t>(left, 1, block_tokens) : block_tokens);
          const auto chain = chains.emplace(request.blocks[i], static_cast<std::uint32_t>(chains.size())).first->second;
          segments.push_back({chain, tokens});
          size += tokens;
        }
        prompts.add(segments);
        constexpr std::int64_t kMostTokens = 1'000'000'000;
        trace.arrivals.push_back(
            {.at = to_sim_time(milliseconds(request.at_ms - first)),
             .size = static_cast<std::int32_t>(std::clamp<std::int64_t>(std::max(size, request.input), 1, kMostTokens)),
             .output = static_cast<std::int32_t>(request.output),
             .prompt = static_cast<std::uint32_t>(prompts.size())});
      },
      block_tokens);
  if (!read) return fail(read.error());
  prompts.chains = static_cast<std::uint32_t>(chains.size());
  trace.prompts = std::make_shared<const Prompts>(std::move(prompts));
  return trace;
}

// `bytes`: the size of the text, if it is known.
Checked<Trace> read_any(const std::string& file, ByteSource& source, std::size_t bytes,
                        std::optional<std::int32_t> block_tokens) {
  constexpr std::size_t kBeginning = 64U << 10;
  Result<std::string> read = read_beginning(source, kBeginning);
  if (!read) return fail(std::move(read).error());
  const std::string beginning = *std::move(read);
  const std::string_view text = trim(beginning);
  if (text.empty()) return fail(bad_input(fmt::format("{}: the trace is empty", file)));
  const std::unique_ptr<ByteSource> whole = put_back(beginning, source);
  if (is_recorded_run(text)) return read_recorded_run(file, *whole, text);
  if (kv_cache::is_hashed_trace(text)) {
    const auto usual = static_cast<std::int32_t>(kv_cache::usual_block(text));
    return read_hashed_trace(file, *whole, block_tokens.value_or(usual));
  }
  return read_table(file, *whole, bytes);
}

}  // namespace

Checked<Trace> parse_trace(const std::string& file, std::string_view text) {
  return read_any(file, *bytes_of(text), text.size(), std::nullopt);
}

Checked<Trace> read_trace_file(const std::string& file, std::optional<std::int32_t> block_tokens) {
  if (!may_read(file)) return fail(bad_input(fmt::format("this server may not read '{}'", file.substr(0, 100))));
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return read_folder(file);
  Result<std::unique_ptr<ByteSource>> opened = open_bytes(file);
  if (!opened) return fail(std::move(opened).error());
  Result<std::unique_ptr<ByteSource>> plain = uncompress(file, *std::move(opened));
  if (!plain) return fail(std::move(plain).error());
  const auto size = std::filesystem::file_size(file, unknown);
  return read_any(file, **plain, unknown ? 0 : static_cast<std::size_t>(size), block_tokens);
}

}  // namespace rightsize::sim
