#include "autoscale/policy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::autoscale {
namespace {

constexpr std::array<std::string_view, 8> kKinds = {"fixed",   "schedule", "hpa",     "keda",
                                                    "knative", "dynamo",   "variant", "skyserve"};
constexpr std::array<std::string_view, 3> kMetrics = {"in-flight", "waiting", "kv"};
constexpr std::array<std::string_view, 3> kPredictors = {"last-value", "trend", "seasonal"};
constexpr int kMostReplicas = 10'000;
constexpr std::size_t kMostSlots = 100'000;

// ---- Values: how a key's value is read and written ----

Result<> wrong(std::string_view text, std::string_view wanted) {
  return fail(bad_input(fmt::format("'{}' must be {}", text, wanted)));
}

template <class T>
Result<> read_number(std::string_view text, T& to, double least, double most) {
  const Result<double> value = parse_number(text);
  const bool whole = !std::is_integral_v<T> || (value && *value == std::floor(*value));
  if (!value || !whole || !(*value >= least && *value <= most))
    return wrong(text, fmt::format("a {}number from {} to {}", std::is_integral_v<T> ? "whole " : "", least, most));
  to = static_cast<T>(*value);
  return {};
}

Result<> read_time(std::string_view text, SimTime& to, bool may_be_zero) {
  constexpr double kLongest = 366 * 86400.0;
  const Result<Seconds> value = parse_duration(text);
  if (!value || !(in_seconds(*value) <= kLongest) || !(*value >= seconds(may_be_zero ? 0 : 1e-3)))
    return wrong(text, may_be_zero ? "a time such as 90s or 5m" : "a time greater than 0, such as 90s or 5m");
  to = sim::to_sim_time(*value);
  return {};
}

std::string show_time(SimTime t) {
  const double s = static_cast<double>(t) * 1e-9;
  for (const auto& [unit, length] : {std::pair{"h", 3600.0}, std::pair{"m", 60.0}}) {
    if (s >= length && std::fmod(s, length) == 0) return fmt::format("{:g}{}", s / length, unit);
  }
  return fmt::format("{:g}s", s);
}

template <class Choice, std::size_t N>
Result<> read_choice(std::string_view text, const std::array<std::string_view, N>& names, Choice& to) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return wrong(text, fmt::format("one of {}", fmt::join(names, ", ")));
  to = static_cast<Choice>(found - names.begin());
  return {};
}

// "2/5/3", or with repetitions: "2x8/5x4/3".
Result<> read_plan(std::string_view text, std::vector<int>& plan) {
  plan.clear();
  for (std::string_view part : split_list(text, '/')) {
    const std::size_t times = part.find('x');
    int replicas = 0, count = 1;
    if (Result<> read = read_number(part.substr(0, times), replicas, 0, kMostReplicas); !read) return read;
    if (times != std::string_view::npos) {
      if (Result<> read = read_number(part.substr(times + 1), count, 1, kMostSlots); !read) return read;
    }
    if (plan.size() + static_cast<std::size_t>(count) > kMostSlots)
      return wrong("plan", fmt::format("at most {} slots", kMostSlots));
    plan.insert(plan.end(), static_cast<std::size_t>(count), replicas);
  }
  return plan.empty() ? wrong(text, "replicas per slot, such as 2/5/3") : Result<>{};
}

std::string show_plan(const std::vector<int>& plan) {
  std::vector<std::string> parts;
  for (std::size_t i = 0, end = 0; i < plan.size(); i = end) {
    while (end < plan.size() && plan[end] == plan[i]) ++end;
    if (end - i > 2)
      parts.push_back(fmt::format("{}x{}", plan[i], end - i));
    else
      parts.insert(parts.end(), end - i, fmt::format("{}", plan[i]));
  }
  return fmt::format("{}", fmt::join(parts, "/"));
}

Result<> read_up(std::string_view text, Policy& p) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return wrong(text, "PODS/PERIOD, such as 4/15s");
  if (Result<> most = read_number(text.substr(0, slash), p.up_most, 1, kMostReplicas); !most) return most;
  return read_time(text.substr(slash + 1), p.up_period, false);
}

// ---- The keys ----

using Show = std::string (*)(const Policy&);
struct Key {
  std::string_view name;
  std::vector<Kind> kinds;
  Result<> (*read)(std::string_view, Policy&);
  Show show;  // empty text: not set
};

