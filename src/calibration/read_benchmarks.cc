// Results of load generators as rows of measurements: `vllm bench serve --save-result`, SGLang's bench_serving (an
// object per line), GenAI-Perf and AIPerf (profile_export*.json and .csv).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "calibration/calibration.h"

namespace rightsize::calibration {
namespace {

constexpr double kMost = 1e12;

struct ServedRun {
  std::string model, stack, gpu;
  double isl = 0, osl = 0, ttft_ms = 0, tpot_ms = 0;
  double concurrency = 0, rate = 0;  // one of them: closed or open loop
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

// What the client was told: vLLM and SGLang at the top, GenAI-Perf and AIPerf among their settings.
std::optional<double> told(const JsonObject& json, std::initializer_list<const char*> names) {
  const JsonObject config = json.get_object_or_empty("input_config");
  const JsonObject stimulus = config.get_object_or_empty("perf_analyzer").get_object_or_empty("stimulus");
  const JsonObject loadgen = config.get_object_or_empty("loadgen");
  for (const char* name : names) {
    for (const JsonObject* from : {&json, &stimulus, &loadgen}) {
      const JsonMember* member = from->find(name);  // "inf" and null: no limit
      if (member != nullptr && member->value.type == JsonType::kNumber && member->value.number > 0)
        return from->get_number(name, 0, kMost);
    }
  }
  return std::nullopt;
}

// Requests that arrive at a rate are an open loop. A limit on concurrency that they reach, or a server that falls
// behind, makes it a closed loop: the number in flight is that limit, or follows from Little's law.
void read_load(const JsonObject& json, ServedRun& run) {
  const auto rate = told(json, {"request_rate"}), most = told(json, {"max_concurrency", "concurrency"});
  const auto served = first_of({json.get_number("request_throughput", 0, kMost), average(json, "request_throughput")});
  const double latency = (run.ttft_ms + run.tpot_ms * std::max(0.0, run.osl - 1)) / 1e3;
  const double in_flight = served ? *served * latency : 1;
  constexpr double kBehind = 0.5, kLimited = 0.9;  // short runs end with an idle time, so served is below the rate
  const bool limited = most && in_flight > kLimited * *most;
  if (rate && !limited && (!served || *served > kBehind * *rate)) {
    run.rate = *rate;
  } else if (most && (!rate || limited)) {
    run.concurrency = *most;
  } else {
    run.concurrency = std::max(1.0, std::round(in_flight));
  }
}

// Reads only what a row needs: the files also list every request.
Checked<ServedRun> read_run(const LocatedJson& document) {
  Errors errors;
  const JsonObject json(document, document.root(), errors);
  ServedRun run;
  run.model = model_of(json), run.stack = stack_of(json);
  run.gpu = json.get_string({"gpu", "gpu_name", "gpu_type", "accelerator"}).value_or("");  // of --metadata
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
  read_load(json, run);
  return run;
}

std::vector<std::string> documents_in(const std::string& text) {
  const std::vector<std::string_view> lines = split_list(text, '\n');
  const bool each = std::all_of(lines.begin(), lines.end(),
                                [](std::string_view line) { return line.starts_with('{') && line.ends_with('}'); });
  return each ? std::vector<std::string>(lines.begin(), lines.end()) : std::vector<std::string>{text};
}

// "Time To First Token (ms),88.2,..." as the member of the JSON that the same tools write. Numbers may be "1,048.30".
std::string json_of_table(const std::string& text) {
  std::string json;
  for (const std::string_view line : split_list(text, '\n')) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view metric = line.substr(0, comma), rest = line.substr(std::min(comma + 1, line.size()));
    const bool quoted = rest.starts_with('"');
    std::string number(quoted ? split_list(rest.substr(1), '"').front() : rest.substr(0, rest.find(',')));
    std::erase(number, ',');
    std::string name = to_lower(trim(metric.substr(0, metric.find('('))));
    std::ranges::replace(name, ' ', '_');
    const bool time = name.ends_with("token") || name.ends_with("latency");
    const Result<double> value = parse_number(trim(number));
    if (!value || name.find('"') != std::string::npos || (time && metric.find("(ms)") == std::string_view::npos))
      continue;
    json += fmt::format(R"({}"{}": {{"avg": {}}})", json.empty() ? "{" : ", ", name, *value);
  }
  return json + (json.empty() ? "{}" : "}");
}

bool is_table(std::string_view text) { return trim(text).starts_with("Metric,"); }

}  // namespace

bool is_benchmark(std::string_view text) { return trim(text).starts_with('{') || is_table(text); }

Checked<std::string> benchmark_rows(const std::string& file, const std::string& text,
                                    const std::map<std::string, std::string>& given) {
  std::string rows;
  for (std::string& part : documents_in(is_table(text) ? json_of_table(text) : text)) {
    RIGHTSIZE_TRY(const LocatedJson document, LocatedJson::parse(file, std::move(part)));
    RIGHTSIZE_TRY(const ServedRun run, read_run(document));
    const auto number = [](double value) { return value > 0 ? fmt::format("{}", value) : std::string(); };
    std::map<std::string, std::string> row{{"model", run.model},
                                           {"gpu", run.gpu},
                                           {"stack", run.stack},
                                           {"job", "serve"},
                                           {"isl", fmt::format("{:.0f}", run.isl)},
                                           {"osl", fmt::format("{:.0f}", run.osl)},
                                           {"concurrency", number(run.concurrency)},
                                           {"rate", number(run.rate)},
                                           {"ttft_ms", number(run.ttft_ms)},
                                           {"tpot_ms", number(run.tpot_ms)}};
    if (given.contains("rate") || given.contains("concurrency")) row["rate"].clear(), row["concurrency"].clear();
    for (const auto& [name, value] : given) row[name] = value;
    if (row["gpu"].empty())
      return fail(bad_input(file + " does not say which GPU it was measured on")
                      .with_hint("add --gpu NAME, and --tp N if the model ran on several"));
    if (row["model"].empty()) return fail(bad_input(file + " does not name the model").with_hint("add --model NAME"));
    std::string names, values;
    for (const auto& [name, value] : row) {
      names += (names.empty() ? "" : ",") + name;
      values += (&value == &row.begin()->second ? "" : ",") + csv_cell(value);
    }
    rows += (rows.empty() ? names + "\n" : std::string()) + values + "\n";
  }
  return rows;
}

}  // namespace rightsize::calibration
