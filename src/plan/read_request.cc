#include "plan/read_request.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "capacity/sessions.h"
#include "catalog/words.h"
#include "market/read_own.h"
#include "memory/memory.h"
#include "memory/weight_bytes.h"
#include "perf/perf.h"
#include "plan/layouts.h"
#include "plan/read_parts.h"
#include "presets/model_job.h"
#include "settings/setting.h"

namespace rightsize::plan {
namespace {

using model::Job;
using model::JobKind;
using model::Setting;
using model::Stack;

// The settings before they are combined into a request.
struct Draft {
  explicit Draft(const catalog::Catalog& facts) : catalog(facts) {}

  const catalog::Catalog& catalog;
  Request request;
  std::string model;
  double tokens = 0, samples = 0, epochs = 0, dataset_tokens = 0, dataset_samples = 0, items = 0, audio_hours = 0;
  int hours_per_day = 24;
  bool batch_given = false, rate_per_day = false;
  std::string trace, rate_profile, routing;
  std::string profile;
  Seconds gpu_time = kMonth;
  std::optional<Seconds> per_item;
  market::OwnHardware own;  // common to all own machines
  std::vector<market::OwnHardware> own_machines;
  std::vector<int> own_counts;
  Errors more;  // further mistakes of a setting
};

// How a setting is read: its text, and its name for error messages.
using Apply = Result<> (*)(Draft& draft, const std::string& text, const char* name);
struct Rule {
  const char* name;
  Apply apply;
};

// Most settings are read and checked by their row of the settings table; Field is the destination of the value. Plain
// functions keep the table of rules constant.
template <auto Field>
Result<> stored(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(const settings::Value value, settings::read(settings::get(name), text, name));
  auto& to = Field(draft);
  if constexpr (requires { to.emplace(); })
    settings::store(value, to.emplace());
  else
    settings::store(value, to);
  return {};
}

// Settings with a syntax that the table does not cover.
template <auto Parse, auto Field>
Result<> parsed(Draft& draft, const std::string& text, const char*) {
  auto value = Parse(text);
  if (!value) return fail(std::move(value).error());
  Field(draft) = *value;
  return {};
}

// Names that the catalogue decides.
template <auto Read, auto Field>
Result<> named(Draft& draft, const std::string& text, const char*) {
  RIGHTSIZE_TRY(Field(draft), Read(text, draft.catalog));
  return {};
}

template <auto Field>
Result<> read_watts(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(Field(draft), market::read_power(name, text));
  return {};
}

Result<> read_power_cap(Draft& draft, const std::string& text, const char* name) {
  draft.request.best_power_cap = to_lower(text) == "best";
  if (draft.request.best_power_cap) return {};
  RIGHTSIZE_TRY(draft.request.power_cap, market::read_power(name, text));
  return {};
}

Result<> read_pue(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(const settings::Value value, settings::read(settings::get(name), text, name));
  settings::store(value, draft.request.pue.emplace());
  draft.own.power_usage_effectiveness = *draft.request.pue;
  return {};
}

Result<> read_objective(Draft& draft, const std::string& text, const char*) {
  for (Objective objective : {Objective::kCost, Objective::kTime, Objective::kCostTime, Objective::kEnergy})
    if (name_of(objective) == to_lower(text)) draft.request.objective = objective;
  return {};
}

Result<> read_rate(Draft& draft, const std::string& text, const char* name) {
  draft.rate_per_day = text.find("/d") != std::string::npos;
  return stored < [](Draft & d) -> auto& { return d.request.work.rate; }
  > (draft, text, name);
}

Result<> read_providers(Draft& draft, const std::string& text, const char*) {
  std::set<std::string> known{market::kOwn};
  for (const catalog::Machine& machine : draft.catalog.machines) known.insert(machine.provider);
  RIGHTSIZE_TRY(draft.request.filter.providers, catalog::match_providers(text, known));
  return {};
}

Result<> read_regions(Draft& draft, const std::string& text, const char*) {
  RIGHTSIZE_TRY(draft.request.filter.regions, catalog::match_regions(text, catalog::known_regions(draft.catalog)));
  for (std::string_view word : split_list(text, ',')) {
    if (to_lower(word) == "eu")
      draft.request.assumed.emplace_back("eu is the EU and the EEA; europe adds the UK and Switzerland (--region)");
    if (to_lower(word) == "europe")
      draft.request.assumed.emplace_back("europe includes the UK and Switzerland; eu leaves them out (--region)");
  }
  return {};
}

Result<> read_gpus(Draft& draft, const std::string& text, const char*) {
  RIGHTSIZE_TRY(const std::vector<const catalog::Gpu*> gpus, catalog::gpus_meant(text, draft.catalog));
  for (const catalog::Gpu* gpu : gpus) draft.request.filter.gpus.push_back(gpu->name);
  return {};
}

Result<> read_own_counts(Draft& draft, const std::string& text, const char* name) {
  for (std::string_view part : split_list(text, ',')) {
    RIGHTSIZE_TRY(const settings::Value value, settings::read(settings::get(name), std::string(part), name));
    draft.own_counts.push_back(static_cast<int>(value.number));
  }
  return {};
}

Result<> read_prices(Draft& draft, const std::string& text, const char*) {
  std::vector<std::string> prices;
  for (std::string_view part : split_list(text, ',')) prices.emplace_back(part);
  Checked<market::OwnPrices> own = market::parse_own_prices(prices, draft.catalog);
  if (own) {
    draft.request.prices = *std::move(own);
    return {};
  }
  draft.more = std::move(own).error();
  Error first = std::move(draft.more.front());
  draft.more.erase(draft.more.begin());
  return fail(std::move(first));
}

Result<> read_global_batch(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(const settings::Value samples, settings::read(settings::get(name), text, name));
  settings::store(samples, draft.request.global_batch);
  draft.batch_given = true;
  return {};
}

// 0 shows all plans.
Result<> read_top(Draft& draft, const std::string& text, const char* name) {
  constexpr double kMost = 1000;
  RIGHTSIZE_TRY(const settings::Value top, settings::read(settings::get(name), text, name));
  draft.request.top = static_cast<int>(top.number > 0 ? std::min(top.number, kMost) : kMost);
  return {};
}

#define FIELD(member) ([](Draft & d) -> auto& { return d.member; })
constexpr Rule kRules[] = {
    {"name", stored<FIELD(request.name)>},
    {"partition", parsed<parse_cluster_name, FIELD(request.partition)>},
    {"account", parsed<parse_cluster_name, FIELD(request.account)>},
    {"model", stored<FIELD(model)>},
    {"tokens", stored<FIELD(tokens)>},
    {"samples", stored<FIELD(samples)>},
    {"epochs", stored<FIELD(epochs)>},
    {"dataset-tokens", stored<FIELD(dataset_tokens)>},
    {"dataset-samples", stored<FIELD(dataset_samples)>},
    {"rate", read_rate},
    {"mix", parsed<parse_mix, FIELD(request.work.mix)>},
    {"trace", stored<FIELD(trace)>},
    {"sessions", parsed<sim::parse_sessions, FIELD(request.work.sessions)>},
    {"routing", stored<FIELD(routing)>},
    {"rate-profile", stored<FIELD(rate_profile)>},
    {"hours-per-day", stored<FIELD(hours_per_day)>},
    {"ttft-slo", stored<FIELD(request.limits.ttft)>},
    {"tpot-slo", stored<FIELD(request.limits.tpot)>},
    {"latency-slo", stored<FIELD(request.limits.latency)>},
    {"slo-percentile", parsed<capacity::parse_percentile, FIELD(request.limits.slo_percentile)>},
    {"max-load", stored<FIELD(request.limits.max_load)>},
    {"allow-single", stored<FIELD(request.limits.allow_single)>},
    {"max-model-len", stored<FIELD(request.max_model_len)>},
    {"docs-per-query", stored<FIELD(request.work.documents)>},
    {"items", stored<FIELD(items)>},
    {"audio-hours", stored<FIELD(audio_hours)>},
    {"per-item", stored<FIELD(per_item)>},
    {"profile", stored<FIELD(profile)>},
    {"gpu-hours", stored<FIELD(gpu_time)>},
    {"deadline", stored<FIELD(request.limits.deadline)>},
    {"budget", stored<FIELD(request.limits.budget)>},
    {"objective", read_objective},
    {"max-power", read_watts<FIELD(request.limits.power)>},
    {"power-cap", read_power_cap},
    {"max-carbon", stored<FIELD(request.limits.co2_kg)>},
    {"carbon", parsed<market::read_carbon, FIELD(request.carbon)>},
    {"providers", read_providers},
    {"regions", read_regions},
    {"purchase", parsed<catalog::read_purchases, FIELD(request.filter.purchases)>},
    {"community", stored<FIELD(request.filter.community)>},
    {"price", read_prices},
    {"gpu", read_gpus},
    {"instance", named<catalog::match_instances, FIELD(request.filter.instances)>},
    {"exclude", named<catalog::match_names, FIELD(request.filter.excluded)>},
    {"min-memory", stored<FIELD(request.filter.min_memory)>},
    {"max-price", stored<FIELD(request.filter.max_price)>},
    {"max-gpus", stored<FIELD(request.limits.max_gpus)>},
    {"global-batch", read_global_batch},
    {"from-scratch", stored<FIELD(request.from_scratch)>},
    {"top", read_top},
    {"startup", stored<FIELD(request.startup)>},
    {"restart", stored<FIELD(request.restart)>},
    {"interruptions", stored<FIELD(request.assumptions.spot_interruptions_per_hour)>},
    {"checkpoint-rate", stored<FIELD(request.assumptions.checkpoint_total)>},
    {"checkpoint-every", stored<FIELD(request.assumptions.checkpoint_every)>},
    {"storage", stored<FIELD(request.assumptions.storage)>},
    {"storage-price", stored<FIELD(request.assumptions.storage_usd_per_gb_month)>},
    {"egress", stored<FIELD(request.assumptions.egress)>},
    {"egress-price", stored<FIELD(request.assumptions.egress_usd_per_gb)>},
    {"on-prem", named<market::read_own_machines, FIELD(own_machines)>},
    {"on-prem-machines", read_own_counts},
    {"kwh-price", stored<FIELD(own.usd_per_kwh)>},
    {"amortise-years", stored<FIELD(own.years)>},
    {"busy-share", stored<FIELD(own.busy)>},
    {"pue", read_pue},
};
#undef FIELD

bool is_given(const std::vector<Setting>& settings, std::string_view name) {
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == name; });
}

