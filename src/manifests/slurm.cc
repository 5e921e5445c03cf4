#include <algorithm>
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

constexpr std::string_view kMark = "#SBATCH";

// The options of one part of a job, by their long names.
struct JobPart {
  std::map<std::string, std::string, std::less<>> options = {};
  int gpu_line = 0;

  const std::string* find(std::string_view name) const {
    const auto found = options.find(name);
    return found == options.end() ? nullptr : &found->second;
  }
};

std::string long_name(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kShorts = {
      {"N", "nodes"},    {"n", "ntasks"}, {"G", "gpus"},      {"t", "time"},         {"C", "constraint"},
      {"J", "job-name"}, {"a", "array"},  {"p", "partition"}, {"c", "cpus-per-task"}};
  const auto found = kShorts.find(name);
  return std::string(found == kShorts.end() ? name : found->second);
}

void read_options(std::string_view line, int number, JobPart& part) {
  for (Option& option : options_of(line)) {
    const std::string name = long_name(option.name);
    if (name.starts_with("gpus") || name == "gres") part.gpu_line = number;
    part.options[name] = std::move(option.value);
  }
}

// "h100:8", "8", "gpu:h100:8(S:0)" without its first word.
struct Count {
  std::string type;
  std::optional<double> number;
};
Count read_count(std::string_view text) {
  text = trim(text.substr(0, text.find('(')));
  const std::size_t colon = text.rfind(':');
  Count count;
  std::string_view digits = text;
  if (colon != std::string_view::npos) count.type = text.substr(0, colon), digits = text.substr(colon + 1);
  if (const Result<std::int64_t> number = parse_integer(digits)) {
    if (*number >= 0) count.number = static_cast<double>(*number);
  } else if (colon == std::string_view::npos && !text.empty() && !has_variable(text)) {
    // gres=gpu:h100 is one.
    count.type = text, count.number = 1;
  }
  return count;
}

// GPUs per node, as a script's commands pass them to a launcher. If Slurm allocates whole nodes, there is no other
// source for their number.
struct Launched {
  int line = 0;
  std::string text = {};  // "--nproc_per_node=8"
  double count = 0;
};
void read_launch(std::string_view line, int number, std::optional<Launched>& launched) {
  for (const std::string_view name : {"nproc_per_node", "nproc-per-node", "GPUS_PER_NODE", "gpus_per_node"}) {
    const std::size_t at = line.substr(0, line.find('#')).find(name);
    if (launched || at == std::string_view::npos || at + name.size() >= line.size()) continue;
    if (line[at + name.size()] != '=' && line[at + name.size()] != ' ') continue;
    const std::string_view rest = trim(line.substr(at + name.size() + 1));
    const std::string_view digits = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
    const Result<std::int64_t> count = parse_integer(digits);
    if (count && *count > 0)
      launched = Launched{number, fmt::format("{}={}", name, *count), static_cast<double>(*count)};
  }
}

class Interpreter {
 public:
  Interpreter(const JobPart& part, const std::optional<Launched>& launched, GpuRequest& request)
      : part_(part), launched_(launched), request_(request) {}

  // False if the part does not request GPUs.
  bool read() {
    request_.units = number("nodes", 1);
    if (!read_gpus(request_.units.value_or(1)) && !read_launched()) return false;
    if (const std::string* time = part_.find("time")) {
      if (const std::optional<Seconds> limit = parse_slurm_time(*time)) request_.time_limit = *limit;
      if (!request_.time_limit && *time != "UNLIMITED" && *time != "INFINITE") open("time", *time);
    }
    if (const std::string* constraint = part_.find("constraint"); constraint != nullptr && request_.gpus.empty()) {
      for (std::string_view feature : split_list(*constraint, '|')) {
        for (std::string_view each : split_list(feature, '&')) request_.gpus.emplace_back(each);
      }
    }
    if (const std::string* partition = part_.find("partition"); partition != nullptr && !has_variable(*partition)) {
      request_.hint = *partition;
    }
    read_tasks();
    return true;
  }

 private:
  void open(const char* option, const std::string& value) {
    request_.unresolved.push_back(fmt::format("--{}={}", option, value));
  }

