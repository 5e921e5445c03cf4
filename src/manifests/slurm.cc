#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/slurm_time.h"
#include "base/text.h"
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

// Words of a line, quotes removed, up to a comment.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, open = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (c == '#' && !open) {
      break;
    } else {
      word += c, open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

void read_options(std::string_view line, int number, JobPart& part) {
  const std::vector<std::string> words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) continue;
    // "--name=value", "-Nvalue", "-N=value", or the value in the next word.
    const bool is_long = word.starts_with("--");
    const std::size_t equals = word.find('='), end = is_long ? std::min(equals, word.size()) : 2;
    const std::string name = is_long ? std::string(word.substr(2, end - 2)) : long_name(word.substr(1, 1));
    std::string value;
    if (end < word.size())
      value = word.substr(word[end] == '=' ? end + 1 : end);
    else if (i + 1 < words.size() && !words[i + 1].starts_with('-'))
      value = words[++i];
    if (name.starts_with("gpus") || name == "gres") part.gpu_line = number;
    part.options[name] = value;
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
    read_array();
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
        request_.gpus = {count.type};
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

  // --array=0-31%4, 1,3,5-9:2: every task is a job.
  void read_array() {
    const std::string* array = part_.find("array");
    if (array == nullptr) return;
    double tasks = 0;
    std::string_view list = *array;
    std::optional<double> at_once;
    if (const std::size_t percent = list.find('%'); percent != std::string_view::npos) {
      if (const auto limit = parse_integer(list.substr(percent + 1))) at_once = static_cast<double>(*limit);
      list = list.substr(0, percent);
    }
    for (std::string_view item : split_list(list, ',')) {
      double step = 1;
      if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
        if (const auto by = parse_integer(item.substr(colon + 1)); by && *by > 0) step = static_cast<double>(*by);
        item = item.substr(0, colon);
      }
      const std::size_t dash = item.find('-');
      const auto first = parse_integer(item.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : parse_integer(item.substr(dash + 1));
      if (!first || !last || *last < *first) return open("array", *array);
      tasks += std::floor(static_cast<double>(*last - *first) / step) + 1;
    }
    request_.part = fmt::format("array of {:.0f}{}", tasks, at_once ? fmt::format(", {:.0f} at once", *at_once) : "");
    if (request_.units) *request_.units *= at_once ? std::min(*at_once, tasks) : tasks;
    if (request_.time_limit && at_once && *at_once > 0) {
      *request_.time_limit = *request_.time_limit * std::ceil(tasks / std::min(*at_once, tasks));
    }
  }

  const JobPart& part_;
  const std::optional<Launched>& launched_;
  GpuRequest& request_;
};

}  // namespace

bool is_batch_script(std::string_view text) {
  for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

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
