#include "capacity/findings.h"

namespace rightsize::capacity {
namespace {

void append(Findings::Key& key, std::initializer_list<double> values) { key.insert(key.end(), values); }

// FNV-1a over all arrivals, in two halves that a double holds exactly.
void append_content(const sim::Trace& trace, Findings::Key& key) {
  std::uint64_t hash = 14695981039346656037U;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  for (const sim::Arrival& a : trace.arrivals) {
    mix(static_cast<std::uint64_t>(a.at));
    mix(static_cast<std::uint64_t>(a.size) << 32 | static_cast<std::uint32_t>(a.output));
    mix(static_cast<std::uint64_t>(a.timeout_us));
  }
  append(key, {static_cast<double>(trace.arrivals.size()), static_cast<double>(hash >> 32),
               static_cast<double>(hash & 0xffffffffU), trace.has_tokens ? 1.0 : 0.0});
}

void append_step(const sim::StepCost& s, Findings::Key& key) {
  append(key, {s.base, s.prefill, s.with_prompts, s.sequence, s.context, s.request, static_cast<double>(s.kv_tokens),
               s.experts, s.expert_chance, s.expert_evenness});
}

void append_arrivals(const sim::ArrivalProcess& arrivals, Findings::Key& key) {
  key.push_back(static_cast<double>(arrivals.index()));
  if (const auto* poisson = std::get_if<sim::Poisson>(&arrivals)) append(key, {in_requests_per_s(poisson->rate)});
  if (const auto* bursts = std::get_if<sim::Mmpp>(&arrivals))
    append(key, {in_requests_per_s(bursts->calm_rate), in_requests_per_s(bursts->burst_rate), in_seconds(bursts->calm),
                 in_seconds(bursts->burst)});
  if (const auto* day = std::get_if<sim::Diurnal>(&arrivals))
    append(key, {in_requests_per_s(day->mean_rate), day->peak, in_seconds(day->period)});
  if (const auto* trace = std::get_if<std::shared_ptr<const sim::Trace>>(&arrivals)) append_content(**trace, key);
}

}  // namespace

std::optional<Assessment> Findings::of(const Key& key, const Find& find) {
  std::promise<std::optional<Assessment>> promise;
  {
    std::unique_lock lock(mutex_);
    const auto [place, is_new] = known_.try_emplace(key);
    if (!is_new) {
      const auto known = place->second;
      lock.unlock();
      return known.get();
    }
    place->second = promise.get_future().share();
  }
  std::optional<Assessment> found = find();
  promise.set_value(found);
  return found;
}

std::shared_ptr<KeptRun> Findings::run(const Key& key, const std::function<KeptRun::Begin()>& how) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<KeptRun>& kept = runs_[key];
  if (!kept) kept = std::make_shared<KeptRun>(how());
  return kept;
}

sim::ContinuousProfile KeptRun::at(std::uint64_t requests, const std::vector<std::uint64_t>& looks) {
  const std::lock_guard lock(mutex_);
  if (const auto seen = seen_.find(requests); seen != seen_.end()) return seen->second;
  if (requests < reached_) return seen_.emplace(requests, begin_()(requests)).first->second;
  for (std::uint64_t look : looks)
    if (look > reached_ && look < requests) seen_.emplace(look, run_(look));
  reached_ = requests;
  return seen_.emplace(requests, run_(requests)).first->second;
}

Findings::Key traffic_key(const Service& service) {
  Findings::Key key;
  append_arrivals(service.arrivals, key);
  append(key, {service.lengths.size, service.lengths.output, service.lengths.exponential ? 1.0 : 0.0,
               service.lengths.size_variation, service.lengths.output_variation, service.lengths.longest});
  append(key, {static_cast<double>(service.queue.timeout), static_cast<double>(service.queue.on_timeout),
               static_cast<double>(service.queue.max_queue), service.queue.allow_override ? 1.0 : 0.0,
               static_cast<double>(service.priorities.size())});
  key.insert(key.end(), service.priorities.begin(), service.priorities.end());
  return key;
}

void append_limits(const Service& service, Findings::Key& key) {
  append(key, {service.most_rejected, service.max_load, service.one_to_spare ? 1.0 : 0.0,
               static_cast<double>(service.slos.size())});
  for (const Slo& slo : service.slos)
    append(key, {static_cast<double>(slo.quantity), static_cast<double>(slo.at), in_seconds(slo.limit)});
}

void append_replica(const Replica& replica, Findings::Key& key) {
  if (replica.continuous) {
    key.push_back(1);
    append_step(replica.step, key);
    if (const auto& a = replica.apart) {
      append_step(a->prefill, key);
      append(key, {a->transfer.request, a->transfer.token, static_cast<double>(a->prefill_workers),
                   static_cast<double>(a->decode_workers)});
    }
    return;
  }
  append(key, {0, replica.overlap});
  for (sim::SimTime time : replica.times.shortest) key.push_back(static_cast<double>(time));
  key.insert(key.end(), replica.times.scale.begin(), replica.times.scale.end());
  for (int size : replica.sizes) key.push_back(size);
}

}  // namespace rightsize::capacity
