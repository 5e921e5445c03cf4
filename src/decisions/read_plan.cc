#include "decisions/read_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::decisions {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();
constexpr const char* kNoPlanHint = "run its command again with other limits, or record a cost alone: --after 9200";

std::optional<double> number(const JsonObject& object, const FieldNames& name) {
  return object.get_number(name, -kMost, kMost);
}

std::optional<Usd> dollars(const JsonObject& object, const FieldNames& name) {
  const std::optional<double> value = number(object, name);
  return value ? std::optional(usd(*value)) : std::nullopt;
}

std::optional<double> times(double factor, std::optional<double> value) {
  return value ? std::optional(factor * *value) : std::nullopt;
}

// One document being read.
class PlanReader {
 public:
  PlanReader(const LocatedJson& document, PlanPick pick) : document_(document), pick_(std::move(pick)) {}

  Checked<Decision> read() {
    const JsonValue& root = document_.root();
    const JsonMember* schema = root.find("schema");
    const std::string_view name = schema == nullptr ? std::string_view{} : std::string_view(schema->value.text);
    if (!name.starts_with("rightsize/"))
      return fail(refuse(root, "this is not JSON of rightsize: \"schema\" is missing"));
    decision_.command = name.substr(10, name.find('/', 10) - 10);
    plan_["schema"] = name;
    static constexpr std::pair<std::string_view, void (PlanReader::*)(const JsonValue&)> kReaders[] = {
        {"recommend", &PlanReader::read_recommend}, {"service", &PlanReader::read_service},
        {"fleet", &PlanReader::read_fleet},         {"batch", &PlanReader::read_batch},
        {"window", &PlanReader::read_window},       {"mig", &PlanReader::read_mig},
        {"portfolio", &PlanReader::read_portfolio}, {"autoscale", &PlanReader::read_autoscale}};
    const auto* reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                      [&](const auto& each) { return each.first == decision_.command; });
    if (reader == std::end(kReaders))
      return fail(refuse(root, fmt::format("'{}' does not make plans", decision_.command)));
    (this->*reader->second)(root);
    if (!errors_.empty()) return fail(std::move(errors_));
    decision_.plan = plan_.dump();
    return std::move(decision_);
  }

 private:
  Errors refuse(const JsonValue& at, std::string message) {
    return bad_input(std::move(message))
        .at(document_.place(at))
        .with_hint(
            "--from takes the --format json output of recommend, service, autoscale, fleet, batch, window, mig or "
            "portfolio");
  }
  void note(const JsonValue& at, std::string message, std::string hint = {}) {
    errors_.push_back(bad_input(std::move(message)).at(document_.place(at)).with_hint(std::move(hint)));
  }
  JsonObject object(const JsonValue& value) { return {document_, value, errors_}; }

  // The entry of a list that --plan selects.
  const JsonValue* picked(const JsonValue& parent, const char* list, const char* noun) {
    const JsonMember* found = parent.find(list);
    const std::size_t count = found == nullptr ? 0 : found->value.items.size();
    if (count == 0) {
      note(parent, fmt::format("it has no {}: nothing met the limits", noun), kNoPlanHint);
      return nullptr;
    }
    const JsonMember* use = parent.find("use");
    const auto named = use == nullptr ? std::nullopt : use->value.integer;
    const std::int64_t rank = pick_.plan != 0 ? pick_.plan : named.value_or(1);
    if (rank < 1 || static_cast<std::size_t>(rank) > count) {
      note(found->value, fmt::format("there is no {} {}: it has {}", noun, rank, count),
           fmt::format("use --plan {}", count));
      return nullptr;
    }
    return &found->value.items[static_cast<std::size_t>(rank) - 1];
  }

  // The workload or service of --part; without it, the only one.
  const JsonValue* part(const JsonValue& root, const char* list, const char* noun) {
    const JsonMember* found = root.find(list);
    if (found == nullptr || found->value.items.empty()) {
      note(root, fmt::format("it has no {}", noun));
      return nullptr;
    }
    std::vector<std::string> names;
    for (const JsonValue& item : found->value.items) {
      const JsonMember* name = item.find("name");
      const JsonMember* workload = item.find("workload");
      for (const JsonMember* each : {name, workload}) {
        if (each != nullptr && !pick_.part.empty() && each->value.text == pick_.part) return &item;
      }
      names.push_back(name == nullptr ? "" : name->value.text);
    }
    if (found->value.items.size() == 1 && pick_.part.empty()) return &found->value.items.front();
    note(found->value, fmt::format("it has {} {}s: {}", names.size(), noun, fmt::join(names, ", ")),
         pick_.part.empty() ? "name one with --part" : did_you_mean(pick_.part, names));
    return nullptr;
  }

  void predict(const char* metric, std::optional<double> likely, std::optional<double> low = {},
               std::optional<double> high = {}, std::optional<double> limit = {}) {
    if (!likely) return;
    decision_.predictions.push_back({metric, {low, *likely, high}, limit});
  }
  // The interval of a time is given as factors; those of a speed are the inverse.
  void predict_time(const JsonObject& plan, const char* metric, std::optional<double> limit) {
    const double likely = number(plan, metric).value_or(0);
    predict(metric, number(plan, metric), times(likely, slow_low_), times(likely, slow_high_), limit);
  }
  void predict_speed(const JsonObject& plan, const char* metric) {
    const double likely = number(plan, metric).value_or(0);
    const auto over = [&](std::optional<double> factor) {
      return factor && *factor > 0 ? std::optional(likely / *factor) : std::nullopt;
    };
    predict(metric, number(plan, metric), over(slow_high_), over(slow_low_));
  }
  // Latency and load of a service.
  void predict_service(const JsonObject& plan) {
    predict_time(plan, kTtft, seconds_of("ttft-slo"));
    predict_time(plan, kTpot, seconds_of("tpot-slo"));
    predict(kUtilization, number(plan, kUtilization));
  }

  void read_choice(const JsonObject& plan) {
    ChosenPlan& c = decision_.summary.choice;
    constexpr std::int64_t kMany = 1'000'000;
    c.gpu = plan.get_string("gpu").value_or("");
    c.gpus = plan.get_int("gpus", 0, kMany).value_or(0);
    c.provider = plan.get_string("provider").value_or("");
    c.instance = plan.get_string("instance").value_or("");
    // In `batch`, instances are servers on one GPU; only a named machine has a number of machines.
    c.instances = c.instance.empty() ? 0 : plan.get_int("instances", 0, kMany).value_or(0);
    c.region = plan.get_string("region").value_or("");
    c.purchase = plan.get_string("purchase").value_or("");
    c.words = fmt::format("{} x {}", c.gpus, c.gpu);
    if (!c.instance.empty())
      c.words += fmt::format(": {} x {} at {}, {}", c.instances, c.instance, c.provider, c.purchase);
  }

  void read_cost(const JsonObject& plan, const FieldNames& name) {
    const std::optional<Usd> likely = dollars(plan, name);
    if (!likely) return;
    decision_.cost = UsdRange{dollars(plan, "low"), *likely, dollars(plan, "high")};
    decision_.summary.cost = likely;
    predict(kRate, number(plan, "usd_per_hour"));
  }

  // An SLO or a deadline as the request has it.
  std::optional<double> seconds_of(const char* setting) const {
    for (const auto& [name, value] : decision_.request) {
      if (name != setting) continue;
      if (const Result<Seconds> limit = parse_duration(value)) return in_seconds(*limit);
    }
    return std::nullopt;
  }

  void keep(const JsonValue& from, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (const JsonMember* member = from.find(name)) plan_[name] = copy_of(member->value);
    }
  }

  void read_recommend(const JsonValue& root) {
    const JsonValue* from = root.find("workloads") == nullptr ? &root : part(root, "workloads", "workload");
    const JsonValue* chosen = from == nullptr ? nullptr : picked(*from, "plans", "plan");
    if (chosen == nullptr) return;
    keep(*from, {"name", "what", "objective", "assumptions", "caveats", "warnings", "confidence"});
    plan_["plan"] = copy_of(*chosen);
    const JsonObject head = object(*from), plan = object(*chosen);
    decision_.what = head.get_string("what").value_or("");
    decision_.catalogue = head.get_string("catalogue").value_or("");
    if (const JsonMember* request = from->find("request")) {
      for (const JsonMember& setting : request->value.members)
        decision_.request.emplace_back(setting.name, setting.value.text);
    }
    read_choice(plan);
    const JsonObject factor = plan.get_object_or_empty("time_factor");
    slow_low_ = number(factor, "low");
    slow_high_ = number(factor, "high");
    const bool serving = chosen->find("slo_percentile") != nullptr;
    decision_.summary.per = serving ? Per::kMonth : Per::kRun;
    if (serving) {
      predict_service(plan);
    } else {
      predict_speed(plan, plan.has(kRequests) ? kRequests : plan.has(kSamples) ? kSamples : kTokens);
      const std::optional<double> deadline = seconds_of("deadline");
      predict_time(plan, kHours, deadline ? std::optional(in_hours(seconds(*deadline))) : std::nullopt);
    }
    predict(kMemory, number(plan, "memory_bytes"), number(plan, "memory_low_bytes"), number(plan, "memory_high_bytes"),
            number(plan, "capacity_bytes"));
    read_cost(plan, "usd_total");
  }

  // The request for `recommend` that describes the service's busiest hour.
  void read_service_request(const JsonObject& service) {
    const auto add = [&](const char* name, std::optional<double> value, const char* unit) {
      if (value) decision_.request.emplace_back(name, fmt::format("{}{}", *value, unit));
    };
    const std::optional<std::string> model = service.get_string("model");
    if (!model) return;
    decision_.request = {{"job", "serve"}, {"model", *model}};
    add("rate", number(service.get_object_or_empty("requests_per_second"), "peak_hour"), "/s");
    const auto tokens = [&](const char* setting) {
      if (const auto mean = number(service.get_object_or_empty(setting), "mean"))
        decision_.request.emplace_back(setting, fmt::format("{:.0f}", *mean));
    };
    tokens("isl");
    tokens("osl");
    if (const JsonMember* slos = service.value().find("slo")) {
      for (const JsonValue& each : slos->value.items) {
        const JsonObject one = object(each);
        const std::string quantity = one.get_string("quantity").value_or("");
        add(quantity == "TPOT" ? "tpot-slo" : "ttft-slo", number(one, "limit_seconds"), "s");
      }
    }
  }

  void read_service(const JsonValue& root) {
    const JsonValue* from = part(root, "services", "service");
    const JsonValue* chosen = from == nullptr ? nullptr : picked(*from, "plans", "plan");
    if (chosen == nullptr) return;
    keep(*from,
         {"name", "engine", "model", "replicas", "gpus", "gpu", "requests_per_second", "isl", "osl", "usd_per_month"});
    plan_["plan"] = copy_of(*chosen);
    const JsonObject service = object(*from), plan = object(*chosen);
    decision_.what = fmt::format("Serve {}: {}", service.get_string("model").value_or("a model"),
                                 service.get_string("name").value_or(""));
    read_service_request(service);
    read_choice(plan);
    predict_service(plan);
    read_cost(plan, "usd_per_month");
    decision_.summary.before = dollars(service, "usd_per_month");
    if (const auto gpu = service.get_string("gpu")) {
      decision_.rollback =
          fmt::format("back to {} replicas on {} x {}", service.get_int("replicas", 0, 1'000'000).value_or(0),
                      service.get_int("gpus", 0, 1'000'000).value_or(0), *gpu);
    }
  }

  void read_fleet(const JsonValue& root) {
    const JsonValue* chosen = picked(root, "actions", "action");
    if (chosen == nullptr) return;
    plan_["plan"] = copy_of(*chosen);
    const JsonObject action = object(*chosen);
    decision_.what = action.get_string("what").value_or("");
    ChosenPlan& choice = decision_.summary.choice;
    choice.words = action.get_string("to").value_or("");
    if (choice.words == "none") choice.words = "given back";
    decision_.rollback = action.get_string("rollback").value_or("");
    if (const std::optional<Usd> saving = dollars(action, "saving_usd_per_month")) {
      decision_.saving = UsdRange{{}, *saving, {}};
      decision_.summary.saving = saving;
    }
  }

  void read_batch(const JsonValue& root) {
    const JsonMember* chosen = root.find("plan");
    if (chosen == nullptr || chosen->value.type != JsonType::kObject) {
      note(root, "this 'batch' run has no plan", "run it with --slo");
      return;
    }
    plan_["plan"] = copy_of(chosen->value);
    const JsonObject plan = object(chosen->value);
    decision_.what = "A batching server";
    read_choice(plan);
    read_cost(plan, "usd_per_month");
    predict(kUtilization, number(plan, "utilization"));
    // The first SLO's latency. Its interval is left out: it has the simulation's error, not the speed model's.
    const JsonMember* slos = chosen->value.find("slos");
    if (slos == nullptr || slos->value.items.empty()) return;
    const JsonObject first = object(slos->value.items.front());
    const auto in_s = [](std::optional<double> ms) {
      return ms ? std::optional(in_seconds(milliseconds(*ms))) : std::nullopt;
    };
    predict(kLatency, in_s(number(first, "value_ms")), {}, {}, in_s(number(first, "limit_ms")));
  }

  void read_window(const JsonValue& root) {
    const JsonValue* chosen = picked(root, "options", "option");
    if (chosen == nullptr) return;
    plan_["plan"] = copy_of(*chosen);
    keep(root, {"items_per_day", "gpu", "batch", "item_seconds"});
    const JsonObject option = object(*chosen);
    read_choice(option);
    ChosenPlan& choice = decision_.summary.choice;
    choice.gpu = object(root).get_string("gpu").value_or("");
    choice.words = fmt::format("{} x {}, {}", choice.gpus, choice.gpu, option.get_string("name").value_or(""));
    decision_.what = "Deferrable work";
    read_cost(option, "usd_per_month");
    predict(kUtilization, number(option, "utilization"));
  }

  void read_mig(const JsonValue& root) {
    const JsonObject plan = object(root);
    keep(root, {"gpu_count", "gpus", "usd_per_month", "lower_bound", "mig_parted"});
    ChosenPlan& choice = decision_.summary.choice;
    choice.gpus = plan.get_int("gpu_count", 0, 1'000'000).value_or(0);
    choice.words = fmt::format("{} GPUs in MIG slices", choice.gpus);
    decision_.what = "Workloads on MIG slices";
    read_cost(plan, "usd_per_month");
  }

  // One workload of a portfolio, with its share of the cost and the moves of all.
  void read_portfolio(const JsonValue& root) {
    const JsonValue* chosen = part(root, "workloads", "workload");
    if (chosen == nullptr) return;
    plan_["plan"] = copy_of(*chosen);
    keep(root, {"usd_per_month", "lower_bound", "alone_usd_per_month", "moves"});
    const JsonObject workload = object(*chosen);
    const std::string takes = workload.get_string("takes").value_or("");
    decision_.summary.choice.words =
        fmt::format("{}{}{}", workload.get_string("where").value_or(""), takes.empty() ? "" : ": ", takes);
    decision_.what = "Workload of a portfolio";
    read_cost(workload, "usd_per_month");
  }

  // The policy of --part, by its kind or as --policy takes it; without it, the best one.
  const JsonValue* scaling_policy(const JsonValue& root) {
    const std::string wanted = pick_.part.empty() ? object(root).get_string("best").value_or("") : pick_.part;
    const JsonMember* policies = root.find("policies");
    std::vector<std::string> names;
    for (const JsonValue& each : policies == nullptr ? std::vector<JsonValue>{} : policies->value.items)
      names.push_back(object(each).get_string("policy").value_or(""));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const JsonValue& each = policies->value.items[i];
      if (names[i] == wanted || object(each).get_string("name") == wanted) return &each;
    }
    note(root, names.empty() ? "it has no policies" : fmt::format("it has no policy '{}'", wanted),
         names.empty() ? "run autoscale with traffic" : fmt::format("it has {}", fmt::join(names, ", ")));
    return nullptr;
  }

  // A scaling policy: the share of requests over the SLO and the GPU-hours that it was simulated with.
  void read_autoscale(const JsonValue& root) {
    const JsonValue* chosen = scaling_policy(root);
    if (chosen == nullptr) return;
    const JsonObject head = object(root), policy = object(*chosen), slo = head.get_object_or_empty("slo");
    Json& kept = plan_["plan"];
    for (const JsonMember& member : chosen->members) {
      if (member.name != "hours") kept[member.name] = copy_of(member.value);  // the course of the run
    }
    constexpr double kShown = 99;  // the percentile of TTFT and TPOT in the document
    kept["slo_percentile"] = kShown;
    kept["gpus_per_replica"] = number(head, "gpus_per_replica").value_or(1);
    for (const char* limit : {kTtft, kTpot, kLatency}) {
      if (const std::optional<double> value = number(slo, limit)) kept[fmt::format("slo_{}", limit)] = *value;
    }
    keep(root, {"gpu", "traffic", "slo", "startup", "bound", "price_source", "measured"});
    ChosenPlan& choice = decision_.summary.choice;
    choice.gpu = head.get_string("gpu").value_or("");
    choice.words = fmt::format("{}, {} x {} per replica", policy.get_string("policy").value_or(""),
                               head.get_int("gpus_per_replica", 1, 1'000'000).value_or(1),
                               choice.gpu.empty() ? "GPU" : choice.gpu);
    decision_.what = fmt::format("Scale with {}", policy.get_string("policy").value_or(""));
    const std::optional<double> allowed = number(slo, "allowed_share");
    const std::optional<double> over = number(policy, kOverSlo);
    predict(kOverSlo, over, {}, allowed && over ? std::optional(std::max(*allowed, *over)) : allowed, allowed);
    const bool same = allowed && *allowed <= (100 - kShown) / 100;
    predict(kTtft, number(policy, "ttft_p99_seconds"), {}, {}, same ? number(slo, kTtft) : std::nullopt);
    predict(kTpot, number(policy, "tpot_p99_seconds"), {}, {}, same ? number(slo, kTpot) : std::nullopt);
    const std::optional<double> hours = number(head, "simulated_hours");
    if (!hours || !(*hours > 0)) return;
    constexpr double kDay = 24;
    predict(kGpuHours, times(kDay / *hours, number(policy, "gpu_hours")));
    if (const std::optional<double> spent = number(policy, "usd")) {
      const Usd month = usd(*spent / *hours * in_hours(kMonth));
      decision_.cost = UsdRange{{}, month, {}};
      decision_.summary.cost = month;
    }
  }

  const LocatedJson& document_;
  PlanPick pick_;
  Errors errors_;
  Decision decision_;
  Json plan_;
  std::optional<double> slow_low_, slow_high_;  // factors on times, the ends of the interval
};

}  // namespace

Checked<Decision> read_plan(const std::string& file, std::string text, const PlanPick& pick) {
  if (trim(text).empty())
    return fail(bad_input(fmt::format("{} is empty: the command that was to write it failed", file))
                    .with_hint("run it again and read its error, or record a cost alone: --after 9200"));
  RIGHTSIZE_TRY(const LocatedJson document, LocatedJson::parse(file, std::move(text)));
  return PlanReader(document, pick).read();
}

}  // namespace rightsize::decisions
