#include "manifests/mentions.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "base/utf8.h"
#include "manifests/accelerators.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {
namespace {

bool in_token(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-'; }

// Options of a batch system in a script, which look like comments: Slurm, PBS, LSF, Grid Engine.
bool is_batch_option(std::string_view line) { return starts_with_any(line, {"#SBATCH", "#PBS", "#BSUB", "#$ "}); }

// The line without its comment, backslashes and blanks around it.
std::string content_of(std::string_view line, bool batch) {
  std::string text;
  char quote = '\0';
  if (batch && is_batch_option(trim(line))) return std::string(trim(line));
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if ((c == '#' || line.substr(i).starts_with("//")) &&
               (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])) != 0)) {
      break;
    }
    if (c != '\\') text += c;
  }
  return std::string(trim(text));
}

// A full machine type: the name of a family alone is ambiguous.
bool is_machine_type(std::string_view token) {
  const std::string_view provider = gpu_machine_provider(token);
  if (provider.empty()) return false;
  if (provider == "aws") return contains_any(token, {"large", ".metal"});
  if (provider == "gcp") return contains_any(token, {"gpu", "-standard-"});
  if (provider != "azure") return true;
  return token.find_first_of("0123456789", 9) != std::string_view::npos;  // Standard_NC4as_T4_v3, Standard_NC12
}

// "nvidia-tesla-t4", "nvidia-h100-80gb": a GPU by the name of a cloud. Other NVIDIA names have no number.
bool names_gpu(std::string_view value) {
  const std::string name = to_lower(value);
  if (!name.starts_with("nvidia-") || name.find_first_of("/:@ ") != std::string::npos) return false;
  return starts_with_any(std::string_view(name).substr(7), {"tesla-", "a1", "a4", "b1", "b2", "b3", "gb", "h1", "h2",
                                                            "k8", "l4", "p1", "p4", "rtx", "t4", "v1"});
}

// In a script, the name of a GPU is an option too: --accelerator=type=nvidia-tesla-t4
bool names_machine(std::string_view text, bool script) {
  for (std::size_t i = 0; i < text.size();) {
    if (!in_token(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && in_token(text[i])) ++i;
    const std::string_view token = text.substr(begin, i - begin);
    if (is_machine_type(token) || (script && names_gpu(token))) return true;
  }
  return false;
}

// "key: value", "key = value", "key=value": both without quotes. Empty key: the line has another form.
struct KeyValue {
  std::string key, value;
};
KeyValue key_and_value(std::string_view text) {
  while (!text.empty() && (text.front() == '-' || text.front() == ' ' || text.front() == '{')) text.remove_prefix(1);
  std::size_t split = std::string_view::npos;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size() && split == std::string_view::npos; ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == ':' || text[i] == '=') {
      split = i;
    }
  }
  if (split == std::string_view::npos) return {};
  const auto bare = [](std::string_view word) {
    word = trim(word);
    while (!word.empty() && (word.back() == ',' || word.back() == '}' || word.back() == ' ')) {
      if (word.back() == '}' && word.find('{') != std::string_view::npos) break;
      word.remove_suffix(1);
    }
    if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
      word = word.substr(1, word.size() - 2);
    return std::string(trim(word));
  };
  return {to_lower(bare(text.substr(0, split))), bare(text.substr(split + 1))};
}

// A whole number, or a part of one GPU; "1.17" is a version.
bool is_count(std::string_view value) {
  const bool digits =
      std::ranges::all_of(value, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; });
  return !value.empty() && value.size() <= 5 && value != "0" && digits &&
         (value.find('.') == std::string_view::npos || value.starts_with("0."));
}
bool is_open(std::string_view value) {
  return has_variable(value) ||
         starts_with_any(value, {"var.", "local.", "each.", "!Ref", "!Sub", "!FindInMap", "!If"});
}

