#include "sim/client_windows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/byte_source.h"
#include "base/json_reader.h"
#include "base/parse_units.h"
#include "base/random.h"
#include "base/text.h"

namespace rightsize::sim {
namespace {

constexpr std::string_view kTraceEnd = "-trace.csv";
constexpr double kMostRequests = 5e7, kLongestSeconds = 3.2e8, kUsualWidth = 600;

std::optional<double> number(std::string_view text) {
  const Result<double> value = parse_number(trim(text));
  return value && std::isfinite(*value) && *value >= 0 ? std::optional(*value) : std::nullopt;
}

// Lengths with their shares summed up.
class Lengths {
 public:
  // "{110: 0.25, 200: 0.75}"
  explicit Lengths(std::string_view text) {
    double sum = 0;
    const std::size_t begin = text.find('{');
    if (begin == std::string_view::npos) return;
    for (const std::string_view entry : split_list(text.substr(begin + 1, text.rfind('}') - begin - 1), ',')) {
      const std::size_t colon = std::min(entry.find(':'), entry.size());
      const auto length = number(entry.substr(0, colon));
      const auto share = number(entry.substr(std::min(colon + 1, entry.size())));
      if (!length || !share || *share <= 0) continue;
      constexpr double kMost = 1e9;
      shares_.emplace_back(sum += *share, static_cast<std::int32_t>(std::clamp(*length, 1.0, kMost)));
    }
  }
  bool empty() const { return shares_.empty(); }
  std::int32_t draw(Random& random) const {
    const double at = random.uniform() * shares_.back().first;
    return std::ranges::upper_bound(shares_, at, {}, &std::pair<double, std::int32_t>::first)->second;
  }

 private:
  std::vector<std::pair<double, std::int32_t>> shares_;
};

struct RequestLengths {
  Lengths input, output;
};

// By the start of the time in which they hold.
Result<std::map<double, RequestLengths>> read_lengths(const std::string& file, const std::string& text) {
  std::map<double, RequestLengths> all;
  const std::unique_ptr<ByteSource> source = bytes_of(text);
  JsonReader json(*source, file);
  json.each_member([&](const std::string& name) {
    JsonValue value;
    if (!json.read_value(value)) return;
    RequestLengths lengths{Lengths(text_at(value, "input_tokens")), Lengths(text_at(value, "output_tokens"))};
    if (const auto start = number(name); start && !lengths.input.empty() && !lengths.output.empty())
      all.emplace(*start, std::move(lengths));
  });
  if (json.failed()) return fail(json.error());
  return all;
}

// Times between requests, up to a factor.
struct Gaps {
  bool weibull = false;
  double shape = 1;