template <auto Member>
Key whole(std::string_view name, std::vector<Kind> kinds) {
  return {name, std::move(kinds),
          [](std::string_view t, Policy& p) { return read_number(t, p.*Member, 0, kMostReplicas); },
          [](const Policy& p) { return fmt::format("{}", p.*Member); }};
}
template <auto Member>
Key number(std::string_view name, std::vector<Kind> kinds) {
  return {name, std::move(kinds), [](std::string_view t, Policy& p) { return read_number(t, p.*Member, 0, 1e9); },
          [](const Policy& p) { return fmt::format("{:.6g}", p.*Member); }};
}
template <auto Member, bool kZero = false>
Key time(std::string_view name, std::vector<Kind> kinds) {
  return {name, std::move(kinds), [](std::string_view t, Policy& p) { return read_time(t, p.*Member, kZero); },
          [](const Policy& p) { return show_time(p.*Member); }};
}

const std::vector<Key>& keys() {
  using enum Kind;
  const std::vector<Kind> scaled = {kHpa, kKeda, kKnative, kDynamo, kVariant, kSkyServe}, pods = {kHpa, kKeda};
  static const std::vector<Key> kKeys = {
      whole<&Policy::replicas>("replicas", {kFixed}),
      number<&Policy::target>("target", {kHpa, kKnative}),
      number<&Policy::target>("threshold", {kKeda}),
      number<&Policy::rate>("rate", {kDynamo, kSkyServe}),
      whole<&Policy::min>("min", scaled),
      whole<&Policy::max>("max", scaled),
      {"initial", scaled,
       [](std::string_view t, Policy& p) { return read_number(t, p.initial.emplace(), 0, kMostReplicas); },
       [](const Policy& p) { return p.initial ? fmt::format("{}", *p.initial) : std::string(); }},
      {"metric", pods, [](std::string_view t, Policy& p) { return read_choice(t, kMetrics, p.metric); },
       [](const Policy& p) { return std::string(name_of(p.metric)); }},
      time<&Policy::period>("period", {kHpa, kKeda, kVariant}),
      time<&Policy::polling>("polling", {kKeda}),
      time<&Policy::cooldown, true>("cooldown", {kKeda}),
      time<&Policy::down, true>("down", {kHpa, kKeda, kVariant}),
      number<&Policy::tolerance>("tolerance", pods),
      {"up", pods, read_up,
       [](const Policy& p) {
         return p.up_most > 0 ? fmt::format("{}/{}", p.up_most, show_time(p.up_period)) : std::string();
       }},
      time<&Policy::every>("every", {kSchedule, kKeda}),
      time<&Policy::lead, true>("lead", {kSchedule, kKeda}),
      {"plan",
       {kSchedule, kKeda},
       [](std::string_view t, Policy& p) { return read_plan(t, p.plan); },
       [](const Policy& p) { return show_plan(p.plan); }},
      {"repeat",
       {kSchedule, kKeda},
       [](std::string_view t, Policy& p) {
         p.repeat = t == "yes";
         return t == "yes" || t == "no" ? Result<>{} : wrong(t, "yes or no");
       },
       [](const Policy& p) { return std::string(p.repeat ? "yes" : ""); }},
      time<&Policy::window>("window", {kKnative}),
      number<&Policy::panic>("panic", {kKnative}),
      number<&Policy::panic_window>("panic-window", {kKnative}),
      time<&Policy::grace, true>("grace", {kKnative}),
      time<&Policy::interval>("interval", {kDynamo}),
      {"predictor",
       {kDynamo},
       [](std::string_view t, Policy& p) { return read_choice(t, kPredictors, p.predictor); },
       [](const Policy& p) { return std::string(name_of(p.predictor)); }},
      time<&Policy::season>("season", {kDynamo}),
      time<&Policy::up_delay, true>("up-delay", {kSkyServe}),
      time<&Policy::down_delay, true>("down-delay", {kSkyServe}),
      number<&Policy::kv_limit>("kv", {kVariant}),
      number<&Policy::kv_spare>("kv-spare", {kVariant}),
      number<&Policy::queue_limit>("queue", {kVariant}),
      number<&Policy::queue_spare>("queue-spare", {kVariant}),
  };
  return kKeys;
}

bool applies(const Key& key, Kind kind) { return std::ranges::find(key.kinds, kind) != key.kinds.end(); }

std::vector<std::string> names_for(Kind kind) {
  std::vector<std::string> names;
  for (const Key& key : keys())
    if (applies(key, kind)) names.emplace_back(key.name);
  return names;
}

Error missing(std::string_view what, std::string_view example) {
  return bad_input(fmt::format("the policy has no {}", what)).with_hint(fmt::format("for example {}", example));
}

