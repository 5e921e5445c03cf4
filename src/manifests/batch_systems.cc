// PBS, LSF, Grid Engine and HTCondor. They differ in the spelling of options; the resources in them are "key=value" in
// all of them, and one table says what the keys mean.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "manifests/batch_options.h"
#include "manifests/readers.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {
namespace {

enum class Meaning { kNone, kGpus, kType, kTime, kUnits, kPerHost };

// Sites choose many of these names themselves, so the words of a name count: "ngpus", "gpu_card", "request_gpus".
Meaning meaning_of(std::string_view key) {
  const std::string name = to_lower(key);
  if (is_any(name, {"walltime", "h_rt", "s_rt"})) return Meaning::kTime;
  if (is_any(name, {"select", "nodes"})) return Meaning::kUnits;
  if (name == "ptile") return Meaning::kPerHost;
  if (is_any(name, {"num", "cuda"})) return Meaning::kGpus;
  if (name == "gmodel") return Meaning::kType;
  if (name.find("gpu") == std::string::npos && !name.starts_with("accelerator")) return Meaning::kNone;
  if (contains_any(name, {"type", "model", "product", "name"})) return Meaning::kType;
  if (contains_any(name, {"mem", "ram", "mode", "_c", "cap", "id"}) && !name.ends_with("card")) return Meaning::kNone;
  return is_any(name, {"gpu", "gpus", "ngpus", "ngpu", "gpu_card", "gpu_cards", "gpucard", "num_gpus", "gpu_count",
                       "request_gpus", "ngpus_excl_p", "ngpus_shared", "ngpus_physical"})
             ? Meaning::kGpus
             : Meaning::kNone;
}

// What one part of a job requests: a chunk of PBS, or the whole job.
struct Resources {
  std::optional<std::string> units = {}, gpus = {};
  std::string type = {}, time = {}, per_host = {};
  std::vector<std::string> features = {};  // words without a value: "v100" in nodes=1:gpus=2:v100
};

void take(Resources& all, std::string_view key, std::string_view value) {
  switch (meaning_of(key)) {
    case Meaning::kGpus:
      all.gpus = value.empty() ? "1" : std::string(value);
      break;
    case Meaning::kType:
      all.type = value;
      break;
    case Meaning::kTime:
      all.time = value;
      break;
    case Meaning::kPerHost:
      all.per_host = value;
      break;
    case Meaning::kUnits:
    case Meaning::kNone:
      break;
  }
}

// "ngpus=2:gpu_model=a100:mem=64gb", separated by any of `separators`.
void take_list(Resources& all, std::string_view list, std::string_view separators) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    const std::string_view item = trim(list.substr(0, end));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      if (meaning_of(item) == Meaning::kGpus)
        take(all, item, {});
      else if (item.find_first_of("0123456789") != std::string_view::npos)
        all.features.emplace_back(item);
    } else {
      take(all, trim(item.substr(0, equals)), trim(item.substr(equals + 1)));
    }
    list.remove_prefix(std::min(list.size(), end + 1));
  }
}

struct BatchJob {
  std::string kind, name = {}, queue = {}, tasks = {}, at_once = {}, slots = {};
  int line = 0;
  std::string resource = {};  // the request as written
  Resources all = {};
  std::vector<Resources> chunks = {};    // PBS: 2:ngpus=4+1:ngpus=1
  std::vector<std::string> copies = {};  // HTCondor: what follows each "queue"
};

void note_gpus(BatchJob& job, bool before, std::string_view text, int line) {
  const bool has = job.all.gpus || std::ranges::any_of(job.chunks, [](const Resources& r) { return !!r.gpus; });
  if (before || !has) return;
  job.line = line;
  job.resource = text;
}
bool has_gpus(const BatchJob& job) {
  return job.all.gpus || std::ranges::any_of(job.chunks, [](const Resources& r) { return !!r.gpus; });
}

// -l select=2:ncpus=8:ngpus=4+1:ngpus=1,walltime=1:00:00 ; -l nodes=2:ppn=40:gpus=2 ; -l ngpus=4 ; -l gpu=1,h_rt=8:0:0
void take_resource_list(BatchJob& job, std::string_view list) {
  for (std::string_view item : split_list(list, ',')) {
    const std::size_t equals = item.find('=');
    if (meaning_of(trim(item.substr(0, equals))) != Meaning::kUnits || equals == std::string_view::npos) {
      take_list(job.all, item, "");
      continue;
    }
    job.chunks.clear();
    for (std::string_view chunk : split_list(item.substr(equals + 1), '+')) {
      Resources& one = job.chunks.emplace_back();
      const std::string_view first = chunk.substr(0, chunk.find(':'));
      // A chunk without a number is one unit; a name of a host, too.
      const bool counted = parse_integer(first).has_value() || has_variable(first);
      one.units = counted ? std::string(first) : "1";
      take_list(one, counted ? chunk.substr(std::min(chunk.size(), first.size() + 1)) : chunk, ":");
    }
  }
}

