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
#include "catalog/places.h"
#include "catalog/purchase_terms.h"
#include "families/model_job.h"
#include "memory/memory.h"
#include "memory/weight_bytes.h"
#include "perf/perf.h"
#include "plan/check_settings.h"
#include "plan/read_profile.h"
#include "plan/read_traffic.h"
#include "plan/settings.h"
#include "settings/setting.h"

namespace rightsize::plan {
namespace {

using model::Job;
using model::JobKind;
using model::Setting;
using model::Stack;

// What the settings say before they are put together.
struct Draft {
  explicit Draft(const catalog::Catalog& facts) : catalog(facts) {}

  const catalog::Catalog& catalog;
  Request request;
  std::string model;
  double tokens = 0, samples = 0, epochs = 0, dataset_tokens = 0, dataset_samples = 0, items = 0, audio_hours = 0;
  bool batch_given = false;
  std::string trace, rate_profile;
  std::string profile;
  Seconds gpu_time = kMonth;
  std::optional<Seconds> per_item;
  market::OwnHardware own;
  Errors more;  // of a setting with several mistakes, behind the first
};

// How a setting is read: its text, and its name for error messages.
using Apply = Result<> (*)(Draft& draft, const std::string& text, const char* name);
struct Rule {
  const char* name;
  const char* values;
  const char* meaning;
  Apply apply;
};

// The ways most settings are read; Field says where the value goes. Plain functions: the table of rules is a constant.
template <auto Parse, auto Field>
Result<> parsed(Draft& draft, const std::string& text, const char*) {
  auto value = Parse(text);
  if (!value) return fail(std::move(value).error());
  Field(draft) = *value;
  return {};
}

Result<> store_number(double& to, const Result<double>& value, bool fine, const char* name, const char* limit) {
  if (!value) return fail(value.error());
  if (!fine) return fail(bad_input(fmt::format("{} must be {}", name, limit)));
  to = *value;
  return {};
}

template <auto Field>
Result<> amount(Draft& draft, const std::string& text, const char* name) {
  const Result<double> value = parse_count(text);
  constexpr double kMost = 1e18;  // a thousand times what anyone has trained on
  return store_number(Field(draft), value, value && *value >= 1 && *value <= kMost, name, "between 1 and 1e18");
}

template <auto Field>
Result<> positive(Draft& draft, const std::string& text, const char* name) {
  const Result<double> value = parse_number(text);
  return store_number(Field(draft), value, value && *value > 0, name, "above zero");
}

template <auto Field>
Result<> text_of(Draft& draft, const std::string& text, const char*) {
  Field(draft) = text;
  return {};
}

template <auto Field>
Result<> truth(Draft& draft, const std::string& text, const char* name) {
  const std::string lower = to_lower(text);
  const bool yes = lower == "true" || lower == "yes" || lower == "on";
  if (!yes && lower != "false" && lower != "no" && lower != "off")
    return fail(bad_input(fmt::format("{} must be true or false, not '{}'", name, text)));
  Field(draft) = yes;
  return {};
}

Result<double> parse_between(const std::string& text, double least, double most, const char* wrong) {
  RIGHTSIZE_TRY(const double value, parse_count(text));
  if (value < least || value > most) return fail(bad_input(wrong));
  return value;
}

Result<> read_objective(Draft& draft, const std::string& text, const char*) {
  for (Objective objective : {Objective::kCost, Objective::kTime, Objective::kCostTime}) {
    if (name_of(objective) != to_lower(text)) continue;
    draft.request.objective = objective;
    return {};
  }
  return fail(bad_input(fmt::format("unknown objective '{}'; use cost, time or cost-time", text)));
}

Result<> read_providers(Draft& draft, const std::string& text, const char*) {
  std::set<std::string> known{market::kOwn};
  for (const catalog::Machine& machine : draft.catalog.machines) known.insert(machine.provider);
  RIGHTSIZE_TRY(draft.request.filter.providers, catalog::match_providers(text, known));
  return {};
}

Result<> read_regions(Draft& draft, const std::string& text, const char*) {
  std::set<std::string> known;
  for (const catalog::Price& price : draft.catalog.prices) known.insert(price.region);
  RIGHTSIZE_TRY(draft.request.filter.regions, catalog::match_regions(text, known));
  return {};
}

Result<> read_purchases(Draft& draft, const std::string& text, const char*) {
  for (std::string_view part : split_list(text, ',')) {
    RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(part));
    draft.request.filter.purchases.push_back(purchase);
  }
  return {};
}

Result<> read_gpus(Draft& draft, const std::string& text, const char*) {
  for (std::string_view part : split_list(text, ',')) {
    RIGHTSIZE_TRY(std::vector<const catalog::Gpu*> gpus, draft.catalog.match_gpus(part));
    for (const catalog::Gpu* gpu : gpus) draft.request.filter.gpus.push_back(gpu->name);
  }
  return {};
}

// "8xh100-sxm=280000USD": GPUs of one machine, and its price.
Result<> read_own(Draft& draft, const std::string& text, const char*) {
  const std::size_t x = text.find('x'), equals = text.rfind('=');
  const auto wrong = [&] {
    return fail(
        bad_input(fmt::format("'{}' is not COUNTxGPU=PRICE", text)).with_hint("for example 8xh100-sxm=280000USD"));
  };
  if (x == std::string::npos || equals == std::string::npos || equals < x) return wrong();
  RIGHTSIZE_TRY(std::int64_t count, parse_integer(text.substr(0, x)));
  if (count < 1 || count > 1024) return wrong();
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, draft.catalog.find_gpu(text.substr(x + 1, equals - x - 1)));
  RIGHTSIZE_TRY(Usd price, parse_usd(text.substr(equals + 1)));
  draft.own.gpu = gpu->name;
  draft.own.gpus = static_cast<int>(count);
  draft.own.price = price;
  return {};
}

