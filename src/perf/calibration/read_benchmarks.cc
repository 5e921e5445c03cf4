// Results of load generators as rows of measurements: `vllm bench serve --save-result`, SGLang's bench_serving (an
// object per line), GenAI-Perf and AIPerf (profile_export*.json).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/text.h"
#include "perf/calibration/calibration.h"

namespace rightsize::perf {
namespace {

constexpr double kMost = 1e12;

struct ServedRun {
  std::string model, stack;
  double isl = 0, osl = 0, concurrency = 0, ttft_ms = 0, tpot_ms = 0;
};

// GenAI-Perf gives statistics of each metric.
std::optional<double> average(const JsonObject& json, const char* metric) {
  return json.get_object_or_empty(metric).get_number("avg", 0, kMost);
}

std::optional<double> first_of(std::initializer_list<std::optional<double>> values) {
  const auto found = std::find_if(values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
  return found == values.end() ? std::nullopt : *found;
}

std::optional<double> per_request(const JsonObject& json, const char* total) {
  const auto sum = json.get_number(total, 0, kMost), requests = json.get_number("completed", 1, kMost);
  return sum && requests ? std::optional(*sum / *requests) : std::nullopt;
}

std::string model_of(const JsonObject& json) {
  if (auto name = json.get_string({"model_id", "model"})) return *name;
  if (auto name = json.get_object_or_empty("server_info").get_string("model_path")) return *name;
  const JsonObject config = json.get_object_or_empty("input_config");
  if (auto names = config.get_strings({"model_names", "model"}); names && !names->empty()) return names->front();
  return {};
}

std::string stack_of(const JsonObject& json) {
  const std::string backend = json.get_string("backend").value_or("");
  if (backend.starts_with("sglang")) return "sglang";
  return backend.starts_with("trt") || backend.starts_with("tensorrt") ? "trtllm" : "vllm";
}

// Requests in flight: the client's concurrency or, for an arrival rate, the number from Little's law.
double in_flight(const JsonObject& json, const ServedRun& run) {
  const JsonMember* rate = json.find("request_rate");
  const bool at_rate = rate != nullptr && rate->value.type == JsonType::kNumber;
  const auto kept = json.get_number("max_concurrency", 1, kMost);
  if (kept && !at_rate) return *kept;
  const auto served = first_of({json.get_number("request_throughput", 0, kMost), average(json, "request_throughput")});
  const double latency = (run.ttft_ms + run.tpot_ms * std::max(0.0, run.osl - 1)) / 1e3;
  const double mean = served ? *served * latency : 1;
  return std::max(1.0, std::round(std::min(mean, kept.value_or(kMost))));
}

// Reads only what a row needs: the files also list every request.
Checked<ServedRun> read_run(const LocatedJson& document) {
  Errors errors;
  const JsonObject json(document, document.root(), errors);
  ServedRun run;
  run.model = model_of(json), run.stack = stack_of(json);
  run.isl = first_of({per_request(json, "total_input_tokens"), average(json, "input_sequence_length")}).value_or(0);
  run.osl = first_of({per_request(json, "total_output_tokens"), average(json, "output_sequence_length")}).value_or(0);
  run.ttft_ms = first_of({json.get_number("mean_ttft_ms", 0, kMost), average(json, "time_to_first_token")}).value_or(0);
  run.tpot_ms =
      first_of({json.get_number({"mean_tpot_ms", "mean_itl_ms"}, 0, kMost), average(json, "inter_token_latency")})
          .value_or(0);
  if (errors.empty() && !(run.isl >= 1 && run.osl >= 1 && run.ttft_ms > 0 && run.tpot_ms > 0)) {
    errors.push_back(
        bad_input("this JSON has no tokens per request, TTFT and TPOT")
            .at(json.place())
            .with_hint("results of 'vllm bench serve --save-result', SGLang's bench_serving and GenAI-Perf "
                       "have them; anything else can be a CSV: model,gpu,isl,osl,concurrency,ttft_ms,"
                       "tpot_ms"));
  }
  if (!errors.empty()) return fail(std::move(errors));
  run.concurrency = in_flight(json, run);
  return run;
}

std::vector<std::string> documents_in(const std::string& text) {
  const std::vector<std::string_view> lines = split_list(text, '\n');
  const bool each = std::all_of(lines.begin(), lines.end(),
                                [](std::string_view line) { return line.starts_with('{') && line.ends_with('}'); });
  return each ? std::vector<std::string>(lines.begin(), lines.end()) : std::vector<std::string>{text};
}

}  // namespace

bool is_benchmark(std::string_view text) { return trim(text).starts_with('{'); }

Checked<std::string> benchmark_rows(const std::string& file, const std::string& text,
                                    const std::map<std::string, std::string>& given) {
  std::string names, values;
  for (const auto& [name, value] : given) {
    if (name == "model" || name == "stack") continue;
    names += "," + name, values += "," + csv_cell(value);
  }
  std::string rows = fmt::format("model,stack,job,isl,osl,concurrency,ttft_ms,tpot_ms{}\n", names);
  for (std::string& part : documents_in(text)) {
    RIGHTSIZE_TRY(const LocatedJson document, LocatedJson::parse(file, std::move(part)));
    RIGHTSIZE_TRY(ServedRun run, read_run(document));
    if (given.contains("model")) run.model = given.at("model");
    if (given.contains("stack")) run.stack = given.at("stack");
    if (run.model.empty())
      return fail(Errors{bad_input(file + " does not name the model").with_hint("add --model NAME")});
    rows += fmt::format("{},{},serve,{:.0f},{:.0f},{:.0f},{},{}{}\n", csv_cell(run.model), run.stack, run.isl, run.osl,
                        run.concurrency, run.ttft_ms, run.tpot_ms, values);
  }
  return rows;
}

}  // namespace rightsize::perf