// Words next to "gpu" that give a key another meaning than a number or type of GPUs.
bool is_other(std::string_view key) {
  return contains_any(
      key, {"mem",     "util",      "thresh", "enable", "operator", "driver",  "monitor",   "metric",  "image",
            "port",    "idle",      "vers",   "log",    "cache",    "temp",    "power",     "plugin",  "export",
            "layer",   "share",     "time",   "toler",  "taint",    "present", "fraction_", "vendor",  "manufact",
            "disable", "slow",      "cost",   "price",  "doc",      "url",     "schedul",   "visible", "feature",
            "capab",   "dashboard", "gpu_id", "gpuid",  "gpu-id",   "index"});
}

bool is_gpu_name(std::string_view word) {
  return is_any(word, {"a10",  "a10g", "a100", "a30",   "a40",    "b100",   "b200",   "b300",  "gb200", "gb300",
                       "h100", "h200", "h800", "k80",   "l4",     "l40",    "l40s",   "mi210", "mi250", "mi250x",
                       "p100", "t4",   "v100", "mi300", "mi300x", "mi325x", "mi350x", "mi355x"});
}
template <class Passes>
bool any_word(std::string_view text, const Passes& passes) {
  const std::string lower = to_lower(text);
  for (std::size_t begin = 0; begin < lower.size();) {
    std::size_t end = begin;
    while (end < lower.size() && std::isalnum(static_cast<unsigned char>(lower[end])) != 0) ++end;
    if (passes(std::string_view(lower).substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool has_gpu_key(const std::string& content);

// The entries of a mapping on one line, {limits: {nvidia.com/gpu: 1, cpu: 2}}; none for other lines.
template <class Passes>
bool any_part(const std::string& content, const Passes& passes) {
  if (content.find('{') == std::string::npos || contains_any(content, {"{{", "${"})) return false;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find_first_of("{},", begin), content.size());
    if (passes(std::string(trim(content.substr(begin, end - begin))))) return true;
    begin = end + 1;
  }
  return false;
}

bool asks_for_gpus(const std::string& content, bool batch) {
  if (names_machine(content, batch)) return true;
  if (content.starts_with("device \"") && content.find("gpu") != std::string::npos) return true;
  // Paths of patches and of single values: /limits/nvidia.com~1gpu, resources.limits.nvidia.com/gpu
  if (contains_any(content, {"/nvidia.com~1gpu", ".nvidia.com/gpu", "/amd.com~1gpu", ".amd.com/gpu"})) return true;
  if (to_lower(content).find("gres=gpu:") != std::string::npos) return true;  // nodes of Slurm, in a file of any kind
  // Pipelines of Kubeflow in Python.
  if (contains_any(content, {".set_gpu_limit(", ".set_accelerator_limit(", ".set_accelerator_type("})) return true;
  if (!batch && any_part(content, has_gpu_key)) return true;
  if (batch)
    return contains_any(content, {"--gres=gpu", "--gres gpu", "--gpus", "--gpu-request", "--gpu-devices-request",
                                  "resource.gpu.amount"}) ||
           ((is_batch_option(content) || contains_any(content, {"qsub ", "bsub "})) &&
            contains_any(content, {"gpus=", "gpu=", "-gpu ", "ngpus_"})) ||
           (content.starts_with("runai ") && content.find(" submit") != std::string::npos) ||
           to_lower(content).starts_with("request_gpus");  // HTCondor
  return has_gpu_key(content);
}

// "num_gpus: 4", "nvidia.com/gpu: 1", "acceleratorType = ..."
bool has_gpu_key(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  if (key.empty() || value.empty()) return false;
  const std::string resource = key.substr(key.rfind(' ') == std::string::npos ? 0 : key.rfind(' ') + 1);
  if (resource.find('/') != std::string::npos && is_accelerator(resource)) {
    // Labels are not numbers: nvidia.com/gpu.memory, run.googleapis.com/gpu-zonal-redundancy-disabled.
    const std::size_t at = resource.rfind('/');
    const bool label = (resource.find_first_of(".-", at) != std::string::npos && resource.find("mig-", at) != at + 1 &&
                        resource.find("ascend", at) == std::string::npos && !resource.ends_with(".product") &&
                        !resource.ends_with(".shared")) ||
                       contains_any(resource.substr(0, at), {"instance-", "karpenter", "googleapis"});
    return !label && value != "0" && value != "true" && value != "false" && !value.starts_with("NoSchedule");
  }
  if (key.ends_with("deviceclassname") || key.ends_with("device-class"))
    return to_lower(value).find("gpu") != std::string::npos;
  if (key.ends_with("type") && to_lower(value) == "gpu") return true;
  if (names_gpu(value) || (key.ends_with("capabilities") && value.find("gpu") != std::string::npos)) return true;
  if ((key == "runtime" && value == "nvidia") || key.ends_with("nvidia_visible_devices")) return true;
  if (key == "numprocpernode") return value != "1";  // a TrainJob: usually one process per GPU of its runtime
  const bool gpu = key.find("gpu") != std::string::npos, accelerator = key.find("accelerator") != std::string::npos;
  if ((!gpu && !accelerator) || is_other(key)) return false;
  if (is_count(value) || is_open(value)) return true;
  if (value.find_first_not_of("0123456789.") == std::string::npos) return false;
  // A type of GPU: "H100:8", "nvidia-l4". Words without a digit are classes, modes and names.
  const bool type = accelerator || key.find("type") != std::string::npos || key.find("model") != std::string::npos ||
                    key.ends_with("product") || key == "gpu" || key == "gpus";
  return (type || any_word(value, is_gpu_name)) && value.size() < 60 &&
         value.find_first_of("0123456789") != std::string::npos && value.find('/') == std::string::npos;
}

// Words that show that a line is about GPUs, without requesting a number of them: a name of a GPU, "gpu-cluster",
// "nccl".
bool is_gpu_word(std::string_view word) { return word.starts_with("gpu") || is_any(word, {"nvidia", "cuda", "nccl"}); }
// Names of software, which may contain those of GPUs.
bool is_software(std::string_view key) {
  return contains_any(
      key, {"image", "repo", "registry", "tag", "chart", "version", "url", "path", "descr", "title", "model"});
}

// Whether a line shows that its section is about GPUs.
bool is_about_gpus(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  // "gpu:" alone opens a part that may be switched off; "llama-8b-l4:" names its GPU.
  if (!key.empty() && value.empty()) return any_word(key, is_gpu_name);
  if (is_software(key) || (!key.empty() && is_any(value, {"0", "false", "none", "void", "[]", "{}"}))) return false;
  return names_machine(content, false) ||
         any_word(content, [](std::string_view word) { return is_gpu_word(word) || is_gpu_name(word); });
}
// Whether the line itself chooses GPUs: "gpu: true", "compute-class: l4-spot", an item of a list.
bool chooses_gpus(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  if (is_software(key) || is_other(key)) return false;
  return any_word(key,
                  [](std::string_view word) {
                    return is_any(word, {"gpu", "gpus", "accelerator"}) || is_gpu_name(word);
                  }) ||
         any_word(value.empty() ? content : value, is_gpu_name);
}

// A number of GPUs in any language: "accelerator 2", "--k8s_gpu_cards 8", "clusterOptions = '--gpus=1'".
bool counts_gpus(const std::string& content) {
  int after = 3;  // words since one about GPUs
  return any_word(content, [&](std::string_view word) {
    if (word.empty()) return false;
    after = word.ends_with("gpu") || word.ends_with("gpus") || word.starts_with("accelerator") ? 0 : after + 1;
    if (is_other(word)) after = 3;  // "gpu_memory: 24"
    return after > 0 && after < 3 && is_count(word);
  });
}
bool is_terraform_name(std::string_view file) {
  return file.ends_with(".tf") || file.ends_with(".tofu") || file.ends_with(".tfvars") ||
         file.ends_with("terragrunt.hcl");
}

// Files whose lines are keys with values.
constexpr std::string_view kData[] = {".yaml", ".yml", ".json", ".hcl", ".tpl"};

// Keys that count the units that request GPUs: "replicas", "node_count_static", "autoscaling_total_min_nodes".
bool counts_in(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  if (!is_count(std::string_view(value).substr(0, value.find(".."))) && value != "0" && !is_open(value)) return false;
  return counts_of(key) != Counts::kNothing ||
         is_any(key, {"data", "datalocal", "nominalquota", "pipeline", "scale", "size"}) ||
         (contains_any(key, {"capacity", "count", "host", "instance", "machine", "maxsize", "minsize", "node",
                             "parallel", "replica", "scale", "tp_size", "worker"}) &&
          !contains_any(key, {"account", "cpu", "disk", "failure", "memory", "percent", "port", "retr", "seconds",
                              "surge", "timeout", "token", "vcpu", "version"}));
}

bool counts_replicas(const std::string& content) {
  if (counts_in(content)) return true;
  if (is_batch_option(content))
    return contains_any(content, {"--nodes", " -N", "--ntasks", "--array", "--exclusive", "--partition", " -p",
                                  "--constraint", " -C", " -q", " -n ", "nodes=", "select=", "span["});
  return any_part(content, counts_in);  // {replicas: 2, image: x}
}

// The entries of a mapping on one line that are about GPUs or count.
std::vector<std::string> relevant_parts(const std::string& content) {
  std::vector<std::string> parts;
  any_part(content, [&](const std::string& part) {
    if (has_gpu_key(part) || counts_in(part) || names_machine(part, false)) parts.push_back(part);
    return false;
  });
  return parts;
}

// "gpu:" with its number or memory on the lines below.
bool opens_gpus(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  return value.empty() && contains_any(key, {"gpu", "accelerator"}) && !is_other(key);
}
bool describes_gpus(const std::string& content) {
  const auto [key, value] = key_and_value(content);
  if (!is_any(key, {"amount", "count", "memory", "num", "number", "quantity", "value"})) return false;
  return is_open(value) || (value.find_first_of("123456789") != std::string::npos && value.size() < 20);
}

struct Line {
  int number = 0, section = 0;
  std::string content;
  bool mention = false;
  std::size_t column = 0;  // of the content
  bool item = false;       // begins an element of a list
};

// The lines of a file; a section is one document of YAML or one block of HCL.
std::vector<Line> lines_of(std::string_view file, std::string_view text) {
  std::vector<Line> lines;
  const bool batch = is_script_name(file);
  // The variables of one module belong together.
  const bool hcl = (is_terraform_name(file) && !file.ends_with(".tfvars")) || file.ends_with(".hcl");
  const bool data = std::ranges::any_of(kData, [&](std::string_view end) { return file.ends_with(end); });
  std::size_t gpu_indent = std::string_view::npos;  // of a key whose lines below are about GPUs
  int number = 0, section = 0;
  std::string variable;  // of Terraform, around this line
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    ++number;
    // A document of YAML, or a block of HCL at the left margin.
    const bool block = hcl && !line.empty() && line.front() != ' ' && line.front() != '\t' && line.ends_with('{');
    if (line.starts_with("---") || block) ++section;
    if (line.size() <= 10'000) {
      std::string content = content_of(line, batch);
      if (block) variable = content.starts_with("variable \"") ? content.substr(10, content.find('"', 10) - 10) : "";
      // The default of a variable is what the variable stands for.
      if (const KeyValue given = key_and_value(content); !variable.empty() && given.key == "default")
        content = fmt::format("{} = {}", variable, given.value);
      const std::size_t indent = line.find_first_not_of(" -");
      if (!content.empty() && indent <= gpu_indent) gpu_indent = std::string_view::npos;
      const bool below = gpu_indent != std::string_view::npos && describes_gpus(content);
      const bool mention = below || asks_for_gpus(content, batch);
      if (data && opens_gpus(content)) gpu_indent = indent;
      const std::size_t column = std::min(indent, line.size());
      const bool item = line.substr(0, column).find('-') != std::string_view::npos;
      if (!content.empty()) lines.push_back({number, section, std::move(content), mention, column, item});
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Lines that only these have; what both begin and end with is the same, and so are lines that moved in between.
std::vector<const Line*> only_in(const std::vector<Line>& these, const std::vector<Line>& those) {
  const auto same = [](const Line& a, const Line& b) { return a.content == b.content; };
  const auto [begin, other_begin] = std::mismatch(these.begin(), these.end(), those.begin(), those.end(), same);
  const auto [end, other_end] = std::mismatch(these.rbegin(), std::reverse_iterator(begin), those.rbegin(),
                                              std::reverse_iterator(other_begin), same);
  std::multiset<std::string_view> other;
  for (auto line = other_begin; line != other_end.base(); ++line) other.insert(line->content);
  std::vector<const Line*> found;
  for (auto line = begin; line != end.base(); ++line) {
    if (const auto at = other.find(line->content); at != other.end())
      other.erase(at);
    else
      found.push_back(&*line);
  }
  return found;
}

std::string folder_of(const std::string& file) {
  return file.find('/') == std::string::npos ? "" : file.substr(0, file.rfind('/'));
}

int section_of(const std::vector<Line>& lines, int number) {
  int section = 0;
  for (const Line& line : lines) {
    if (line.number <= number) section = line.section;
  }
  return section;
}

// The requests that come from a file, in part or whole; for Terraform, from its folder.
class Origins {
 public:
  explicit Origins(const std::vector<RequestChange>& changes) : changes_(changes) {}

  // Whether a request contains the value on this line, or one of its values.
  bool contain(const std::string& file, int line, bool is_new, bool one_of_several) const {
    return std::ranges::any_of(changes_, [&](const RequestChange& change) {
      const std::optional<Side>& side = is_new ? change.after : change.before;
      return side && (!one_of_several || change.differs()) && side->request.file == file &&
             (side->request.line == line || side->request.lines.contains(line));
    });
  }
  // Whether a line names the object of a request that both versions have, so that something else refers to it: the
  // template of a set of machines.
  bool refer(const Line& line) const {
    const std::string value = key_and_value(line.content).value;
    return std::ranges::any_of(changes_, [&](const RequestChange& change) {
      if (!change.before || !change.after || value.empty()) return false;
      const GpuRequest& request = change.after->request;
      return request.name.substr(request.name.find('/') + 1) == value && change.before->request.name == request.name &&
             change.before->request.file == request.file;
    });
  }
  // Whether the requests of the file know the lines of their values.
  bool know_lines(const std::string& file) const {
    const auto known = [&](const std::optional<Side>& side) {
      return !side || side->request.file != file || !side->request.lines.empty();
    };
    return std::ranges::all_of(changes_, [&](const RequestChange& c) { return known(c.before) && known(c.after); });
  }

  // Whether any request of the file passes; `line_wanted` restricts this to requests with a passing line.
  template <class Passes>
  bool any(const std::string& file, bool differing, const Passes& line_passes, bool by_folder = true) const {
    for (const RequestChange& change : changes_) {
      if (differing && !change.differs()) continue;
      for (const auto* side : {&change.before, &change.after}) {
        if (!*side) continue;
        const GpuRequest& request = (*side)->request;
        if (by_folder && std::ranges::find(request.sources, file) != request.sources.end()) return true;
        if (by_folder && is_terraform_name(file) && folder_of(file) == folder_of(request.file)) return true;
        // The machines of a template are counted elsewhere.
        if (request.file == file && request.kind.ends_with("MachineTemplate")) return true;
        if (request.file == file && (request.line == 0 || line_passes(request, side == &change.after))) return true;
      }
    }
    return false;
  }

 private:
  const std::vector<RequestChange>& changes_;
};

std::string shown(const Line& line) {
  return line.content.size() <= 60 ? line.content : line.content.substr(0, 57) + "...";
}

// A line of a kustomization that changes objects of other files; null if none changed.
const Line* kustomized(const std::string& file, const std::vector<Line>& lines, const std::vector<Line>& old_lines) {
  const std::string name = file.substr(file.rfind('/') + 1);
  if (name != "kustomization.yaml" && name != "kustomization.yml") return nullptr;
  for (const std::vector<const Line*>& changed : {only_in(lines, old_lines), only_in(old_lines, lines)}) {
    for (const Line* line : changed) {
      const std::string key = key_and_value(line->content).key;
      if (line->mention || is_any(key, {"count", "replicas", "value", "patch", "path", "patches"})) return line;
    }
  }
  return nullptr;
}

// Sections about GPUs that are only partly understood. Kubernetes' built-in objects are read completely; custom
// resources count GPUs in many ways.
class OpenSections {
 public:
  explicit OpenSections(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      const auto [key, value] = key_and_value(line.content);
      if (is_about_gpus(line.content)) about_gpus_.insert(line.section);
      if (key == "apiversion" && (is_any(value, {"v1", "apps/v1", "batch/v1"}) || value.starts_with("autoscaling/")))
        read_.insert(line.section);
      if (key == "kind" && is_any(value, {"NodePool", "Provisioner", "ComputeClass", "ResourceFlavor"}))
        pools_.insert(line.section);
    }
  }
  bool contain(const Line& line) const { return about_gpus_.contains(line.section) && !read_.contains(line.section); }
  // A requirement of a node pool: "- g" below "instance-category".
  bool is_requirement(const Line& line) const {
    const std::string key = key_and_value(line.content).key;
    return pools_.contains(line.section) && (key.empty() || key == "values");
  }

 private:
  std::set<int> about_gpus_, read_, pools_;
};

// Whether a count belongs to work without GPUs: of the parts around it, from the inside, one that runs something comes
// before one that is about GPUs.
bool is_elsewhere(const std::vector<Line>& lines, std::size_t at) {
  const Words runs = {"image",        "command",       "args",         "containers", "template",
                      "instancetype", "instancetypes", "machinetype",  "vmsize",     "resources",
                      "repository",   "instance_type", "machine_type", "vm_size"};
  while (true) {
    const std::size_t column = lines[at].column;
    const auto inside = [&](std::size_t i) {
      return lines[i].section == lines[at].section && lines[i].column >= column;
    };
    const auto begins = [&](std::size_t i) { return lines[i].item && lines[i].column == column; };
    std::size_t begin = at, end = at + 1;
    while (begin > 0 && !begins(begin) && inside(begin - 1)) --begin;
    while (end < lines.size() && inside(end) && !begins(end)) ++end;
    bool running = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (lines[i].mention || is_about_gpus(lines[i].content)) return false;
      running = running || is_any(key_and_value(lines[i].content).key, runs);
    }
    if (running) return true;
    if (begin == 0 || lines[begin - 1].section != lines[at].section || lines[begin - 1].column >= column) return false;
    at = begin - 1;
  }
}

}  // namespace

std::vector<Mention> gpu_mentions(std::string_view file, std::string_view text) {
  std::vector<Mention> mentions;
  for (Line& line : lines_of(file, text)) {
    if (line.mention) mentions.push_back({line.number, std::move(line.content)});
  }
  return mentions;
}

std::vector<std::string> unread_changes(const Texts& before, const Texts& after,
                                        const std::vector<RequestChange>& changes) {
  std::set<std::string> files;
  for (const Texts* texts : {&before, &after}) {
    for (const auto& [file, text] : *texts) files.insert(file);
  }
  const auto text_in = [](const Texts& texts, const std::string& file) {
    const auto found = texts.find(file);
    return found == texts.end() ? std::string() : to_utf8(found->second);
  };
  const Origins origins(changes);
  std::vector<std::string> notes;
  for (const std::string& file : files) {
    const std::string old_text = text_in(before, file), new_text = text_in(after, file);
    if (old_text == new_text) continue;
    const std::vector<Line> old_lines = lines_of(file, old_text), new_lines = lines_of(file, new_text);
    const auto first = std::ranges::find_if(new_lines, &Line::mention),
               old_first = std::ranges::find_if(old_lines, &Line::mention);
    const bool mentions = first != new_lines.end() || old_first != old_lines.end();
    if (const Line* line = kustomized(file, new_lines, old_lines)) {
      notes.push_back(
          fmt::format("{}:{}: \"{}\" changed; Kustomize is not rendered, so compare what 'kustomize build' "
                      "writes",
                      file, line->number, shown(*line)));
      continue;
    }
    const auto any_line = [](const GpuRequest&, bool) { return true; };
    // Programs name GPUs for many reasons; only changed lines matter there.
    if (mentions && !is_code_name(file) && !origins.any(file, false, any_line)) {
      const auto relevant = [](const Line* line) { return line->mention || counts_replicas(line->content); };
      const std::vector<const Line*> fresh = only_in(new_lines, old_lines);
      const auto changed = std::ranges::find_if(fresh, relevant);
      const Line& line = changed != fresh.end() ? **changed : first != new_lines.end() ? *first : *old_first;
      notes.push_back(fmt::format("{}:{}: \"{}\" mentions GPUs, but no request in this file was understood", file,
                                  line.number, shown(line)));
      continue;
    }
    std::vector<std::pair<const Line*, bool>> changed;
    for (const Line* line : only_in(new_lines, old_lines)) changed.emplace_back(line, true);
    for (const Line* line : only_in(old_lines, new_lines)) changed.emplace_back(line, false);
    const OpenSections new_open(new_lines), old_open(old_lines);
    const bool data = std::ranges::any_of(kData, [&](std::string_view end) { return file.ends_with(end); });
    const bool any_language = !is_terraform_name(file) && !data;
    const bool by_line = data && origins.know_lines(file);
    for (const auto& change : changed) {
      const Line* line = change.first;
      const bool is_new = change.second;
      const std::vector<Line>& own = is_new ? new_lines : old_lines;
      const OpenSections& open = is_new ? new_open : old_open;
      const bool refers = by_line && origins.refer(*line);
      const bool counts =
          refers || counts_replicas(line->content) || chooses_gpus(line->content) || open.is_requirement(*line);
      const bool number = line->mention || (any_language && counts_gpus(line->content));
      if (!number && !counts) continue;
      const std::vector<std::string> parts = relevant_parts(line->content);
      const auto has_parts = [&](const Line& other) { return relevant_parts(other.content) == parts; };
      if (!parts.empty() && std::ranges::any_of(is_new ? old_lines : new_lines, has_parts)) continue;
      if (origins.contain(file, line->number, is_new, parts.size() > 1)) continue;
      // A count matters only next to a request, or if a request may have been missed.
      const bool beside = origins.any(
          file, false,
          [&](const GpuRequest& request, bool side) {
            return side == is_new && section_of(own, request.line) == line->section;
          },
          false);
      if (!number && !refers && !beside && !open.contain(*line)) continue;
      if (!number && !refers && by_line && is_elsewhere(own, static_cast<std::size_t>(line - own.data()))) continue;
      // Arguments and other settings may repeat the number of GPUs.
      const bool argument = line->content.find("--") != std::string::npos;
      const Result<double> repeated = parse_number(key_and_value(line->content).value);
      const bool seen = origins.any(file, true, [&](const GpuRequest& request, bool side) {
        const std::vector<Line>& lines = side ? new_lines : old_lines;
        const bool repeats = number && side == is_new && repeated && request.per_unit == *repeated;
        return (!by_line || argument || repeats) && section_of(lines, request.line) == line->section;
      });
      if (seen) continue;
      notes.push_back(fmt::format("{}:{}: \"{}\" {}, but no GPU request did; check it by hand", file, line->number,
                                  shown(*line), is_new ? "changed" : "was removed or changed"));
      break;
    }
  }
  return notes;
}

}  // namespace rightsize::manifests