// A number alone is per hour, as everywhere else.
Result<> read_interruptions(Draft& draft, const std::string& text, const char*) {
  RIGHTSIZE_TRY(const double per_hour, parse_per_hour(text));
  if (!(per_hour >= 0 && per_hour <= 100)) return fail(bad_input("interruptions must be between 0 and 100 per hour"));
  draft.request.assumptions.spot_interruptions_per_hour = per_hour;
  return {};
}

// A count within a range.
template <auto Field, int kLeast, int kMost>
Result<> counted(Draft& draft, const std::string& text, const char* name) {
  const std::string wrong = fmt::format("{} must be between {} and {}", name, kLeast, kMost);
  RIGHTSIZE_TRY(const double value, parse_between(text, kLeast, kMost, wrong.c_str()));
  Field(draft) = static_cast<int>(value);
  return {};
}

template <auto Field, int kLeastPercent, int kMostPercent>
Result<> between(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(const double value, parse_number(text));
  constexpr double kLeast = kLeastPercent / 100.0, kMost = kMostPercent / 100.0;
  if (!(value >= kLeast && value <= kMost))
    return fail(bad_input(fmt::format("{} must be between {} and {}", name, kLeast, kMost)));
  Field(draft) = value;
  return {};
}

Result<> read_checkpoint_every(Draft& draft, const std::string& text, const char* name) {
  RIGHTSIZE_TRY(const Seconds every, parse_duration(text));
  if (every < seconds(60)) return fail(bad_input(fmt::format("{} must be at least a minute", name)));
  draft.request.assumptions.checkpoint_every = every;
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

Result<> read_global_batch(Draft& draft, const std::string& text, const char*) {
  RIGHTSIZE_TRY(const double samples, parse_between(text, 1, 1e7, "global-batch must be between 1 and 10M"));
  draft.request.global_batch = static_cast<std::int64_t>(samples);
  draft.batch_given = true;
  return {};
}

#define FIELD(member) ([](Draft & d) -> auto& { return d.member; })
constexpr Rule kRules[] = {
    {"name", "TEXT", "name of the workload in reports", text_of<FIELD(request.name)>},
    {"model", "NAME|FILE", "built-in name (see 'rightsize models') or path of a Hugging Face config.json",
     text_of<FIELD(model)>},
    {"tokens", "N", "train: tokens to train on, e.g. 1B", amount<FIELD(tokens)>},
    {"samples", "N", "train: sequences or images to train on", amount<FIELD(samples)>},
    {"epochs", "X", "train: passes over the data set", positive<FIELD(epochs)>},
    {"dataset-tokens", "N", "train: tokens of the data set", amount<FIELD(dataset_tokens)>},
    {"dataset-samples", "N", "train: sequences or images of the data set", amount<FIELD(dataset_samples)>},
    {"rate", "N/s", "serve: arrival rate, e.g. 20/s", parsed<parse_request_rate, FIELD(request.work.rate)>},
    {"mix", "LIST", "serve: request sizes with their shares, e.g. 1024:256=0.7,8192:512=0.3",
     parsed<parse_mix, FIELD(request.work.mix)>},
    {"trace", "FILE", "serve: recorded traffic (time, tokens in, tokens out), at --rate or as recorded",
     text_of<FIELD(trace)>},
    {"rate-profile", "FILE",
     "serve: columns hour, rate (24 rows of a day or 168 of a week): machines by hour, sized for the peak",
     text_of<FIELD(rate_profile)>},
    {"ttft-slo", "TIME", "serve: limit on TTFT (or on the whole answer, without tokens)",
     parsed<parse_duration, FIELD(request.limits.ttft)>},
    {"tpot-slo", "TIME", "serve: limit on TPOT", parsed<parse_duration, FIELD(request.limits.tpot)>},
    {"slo-percentile", "50|95|99", "serve: percentile of TTFT and TPOT for the limits (default 95)",
     parsed<capacity::parse_percentile, FIELD(request.limits.slo_percentile)>},
    {"max-load", "X", "serve: most load on the replicas, as a share of their capacity (default 0.8)",
     between<FIELD(request.limits.max_load), 1, 100>},
    {"allow-single", "true|false", "serve: one replica is enough, without N+1 (default false)",
     truth<FIELD(request.limits.allow_single)>},
    {"items", "N", "offline: number of requests to process", amount<FIELD(items)>},
    {"audio-hours", "N", "offline: hours of audio to transcribe, in windows of 30 s", amount<FIELD(audio_hours)>},
    {"per-item", "TIME", "offline: measured time of an item on the one --gpu, instead of an estimate",
     parsed<parse_duration, FIELD(per_item)>},
    {"profile", "FILE", "output of 'rightsize profile --format json': plan for the measured work",
     text_of<FIELD(profile)>},
    {"gpu-hours", "TIME", "profile: amount of work in hours of the profiled GPU (default: a month)",
     parsed<parse_duration, FIELD(gpu_time)>},
    {"deadline", "TIME", "time limit, e.g. 14d", parsed<parse_duration, FIELD(request.limits.deadline)>},
    {"budget", "USD", "cost limit, e.g. 500USD (serve: per month)", parsed<parse_usd, FIELD(request.limits.budget)>},
    {"objective", "cost|time|cost-time", "what to minimize (default cost)", read_objective},
    {"providers", "LIST", "only these providers, e.g. aws,gcp", read_providers},
    {"regions", "LIST", "only these regions, prefixes of them, or us, eu, asia", read_regions},
    {"purchase", "LIST",
     "terms: on-demand, spot, 1y, 3y (default on-demand; the report also shows what others would save)",
     read_purchases},
    {"community", "true|false",
     "also marketplaces that resell the machines of others (RunPod community, Vast, Shadeform, Prime Intellect, ...)",
     truth<FIELD(request.filter.community)>},
    {"price", "LIST", "your hourly prices instead of list prices: h100-sxm=2.49, p5.48xlarge=55", read_prices},
    {"gpu", "LIST", "only these GPUs or families, e.g. h100-sxm,l40s or a100", read_gpus},
    {"max-gpus", "N", "most GPUs of a plan (default 64)", counted<FIELD(request.limits.max_gpus), 1, 65536>},
    {"global-batch", "N", "train: samples of one optimizer step (default 128, images 256)", read_global_batch},
    {"top", "N", "plans to show (default 5)", counted<FIELD(request.top), 1, 1000>},
    {"startup", "TIME",
     "from the order to the first step (default 3min, plus the image at 41 MB/s and weights at 1 GB/s)",
     parsed<parse_duration, FIELD(request.startup)>},
    {"restart", "TIME", "after an interruption (default as --startup)", parsed<parse_duration, FIELD(request.restart)>},
    {"interruptions", "N/h", "interruptions of one spot machine per hour (default 0.05)", read_interruptions},
    {"checkpoint-rate", "GB/s", "write speed of a checkpoint (default 1GB/s)",
     parsed<parse_bandwidth, FIELD(request.assumptions.checkpoint_rate)>},
    {"checkpoint-every", "TIME", "train: longest time between two checkpoints (default 4h)", read_checkpoint_every},
    {"storage", "BYTES", "storage for the length of the job, e.g. 2TB",
     parsed<parse_bytes, FIELD(request.assumptions.storage)>},
    {"storage-price", "X", "USD per GB and month (default 0.08)",
     positive<FIELD(request.assumptions.storage_usd_per_gb_month)>},
    {"egress", "BYTES", "data moved out of the cloud once", parsed<parse_bytes, FIELD(request.assumptions.egress)>},
    {"egress-price", "X", "USD per GB (default 0.09)", positive<FIELD(request.assumptions.egress_usd_per_gb)>},
    {"on-prem", "NxGPU=USD", "a machine you own and its price, e.g. 8xh100-sxm=280000USD", read_own},
    {"on-prem-machines", "N", "number of these machines (default 1)", counted<FIELD(own.machines), 1, 10000>},
    {"kwh-price", "X", "on-prem: USD per kilowatt-hour (default 0.12)", between<FIELD(own.usd_per_kwh), 0, 1000>},
    {"amortise-years", "X", "on-prem: years until the machine is written off (default 4)",
     between<FIELD(own.years), 10, 5000>},
    {"busy-share", "X", "on-prem: share of those years it works, 0-1 (default 0.7)", between<FIELD(own.busy), 1, 100>},
    {"pue", "X", "on-prem: power of the building over power of the machine (default 1.3)",
     between<FIELD(own.power_usage_effectiveness), 100, 500>},
};
#undef FIELD

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
Errors take_auto(std::vector<Setting>& job_settings, Choices& choices) {
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

// Recorded traffic and rates by hour say what arrives, and how long it is.
Errors read_traffic(Draft& draft) {
  Work& work = draft.request.work;
  if (!draft.trace.empty()) {
    Checked<std::shared_ptr<const sim::Trace>> trace = read_trace(draft.trace);
    if (!trace) return std::move(trace).error();
    work.trace = *std::move(trace);
    if (!(work.rate > RequestsPerSecond{})) work.rate = *sim::mean_rate(work.trace);
    const sim::RequestShape mean = capacity::mean_of({.arrivals = work.trace});
    draft.request.job.serve.isl = std::max<std::int64_t>(1, std::llround(mean.size));
    draft.request.job.serve.osl = std::max<std::int64_t>(1, std::llround(mean.output));
  }
  if (!draft.rate_profile.empty()) {
    Checked<std::vector<double>> rates = read_rate_profile(draft.rate_profile);
    if (!rates) return std::move(rates).error();
    work.rate_by_hour = *std::move(rates);
    work.rate = requests_per_s(*std::max_element(work.rate_by_hour.begin(), work.rate_by_hour.end()));
  }
  return {};
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
    return fail(
        bad_input("the amount of work is given twice")
            .with_hint("use --tokens (or --samples) for the total, or --epochs with --dataset-tokens"));
  }
  const double amount = draft.tokens > 0 ? draft.tokens : image ? samples : samples * sequence;
  if (!(amount > 0)) {
    return fail(bad_input("the amount of training data is missing")
                    .with_hint(image ? "use --samples 90M, or --epochs 90 --dataset-samples 1.28M"
                                     : "use --tokens 1B, or --epochs 3 --dataset-tokens 100M")
                    .with_hint("to serve the model instead, give a rate: --rate 5/s"));
  }
  return amount;
}

// Hours of audio are windows of what the model hears at once.
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
    return {};
  }
  if (draft.tokens + draft.samples + draft.epochs > 0)
    return fail(bad_input("tokens, samples and epochs belong to training")
                    .with_hint("to process a data set with a served model, use --items"));
  if (draft.items > 0 && online)
    return fail(bad_input("--items is an offline job, --rate a service").with_hint("use one of the two"));
  work.kind = draft.items > 0 ? WorkKind::kOffline : WorkKind::kServing;
  const Limits& limits = draft.request.limits;
  if (work.kind == WorkKind::kServing && limits.deadline)
    return fail(bad_input("a service has no deadline")
                    .with_hint("--ttft-slo and --tpot-slo limit the latency; --items N is a job that ends"));
  if (work.kind == WorkKind::kOffline && (limits.ttft || limits.tpot))
    return fail(bad_input("ttft-slo and tpot-slo apply to services, not to offline jobs")
                    .with_hint("use --deadline, or --rate instead of --items"));
  work.amount = draft.items;
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