// The defaults of a policy. Knative revisions scale to zero by default; here that must be requested.
Policy usual(Kind kind) {
  Policy p;
  p.kind = kind;
  if (kind == Kind::kVariant) p.period = whole_seconds(60);
  return p;
}

// Rules about combinations of keys.
Result<> check(const Policy& p) {
  const bool scales_from_zero = p.kind == Kind::kKeda || p.kind == Kind::kKnative;
  if (p.kind == Kind::kFixed && p.replicas < 1) return fail(missing("replicas", "fixed:replicas=4"));
  if (p.kind == Kind::kSchedule && p.plan.empty()) return fail(missing("plan", "schedule:every=1h,plan=2/5/3"));
  if ((p.kind == Kind::kHpa || p.kind == Kind::kKnative) && !(p.target > 0))
    return fail(missing("target", fmt::format("{}:target=12,min=1,max=10", name_of(p.kind))));
  if (p.kind == Kind::kKeda && !(p.target > 0)) return fail(missing("threshold", "keda:threshold=12,min=1,max=10"));
  if (p.max < 1 || p.max < p.min) return fail(bad_input(fmt::format("max={} is less than min={}", p.max, p.min)));
  if (p.initial && *p.initial > p.max)
    return fail(bad_input(fmt::format("initial={} exceeds max={}", *p.initial, p.max)));
  const bool zero = p.min < 1 || (p.initial && *p.initial < 1);
  if (zero && !scales_from_zero && p.kind != Kind::kFixed && p.kind != Kind::kSchedule)
    return fail(
        bad_input(fmt::format("{} cannot start from 0 replicas; use min=1, or keda or knative", name_of(p.kind))));
  if (p.kind == Kind::kSchedule && *std::ranges::max_element(p.plan) < 1)
    return fail(bad_input("the plan has no replicas"));
  return {};
}

}  // namespace

std::string_view name_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }
std::string_view name_of(Predictor predictor) { return kPredictors[static_cast<std::size_t>(predictor)]; }

int Policy::first_replicas() const {
  if (kind == Kind::kFixed) return replicas;
  return initial.value_or(min);
}

Result<Policy> parse_policy(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(trim(text.substr(0, colon)));
  const auto found = std::ranges::find(kKinds, name);
  if (found == kKinds.end())
    return fail(bad_input(fmt::format("unknown policy '{}'; use {}", name, fmt::join(kKinds, ", ")))
                    .with_hint(did_you_mean(name, std::vector<std::string>(kKinds.begin(), kKinds.end()))));
  Policy policy = usual(static_cast<Kind>(found - kKinds.begin()));
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  for (std::string_view part : split_list(rest, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = trim(part.substr(0, equals));
    const auto row =
        std::ranges::find_if(keys(), [&](const Key& k) { return k.name == key && applies(k, policy.kind); });
    if (row == keys().end() || equals == std::string_view::npos) {
      return fail(bad_input(fmt::format("policy '{}' has no key '{}'; use {}", name, key,
                                        fmt::join(names_for(policy.kind), ", ")))
                      .with_hint(did_you_mean(std::string(key), names_for(policy.kind))));
    }
    if (Result<> read = row->read(trim(part.substr(equals + 1)), policy); !read)
      return fail(bad_input(fmt::format("{}: {}: {}", name, key, read.error().message)));
  }
  if (Result<> valid = check(policy); !valid) return fail(valid.error());
  return policy;
}

std::vector<std::pair<std::string, std::string>> parameters(const Policy& policy) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Key& key : keys()) {
    if (!applies(key, policy.kind)) continue;
    const bool unlimited = key.name == "max" && policy.max == Policy{}.max;
    const bool unplanned = (key.name == "every" || key.name == "lead") && policy.plan.empty();
    std::string value = key.show(policy);
    if (!value.empty() && !unlimited && !unplanned) all.emplace_back(key.name, std::move(value));
  }
  return all;
}

std::string describe(const Policy& policy) {
  const Policy otherwise = usual(policy.kind);
  std::vector<std::string> parts;
  for (const Key& key : keys()) {
    if (!applies(key, policy.kind)) continue;
    const std::string value = key.show(policy);
    const bool always = key.name == "replicas" || key.name == "min" || key.name == "max";
    const bool usual_value = value == key.show(otherwise);
    if (value.empty() || (usual_value && !(always && policy.max != otherwise.max) && policy.kind != Kind::kFixed))
      continue;
    parts.push_back(fmt::format("{}={}", key.name, value));
  }
  return fmt::format("{}{}{}", name_of(policy.kind), parts.empty() ? "" : ":", fmt::join(parts, ","));
}

}  // namespace rightsize::autoscale
