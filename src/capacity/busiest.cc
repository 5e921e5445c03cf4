#include "capacity/busiest.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <tuple>

namespace rightsize::capacity {
namespace {

constexpr Seconds kHour = hours(1), kLeadIn = seconds(300);
constexpr std::size_t kMostLeadIn = 4'000;

// A generated token takes about as long as a few prompt tokens.
double work_of(const sim::Arrival& arrival) { return arrival.size + 4.0 * arrival.output; }

// The first requests [from, until) of the window of this length with the most work.
std::pair<std::size_t, std::size_t> busiest_window(const sim::ArrivalList& all, sim::SimTime length) {
  double work = 0, most = -1;
  std::size_t from = 0, best_from = 0, best_until = all.size();
  for (std::size_t until = 0; until < all.size(); ++until) {
    work += work_of(all[until]);
    while (all.time(until) - all.time(from) > length) work -= work_of(all[from++]);
    if (work > most) {
      most = work;
      best_from = from;
      best_until = until + 1;
    }
  }
  return {best_from, best_until};
}

// The `count` consecutive requests of [from, until) with the most work per second.
std::pair<std::size_t, std::size_t> densest(const sim::ArrivalList& all, std::size_t from, std::size_t until,
                                            std::size_t count) {
  double work = 0, most = -1;
  std::size_t best = from;
  for (std::size_t i = from; i < until; ++i) {
    work += work_of(all[i]);
    if (i + 1 < from + count) continue;
    const std::size_t first = i + 1 - count;
    const double density = work / static_cast<double>(std::max<sim::SimTime>(1, all.time(i) - all.time(first)));
    if (density > most) {
      most = density;
      best = first;
    }
    work -= work_of(all[first]);
  }
  return {best, best + count};
}

}  // namespace

std::shared_ptr<const sim::Trace> busiest_part_of(const sim::ArrivalProcess& arrivals, std::uint64_t most) {
  const auto* trace = std::get_if<std::shared_ptr<const sim::Trace>>(&arrivals);
  if (trace == nullptr || *trace == nullptr) return nullptr;
  struct Known {
    std::weak_ptr<const sim::Trace> whole;
    std::shared_ptr<const sim::Trace> part;
  };
  constexpr std::size_t kKept = 8;
  static std::mutex mutex;
  static std::deque<Known> all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const Known& known) { return known.whole.expired(); });
  for (const Known& known : all) {
    if (known.whole.lock() == *trace) return known.part;
  }
  std::shared_ptr<const sim::Trace> part = busiest_part(*trace, most);
  // A part that is the trace itself would keep it alive.
  if (part != *trace) all.push_back({*trace, part});
  if (all.size() > kKept) all.pop_front();
  return part;
}

bool is_recorded(const sim::ArrivalProcess& arrivals) {
  const sim::Trace* trace = sim::trace_of(arrivals);
  return trace != nullptr && !trace->file.empty();
}

std::shared_ptr<const sim::Trace> busiest_part(const std::shared_ptr<const sim::Trace>& trace, std::uint64_t most) {
  const sim::ArrivalList& all = trace->arrivals;
  if (trace->file.empty() || all.empty()) return trace;
  const bool is_long = all.back().at - all.front().at > sim::to_sim_time(kHour) + sim::to_sim_time(kLeadIn);
  if (!is_long && all.size() <= most) return trace;
  auto [from, until] = busiest_window(all, sim::to_sim_time(kHour));
  if (until - from > most) std::tie(from, until) = densest(all, from, until, most);
  std::size_t begin = from;
  while (begin > 0 && from - begin < kMostLeadIn && all.time(from) - all.time(begin - 1) <= sim::to_sim_time(kLeadIn))
    --begin;
  auto part = std::make_shared<sim::Trace>();
  part->file = trace->file;
  part->has_tokens = trace->has_tokens;
  part->has_timeouts = trace->has_timeouts;
  part->prompts = trace->prompts;
  part->warm_up = from - begin;
  part->arrivals = all.part(begin, until);
  part->arrivals.change([start = all.time(begin)](sim::Arrival& arrival) { arrival.at -= start; });
  return part;
}

}  // namespace rightsize::capacity
