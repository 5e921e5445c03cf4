#include "autoscale/startup.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::autoscale {
namespace {

// A fact of data/startup.csv: seconds, bytes per second or a share, depending on its text.
struct Fact {
  double likely = 0, low = 0, high = 0;
  std::string source = {};
};

using Facts = std::map<std::pair<std::string, std::string>, Fact>;

double number_of(std::string_view text) {
  if (const Result<Seconds> time = parse_duration(text)) return in_seconds(*time);
  if (const Result<BytesPerSecond> rate = parse_bandwidth(text)) return in_bytes_per_s(*rate);
  return parse_share(text)->fraction();
}

const Facts& facts() {
  static const Facts kFacts = [] {
    const Csv csv = *Csv::parse("data/startup.csv", std::string(embedded_file("startup.csv")));
    Facts all;
    for (const CsvRow& row : csv.rows()) {
      all[{std::string(csv.cell(row, "stage")), std::string(csv.cell(row, "case"))}] = {
          number_of(csv.cell(row, "value")), number_of(csv.cell(row, "low")), number_of(csv.cell(row, "high")),
          fmt::format("{}, {}", csv.cell(row, "source"), csv.cell(row, "date"))};
    }
    return all;
  }();
  return kFacts;
}

const Fact& fact(const char* stage, const std::string& which) { return facts().at({stage, which}); }

// A stage: computes its time from the likely, low and high values of its facts; `which` is the decisive fact.
template <class Time>
Stage stage(const char* name, const std::string& which, Time time) {
  const double likely = time(&Fact::likely), one = time(&Fact::low), other = time(&Fact::high);
  return {name, seconds(likely), seconds(std::min(one, other)), seconds(std::max(one, other)),
          fact(name, which).source};
}

double weight_seconds(const StartedModel& model, const StartupOptions& options, double Fact::*at) {
  const double bytes = in_bytes(model.weights), processes = model.gpus;
  const auto rate = [&](const char* source) { return fact("weights", source).*at; };
  // Unless the checkpoint is sharded, every process reads all of it.
  const double read = options.sharded ? bytes / processes : bytes;
  switch (options.weights) {
    case WeightSource::kHub:
      return bytes / rate("hub") + read / rate("memory");
    case WeightSource::kStream:
      return read * processes / std::min(rate("stream") * processes, rate("stream-machine"));
    case WeightSource::kDisk:
      return (options.sharded ? read : bytes) / rate("disk");
    case WeightSource::kMemory:
      return read / rate("memory");
    case WeightSource::kPinned:
      return bytes / processes / rate("pinned");
  }
  return 0;
}

// ---- Reading the options ----

using Names = std::vector<std::string>;
struct Part {
  const char* name;
  Names values;
  void (*set)(StartupOptions&, std::size_t which, const std::string& text);
};

const std::vector<Part>& parts() {
  static const std::vector<Part> kParts = {
      {"weights",
       {"hub", "stream", "disk", "memory", "pinned"},
       [](StartupOptions& o, std::size_t i, const std::string&) { o.weights = static_cast<WeightSource>(i); }},
      {"sharded", {"no", "yes"}, [](StartupOptions& o, std::size_t i, const std::string&) { o.sharded = i == 1; }},
      {"compile",
       {"cold", "cached", "none"},
       [](StartupOptions& o, std::size_t i, const std::string&) { o.compile = static_cast<Compilation>(i); }},
      {"node",
       {"ready", "eks", "gke", "aks", "other"},
       [](StartupOptions& o, std::size_t i, const std::string& text) { o.node = i == 0 ? "" : text; }},
      {"image",
       {"cached", "pull", "stream"},
       [](StartupOptions& o, std::size_t i, const std::string&) { o.image = static_cast<ImageSource>(i); }},
      {"wake", {"no", "yes"}, [](StartupOptions& o, std::size_t i, const std::string&) { o.wake = i == 1; }},
  };
  return kParts;
}

constexpr const char* kExample = "--startup 110s, or --startup weights=stream,sharded=yes,compile=cached";

}  // namespace

Result<StartupOptions> parse_startup(std::string_view text) {
  StartupOptions options;
  for (std::string_view word : split_list(text, ',')) {
    const std::size_t equals = word.find('=');
    const std::string name(trim(word.substr(0, equals)));
    const auto part = std::ranges::find_if(parts(), [&](const Part& p) { return p.name == name; });
    if (equals == std::string_view::npos || part == parts().end())
      return fail(bad_input(fmt::format("unknown part '{}' of a start-up", word)).with_hint(kExample));
    const std::string value(trim(word.substr(equals + 1)));
    const auto found = std::ranges::find(part->values, value);
    if (found == part->values.end())
      return fail(bad_input(fmt::format("{}: '{}' must be one of {}", name, value, fmt::join(part->values, ", ")))
                      .with_hint(did_you_mean(value, part->values)));
    part->set(options, static_cast<std::size_t>(found - part->values.begin()), value);
  }
  return options;
}

Seconds Startup::sum(Seconds Stage::*of) const {
  Seconds sum;
  for (const Stage& stage : stages) sum += stage.*of;
  return sum;
}

Startup startup_of(const StartedModel& model, const StartupOptions& options) {
  Startup startup;
  const double doublings = std::log2(std::max(1, model.gpus)), layers = model.layers;
  using At = double Fact::*;
  if (!options.node.empty())
    startup.stages.push_back(stage("node", options.node, [&](At at) { return fact("node", options.node).*at; }));
  const ImageSource image = options.image.value_or(options.node.empty() ? ImageSource::kCached : ImageSource::kPull);
  if (image == ImageSource::kStream)
    startup.stages.push_back(stage("image", "stream", [&](At at) { return fact("image", "stream").*at; }));
  if (image == ImageSource::kPull && model.image)
    startup.stages.push_back(
        stage("image", "pull", [&](At at) { return in_bytes(*model.image) / fact("image", "pull").*at; }));
  if (options.wake) {
    StartupOptions pinned = options;
    pinned.weights = WeightSource::kPinned;
    startup.stages.push_back(stage("engine", "wake", [&](At at) { return fact("engine", "wake").*at; }));
    startup.stages.push_back(stage("weights", "pinned", [&](At at) { return weight_seconds(model, pinned, at); }));
    return startup;
  }
  startup.stages.push_back(stage("engine", "process", [&](At at) {
    return fact("engine", "process").*at + doublings * fact("engine", "process-doubling").*at;
  }));
  const std::string source = parts().front().values[static_cast<std::size_t>(options.weights)];
  startup.stages.push_back(stage("weights", source, [&](At at) { return weight_seconds(model, options, at); }));
  if (options.compile == Compilation::kNone) return startup;
  const std::string compile = options.compile == Compilation::kCold ? "cold" : "cached";
  startup.stages.push_back(stage("compile", compile, [&](At at) {
    return fact("compile", compile).*at * layers * (1 + doublings * fact("compile", compile + "-doubling").*at);
  }));
  startup.stages.push_back(stage("graphs", "layer", [&](At at) { return fact("graphs", "layer").*at * layers; }));
  return startup;
}

Startup stated_startup(Seconds time) { return {{{"stated", time, time, time}}}; }

}  // namespace rightsize::autoscale
