#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "families/presets.h"
#include "memory/memory.h"
#include "mig/workloads.h"

namespace rightsize::mig {
namespace {

// "10%" or "0.1"; at most a hundred whole GPUs.
Result<Ratio> parse_share(std::string_view text) {
  text = trim(text);
  const bool percent = text.ends_with('%');
  Result<double> number = parse_number(trim(percent ? text.substr(0, text.size() - 1) : text));
  const double fraction = number ? (percent ? *number / 100 : *number) : -1;
  if (!number || !(fraction >= 0) || fraction > 100) {
    return fail(bad_input(fmt::format("'{}' is not a share", text)).with_hint("write 10% or 0.1"));
  }
  return Ratio::fraction(fraction);
}

Result<bool> parse_flag(std::string_view text) {
  const std::string word = to_lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return fail(bad_input(fmt::format("'{}' is not true or false", text)));
}

// Names end up in Kubernetes objects: lower-case letters, digits, '-' and '.', beginning and ending with a letter or
// digit (RFC 1123).
bool is_good_name(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && letter(name.front()) && letter(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

const std::vector<std::string> kOwnKeys{"name",     "model",    "memory",  "load",       "bandwidth",
                                        "rate",     "service",  "latency", "replicas",   "spread",
                                        "affinity", "headroom", "share",   "measured-on"};

class Reader {
 public:
  Reader(const YamlDocument& document, const catalog::Catalog& catalog, Ratio headroom)
      : document_(document), catalog_(catalog), headroom_(headroom) {}

  Checked<WorkloadFile> read() {
    const YamlValue& root = document_.root();
    if (root.kind != YamlValue::Kind::kMapping) {
      mistake(root, "the file must begin with 'workloads:'", "examples/mig/ has files to start from");
      return fail(std::move(errors_));
    }
    // Defaults first, wherever they are in the file.
    if (const YamlValue* headroom = root.find("headroom")) take(*headroom, parse_share, headroom_);
    bool listed = false;
    for_each_entry(document_, root, errors_, [&](const YamlValue& key, const YamlValue& value) {
      if (key.scalar == "workloads")
        listed = true, read_list(value);
      else if (key.scalar == "gpus")
        read_gpus(value);
      else if (key.scalar != "headroom")
        unknown(key, {"workloads", "gpus", "headroom"});
    });
    if (!listed) mistake(root, "the list 'workloads' is missing");
    check_whole();
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(file_);
  }

 private:
  void mistake(const YamlValue& at, std::string message, std::string hint = {}) {
    errors_.push_back(bad_input(std::move(message)).with_hint(std::move(hint)).at(document_.place(at)));
  }
  void unknown(const YamlValue& key, const std::vector<std::string>& known) {
    errors_.push_back(bad_input(fmt::format("unknown key '{}'", key.scalar))
                          .with_hint(did_you_mean(key.scalar, known))
                          .with_hint(known.size() < 6 ? fmt::format("use {}", fmt::join(known, ", ")) : "")
                          .at(document_.place(key)));
  }

  template <class Parse, class Into>
  void take(const YamlValue& value, Parse parse, Into& into) {
    if (value.kind != YamlValue::Kind::kScalar) {
      return mistake(value, fmt::format("expected a single value, not {}", name_of(value.kind)));
    }
    auto parsed = parse(value.scalar);
    if (parsed) {
      into = *parsed;
    } else {
      errors_.push_back(std::move(parsed).error().at(document_.place(value)));
    }
  }
  void read_gpus(const YamlValue& value) {
    if (value.kind != YamlValue::Kind::kList) return mistake(value, "'gpus' is a list of GPU names");
    for (const YamlValue& entry : value.list) {
      std::string name;
      take(
          entry, [&](const std::string& text) { return known_gpu(text); }, name);
      if (!name.empty()) file_.gpus.push_back(name);
    }
  }
  Result<std::string> known_gpu(const std::string& text) const {
    RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog_.find_gpu(text));
    return gpu->name;
  }

  void read_list(const YamlValue& value) {
    if (value.kind != YamlValue::Kind::kList || value.list.empty()) {
      return mistake(value, "'workloads' is a list with at least one entry");
    }
    for (const YamlValue& entry : value.list) {
      if (entry.kind != YamlValue::Kind::kMapping) {
        mistake(entry, fmt::format("a workload is a mapping, not {}", name_of(entry.kind)));
      } else {
        read_one(entry);
      }
    }
  }

  void read_one(const YamlValue& entry) {
    Workload w;
    w.headroom = headroom_;
    w.place = document_.place(entry);
    const YamlValue* named = entry.find("name");
    if (named != nullptr) w.place = document_.place(*named);
    std::vector<model::Setting> settings;
    const std::size_t before = errors_.size();
    for_each_entry(document_, entry, errors_,
                   [&](const YamlValue& key, const YamlValue& value) { read_entry(key, value, w, settings); });
    check_name(entry, w);
    if (errors_.size() == before) fill_memory(entry, w, settings);
    if (errors_.size() == before) fill_load(entry, w);
    if (errors_.size() == before) file_.workloads.push_back(std::move(w));
  }

  void read_entry(const YamlValue& key, const YamlValue& value, Workload& w, std::vector<model::Setting>& settings) {
    const std::string& name = key.scalar;
    auto word = [](const std::string& text) -> Result<std::string> { return text; };
    if (name == "name") return take(value, word, w.name);
    if (name == "model") return take(value, word, w.model);
    if (name == "affinity") return take(value, word, w.affinity);
    if (name == "memory") return take(value, parse_bytes, w.memory);
    if (name == "load") return take(value, parse_share, w.load);
    if (name == "bandwidth") return take(value, parse_share, w.bandwidth);
    if (name == "headroom") return take(value, parse_share, w.headroom);
    if (name == "rate") return take(value, parse_request_rate, w.rate);
    if (name == "service") return take(value, parse_duration, w.service);
    if (name == "latency") return take(value, parse_duration, w.latency);
    if (name == "spread") return take(value, parse_flag, w.spread);
    if (name == "share") return take(value, parse_flag, w.share);
    if (name == "measured-on") {
      return take(
          value, [&](const std::string& text) { return known_gpu(text); }, w.measured_on);
    }
    if (name == "replicas") return take(value, parse_replicas, w.replicas);
    for (const model::SettingInfo& info : model::job_settings()) {
      if (info.name != name) continue;
      std::string text;
      take(value, word, text);
      settings.push_back({name, text, document_.place(value)});
      return;
    }
    std::vector<std::string> known = kOwnKeys;
    for (const model::SettingInfo& info : model::job_settings()) known.push_back(info.name);
    unknown(key, known);
  }

  static Result<int> parse_replicas(const std::string& text) {
    constexpr std::int64_t kMost = 10'000;
    const Result<std::int64_t> number = parse_integer(text);
    if (number && *number >= 1 && *number <= kMost) return static_cast<int>(*number);
    return fail(bad_input(fmt::format("'{}' is not a number of replicas", text))
                    .with_hint(fmt::format("write a whole number from 1 to {}", kMost)));
  }

  void check_name(const YamlValue& entry, const Workload& w) {
    const YamlValue* named = entry.find("name");
    if (named == nullptr) return mistake(entry, "the workload has no name");
    if (!is_good_name(w.name)) {
      return mistake(*named, fmt::format("'{}' is not a valid name", w.name),
                     "use up to 63 lower-case letters, digits, '-' and '.', as in Kubernetes");
    }
    if (const auto [at, fresh] = first_line_.try_emplace(w.name, w.place.line); !fresh) {
      mistake(*named, fmt::format("two workloads are named '{}'", w.name),
              fmt::format("the first is on line {}; for copies write 'replicas: 2'", at->second));
    }
  }

  void fill_memory(const YamlValue& entry, Workload& w, const std::vector<model::Setting>& settings) {
    const bool given = entry.find("memory") != nullptr;
    if (given && !(w.memory > Bytes{})) return mistake(*entry.find("memory"), "memory must be greater than 0");
    if (!settings.empty() && w.model.empty()) {
      errors_.push_back(bad_input(fmt::format("'{}' is a setting of a model, but 'model' is missing", settings[0].name))
                            .with_hint("add 'model: NAME', or set only 'memory'")
                            .at(settings[0].place));
      return;
    }
    if (given) return;  // a given figure overrides the model
    if (w.model.empty()) {
      return mistake(entry, fmt::format("'{}' has neither 'memory' nor 'model'", w.name),
                     "add 'memory: 8GiB' or 'model: NAME'");
    }
    std::string key = w.model;
    for (const model::Setting& setting : settings) key += fmt::format("\n{}={}", setting.name, setting.value);
    if (const auto known = estimated_.find(key); known != estimated_.end()) {
      w.memory = known->second;
    } else if (estimate(entry, w, settings)) {
      estimated_[key] = w.memory;
    }
  }

  // The upper end of the interval: in a slice that is too small, the workload fails under load.
  bool estimate(const YamlValue& entry, Workload& w, std::vector<model::Setting> settings) {
    const bool says_job =
        std::any_of(settings.begin(), settings.end(), [](const model::Setting& s) { return s.name == "job"; });
    if (!says_job) settings.push_back({"job", "serve", {}});
    Checked<model::ModelShape> model = model::find_model(w.model);
    if (!model) return add_errors(std::move(model).error(), *entry.find("model"));
    Checked<model::Job> job = model::parse_job(settings);
    if (!job) return add_errors(std::move(job).error(), *entry.find("model"));
    if (job->sequence == 0) job->sequence = memory::default_sequence(*model);
    if (Errors found = memory::check_job(*model, *job); !found.empty()) {
      return add_errors(std::move(found), *entry.find("model"));
    }
    w.memory = memory::estimate_memory(*model, *job, nullptr).high;
    return true;
  }
  bool add_errors(Errors found, const YamlValue& at) {
    for (Error& error : found) {
      if (error.place.file.empty()) error.place = document_.place(at);
      errors_.push_back(std::move(error));
    }
    return false;
  }

  void fill_load(const YamlValue& entry, Workload& w) {
    if (w.latency && !w.service) {
      return mistake(*entry.find("latency"), fmt::format("'{}' has a latency SLO but no service time", w.name),
                     "add 'service: 12ms', the time one request takes alone on a whole GPU");
    }
    if (entry.find("load") != nullptr) return;
    if (w.rate && w.service) {
      const double busy = *w.rate / w.replicas * *w.service / requests(1);
      if (!(busy <= 100)) return mistake(*entry.find("rate"), "this rate needs more than 100 GPUs per replica");
      w.load = Ratio::fraction(busy);
      return;
    }
    if (w.rate || w.service) {
      return mistake(entry,
                     fmt::format("'{}' has a {} but no {}", w.name, w.rate ? "rate" : "service time",
                                 w.rate ? "service time" : "rate"),
                     "set 'rate' and 'service', or 'load: 10%'");
    }
  }

  void check_whole() {
    if (file_.replicas() > kMostReplicas) {
      mistake(document_.root(), fmt::format("more than {} replicas in total", kMostReplicas));
    }
    for (const Workload& w : file_.workloads) {
      if (w.affinity.empty() || !w.spread || w.replicas == 1) continue;
      errors_.push_back(
          bad_input(fmt::format("'{}' has both 'spread' (replicas apart) and 'affinity: {}' (all on one GPU)", w.name,
                                w.affinity))
              .with_hint("drop 'spread' or 'affinity'")
              .at(w.place));
    }
  }

  const YamlDocument& document_;
  const catalog::Catalog& catalog_;
  Ratio headroom_;
  WorkloadFile file_;
  Errors errors_;
  std::map<std::string, int> first_line_;
  std::map<std::string, Bytes> estimated_;  // by model and settings: files repeat themselves
};

}  // namespace

Checked<WorkloadFile> read_workloads(const std::string& file, const std::string& text, const catalog::Catalog& catalog,
                                     Ratio headroom) {
  Result<YamlDocument> document = YamlDocument::parse(file, text);
  if (!document) {
    Errors errors;
    errors.push_back(std::move(document).error());
    return fail(std::move(errors));
  }
  return Reader(*document, catalog, headroom).read();
}

}  // namespace rightsize::mig
