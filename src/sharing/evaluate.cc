#include <algorithm>
#include <cmath>
#include <set>

#include "autoscale/startup.h"
#include "sharing/latency.h"
#include "sharing/sharing.h"

namespace rightsize::sharing {
namespace {

using Tenants = std::vector<const Tenant*>;

constexpr double kSlack = 1e-9;              // 7 x 1/7 must fit
constexpr std::size_t kMostMpsClients = 48;  // of one GPU (CUDA MPS documentation)
constexpr double kHostMemory = 1.5;          // times the GPU's memory: the least host memory per GPU

double service_of(const Tenant& t) { return t.service ? in_seconds(*t.service) : 0; }
double most_busy(const Tenant& t) { return 1 / (1 + t.headroom); }

// A request's quantiles.
void fill_latency(const Tenant& t, const RequestTime& time, double busy, Served& served, double size = 0) {
  served.busy = busy;
  served.meets = busy <= most_busy(t) + kSlack;
  if (!t.service) {
    served.meets = served.meets && !t.limit;
    return;
  }
  served.p95 = seconds(time.quantile(0.95, busy, size));
  if (!t.limit) return;
  served.meets = served.meets && time.quantile(t.percentile, busy, size) <= in_seconds(*t.limit) * (1 + kSlack);
}

// A wake-up or start: how long, and the share of requests that wait for one.
struct Waking {
  double seconds = 0, share = 0;
};

// Requests that arrive during a wake-up wait as well.
double waiting_share(double misses, double rate, double seconds) {
  return std::min(1.0, misses * (1 + rate * seconds));
}

// Adds the delay by a busy neighbour to a request. The request runs at `speed` while both run: for all of its work, or
// until the neighbour is idle again. `active` is the share of the time for which the neighbour is busy.
void add_neighbour(double speed, const Tenant& t, double stay, const Tenant& other, double active, RequestTime& time) {
  const double whole = service_of(t) * (1 / speed - 1);
  if (other.rate <= 0 || !other.service) return time.add(active, whole);
  const double period = active / other.rate / (1 - std::min(active, 0.99));  // until it is idle again
  const double met = active + other.rate * stay;                             // such periods met during the request
  if (met <= 1) return time.add(met, std::min(whole, period * (1 - speed)));
  time.add(1, std::min(whole, (met + 2 * std::sqrt(met)) * period * (1 - speed)));
}

// Several processes on a GPU. The busy shares depend on each other. Starting from the lowest, they only grow, so the
// iteration ends at the smallest solution or exceeds 1.
std::optional<std::vector<Served>> side_by_side(Mechanism how, const Tenants& tenants,
                                                const std::vector<Waking>& waking) {
  const std::size_t n = tenants.size();
  std::vector<double> busy(n), stay(n);
  std::vector<std::vector<double>> speeds(n);  // of each one next to each other one
  for (std::size_t i = 0; i < n; ++i) {
    busy[i] = tenants[i]->busy, stay[i] = service_of(*tenants[i]);
    for (const Tenant* other : tenants) speeds[i].push_back(speed_beside(how, tenants[i]->kind, other->kind));
  }
  constexpr int kRounds = 60;
  std::vector<RequestTime> times;
  for (int round = 0; round < kRounds; ++round) {
    double change = 0;
    times.clear();
    std::vector<double> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Tenant& t = *tenants[i];
      RequestTime time(service_of(t));
      double slower = 1;
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        add_neighbour(speeds[i][j], t, stay[i], *tenants[j], busy[j], time);
        slower += busy[j] * (1 / speeds[i][j] - 1);
      }
      const double longer = service_of(t) > 0 ? std::min(slower, time.mean() / service_of(t)) : slower;
      next[i] = t.busy * longer;
      if (next[i] > most_busy(t) + kSlack) return std::nullopt;
      change = std::max(change, std::abs(next[i] - busy[i]));
      stay[i] = time.mean();
      times.push_back(std::move(time));
    }
    busy = next;
    constexpr double kSmall = 1e-4;
    if (change < kSmall) break;
  }
  std::vector<Served> served(n);
  for (std::size_t i = 0; i < n; ++i) {
    times[i].add(waking[i].share, waking[i].seconds);
    fill_latency(*tenants[i], times[i], busy[i], served[i]);
    served[i].wakes = waking[i].share;
  }
  return served;
}

