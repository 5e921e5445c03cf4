// sacct --json: {"jobs": [{"job_id", "user", "account", "state": {"current": [...]}, "time": {...}, "tres": {...}}]}.
// Names and units have changed between versions; a value is looked up under all of them.
#include <fmt/format.h>

#include "base/json_reader.h"
#include "telemetry/feeds/slurm_rows.h"

namespace rightsize::telemetry {
namespace {

// 12, "12", or {"set": true, "infinite": false, "number": 12}.
std::optional<double> set_number(const JsonValue& value, std::string_view path) {
  const JsonValue* found = value_at(value, path);
  if (found == nullptr) return std::nullopt;
  if (found->type != JsonType::kObject) return number_at(value, path);
  const JsonValue *set = value_at(*found, "set"), *infinite = value_at(*found, "infinite");
  if ((set != nullptr && !set->boolean) || (infinite != nullptr && infinite->boolean)) return std::nullopt;
  return number_at(*found, "number");
}

std::optional<TimePoint> time_at(const JsonValue& job, std::string_view path) {
  const std::optional<double> since_1970 = set_number(job, path);
  return since_1970 && *since_1970 > 0 ? std::optional(unix_seconds(*since_1970)) : std::nullopt;
}

std::string state_of(const JsonValue& job) {
  for (const char* path : {"state.current", "state"}) {
    if (const std::vector<JsonValue>& list = items_at(job, path); !list.empty()) return list.front().text;
    if (const std::string& text = text_at(job, path); !text.empty()) return text;
  }
  return {};
}

// [{"type": "gres", "name": "gpu:a100", "count": 2}] as "gres/gpu:a100=2".
std::string tres_text(const JsonValue& job, std::string_view path) {
  std::string text;
  for (const JsonValue& entry : items_at(job, path)) {
    const std::string& name = text_at(entry, "name");
    const std::optional<double> count = set_number(entry, "count");
    if (!count) continue;
    text += fmt::format("{}{}{}{}={}", text.empty() ? "" : ",", text_at(entry, "type"), name.empty() ? "" : "/", name,
                        *count);
  }
  return text;
}

std::string id_of(const JsonValue& job) {
  const double number = set_number(job, "job_id").value_or(0);
  const std::optional<double> array = set_number(job, "array.job_id"), task = set_number(job, "array.task_id");
  if (array && task && *array > 0) return fmt::format("{}_{}", *array, *task);
  return number > 0 ? fmt::format("{}", number) : text_at(job, "job_id");
}

void take_job(JobRows& rows, const JsonValue& job, std::size_t number) {
  JobFacts facts;
  const std::string id = id_of(job), state = state_of(job), allocated = tres_text(job, "tres.allocated");
  const std::string requested = tres_text(job, "tres.requested");
  facts.id = id;
  facts.user = text_at(job, "user");
  if (facts.user.empty()) facts.user = text_at(job, "association.user");
  facts.account = text_at(job, "account");
  facts.partition = text_at(job, "partition");
  facts.name = text_at(job, "name");
  facts.state = state;
  facts.nodes = text_at(job, "nodes");
  facts.comment = text_at(job, "comment.administrator");
  facts.gpus = gpus_in_tres(allocated.empty() ? requested : allocated);
  facts.submit = time_at(job, "time.eligible");
  if (!facts.submit) facts.submit = time_at(job, "time.submission");
  facts.start = time_at(job, "time.start");
  facts.end = time_at(job, "time.end");
  if (const auto elapsed = set_number(job, "time.elapsed")) facts.elapsed = seconds(*elapsed);
  if (const auto limit = set_number(job, "time.limit"); limit && *limit > 0) facts.time_limit = seconds(60 * *limit);
  rows.take_job(facts, {}, number);
  for (const JsonValue& step : items_at(job, "steps")) {
    const std::optional<double> elapsed = set_number(step, "time.elapsed");
    rows.take_step(id + ".0", time_at(step, "time.start"), elapsed ? std::optional(seconds(*elapsed)) : std::nullopt,
                   usage_in_tres(tres_text(step, "tres.consumed.average"), facts.gpus.count, facts.nodes));
  }
}

}  // namespace

Result<JobTable> read_jobs_json(ByteSource& source, const std::string& file) {
  JsonReader json(source, file);
  JobRows rows;
  std::size_t number = 0;
  bool any = false;
  json.each_member([&](const std::string& name) {
    if (name != "jobs") return json.skip();
    any = true;
    json.each_item([&] {
      JsonValue job;
      if (json.read_value(job)) take_job(rows, job, ++number);
    });
  });
  if (json.failed()) return fail(json.error());
  if (!any) return fail(bad_input(fmt::format("{}: no list of jobs, as sacct --json writes it", file)));
  return rows.finish();
}

}  // namespace rightsize::telemetry