// span[ptile=4], rusage[ngpus_excl_p=2,mem=8]
void take_sections(BatchJob& job, std::string_view text) {
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    const std::size_t end = std::min(text.find(']', at), text.size());
    const std::string_view name = text.substr(0, at);
    if (name.ends_with("span") || name.ends_with("rusage")) take_list(job.all, text.substr(at + 1, end - at - 1), ",:");
  }
}

struct System {
  std::string_view mark, kind;
};
constexpr System kSystems[] = {{"#PBS", "PBS"}, {"#BSUB", "LSF"}, {"#$", "Grid Engine"}};

void take_option(BatchJob& job, const Option& option, int line) {
  const bool before = has_gpus(job), lsf = job.kind == "LSF";
  const auto& [name, value] = option;
  const std::string written = fmt::format("-{} {}", name, value);
  if (name == "l") take_resource_list(job, value);
  if (name == "gpu" && lsf) {
    if (value == "-") job.all.gpus = "1";  // the site's default
    take_list(job.all, value, ":");
    if (!job.all.gpus) job.all.gpus = "1";
  }
  if (name == "R" && lsf) take_sections(job, value);
  if (name == "W" && lsf) job.all.time = value + (std::ranges::count(value, ':') == 1 ? ":00" : "");
  if (name == "n" && lsf) job.slots = value;
  if (name == "pe") job.slots = value;
  if (name == "q") job.queue = value;
  if (name == "tc") job.at_once = value;
  if (name == (lsf ? "J" : "N")) {
    job.name = value.substr(0, value.find('['));
    if (lsf && value.find('[') != std::string::npos) {
      job.tasks = value.substr(value.find('[') + 1);
      job.tasks.erase(std::remove(job.tasks.begin(), job.tasks.end(), ']'), job.tasks.end());
    }
  }
  if (!lsf && (name == "J" || name == "t")) job.tasks = value;
  note_gpus(job, before, written, line);
}

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number;
    return true;
  }
  std::string_view line;
  int number = 0;

 private:
  std::string_view rest_;
};

BatchJob marked_job(const System& system, std::string_view text) {
  BatchJob job{.kind = std::string(system.kind)};
  for (Lines lines(text); lines.next();) {
    if (!lines.line.starts_with(system.mark)) continue;
    for (const Option& option : options_of(lines.line.substr(system.mark.size()), {"gpu", "pe", "tc", "cwd"}))
      take_option(job, option, lines.number);
  }
  return job;
}

// The texts in quotes of a condition on the name of the device: CUDADeviceName == "NVIDIA A100-SXM4-40GB".
std::string device_in(std::string_view condition) {
  if (condition.find("DeviceName") == std::string_view::npos) return {};
  const std::size_t open = condition.find('"'), close = condition.find('"', std::min(condition.size(), open + 1));
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(condition.substr(open + 1, close - open - 1));
}

bool is_key(std::string_view line, std::string_view key) {
  const std::size_t equals = line.find('=');
  return equals != std::string_view::npos && to_lower(trim(line.substr(0, equals))) == key;
}

BatchJob condor_job(std::string_view text) {
  BatchJob job{.kind = "HTCondor"};
  for (Lines lines(text); lines.next();) {
    const std::string_view line = trim(lines.line);
    if (line.starts_with('#')) continue;
    const std::string_view value = trim(line.substr(std::min(line.size(), line.find('=') + 1)));
    if (is_key(line, "request_gpus")) {
      job.all.gpus = std::string(value);
      job.line = lines.number;
      job.resource = fmt::format("request_gpus = {}", value);
    } else if (is_key(line, "requirements") || is_key(line, "require_gpus")) {
      if (std::string device = device_in(value); !device.empty()) job.all.type = std::move(device);
    } else if (is_key(line, "jobbatchname") || is_key(line, "batch_name")) {
      job.name = option_words(value).empty() ? "" : option_words(value).front();
    } else if (const std::string lower = to_lower(line); lower == "queue" || lower.starts_with("queue ")) {
      job.copies.emplace_back(trim(line.substr(5)));
    }
  }
  return job;
}

class BatchReader {
 public:
  BatchReader(BatchJob job, const std::string& file) : job_(std::move(job)), file_(file) {}