// One process with several adapters: all requests share its queue.
std::vector<Served> one_queue(const Tenants& tenants) {
  const double speed = tenants.size() > 1 ? lora_speed() : 1;
  double work = 0, squares = 0, busy = 0;
  for (const Tenant* t : tenants) {
    const double s = service_of(*t) / speed;
    work += t->rate * s, squares += t->rate * s * s, busy += t->busy / speed;
  }
  std::vector<Served> served(tenants.size());
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const RequestTime time(service_of(*tenants[i]) / speed);
    fill_latency(*tenants[i], time, busy, served[i], work > 0 ? squares / work : 0);
  }
  return served;
}

Bytes total_memory(const Tenants& tenants) {
  Bytes sum;
  for (const Tenant* t : tenants) sum += t->memory;
  return sum;
}

double engine_wake() {
  static const double kSeconds = in_seconds(
      autoscale::startup_of({}, {.compile = autoscale::Compilation::kNone, .wake = true}).stages.front().time);
  return kSeconds;
}

// How often each model is asleep when a request arrives: the least recently used models sleep. A model stays awake if
// its last request is younger than a common age (Che et al. 2002) at which as many models as fit are awake.
std::optional<std::vector<Waking>> wake_ups(const Tenants& tenants, const SharedGpu& gpu) {
  const double room = in_bytes(gpu.memory);
  double weights = 0, largest = 0, running = 0, most = 0;
  for (const Tenant* t : tenants) {
    // Without a rate, the number of wake-ups is unknown; without a limit, it is unknown whether they are acceptable.
    if (!t->limit || t->rate <= 0) return std::nullopt;
    weights += in_bytes(t->weights), largest = std::max(largest, in_bytes(t->weights));
    running += t->busy * in_bytes(t->memory), most = std::max(most, in_bytes(t->memory));
  }
  if (weights > kHostMemory * room || most + running > room || in_bytes_per_s(gpu.host_link) <= 0) return std::nullopt;
  const auto awake = [&](double age) {
    double bytes = 0;
    for (const Tenant* t : tenants) bytes += in_bytes(t->memory) * -std::expm1(-t->rate * age);
    return bytes;
  };
  double low = 0, high = 1;
  while (awake(high) < room && high < 1e12) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (awake(middle) < room ? low : high) = middle;
  }
  std::vector<Waking> waking;
  double channel = 0, longest = 0;  // wake-ups share the link
  for (const Tenant* t : tenants) {
    // Another model moves out before this one moves in.
    const double seconds = engine_wake() + (in_bytes(t->weights) + largest) / in_bytes_per_s(gpu.host_link);
    constexpr double kNever = 1e-9;
    const double all = std::exp(-t->rate * low), misses = all < kNever ? 0 : all;
    waking.push_back({seconds, waiting_share(misses, t->rate, seconds)});
    channel += t->rate * misses * seconds, longest = std::max(longest, seconds);
  }
  constexpr double kMostChannel = 0.7;
  if (channel > kMostChannel) return std::nullopt;
  for (Waking& w : waking) w.seconds += longest * channel / (1 - channel);
  return waking;
}

std::optional<Group> sleeping(const Tenants& tenants, const SharedGpu& gpu) {
  const std::optional<std::vector<Waking>> waking = wake_ups(tenants, gpu);
  if (!waking) return std::nullopt;
  std::optional<std::vector<Served>> served = side_by_side(Mechanism::kSleep, tenants, *waking);
  if (!served) return std::nullopt;
  Group group;
  group.served = *std::move(served);
  return group;
}

double start_seconds(const Tenant& t) {
  constexpr int kLayers = 28;  // of a small model; compiled code is cached
  return in_seconds(
      autoscale::startup_of({.weights = t.weights, .layers = kLayers},
                            {.weights = autoscale::WeightSource::kStream, .compile = autoscale::Compilation::kCached})
          .total());
}

