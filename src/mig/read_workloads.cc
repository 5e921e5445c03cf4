#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/yaml_reader.h"
#include "catalog/words.h"
#include "memory/memory.h"
#include "mig/workloads.h"
#include "perf/perf.h"
#include "presets/model_job.h"
#include "presets/presets.h"
#include "sharing/interference.h"

namespace rightsize::mig {
namespace {

// "10%" or "0.1"; at most a hundred whole GPUs.
Result<Ratio> parse_part(std::string_view text) {
  Result<Ratio> share = parse_share(text);
  if (share && share->fraction() >= 0 && share->fraction() <= 100) return share;
  return fail(bad_input(fmt::format("'{}' is not a share", text)).with_hint("write 10% or 0.1"));
}

// "100ms" or "p99=100ms".
Result<Seconds> parse_limit(std::string_view text) {
  return parse_duration(text.starts_with("p99=") ? text.substr(4) : text);
}

Result<int> parse_replicas(std::string_view text) {
  constexpr std::int64_t kMost = 10'000;
  const Result<std::int64_t> number = parse_integer(text);
  if (number && *number >= 1 && *number <= kMost) return static_cast<int>(*number);
  return fail(bad_input(fmt::format("'{}' is not a number of replicas", text))
                  .with_hint(fmt::format("write a whole number from 1 to {}", kMost)));
}

// Names end up in Kubernetes objects: lower-case letters, digits, '-' and '.', beginning and ending with a letter or
// digit (RFC 1123).
bool is_good_name(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && letter(name.front()) && letter(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

class WorkloadReader : private YamlReader {
 public:
  WorkloadReader(const YamlDocument& document, const catalog::Catalog& catalog, Ratio headroom, const ModelSpeed& speed,
                 const KeyNames& names)
      : YamlReader(document, names), catalog_(catalog), headroom_(headroom), speed_(speed) {}

  std::optional<Workload> read_alone(const YamlValue& entry, const std::string& name, Errors& errors) {
    given_name_ = name;
    if (is(entry, YamlValue::Kind::kMapping)) read_one(entry);
    Errors found = take_errors();
    errors.insert(errors.end(), found.begin(), found.end());
    if (file_.workloads.empty()) return std::nullopt;
    return std::move(file_.workloads.front());
  }

  Checked<WorkloadFile> read() {
    const YamlValue& root = document().root();
    if (root.kind != YamlValue::Kind::kMapping) {
      mistake(root, "the file must begin with 'workloads:'", "examples/mig/ has files to start from");
      return fail(take_errors());
    }
    // Defaults first, wherever they are in the file.
    if (const YamlValue* headroom = root.find("headroom")) take(*headroom, parse_part, headroom_);
    if (const YamlValue* gpus = root.find("gpus")) read_gpus(*gpus);
    bool listed = false;
    for_each_entry(document(), root, errors(), [&](const YamlValue& key, const YamlValue& value) {
      if (key.scalar == "workloads")
        listed = true, read_list(value);
      else if (key.scalar != "headroom" && key.scalar != "gpus")
        unknown_key(key, {"workloads", "gpus", "headroom"});
    });
    if (!listed) mistake(root, "the list 'workloads' is missing");
    check_whole();
    if (!errors().empty()) return fail(take_errors());
    return std::move(file_);
  }

 private:
  void read_gpus(const YamlValue& value) {
    if (value.kind != YamlValue::Kind::kList) return mistake(value, "'gpus' is a list of GPU names");
    for (const YamlValue& entry : value.list) {
      std::string name;
      take_gpu(entry, name);
      if (!name.empty()) file_.gpus.push_back(name);
    }
  }
  void take_gpu(const YamlValue& value, std::string& name) {
    const catalog::Gpu* gpu = nullptr;
    take(
        value,
        [this](const std::string& text) -> Result<const catalog::Gpu*> {
          RIGHTSIZE_TRY(const catalog::UsualGpu usual, catalog::usual_gpu(catalog_, text));
          return usual.gpu;
        },
        gpu);
    if (gpu != nullptr) name = gpu->name;
  }

  void read_list(const YamlValue& value) {
    if (value.kind != YamlValue::Kind::kList || value.list.empty())
      return mistake(value, "'workloads' is a list with at least one entry");
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
    w.name = given_name_;
    w.headroom = headroom_;
    w.place = document().place(entry);
    const YamlValue* named = entry.find("name");
    if (named != nullptr) w.place = document().place(*named);
    std::vector<model::Setting> settings;
    const std::size_t before = errors().size();
    for_each_entry(document(), entry, errors(),
                   [&](const YamlValue& key, const YamlValue& value) { read_entry(key, value, w, settings); });
    check_name(entry, w);
    if (errors().size() == before) fill_memory(entry, w, settings);
    if (errors().size() == before) fill_load(entry, w);
    if (errors().size() == before) file_.workloads.push_back(std::move(w));
  }

  void read_entry(const YamlValue& key, const YamlValue& value, Workload& w, std::vector<model::Setting>& settings) {
    using ReadKey = void (*)(WorkloadReader&, const YamlValue&, Workload&);
    static const std::vector<std::pair<std::string, ReadKey>> kKeys = {
        {"name", into<&Workload::name, parse_word>},
        {"model", into<&Workload::model, parse_word>},
        {"memory", into<&Workload::memory, parse_bytes>},
        {"load", into<&Workload::load, parse_part>},
        {"bandwidth", into<&Workload::bandwidth, parse_part>},
        {"rate", into<&Workload::rate, parse_request_rate>},
        {"service", into<&Workload::service, parse_duration>},
        {"latency", into<&Workload::latency, parse_limit>},
        {"slo", into<&Workload::latency, parse_limit>},  // as people call it
        {"p99", into<&Workload::latency, parse_limit>},
        {"p95", into<&Workload::latency, parse_limit>},  // less strict than what is planned
        {"replicas", into<&Workload::replicas, parse_replicas>},
        {"copies", into<&Workload::replicas, parse_replicas>},  // a common alias
        {"count", into<&Workload::replicas, parse_replicas>},
        {"spread", into<&Workload::spread, parse_flag>},
        {"affinity", into<&Workload::affinity, parse_word>},
        {"headroom", into<&Workload::headroom, parse_part>},
        {"share", into<&Workload::share, parse_flag>},
        {"kind", into<&Workload::kind, sharing::parse_kind>},
        {"base", into<&Workload::base, parse_word>},
        {"adapter", into<&Workload::adapter, parse_bytes>},
        {"measured-on",
         [](WorkloadReader& reader, const YamlValue& gpu, Workload& of) { reader.take_gpu(gpu, of.measured_on); }},
    };
    const std::string ours = our_name(key.scalar);
    if (ours == "unused") {
      const std::string text = fmt::format(
          "'{}' is not used: slices are planned for the latency of whole responses "
          "('latency')",
          key.scalar);
      if (std::ranges::find(file_.assumed, text) == file_.assumed.end()) file_.assumed.push_back(text);
      return;
    }
    std::vector<std::string> known;
    for (const auto& [name, read] : kKeys) {
      if (name == key.scalar || name == ours) return read(*this, value, w);
      known.push_back(name);
    }
    for (const std::string& name : model::job_settings()) {
      known.push_back(name);
      if (name != key.scalar && name != ours) continue;
      std::string text;
      take(value, parse_word, text);
      settings.push_back({name, text, document().place(value)});
      return;
    }
    unknown_key(key, known);
  }
  template <auto kMember, auto kParse>
  static void into(WorkloadReader& reader, const YamlValue& value, Workload& w) {
    reader.take(value, kParse, w.*kMember);
  }

  void check_name(const YamlValue& entry, const Workload& w) {
    if (!given_name_.empty()) return;
    const YamlValue* named = entry.find("name");
    if (named == nullptr) return mistake(entry, "the workload has no name");
    if (!is_good_name(w.name))
      return mistake(*named, fmt::format("'{}' is not a valid name", w.name),
                     "use up to 63 lower-case letters, digits, '-' and '.', as in Kubernetes");
    if (const auto [at, fresh] = first_line_.try_emplace(w.name, w.place.line); !fresh)
      mistake(*named, fmt::format("two workloads are named '{}'", w.name),
              fmt::format("the first is on line {}; for copies write 'replicas: 2'", at->second));
  }

  void fill_memory(const YamlValue& entry, Workload& w, const std::vector<model::Setting>& settings) {
    const bool given = entry.find("memory") != nullptr;
    if (given && !(w.memory > Bytes{})) return mistake(*entry.find("memory"), "memory must be greater than 0");
    if (!settings.empty() && w.model.empty()) {
      errors().push_back(
          bad_input(fmt::format("'{}' is a setting of a model, but 'model' is missing", settings[0].name))
              .with_hint("add 'model: NAME', or set only 'memory'")
              .at(settings[0].place));
      return;
    }
    if (given) return;  // a given figure overrides the model
    if (w.model.empty())
      return mistake(entry, fmt::format("'{}' has neither 'memory' nor 'model'", w.name),
                     "add 'memory: 8GiB' or 'model: NAME'");
    const bool timed = speed_.constants != nullptr && w.rate && !w.service && entry.find("load") == nullptr;
    std::string key =
        timed ? fmt::format("{} {}/s {}", w.model, in_requests_per_s(*w.rate) / w.replicas, w.headroom.fraction())
              : w.model;
    for (const model::Setting& setting : settings) key += fmt::format("\n{}={}", setting.name, setting.value);
    if (const auto known = estimated_.find(key); known != estimated_.end()) {
      known->second.fill(w);
    } else if (std::optional<Estimate> estimate = estimated(entry, w, settings, timed)) {
      estimated_.emplace(key, *estimate).first->second.fill(w);
    }
  }

  // The estimates of the memory and speed models for a workload.
  struct Estimate {
    Bytes memory, weights;
    std::optional<Seconds> service = {};  // of one of the concurrent requests
    Ratio load = {};                      // of a whole GPU
    std::string on = {};                  // the GPU of both

    void fill(Workload& w) const {
      w.memory = memory, w.weights = weights;
      if (!service) return;
      w.load = load, w.measured_on = on;
      if (w.latency) w.service = service;
    }
  };

  // Uses the upper end of the interval: in a slice that is too small, the workload fails under load.
  static Estimate memory_of(const model::ModelShape& model, const model::Job& job) {
    const memory::MemoryNeed need = memory::estimate_memory(model, job, nullptr);
    return {need.high, need.parts[memory::Part::kWeights]};
  }

  std::optional<Estimate> estimated(const YamlValue& entry, const Workload& w, std::vector<model::Setting> settings,
                                    bool timed) {
    const YamlValue& at = *entry.find("model");
    const auto given = [&](std::string_view name) {
      return std::ranges::any_of(settings, [&](const model::Setting& s) { return s.name == name; });
    };
    if (!given("job")) settings.push_back({"job", "serve", {}});
    Checked<model::ModelShape> model = model::find_model(w.model);
    if (!model) return add_errors(std::move(model).error(), at);
    Checked<model::Job> job = model::parse_job(settings);
    if (!job) return add_errors(std::move(job).error(), at);
    if (job->kind == model::JobKind::kServe) model::fill_lengths(*model, given("isl"), given("osl"), *job);
    if (model->kind == model::ModelKind::kEncoder && job->sequence == 0 && given("isl")) job->sequence = job->serve.isl;
    if (job->sequence == 0) {
      job->sequence = memory::default_sequence(*model);
      if (model->kind == model::ModelKind::kEncoder)
        file_.assumed.push_back(
            fmt::format("{}: assumed {} tokens per text; the key 'seq' sets them", w.name, job->sequence));
    }
    if (Errors found = memory::check_job(*model, *job); !found.empty()) return add_errors(std::move(found), at);
    if (!timed || job->kind != model::JobKind::kServe) return memory_of(*model, *job);
    return served(at, w, *model, *job, given("concurrency") || given("batch"));
  }

  // Requests served at once share a GPU's time but each takes memory: the number that needs the smallest part of a GPU
  // and meets the latency, unless the file has one.
  std::optional<Estimate> served(const YamlValue& at, const Workload& w, const model::ModelShape& model, model::Job job,
                                 bool fixed) {
    const catalog::Gpu& gpu = speed_gpu();
    const perf::ModelWork work = perf::work_of(model);
    const perf::GpuSpeed speed = perf::gpu_speed(*speed_.constants, gpu);
    job = perf::fitted_to(work, job);
    std::int64_t& at_once = perf::serves_batches(work) ? job.batch : job.serve.concurrency;
    const double rate = in_requests_per_s(*w.rate) / w.replicas;
    std::optional<Estimate> best;
    double least = INFINITY;
    constexpr std::int64_t kMost = 256;
    for (std::int64_t n = fixed ? at_once : 1; n <= kMost || fixed; n *= 2) {
      at_once = n;
      Estimate e = memory_of(model, job);
      const Result<std::pair<double, Seconds>> pace = pace_of(work, job, speed, gpu);
      if (!pace) return add_errors({pace.error()}, at);
      e.service = pace->second, e.load = Ratio::fraction(rate / pace->first), e.on = gpu.name;
      // A request waits for the batch before its own.
      if (best && w.latency && pace->second * 2.0 > *w.latency) break;
      const double part = std::max(e.memory / gpu.capacity(), e.load.fraction() * (1 + w.headroom.fraction()));
      if (part < least) least = part, best = e;
      if (fixed) break;
    }
    return best;
  }

  // Requests per second at full concurrency, and the time of one.
  Result<std::pair<double, Seconds>> pace_of(const perf::ModelWork& work, const model::Job& job,
                                             const perf::GpuSpeed& speed, const catalog::Gpu& gpu) const {
    if (perf::serves_batches(work)) {
      RIGHTSIZE_TRY(const perf::BatchEstimate e, perf::estimate_batch(*speed_.constants, work, job, speed));
      return std::pair(e.samples_per_second, e.batch);
    }
    const perf::ServeLoad load{
        .kv_tokens = static_cast<double>(job.serve.concurrency) * static_cast<double>(job.serve.isl + job.serve.osl),
        .rate = {}};
    RIGHTSIZE_TRY(const perf::ServeEstimate e,
                  perf::estimate_serving(*speed_.constants, work, job, speed, perf::default_cluster(gpu), load));
    return std::pair(e.requests_per_second, e.latency);
  }

  // The GPU of the command line, else the first of the file, else the first that supports MIG.
  const catalog::Gpu& speed_gpu() const {
    if (speed_.gpu != nullptr) return *speed_.gpu;
    if (!file_.gpus.empty()) return **catalog_.find_gpu(file_.gpus.front());
    return *std::ranges::find_if(catalog_.gpus, [](const catalog::Gpu& gpu) { return gpu.mig_instances > 0; });
  }
  std::nullopt_t add_errors(Errors found, const YamlValue& at) {
    add(std::move(found), at);
    return std::nullopt;
  }

  void fill_load(const YamlValue& entry, Workload& w) {
    if (w.base.empty() && w.adapter > Bytes{})
      return mistake(*entry.find("adapter"), fmt::format("'{}' has an adapter but no base", w.name),
                     "add 'base: MODEL', the model that the adapter is for");
    const bool loaded = entry.find("load") != nullptr || w.load > Ratio{};
    if (given_name_.empty() && !w.service && (w.latency || (w.rate && !loaded))) {
      // Zero would let it share a GPU with any number of others.
      constexpr double kAssumedLoad = 0.1;
      if (!loaded) w.load = Ratio::fraction(kAssumedLoad);
      file_.assumed.push_back(fmt::format("{}: {}{}; for more, add the time of one request ('service: 12ms')", w.name,
                                          loaded ? "its load is known" : "assumed 10 % of a GPU ('load: 10%')",
                                          w.latency ? ", its latency is not checked" : ""));
      w.latency.reset(), w.rate.reset();
      return;
    }
    if (w.latency && !w.service) {
      const YamlValue* limit = entry.find("latency");
      return mistake(limit == nullptr ? entry : *limit,
                     fmt::format("'{}' has a latency SLO but no service time", w.name),
                     "add 'service: 12ms', the time one request takes alone on a whole GPU");
    }
    if (loaded) {
      if (!(w.load.fraction() <= 100)) mistake(entry, "this rate needs more than 100 GPUs per replica");
      return;
    }
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
    if (file_.replicas() > kMostReplicas)
      mistake(document().root(), fmt::format("more than {} replicas in total", kMostReplicas));
    for (const Workload& w : file_.workloads) {
      if (w.affinity.empty() || !w.spread || w.replicas == 1) continue;
      errors().push_back(
          bad_input(fmt::format("'{}' has both 'spread' (replicas apart) and 'affinity: {}' (all on one GPU)", w.name,
                                w.affinity))
              .with_hint("drop 'spread' or 'affinity'")
              .at(w.place));
    }
  }

  const catalog::Catalog& catalog_;
  Ratio headroom_;
  std::string given_name_;  // of a workload that is read alone
  WorkloadFile file_;
  std::map<std::string, int> first_line_;
  ModelSpeed speed_;
  std::map<std::string, Estimate> estimated_;  // by model and settings, which files often repeat
};

}  // namespace

std::optional<Workload> read_workload(const YamlDocument& document, const YamlValue& entry, const std::string& name,
                                      const catalog::Catalog& catalog, Errors& errors, const KeyNames& names) {
  constexpr double kHeadroom = 0.2;
  return WorkloadReader(document, catalog, Ratio::fraction(kHeadroom), {}, names).read_alone(entry, name, errors);
}

Checked<WorkloadFile> read_workloads(const std::string& file, const std::string& text, const catalog::Catalog& catalog,
                                     Ratio headroom, const ModelSpeed& speed, const KeyNames& names) {
  RIGHTSIZE_TRY(const YamlDocument document, YamlDocument::parse(file, text));
  return WorkloadReader(document, catalog, headroom, speed, names).read();
}

}  // namespace rightsize::mig