  double draw(Random& random) const {
    if (weibull) return std::pow(random.exponential(), 1 / shape);
    // Marsaglia and Tsang 2000; a shape below 1 is that of 1 more, times a power.
    const double d = std::max(shape, shape + (shape < 1 ? 1 : 0)) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = random.normal(), v = std::pow(1 + c * x, 3);
      if (v <= 0 || std::log(1 - random.uniform()) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
      return d * v * (shape < 1 ? std::pow(1 - random.uniform(), 1 / shape) : 1);
    }
  }
};

struct Window {
  double start = 0, rate = 0;
  Gaps gaps;
};

std::optional<Window> read_window(std::string_view line) {
  const std::vector<std::string_view> cells = split_list(line, ',');
  if (cells.size() < 2) return std::nullopt;
  const auto start = number(cells[0]), rate = number(cells[1]);
  if (!start || !rate || *start > kLongestSeconds) return std::nullopt;
  Window window{*start, *rate, {}};
  if (cells.size() < 4) return window;  // a time without requests
  constexpr double kLeast = 0.02, kMost = 50;
  window.gaps.weibull = to_lower(trim(cells[3])) == "weibull";
  const auto cv = number(cells[2]), shape = cells.size() > 4 ? number(cells[4]) : std::nullopt;
  const double wanted = window.gaps.weibull ? shape.value_or(1) : cv && *cv > 0 ? 1 / (*cv * *cv) : 1;
  window.gaps.shape = std::clamp(wanted, kLeast, kMost);
  return window;
}

Errors mistake(const std::string& file, std::string_view text, std::string_view line) {
  const auto offset = static_cast<std::size_t>(line.data() - text.data());
  return {bad_input("a row of a client has a start, a rate, and the distribution of times between requests")
              .at(place_in(file, std::string(text), offset, line.size()))};
}

}  // namespace

bool is_client_windows(std::string_view first_line) {
  const std::vector<std::string_view> cells = split_list(trim(first_line), ',');
  return cells.size() == 6 && number(cells[0]) && number(cells[1]) && number(cells[2]) && !number(cells[3]) &&
         number(cells[4]) && number(cells[5]);
}

std::string lengths_file_of(const std::string& file) {
  return file.ends_with(kTraceEnd) ? file.substr(0, file.size() - kTraceEnd.size()) + "-dataset.json" : "";
}

Checked<Trace> draw_client(const std::string& file, std::string_view text, const std::string& lengths) {
  std::vector<Window> windows;
  double width = kUsualWidth, expected = 0;
  for (const std::string_view line : split_list(text, '\n')) {
    if (trim(line).empty()) continue;
    const std::optional<Window> window = read_window(trim(line));
    if (!window || (!windows.empty() && window->start <= windows.back().start)) return fail(mistake(file, text, line));
    if (!windows.empty()) width = std::min(width, window->start - windows.back().start);
    windows.push_back(*window);
  }
  for (const Window& window : windows) expected += window.rate * width;
  if (!(expected >= 1) || !(expected <= kMostRequests))
    return fail(
        bad_input(fmt::format("{}: {:.3g} requests at these rates; 1 to 50 million are simulated", file, expected)));
  std::map<double, RequestLengths> by_start;
  if (!lengths.empty()) {
    RIGHTSIZE_TRY(by_start, read_lengths(lengths_file_of(file), lengths));
  }
  Trace trace{file, {}, !by_start.empty(), false, {}, 0};
  trace.arrivals.reserve(static_cast<std::size_t>(expected) + 1);
  Random random(1);
  std::vector<double> gaps;
  double due = 0;  // requests so far, with fractions
  for (const Window& window : windows) {
    due += window.rate * width;
    const auto count = static_cast<std::size_t>(due) - trace.arrivals.size();
    gaps.resize(count + 1);
    double sum = 0, at = window.start;
    for (double& gap : gaps) sum += gap = window.gaps.draw(random);
    auto found = by_start.upper_bound(window.start);
    if (found != by_start.begin()) --found;
    for (std::size_t i = 0; i < count; ++i) {
      at += sum > 0 ? gaps[i] / sum * width : width / static_cast<double>(count);
      at = std::min(at, window.start + width * (1 - 1e-9));  // the sum may round up
      Arrival arrival{to_sim_time(seconds(at)), 1, 1, 0};
      if (found != by_start.end())
        arrival.size = found->second.input.draw(random), arrival.output = found->second.output.draw(random);
      trace.arrivals.push_back(arrival);
    }
  }
  return trace;
}

Trace merged(const std::string& file, std::vector<Trace> clients) {
  Trace all{file, {}, true, false, {}, 0};
  std::size_t requests = 0;
  for (const Trace& client : clients) requests += client.arrivals.size();
  std::vector<Arrival> sorted;
  sorted.reserve(requests);
  for (Trace& client : clients) {
    all.has_tokens = all.has_tokens && client.has_tokens;
    for (const Arrival& arrival : client.arrivals) sorted.push_back(arrival);
    client = {};
  }
  std::ranges::stable_sort(sorted, {}, &Arrival::at);
  const SimTime first = sorted.empty() ? 0 : sorted.front().at;
  for (Arrival& arrival : sorted) arrival.at -= first;
  all.arrivals = sorted;
  return all;
}

}  // namespace rightsize::sim