// A GPU that stops when no request has come for a while. Without a limit, whether requests may wait is unknown.
std::optional<Group> scaled_to_zero(const Tenant& t) {
  if (!t.limit || t.rate <= 0 || !t.service) return std::nullopt;
  const double start = start_seconds(t);
  std::optional<Group> best;
  for (const double idle : {60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0}) {
    const double expected = t.rate * idle;
    constexpr double kNeverStops = 20;
    if (expected > kNeverStops) break;
    RequestTime time(service_of(t));
    const double share = waiting_share(std::exp(-expected), t.rate, start);
    time.add(share, start);
    Served served;
    fill_latency(t, time, t.busy, served);
    served.wakes = share;
    const double on = std::expm1(expected) / t.rate + start + service_of(t);
    Group group{.how = Mechanism::kScaleToZero, .tenants = {}, .served = {served}, .up = on / (on + 1 / t.rate)};
    group.idle = seconds(idle);
    if (served.meets && (!best || group.up < best->up)) best = group;
  }
  return best;
}

bool are_apart(const Tenants& tenants) {
  std::set<int> seen;
  return std::ranges::all_of(tenants, [&](const Tenant* t) { return t->apart < 0 || seen.insert(t->apart).second; });
}

// Base once, and every replica's own cache and adapter.
Bytes lora_memory(const Tenants& tenants) {
  Bytes base, own;
  for (const Tenant* t : tenants) base = std::max(base, t->weights), own += t->memory - t->weights + t->adapter;
  return base + own;
}

bool share_base(const Tenants& tenants) {
  return std::ranges::all_of(tenants, [&](const Tenant* t) { return !t->base.empty() && t->base == tenants[0]->base; });
}

std::optional<Group> group_of(Mechanism how, const Tenants& tenants, const SharedGpu& gpu) {
  const std::vector<Waking> awake(tenants.size());
  const bool fit = total_memory(tenants) <= gpu.memory * (1 + kSlack);
  std::optional<std::vector<Served>> served;
  switch (how) {
    case Mechanism::kMig:
      return std::nullopt;
    case Mechanism::kOwnGpu:
      if (fit && tenants.size() == 1) served = {alone(*tenants[0])};
      break;
    case Mechanism::kMps:
    case Mechanism::kTimeSlicing:
      if (fit && tenants.size() <= kMostMpsClients) served = side_by_side(how, tenants, awake);
      break;
    case Mechanism::kSleep:
      return sleeping(tenants, gpu);
    case Mechanism::kLora:
      if (share_base(tenants) && lora_memory(tenants) <= gpu.memory * (1 + kSlack)) served = one_queue(tenants);
      break;
    case Mechanism::kScaleToZero:
      return fit && tenants.size() == 1 ? scaled_to_zero(*tenants[0]) : std::nullopt;
  }
  if (!served) return std::nullopt;
  Group group;
  group.served = *std::move(served);
  return group;
}

}  // namespace

Served alone(const Tenant& tenant, double share) {
  Served served;
  const RequestTime time(service_of(tenant) / share);
  fill_latency(tenant, time, tenant.busy / share, served);
  return served;
}

std::optional<Group> evaluate(Mechanism how, const std::vector<const Tenant*>& tenants, const SharedGpu& gpu) {
  if (tenants.empty() || !are_apart(tenants)) return std::nullopt;
  double load = 0;
  for (const Tenant* t : tenants) {
    if (!t->fits) return std::nullopt;
    load += t->busy * (1 + t->headroom);
  }
  if (load > 1 + kSlack) return std::nullopt;
  std::optional<Group> group = group_of(how, tenants, gpu);
  if (!group || !std::ranges::all_of(group->served, &Served::meets)) return std::nullopt;
  group->how = how;
  // If all fit, none sleeps; a single model shares with none.
  const bool all_fit = total_memory(tenants) <= gpu.memory * (1 + kSlack);
  if (how == Mechanism::kSleep && all_fit) group->how = Mechanism::kTimeSlicing;
  if (tenants.size() == 1 && how != Mechanism::kScaleToZero) group->how = Mechanism::kOwnGpu;
  group->usd_per_hour = gpu.usd_per_hour * group->up;
  return group;
}

}  // namespace rightsize::sharing