// Other spellings in files: ttft_slo and ttft are ttft-slo.
std::vector<Setting> with_own_names(std::vector<Setting> list) {
  const std::vector<std::string>& own = request_settings();
  const auto is_own = [&](std::string_view name) { return std::find(own.begin(), own.end(), name) != own.end(); };
  for (Setting& setting : list) {
    if (is_own(setting.name)) continue;
    std::string name = setting.name;
    std::replace(name.begin(), name.end(), '_', '-');
    const settings::Setting* row = settings::find(name);
    if (is_own(name))
      setting.name = name;
    else if (row != nullptr && is_own(row->name))
      setting.name = row->name;
  }
  return list;
}

// Settings of the job that may be lists.
bool is_choice(std::string_view name) {
  static constexpr std::string_view kChoices[] = {"method", "precision", "recompute", "batch",
                                                  "tp",     "pp",        "zero",      "ep"};
  return std::find(std::begin(kChoices), std::end(kChoices), name) != std::end(kChoices);
}

// Each value of a list, read as the job with that value.
template <class Field>
auto listed(const std::vector<Setting>& job_settings, std::string_view name, Errors& errors, Field field) {
  std::vector<std::decay_t<decltype(field(Job()))>> values;
  for (const Setting& setting : job_settings) {
    if (setting.name != name) continue;
    for (std::string_view part : split_list(setting.value, ',')) {
      // Only the job's kind, method and stack decide which values are possible.
      std::vector<Setting> alone;
      for (const Setting& other : job_settings) {
        if (other.name == "job" || other.name == "stack") alone.push_back(other);
      }
      alone.push_back({setting.name, std::string(part), setting.place});
      if (name == "tp" || name == "pp" || name == "ep") alone.push_back({"gpus", std::string(part), setting.place});
      if (name == "ep") alone.push_back({"tp", std::string(part), setting.place});
      if (Checked<Job> job = model::parse_job(alone))
        values.push_back(field(*job));
      else
        errors.insert(errors.end(), job.error().begin(), job.error().end());
    }
  }
  return values;
}