  Found read() {
    Found found;
    if (!has_gpus(job_)) return found;
    std::vector<Resources> parts = job_.chunks.empty() ? std::vector{job_.all} : job_.chunks;
    // "-l select=2:ncpus=8 -l ngpus=8": the GPUs are those of the whole job.
    if (!job_.chunks.empty() && std::ranges::none_of(parts, [](const Resources& r) { return !!r.gpus; }))
      parts = {job_.all};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].gpus) continue;
      found.requests.push_back(request_of(parts[i]));
      if (parts.size() > 1) found.requests.back().part = fmt::format("chunk {} of {}", i + 1, parts.size());
    }
    return found;
  }

 private:
  static void open(GpuRequest& request, std::string_view name, std::string_view value) {
    request.unresolved.push_back(fmt::format("{}: {}", name, value));
  }
  static std::optional<double> number(GpuRequest& request, std::string_view name, std::string_view text) {
    if (const Result<std::int64_t> read = parse_integer(text); read && *read >= 0) return static_cast<double>(*read);
    open(request, name, text);
    return std::nullopt;
  }

  GpuRequest request_of(const Resources& part) const {
    GpuRequest request;
    request.file = file_;
    request.line = job_.line;
    request.kind = job_.kind;
    request.name = job_.name.empty() || has_variable(job_.name) ? file_.substr(file_.rfind('/') + 1) : job_.name;
    request.resource = job_.resource;
    request.job = true;
    if (!has_variable(job_.queue)) request.hint = job_.queue;
    const std::string& type = part.type.empty() ? job_.all.type : part.type;
    if (has_variable(type))
      open(request, "type", type);
    else if (!type.empty())
      set_type(request, type);
    else
      request.gpus = part.features;
    if (part.units) request.units = number(request, "units", *part.units);
    read_gpus(request, *part.gpus);
    if (!job_.all.time.empty()) {
      request.time_limit = parse_slurm_time(job_.all.time);
      if (!request.time_limit) open(request, "time", job_.all.time);
    }
    read_tasks(request);
    read_copies(request);
    return request;
  }

  // "2", and in LSF "2/task" or "2/host".
  void read_gpus(GpuRequest& request, std::string_view gpus) const {
    const std::size_t slash = gpus.find('/');
    const std::string_view per = slash == std::string_view::npos ? "" : gpus.substr(slash + 1);
    request.per_unit = number(request, "GPUs", gpus.substr(0, slash));
    if (job_.slots.empty()) return;
    if (job_.kind != "LSF") {  // "-pe omp 8"
      request.assumptions.emplace_back("the GPUs are those of the job, not of each slot of its parallel environment");
      return;
    }
    const std::optional<double> tasks = number(request, "-n", job_.slots.substr(0, job_.slots.find(',')));
    if (per == "task") {
      if (request.per_unit) *request.per_unit *= tasks.value_or(1);
      return;
    }
    if (!tasks || *tasks <= 1) return;
    if (const std::optional<double> each =
            job_.all.per_host.empty() ? std::nullopt : number(request, "ptile", job_.all.per_host);
        each && *each > 0) {
      request.units = std::ceil(*tasks / *each);
    } else {
      request.assumptions.emplace_back("LSF counts GPUs per host; all tasks are assumed to run on one");
    }
  }

  void read_tasks(GpuRequest& request) const {
    if (job_.tasks.empty()) return;
    std::optional<ArrayTasks> array = read_array(job_.tasks);
    if (!array) return open(request, "array", job_.tasks);
    if (const Result<std::int64_t> limit = parse_integer(job_.at_once); limit && *limit > 0)
      array->at_once = static_cast<double>(*limit);
    set_array(request, *array);
  }

  // "queue", "queue 3"; "queue arguments from list.txt" names its jobs elsewhere.
  void read_copies(GpuRequest& request) const {
    double jobs = 0;
    for (const std::string& copy : job_.copies) {
      const std::string_view count = std::string_view(copy).substr(0, copy.find_first_of(" \t"));
      const bool listed = copy.find(' ') != std::string::npos || (!copy.empty() && !parse_integer(count));
      if (listed) {
        open(request, "queue", copy);
        request.units.reset();
      }
      const Result<std::int64_t> number = parse_integer(count);
      jobs += number ? static_cast<double>(*number) : 1;
    }
    if (request.units && jobs > 1) *request.units *= jobs;
    if (jobs > 1) request.part = fmt::format("{:.0f} jobs", jobs);
  }

  const BatchJob job_;
  const std::string& file_;
};

bool is_condor(std::string_view text) {
  bool gpus = false, queue = false;
  for (Lines lines(text); lines.next();) {
    const std::string_view line = trim(lines.line);
    gpus = gpus || is_key(line, "request_gpus");
    const std::string lower = to_lower(line.substr(0, 6));
    queue = queue || lower == "queue" || lower == "queue ";
  }
  return gpus && queue;
}

const System* system_of(std::string_view text) {
  for (const System& system : kSystems) {
    if (has_marked_line(text, system.mark)) return &system;
  }
  return nullptr;
}

}  // namespace

bool is_queue_script(std::string_view text) { return system_of(text) != nullptr || is_condor(text); }

Found read_queue_script(const std::string& file, std::string_view text) {
  const System* system = system_of(text);
  return BatchReader(system != nullptr ? marked_job(*system, text) : condor_job(text), file).read();
}

}  // namespace rightsize::manifests