void set_purchases(Request& request) {
  if (!request.filter.purchases.empty()) return;
  using catalog::Purchase;
  request.filter.purchases = {Purchase::kOnDemand};
}

// What the search decides itself, however the user would like to help it.
void refuse_decided(const std::vector<Setting>& job_settings, Errors& errors) {
  for (const Setting& setting : job_settings) {
    if (setting.name == "concurrency") {
      errors.push_back(placed(bad_input("a plan is sized by the arrival rate, not by concurrency")
                                  .with_hint("use --rate: 100 concurrent requests of 2 s each are --rate 50/s"),
                              setting));
    } else if (setting.name == "accumulate") {
      errors.push_back(placed(bad_input("micro-batch and accumulation are chosen by the search")
                                  .with_hint("use --global-batch for the exact number of samples per step"),
                              setting));
    }
  }
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

// The job without what varies; `gpus` becomes a limit.
Checked<Job> fixed_job(const std::vector<Setting>& job_settings, Draft& draft) {
  std::vector<Setting> fixed;
  for (const Setting& setting : job_settings) {
    if (is_choice(setting.name)) continue;
    fixed.push_back(setting);
  }
  RIGHTSIZE_TRY(Job job, model::parse_job(fixed));
  if (job.parallel.gpus > 1 || std::any_of(fixed.begin(), fixed.end(), [](auto& s) { return s.name == "gpus"; }))
    draft.request.limits.gpus = job.parallel.gpus;
  job.parallel.gpus = 1;
  return job;
}

}  // namespace