// `precision: auto` adds the formats that a GPU supports to the others of the list.
Errors take_auto(std::vector<Setting>& job_settings, SearchChoices& choices) {
  for (Setting& setting : job_settings) {
    if (setting.name != "precision") continue;
    std::string rest;
    for (std::string_view part : split_list(setting.value, ',')) {
      if (to_lower(part) == "auto")
        choices.precision_auto = true;
      else
        rest += (rest.empty() ? "" : ",") + std::string(part);
    }
    const bool serve = std::any_of(job_settings.begin(), job_settings.end(), [](const Setting& other) {
      return other.name == "job" && to_lower(other.value) == "serve";
    });
    if (choices.precision_auto && !serve)
      return {placed(bad_input("precision auto is only for serving").with_hint("add --job serve"), setting)};
    setting.value = rest;
  }
  std::erase_if(job_settings, [](const Setting& s) { return s.name == "precision" && s.value.empty(); });
  return {};
}

// Recorded traffic and hourly rates define the arrivals and their lengths.
Errors read_traffic(Draft& draft) {
  Work& work = draft.request.work;
  if (!draft.trace.empty()) {
    Checked<std::shared_ptr<const sim::Trace>> trace = read_trace(draft.trace);
    if (!trace) return std::move(trace).error();
    work.trace = *std::move(trace);
  }
  if (Errors wrong = check_lengths(draft.request); !wrong.empty()) return wrong;
  if (work.sessions)
    work.trace = capacity::session_traffic(*work.sessions, {.rate = work.rate, .context = draft.request.model.context});
  work.routing = capacity::parse_routing(draft.routing);
  if (draft.routing.empty() && work.trace && work.trace->prompts)
    draft.request.assumed.emplace_back("a prefix-aware router (--routing)");
  if (work.trace) {
    if (!(work.rate > RequestsPerSecond{})) work.rate = *sim::mean_rate(work.trace);
    const sim::RequestShape mean = capacity::mean_of({.arrivals = work.trace});
    draft.request.job.serve.isl = std::max<std::int64_t>(1, std::llround(mean.size));
    draft.request.job.serve.osl = std::max<std::int64_t>(1, std::llround(mean.output));
  }
  return set_hourly_rates(draft.request, draft.rate_profile, draft.hours_per_day, draft.rate_per_day);
}

