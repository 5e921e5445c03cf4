#include "sim/recorded_runs.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "base/json_reader.h"
#include "base/text.h"

namespace rightsize::sim {
namespace {

constexpr double kMostTokens = 1e9;

struct Recorded {
  double start_s = 0;
  double input = 0, output = 0;
};

// The first of several paths that has a number; names have changed between versions.
std::optional<double> first_number(const JsonValue& value, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (const std::optional<double> number = number_at(value, path)) return number;
  }
  return std::nullopt;
}

void keep(std::vector<Recorded>& all, std::optional<double> start_s, std::optional<double> input,
          std::optional<double> output) {
  if (!start_s || !input || !std::isfinite(*start_s) || !(*input >= 1) || *input > kMostTokens) return;
  all.push_back({*start_s, *input, std::clamp(output.value_or(1), 1.0, kMostTokens)});
}

void read_aiperf(const JsonValue& record, std::vector<Recorded>& all) {
  const JsonValue *error = value_at(record, "error"), *cancelled = value_at(record, "metadata.was_cancelled");
  if (error != nullptr && error->type == JsonType::kObject) return;
  if (cancelled != nullptr && cancelled->boolean) return;
  if (text_at(record, "metadata.benchmark_phase") == "warmup") return;
  const std::optional<double> start = number_at(record, "metadata.request_start_ns");
  keep(all, start ? std::optional(*start * 1e-9) : std::nullopt,
       number_at(record, "metrics.input_sequence_length.value"),
       first_number(record, {"metrics.output_sequence_length.value", "metrics.output_token_count.value"}));
}

void read_guidellm(const JsonValue& request, std::vector<Recorded>& all) {
  keep(all,
       first_number(request, {"start_time", "request_start_time", "info.timings.request_start",
                              "scheduler_info.request_timings.request_start"}),
       first_number(request, {"prompt_tokens", "input_metrics.text_tokens", "input_metrics.total_tokens"}),
       first_number(request, {"output_tokens", "output_metrics.text_tokens", "output_metrics.total_tokens"}));
}

}  // namespace

bool is_recorded_run(std::string_view beginning) {
  if (!trim(beginning).starts_with('{')) return false;
  return beginning.find("\"request_start_ns\"") != beginning.npos ||
         (beginning.find("\"benchmarks\"") != beginning.npos && beginning.find("\"hash_ids\"") == beginning.npos);
}

Checked<Trace> read_recorded_run(const std::string& file, ByteSource& source, std::string_view beginning) {
  JsonReader json(source, file);
  std::vector<Recorded> all;
  const bool lines = beginning.find("\"request_start_ns\"") != beginning.npos;
  JsonValue value;
  if (lines) {
    while (!json.failed() && json.next_document()) {
      if (json.read_value(value)) read_aiperf(value, all);
    }
  } else {
    json.each_member([&](const std::string& name) {
      if (name != "benchmarks") return json.skip();
      json.each_item([&] {
        json.each_member([&](const std::string& part) {
          if (part != "requests") return json.skip();
          json.each_member([&](const std::string& outcome) {
            if (outcome != "successful") return json.skip();
            json.each_item([&] {
              if (json.read_value(value)) read_guidellm(value, all);
            });
          });
        });
      });
    });
  }
  if (json.failed()) return fail(json.error());
  if (all.empty()) {
    return fail(
        Errors{bad_input(fmt::format("{}: no request with a start time and a prompt length", file))
                   .with_hint("aiperf writes them with --export-level records; GuideLLM into benchmarks.json")});
  }
  std::ranges::stable_sort(all, {}, &Recorded::start_s);
  Trace trace;
  trace.file = file;
  trace.has_tokens = true;
  for (const Recorded& request : all) {
    trace.arrivals.push_back({.at = to_sim_time(seconds(request.start_s - all.front().start_s)),
                              .size = static_cast<std::int32_t>(request.input),
                              .output = static_cast<std::int32_t>(request.output)});
  }
  return trace;
}

}  // namespace rightsize::sim