  // A whole number, or the lower end of "2-4"; empty if it is a variable.
  std::optional<double> number(const char* option, double otherwise) {
    const std::string* given = part_.find(option);
    if (given == nullptr) return otherwise;
    const Result<std::int64_t> read = parse_integer(std::string_view(*given).substr(0, given->find('-')));
    if (read) return static_cast<double>(*read);
    open(option, *given);
    return std::nullopt;
  }

  void take(const char* option, const std::string& value, const Count& count) {
    request_.resource = fmt::format("--{}={}", option, value);
    if (!count.type.empty()) {
      if (has_variable(count.type))
        open(option, value);
      else
        set_type(request_, count.type);
    }
    if (!count.number) open(option, value);
    request_.per_unit = count.number;
  }

  bool read_launched() {
    if (!launched_) return false;
    request_.line = launched_->line;
    request_.resource = launched_->text;
    request_.per_unit = launched_->count;
    request_.assumptions.push_back(
        fmt::format("the script requests no GPUs from Slurm; {} sets the GPUs per node", launched_->text));
    return true;
  }

  bool read_gpus(double nodes) {
    if (const std::string* gres = part_.find("gres")) {
      for (std::string_view item : split_list(*gres, ',')) {
        item = item.substr(item.starts_with("gres/") ? 5 : 0);
        if (item != "gpu" && !item.starts_with("gpu:")) continue;
        take("gres", *gres, item == "gpu" ? Count{{}, 1} : read_count(item.substr(4)));
        return true;
      }
      if (has_variable(*gres)) return take("gres", *gres, {}), true;
    }
    for (const char* option : {"gpus-per-node", "gpus", "gpus-per-task", "gpus-per-socket"}) {
      const std::string* value = part_.find(option);
      if (value == nullptr) continue;
      take(option, *value, read_count(*value));
      const std::string_view per = option;
      std::optional<double>& each = request_.per_unit;
      if (per == "gpus" && each && request_.units) *each /= nodes;  // for the whole job
      if (per == "gpus-per-task" && each) *each *= tasks_per_node(nodes);
      if (per == "gpus-per-socket") {
        each = std::nullopt;
        request_.unresolved.emplace_back("the number of sockets per node");
      }
      return true;
    }
    return false;
  }

  double tasks_per_node(double nodes) {
    if (part_.find("ntasks-per-node") != nullptr) return number("ntasks-per-node", 1).value_or(1);
    return std::max(1.0, number("ntasks", nodes).value_or(nodes) / std::max(1.0, nodes));
  }

  void read_tasks() {
    const std::string* array = part_.find("array");
    if (array == nullptr) return;
    if (const std::optional<ArrayTasks> tasks = read_array(*array))
      set_array(request_, *tasks);
    else
      open("array", *array);
  }

  const JobPart& part_;
  const std::optional<Launched>& launched_;
  GpuRequest& request_;
};

}  // namespace

bool is_batch_script(std::string_view text) { return has_marked_line(text, kMark); }

Found read_batch_script(const std::string& file, std::string_view text) {
  std::vector<JobPart> parts(1);
  std::optional<Launched> launched;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    if (!line.starts_with(kMark)) {
      read_launch(line, number, launched);
      continue;
    }
    const std::string_view options = line.substr(kMark.size());
    const std::string_view word = trim(options);
    if (word == "hetjob" || word == "packjob") {
      parts.emplace_back();
    } else {
      read_options(options, number, parts.back());
    }
  }
  Found found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    GpuRequest request;
    request.file = file;
    request.line = parts[i].gpu_line;
    request.kind = "sbatch";
    const std::string* job = parts.front().find("job-name");
    request.name = job == nullptr || job->empty() ? file.substr(file.rfind('/') + 1) : *job;
    if (parts.size() > 1) request.part = fmt::format("part {} of {}", i + 1, parts.size());
    request.job = true;
    if (Interpreter(parts[i], launched, request).read()) found.requests.push_back(std::move(request));
  }
  return found;
}

}  // namespace rightsize::manifests