// The amount of work, in the unit of the model.
Result<double> training_amount(const Draft& draft) {
  const bool image = draft.request.model.image_size > 0;
  const double sequence = static_cast<double>(draft.request.job.sequence);
  const double set_samples = draft.dataset_samples > 0 ? draft.dataset_samples : draft.dataset_tokens / sequence;
  const double samples = draft.samples > 0 ? draft.samples : draft.epochs * set_samples;
  const bool set_given = draft.epochs > 0 || draft.dataset_tokens > 0 || draft.dataset_samples > 0;
  if (image && (draft.tokens > 0 || draft.dataset_tokens > 0))
    return fail(bad_input(fmt::format("{} has images, not tokens", draft.request.model.name))
                    .with_hint("use --samples, or --epochs with --dataset-samples"));
  if ((draft.tokens > 0 && (samples > 0 || set_given)) || (draft.samples > 0 && set_given)) {
    return fail(bad_input("the amount of work is given twice")
                    .with_hint("use --tokens (or --samples) for the total, or --epochs with --dataset-tokens"));
  }
  const double sequences = draft.request.job.train.preference ? 2 : 1;  // of a sample
  const double amount = draft.tokens > 0 ? draft.tokens : image ? samples : samples * sequences * sequence;
  if (!(amount > 0)) {
    return fail(bad_input("the amount of training data is missing")
                    .with_hint(image ? "use --samples 90M, or --epochs 90 --dataset-samples 1.28M"
                                     : "use --tokens 1B, or --epochs 3 --dataset-tokens 100M")
                    .with_hint("to serve the model instead, give a rate: --rate 5/s"));
  }
  return amount;
}

