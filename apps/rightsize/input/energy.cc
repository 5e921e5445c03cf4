#include "rightsize/input/energy.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "perf/energy.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::one_of;

// The lowest voltage differs by chip: docs/energy.md.
constexpr const char* kDeepCap = " With a cap this low, some GPUs take up to 50 % longer still.";

struct Bounds {
  double low, high;
  Bounds(double mean, perf::Interval factors) : low(mean * factors.low), high(mean * factors.high) {}
};
const Fields<Bounds> kBoundsFields = {
    {"low", "lower end", &Bounds::low},
    {"high", "upper end", &Bounds::high},
};

const Fields<plan::CapChoice> kCapFields = {
    {"cap_watts", "power cap of each GPU", &plan::CapChoice::cap},
    {"time_factor?", "time of the work on the same machines, relative to that without a cap; a service: TPOT",
     &plan::CapChoice::time},
    {"energy_factor?", "energy of the work", &plan::CapChoice::energy},
};

}  // namespace

const Fields<JobEnergy>& job_energy_fields() {
  static const Fields<JobEnergy> kFields = {
      {"power_watts", "mean power of each GPU while the job runs", [](const JobEnergy& e) { return e.power.mean; }},
      {"power_interval", "80 % interval of the power", kBoundsFields,
       [](const JobEnergy& e) {
         return Bounds(in_watts(e.power.mean), {e.power.low, e.power.high});
       }},
      {"joules_per_unit", "energy of all GPUs per unit of work", &JobEnergy::joules_per_unit},
      {"joules_interval", "80 % interval of the energy per unit", kBoundsFields,
       [](const JobEnergy& e) { return Bounds(e.joules_per_unit, e.interval); }},
      {"unit", "the unit of work: output tokens when serving, tokens when training", &JobEnergy::unit,
       one_of({"token", "sample", "image", "video"})},
      {"clock_share", "clock that the power limit allows, as a share of the highest",
       [](const JobEnergy& e) { return e.power.clock; }},
      {"usd_per_million_units?", "price of the energy of a million units, with --kwh-price",
       [](const JobEnergy& e) { return e.electricity.cost(e.of_million()); }},
      {"co2_kg_per_million_units?", "its carbon dioxide, with --carbon",
       [](const JobEnergy& e) { return e.electricity.co2_kg(e.of_million()); }},
      {"power_cap_watts?", "power cap of each GPU", &JobEnergy::cap},
      {"capped_time_factor?", "time of the work under the cap over that without it",
       [](const JobEnergy& e) { return e.cap ? std::optional(e.capped_time) : std::nullopt; }},
  };
  return kFields;
}

JobEnergy energy_at(const perf::PowerEstimate& power, double rate, const perf::Interval& time) {
  return {
      .power = power, .joules_per_unit = in_watts(power.mean) / rate, .interval = perf::energy_interval(power, time)};
}

std::string energy_sentence(const JobEnergy& energy, std::string_view unit, bool sought) {
  const perf::PowerEstimate& p = energy.power;
  std::string text =
      fmt::format("Each GPU draws {} (80 % interval {} to {}): {} J per {} ({} to {}).", format_power(p.mean),
                  format_power(p.mean * p.low), format_power(p.mean * p.high), format_number(energy.joules_per_unit),
                  unit, format_number(energy.joules_per_unit * energy.interval.low),
                  format_number(energy.joules_per_unit * energy.interval.high));
  constexpr double kFullClock = 0.995, kDeep = 0.8;
  if (p.clock < kFullClock) {
    text += fmt::format(" Its power {} holds the clock at {} of the maximum.", energy.cap ? "cap" : "limit",
                        format_percent(Ratio::fraction(p.clock)));
  }
  if (energy.cap) {
    text += fmt::format(" With a cap of {}, the work takes {} longer.", format_power(*energy.cap),
                        format_percent(Ratio::fraction(std::max(0.0, energy.capped_time - 1))));
    if (p.slower < kDeep) text += kDeepCap;
  } else if (sought) {
    text += " No lower cap saves energy.";
  }
  if (energy.electricity.asked()) {
    const Joules million = energy.of_million();
    text += fmt::format(" A million {}s take {} kWh{}.", unit, format_number(energy.electricity.kwh(million)),
                        energy.electricity.words(million));
  }
  return text;
}