const std::vector<model::SettingInfo>& request_settings() {
  static const std::vector<model::SettingInfo> kAll = [] {
    std::vector<model::SettingInfo> infos;
    for (const Rule& r : kRules) infos.push_back({r.name, r.values, r.meaning});
    return infos;
  }();
  return kAll;
}

Checked<Request> read_request(const std::vector<Setting>& settings, const catalog::Catalog& catalog) {
  Draft draft(catalog);
  Errors errors;
  std::vector<Setting> job_settings = apply_settings(settings, draft, errors);
  const bool job_given =
      std::any_of(settings.begin(), settings.end(), [](const Setting& s) { return s.name == "job"; });
  if (!job_given && speaks_of_serving(settings)) job_settings.push_back({"job", "serve", {}});
  check_names(job_settings, errors);
  refuse_decided(job_settings, errors);
  for (Error& error : take_auto(job_settings, draft.request.choices)) errors.push_back(std::move(error));
  Lengths lengths;
  for (Error& error : take_lengths(job_settings, lengths)) errors.push_back(std::move(error));
  const int lengths_given =
      (lengths.isl || lengths.osl ? 1 : 0) + (draft.request.work.mix.empty() ? 0 : 1) + (draft.trace.empty() ? 0 : 1);
  if (lengths_given > 1)
    errors.push_back(bad_input("lengths are given twice").with_hint("use --isl and --osl, --mix or --trace alone"));
  if (!draft.rate_profile.empty() && draft.request.work.rate > RequestsPerSecond{})
    errors.push_back(bad_input("rate and rate-profile are both given").with_hint("use one of the two"));
  if (draft.model.empty() && !draft.per_item && draft.profile.empty())
    errors.push_back(
        bad_input("--model is missing").with_hint("'rightsize models' lists the built-in ones"));
  if (!errors.empty()) return fail(std::move(errors));

  Request& request = draft.request;
  if (Checked<Job> job = fixed_job(job_settings, draft))
    request.job = *job;
  else
    errors = std::move(job).error();
  if (errors.empty() && draft.profile.empty()) check_kind(settings, request.job.kind, errors);
  Choices& c = request.choices;
  c.methods = listed(job_settings, "method", errors, [](const Job& j) { return j.train.method; });
  c.precisions = listed(job_settings, "precision", errors, [](const Job& j) { return j.precision; });
  c.recomputes = listed(job_settings, "recompute", errors, [](const Job& j) { return j.train.recompute; });
  c.batches = listed(job_settings, "batch", errors, [](const Job& j) { return j.batch; });
  c.tensor = listed(job_settings, "tp", errors, [](const Job& j) { return j.parallel.tensor; });
  c.pipeline = listed(job_settings, "pp", errors, [](const Job& j) { return j.parallel.pipeline; });
  c.zero = listed(job_settings, "zero", errors, [](const Job& j) { return j.parallel.zero; });
  c.separate = std::none_of(job_settings.begin(), job_settings.end(),
                            [](const Setting& s) { return s.name == "disaggregated" && to_lower(s.value) == "off"; });
  c.expert = listed(job_settings, "ep", errors, [](const Job& j) { return j.parallel.expert; });
  if (!errors.empty()) return fail(std::move(errors));

  if (!draft.model.empty()) {
    RIGHTSIZE_TRY(model::ModelJob fitted, model::fit_to_model(draft.model, request.job, job_settings));
    request.model = std::move(fitted.model);
    request.job = fitted.job;
    if (const Result<> spread = check_experts(request); !spread) return fail(spread.error());
    if (request.job.sequence == 0) request.job.sequence = memory::default_sequence(request.model);
    if (Errors wrong = memory::check_job(request.model, request.job); !wrong.empty()) return fail(std::move(wrong));
    request.job = perf::fitted_to(perf::work_of(request.model), request.job);
  }
  if (Errors wrong = read_traffic(draft); !wrong.empty()) return fail(std::move(wrong));
  set_lengths(request, lengths);
  constexpr std::int64_t kImagesPerStep = 256;
  if (!draft.batch_given && request.model.image_size > 0) request.global_batch = kImagesPerStep;
  if (!draft.profile.empty()) {
    Result<std::string> text = read_file(draft.profile);
    if (!text) return fail(Errors{std::move(text).error()});
    RIGHTSIZE_TRY(request.work, read_profile(draft.profile, *std::move(text), in_hours(draft.gpu_time)));
    request.job.kind = JobKind::kServe;
  } else if (Result<> work = set_work(draft); !work) {
    return fail(Errors{std::move(work).error()});
  }
  request.lengths_assumed = request.job.kind == JobKind::kServe && !lengths.isl && !lengths.osl &&
                            request.work.mix.empty() && !request.work.trace && !request.work.is_measured() &&
                            !perf::serves_batches(perf::work_of(request.model));
  const bool sequence_given = lengths.isl || std::any_of(job_settings.begin(), job_settings.end(),
                                                         [](const Setting& s) { return s.name == "seq"; });
  request.sequence_assumed =
      !sequence_given && request.model.image_size == 0 && !request.work.is_measured() &&
      (request.job.kind == JobKind::kTrain || perf::serves_batches(perf::work_of(request.model)));
  set_purchases(request);
  fill_choices(request);
  if (!draft.own.gpu.empty()) request.own.push_back(draft.own);
  if (request.name.empty()) request.name = request.model.name;
  return std::move(request);
}

}  // namespace rightsize::plan