// Converts hours of audio to windows of the model's input length.
Result<> count_audio(Draft& draft) {
  if (!(draft.audio_hours > 0)) return {};
  const double window = perf::work_of(draft.request.model).audio_seconds;
  if (!(window > 0))
    return fail(
        bad_input(fmt::format("{} does not transcribe audio", draft.request.model.name)).with_hint("use --items"));
  if (draft.items > 0)
    return fail(bad_input("the amount of work is given twice").with_hint("use --items or --audio-hours"));
  draft.items = std::ceil(draft.audio_hours * 3'600 / window);
  return {};
}

Result<> set_work(Draft& draft) {
  if (Result<> audio = count_audio(draft); !audio) return audio;
  Work& work = draft.request.work;
  const bool online = work.rate > RequestsPerSecond{} || !work.mix.empty() || work.trace;
  if (draft.request.job.kind == JobKind::kTrain) {
    if (online || draft.items > 0)
      return fail(bad_input("a rate, mix or items belong to serving").with_hint("add --job serve"));
    RIGHTSIZE_TRY(work.amount, training_amount(draft));
    const bool counted = draft.samples > 0 || draft.dataset_samples > 0;
    if (counted && draft.request.model.image_size == 0)
      draft.request.assumed.push_back(
          fmt::format("each sample fills {} tokens (--tokens if they are shorter)", draft.request.job.sequence));
    return choose_weights(draft.request);
  }
  if (draft.tokens + draft.samples + draft.epochs > 0)
    return fail(bad_input("tokens, samples and epochs belong to training")
                    .with_hint("to process a data set with a served model, use --items"));
  if (draft.items > 0 && online)
    return fail(bad_input("--items is an offline job, --rate a service").with_hint("use one of the two"));
  work.kind = draft.items > 0 ? WorkKind::kOffline : WorkKind::kServing;
  const PlanLimits& limits = draft.request.limits;
  if (work.kind == WorkKind::kServing && limits.deadline)
    return fail(bad_input("a service has no deadline")
                    .with_hint("--ttft-slo and --tpot-slo limit the latency; --items N is a job that ends"));
  if (work.kind == WorkKind::kOffline && (limits.ttft || limits.tpot || limits.latency))
    return fail(bad_input("latency limits apply to services, not to offline jobs")
                    .with_hint("use --deadline, or --rate instead of --items"));
  work.amount = draft.items * work.documents;
  if (!draft.per_item) return {};
  if (work.kind != WorkKind::kOffline) return fail(bad_input("per-item needs --items, the number of items"));
  if (draft.request.filter.gpus.size() != 1)
    return fail(bad_input("per-item needs the GPU it was measured on").with_hint("add --gpu, e.g. --gpu l4"));
  if (!(*draft.per_item > Seconds{})) return fail(bad_input("per-item must be greater than 0"));
  const std::string& gpu = draft.request.filter.gpus.front();
  work.measured = {{gpu, 1 / in_seconds(*draft.per_item)}};
  work.measured_how = fmt::format("{} per item on {}", format_duration(*draft.per_item), gpu);
  return {};
}

// Sorts settings into those of the job and those of the request, applying the latter.
std::vector<Setting> apply_settings(const std::vector<Setting>& settings, Draft& draft, Errors& errors) {
  std::vector<Setting> job_settings;
  std::set<std::string> seen;
  for (const Setting& setting : settings) {
    if (!seen.insert(setting.name).second) {
      errors.push_back(placed(bad_input(fmt::format("'{}' is given twice", setting.name)), setting));
      continue;
    }
    const auto found =
        std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.name == setting.name; });
    if (found == std::end(kRules)) {
      job_settings.push_back(setting);
    } else if (Result<> checked = settings::check(setting.name, setting.value, setting.place); !checked) {
      errors.push_back(std::move(checked).error());
    } else if (Result<> applied = found->apply(draft, setting.value, found->name); !applied) {
      errors.push_back(placed(std::move(applied).error(), setting));
      for (Error& more : std::exchange(draft.more, {})) errors.push_back(placed(std::move(more), setting));
    }
  }
  return job_settings;
}

// The job without the settings that vary; `gpus` becomes a limit.
Checked<Job> fixed_job(const std::vector<Setting>& job_settings, Draft& draft) {
  std::vector<Setting> fixed = job_settings;
  std::erase_if(fixed, [](const Setting& setting) { return is_choice(setting.name); });
  RIGHTSIZE_TRY(Job job, model::parse_job(fixed));
  if (job.parallel.gpus > 1 || is_given(fixed, "gpus")) draft.request.limits.gpus = job.parallel.gpus;
  job.parallel.gpus = 1;
  return job;
}

}  // namespace