Result<bool> read_power_cap(const std::string& text, const catalog::Gpu& gpu, perf::GpuPower& power) {
  power.cap = {};
  const bool best = text == "best";
  if (text.empty() || (best && power.known())) return best;
  RIGHTSIZE_TRY(const Watts cap, market::read_power("power-cap", text));
  if (!power.known()) return fail(bad_input(fmt::format("the catalogue has no power limit for {}", gpu.name)));
  if (cap <= power.idle || cap > power.limit) {
    return fail(
        bad_input(fmt::format("--power-cap of {} must be above {}, which {} draws idle, and at most its limit of {}",
                              format_power(cap), format_power(power.idle), gpu.name, format_power(power.limit))));
  }
  power.cap = cap;
  return false;
}

std::optional<Watts> least_energy_cap(const perf::GpuPower& gpu, const JobEnergy& free,
                                      const std::function<std::optional<JobEnergy>(Watts)>& at) {
  // Below half of the limit, idle power outweighs the savings of a lower clock.
  constexpr double kStep = 0.05, kLowest = 0.5;
  std::optional<Watts> best;
  double least = free.joules_per_unit;
  for (double share = 1 - kStep; share > kLowest - 1e-9; share -= kStep) {
    const std::optional<JobEnergy> energy = at(gpu.limit * share);
    if (!energy || energy->joules_per_unit >= least) continue;
    best = gpu.limit * share, least = energy->joules_per_unit;
  }
  return best;
}

bool shows_energy(const plan::Request& request, const plan::Plan& first) {
  return request.objective == plan::Objective::kEnergy || request.limits.power || request.power_cap || request.carbon ||
         first.electricity;
}

const Fields<plan::Plan>& energy_fields() {
  using plan::Plan;
  static const Fields<Plan> kFields = {
      {"power_watts", "power", "mean power of all GPUs and hosts", &Plan::power, format_power},
      {"gpu_power_watts", "of it, each GPU that works", &Plan::gpu_power},
      {"pue", "power usage effectiveness of the data center", &Plan::pue},
      {"power_cap?", "with --power-cap; with best: the cap with the least energy, absent if no cap saves any",
       kCapFields, &Plan::cap},
      {"energy_kwh", "energy", "energy of GPUs, hosts and cooling (pue) over the hours; a service: a month",
       [](const Plan& p) { return p.energy_kwh(); }, [](double kwh) { return format_number(kwh) + " kWh"; }},
      {"co2_kg?", "CO2", "its carbon dioxide, with --carbon", [](const Plan& p) { return p.co2_kg(); },
       [](double kg) { return format_number(kg) + " kg"; }},
      {"carbon_grams_per_kwh?", "carbon intensity of the electricity",
       [](const Plan& p) { return p.carbon ? std::optional(p.carbon->grams_per_kwh) : std::nullopt; }},
      {"carbon_source?", "where that figure is from",
       [](const Plan& p) {
         return p.carbon && !p.carbon->source.empty()
                    ? fmt::format("{}, {}, {}", p.carbon->where, p.carbon->source, p.carbon->date)
                    : std::string();
       }},
  };
  return kFields;
}

std::string energy_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (!(plan.power > Watts{})) return {};
  std::string text = fmt::format("Power: {} for GPUs and hosts, {} kWh with cooling (PUE {})", format_power(plan.power),
                                 format_number(plan.energy_kwh()), format_number(plan.pue));
  if (plan.carbon)
    text += fmt::format(", {} kg of CO2", format_number(*plan.co2_kg()));
  else if (request.carbon)
    text += fmt::format(", CO2 unknown: no figure for {}", plan.offer.price->region == "any"
                                                               ? "a region that the provider does not name"
                                                               : plan.offer.price->region);
  text += ".";
  if (!plan.cap) return text;
  text += fmt::format(" Cap each GPU at {}", format_power(plan.cap->cap));
  const auto change = [](double factor) {
    return fmt::format("{} {}", format_percent(Ratio::fraction(std::abs(factor - 1))), factor < 1 ? "less" : "more");
  };
  if (plan.cap->time && plan.cap->energy)
    text +=
        fmt::format(": {} energy and {} time than without a cap", change(*plan.cap->energy), change(*plan.cap->time));
  text += ".";
  // Work that a cap hardly slows down is bound by memory, not by the clock.
  constexpr double kDeep = 0.7, kSlower = 1.05;
  const bool deep = plan.offer.gpu->tdp && plan.cap->cap < *plan.offer.gpu->tdp * kDeep;
  return deep && plan.cap->time.value_or(1) > kSlower ? text + kDeepCap : text;
}

}  // namespace rightsize::app