const std::vector<std::string>& request_settings() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> names;
    for (const Rule& rule : kRules) names.emplace_back(rule.name);
    names.insert(names.end(), model::job_settings().begin(), model::job_settings().end());
    return names;
  }();
  return kAll;
}

std::string meaning_of(std::string_view setting) {
  const settings::Setting& row = settings::get(setting);
  const bool length = row.kind == settings::Kind::kLength;
  return settings::help(row) +
         (length ? " on average, varied as in public traces; 1024,fixed: each; 1k,p95=8k: median and p95" : "");
}

Checked<Request> read_request(const std::vector<Setting>& given, const catalog::Catalog& catalog) {
  const std::vector<Setting> settings = with_own_names(given);
  Draft draft(catalog);
  Errors errors;
  std::vector<Setting> job_settings = apply_settings(settings, draft, errors);
  if (!is_given(settings, "job") && speaks_of_serving(settings)) job_settings.push_back({"job", "serve", {}});
  check_names(job_settings, errors);
  refuse_decided(job_settings, errors);
  for (Error& error : take_auto(job_settings, draft.request.choices)) errors.push_back(std::move(error));
  GivenLengths lengths;
  for (Error& error : take_lengths(job_settings, lengths)) errors.push_back(std::move(error));
  const int lengths_given = (lengths.isl || lengths.osl ? 1 : 0) + (draft.request.work.mix.empty() ? 0 : 1) +
                            (draft.trace.empty() ? 0 : 1) + (draft.request.work.sessions ? 1 : 0);
  if (lengths_given > 1)
    errors.push_back(
        bad_input("lengths are given twice").with_hint("use --isl and --osl, --mix, --sessions or --trace alone"));
  if (!draft.rate_profile.empty() && draft.request.work.rate > RequestsPerSecond{})
    errors.push_back(bad_input("rate and rate-profile are both given").with_hint("use one of the two"));
  if (!draft.rate_profile.empty() && draft.hours_per_day < 24)
    errors.push_back(bad_input("hours-per-day and rate-profile are both given").with_hint("use one of the two"));
  if (draft.model.empty() && !draft.per_item && draft.profile.empty())
    errors.push_back(bad_input("--model is missing").with_hint("'rightsize models' lists the built-in ones"));
  if (!errors.empty()) return fail(std::move(errors));

  Request& request = draft.request;
  if (Checked<Job> job = fixed_job(job_settings, draft))
    request.job = *job;
  else
    errors = std::move(job).error();
  if (errors.empty() && draft.profile.empty()) check_kind(settings, request.job.kind, errors);
  SearchChoices& c = request.choices;
  c.methods = listed(job_settings, "method", errors, [](const Job& j) { return j.train.method; });
  c.precisions = listed(job_settings, "precision", errors, [](const Job& j) { return j.precision; });
  c.recomputes = listed(job_settings, "recompute", errors, [](const Job& j) { return j.train.recompute; });
  c.batches = listed(job_settings, "batch", errors, [](const Job& j) { return j.batch; });
  c.tensor = listed(job_settings, "tp", errors, [](const Job& j) { return j.parallel.tensor; });
  c.pipeline = listed(job_settings, "pp", errors, [](const Job& j) { return j.parallel.pipeline; });
  c.zero = listed(job_settings, "zero", errors, [](const Job& j) { return j.parallel.zero; });
  c.separate = std::none_of(job_settings.begin(), job_settings.end(),
                            [](const Setting& s) { return s.name == "disaggregated" && to_lower(s.value) == "off"; });
  request.loss_assumed = std::none_of(job_settings.begin(), job_settings.end(),
                                      [](const Setting& s) { return s.name == "cross-entropy"; });
  request.stack_assumed = request.job.kind == JobKind::kTrain && !is_given(job_settings, "stack");
  if (request.stack_assumed) request.assumed.emplace_back("Hugging Face Trainer (--stack hf)");
  c.expert = listed(job_settings, "ep", errors, [](const Job& j) { return j.parallel.expert; });
  if (!errors.empty()) return fail(std::move(errors));

  if (!draft.model.empty()) {
    RIGHTSIZE_TRY(model::ModelJob fitted, model::fit_to_model(draft.model, request.job, job_settings));
    request.model = std::move(fitted.model);
    request.model_given = draft.model;
    request.job = fitted.job;
    assume_context(request);
    if (const Result<> spread = check_splits(request); !spread) return fail(spread.error());
    if (request.job.sequence == 0) request.job.sequence = memory::default_sequence(request.model);
    if (Errors wrong = check_methods(request); !wrong.empty()) return fail(std::move(wrong));
    request.job = perf::fitted_to(perf::work_of(request.model), request.job);
  }
  if (request.limits.latency && perf::serves_batches(perf::work_of(request.model))) {  // the only latency they have
    const Seconds latency = *std::exchange(request.limits.latency, std::nullopt);
    request.limits.ttft_is_latency = latency <= request.limits.ttft.value_or(latency);
    request.limits.ttft = std::min(request.limits.ttft.value_or(latency), latency);
  }
  if (Errors wrong = cut_context(request); !wrong.empty()) return fail(std::move(wrong));
  if (Errors wrong = read_traffic(draft); !wrong.empty()) return fail(std::move(wrong));
  set_lengths(request, lengths);
  request.work.beyond_context = beyond_context(request);
  constexpr std::int64_t kImagesPerStep = 256;
  if (!draft.batch_given && request.model.image_size > 0) request.global_batch = kImagesPerStep;
  request.global_batch_assumed = !draft.batch_given;
  if (!draft.profile.empty()) {
    Result<std::string> text = read_file(draft.profile);
    if (!text) return fail(Errors{std::move(text).error()});
    RIGHTSIZE_TRY(request.work,
                  read_profile(draft.profile, *std::move(text), in_hours(draft.gpu_time), request.limits));
    request.job.kind = JobKind::kServe;
  } else if (Result<> work = set_work(draft); !work) {
    return fail(Errors{std::move(work).error()});
  }
  if (Errors wrong = check_answers(request, settings); !wrong.empty()) return fail(std::move(wrong));
  if (request.work.kind != WorkKind::kServing) request.day_share = draft.hours_per_day / 24.0;
  if (!draft.batch_given && request.work.kind == WorkKind::kTraining && request.model.image_size == 0)
    request.global_batch = usual_batch(request);
  request.limits.max_gpus_assumed = !is_given(settings, "max-gpus") && !request.limits.gpus;
  request.lengths_assumed = request.job.kind == JobKind::kServe && !lengths.isl && !lengths.osl &&
                            request.work.mix.empty() && !request.work.trace && !request.work.is_measured() &&
                            !perf::serves_batches(perf::work_of(request.model));
  request.sequence_assumed =
      !lengths.isl && !is_given(job_settings, "seq") && request.model.image_size == 0 && !request.work.is_measured() &&
      (request.job.kind == JobKind::kTrain || perf::serves_batches(perf::work_of(request.model)));
  if (request.prices.bare && request.filter.gpus.empty())
    return fail(
        Errors{bad_input("price: name the GPU that this price is for")
                   .with_hint("write --price h100-sxm=2.5, add --gpu, or write --price '*=2.5' for every GPU")});
  if (request.filter.purchases.empty()) request.filter.purchases = {catalog::Purchase::kOnDemand};
  fill_choices(request);
  // A service runs all the time.
  if (request.work.kind == WorkKind::kServing && !is_given(settings, "busy-share")) draft.own.busy = 1;
  Result<std::vector<market::OwnHardware>> fleet = market::own_fleet(draft.own_machines, draft.own_counts, draft.own);
  if (!fleet) return fail(Errors{std::move(fleet).error()});
  request.own = *std::move(fleet);
  if (request.limits.co2_kg && !request.carbon) {
    request.carbon = market::CarbonChoice{};
    request.assumed.emplace_back("the mean CO2 of the grid in each region (--carbon)");
  }
  if (request.best_power_cap && !is_given(settings, "objective")) request.objective = Objective::kEnergy;
  if (request.name.empty()) request.name = model_shown(request);
  return std::move(request);
}

}  // namespace rightsize::plan
