// Options with prices: what a user could order within the limits, best first.
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "plan/search.h"

namespace rightsize::plan {

// An option on one offer. Points into the search result and the classes.
struct PricedOption {
  const Option* option = nullptr;
  const MachineClass* machines = nullptr;
  const market::Offer* offer = nullptr;
  const market::PriceOutlook* price = nullptr;
  market::RunningTime time;
  Usd side_cost;
  Usd cost;
  Usd cost_low = {}, cost_high = {};  // the middle 80 %
  Watts power = {};                   // of all GPUs and hosts; zero: unknown
  Usd drawn = {};                     // the part of the cost that spend commitments cover
  bool misses_if_slow = false;  // at the slow end of its speed: the deadline, or all limits of its kind's services
  double risk = 1;              // services: mean number of machines over the speed's range, over the planned one
  double day_share = 1;         // of each day in which the job runs
  bool starts_over = false;     // when it is interrupted: no storage outlives the machine
  // Mean power over the paid time as a share of `power`: machines that stay paid for are off without traffic.
  double draw_share = 1;
  UsdPerMachineSecond rate = {};  // of one machine: its price; of the user's own, with electricity at its mean power

  // The cost that no commitment covers.
  Usd due() const { return cost - drawn; }
  // A lower bound of it: until a service is simulated, formulas may count twice the machines that it needs, and more
  // with conversations.
  Usd least_due(const Request& request) const;

  // Whether the speed was scaled from another architecture, without any measurement of this one, ours or the user's.
  bool is_extrapolated() const;
  // Whether the GPU has a benchmark: perf::has_benchmark().
  bool has_benchmark() const;
  // No benchmark, and an old price of one source: nothing about it is confirmed.
  bool is_unproven(const Request& request) const;
  // No benchmark, and limits that the slow end of its speed misses: it leads only if nothing else meets them.
  bool is_gamble(const Request& request) const;
  // The cost that decides the rank. Of an extrapolation it is the high end, so that it leads only if even that is
  // cheaper than what was measured. Workers that the search separated must save 15 %, because a router and transfers
  // of the KV cache are more to operate. What is unproven must save 10 %. Of a service it includes the machines that it
  // takes if it is too slow for its limits, times the chance of that; without a rate it is the cost per request.
  // Training with little memory to spare counts up to 5 % more.
  double ranked_cost(const Request& request) const;
  double ranked_wait(const Request& request) const;
  // What decides the rank: the objective's value, with what other merits are worth.
  double score(const Request& request) const;

  double hours() const { return in_hours(time.total()); }
  // Seconds a user waits for the end of the job, or for an answer.
  double wait(const Request& request) const;
};

// GPUs in use at their mean power, the others of the machines idle, and the hosts. Zero if the GPUs' power is unknown.
Watts power_of(const Deployment& deployment, const MachineClass& machines);

// The same without any work.
Watts idle_power_of(const Deployment& deployment, const MachineClass& machines);

// Overhead of the data center of a machine: cooling and power supply.
double pue_of(const Request& request, const catalog::Machine& machine);
// Energy of the work with that overhead; 0 if the power is unknown.
double energy_kwh(const Request& request, const PricedOption& option);
// Carbon dioxide of that energy; empty: not asked for, or unknown for the region.
std::optional<double> co2_kg(const Request& request, const PricedOption& option);

// Whether machines can be given back in quiet hours: own and committed ones are paid all the time.
bool follows_hours(const market::Offer& offer);

// How far ahead prices are predicted before the length of the work is known. A service is paid by the month.
Seconds price_horizon(const Request& request);

// The length of a commitment: zero, one year, three years.
Seconds term_of(catalog::Purchase purchase);

// Size of a checkpoint: the trained weights with the optimizer states.
Bytes checkpoint_bytes(const perf::ModelWork& work, const model::Job& job);

// The data that a job keeps in storage while it runs: the newest checkpoints and the one being written, or the items
// and results of offline work. Every trainer keeps two (torchtitan cannot keep fewer), and deletes the third when the
// next is complete.
inline constexpr int kKeptCheckpoints = 2;
Bytes stored_bytes(const Request& request, const perf::ModelWork& work, const model::Job& job);

// Every option on every offer of its class that meets the limits; the others become obstacles.
std::vector<PricedOption> price_options(const Request& request, const market::PriceBook& book,
                                        const std::vector<MachineClass>& classes, const perf::ModelWork& work,
                                        const FoundOptions& found, Obstacles& obstacles);

// The part of the cost that spend commitments cover.
std::vector<market::Draw> draws_of(const Request& request, const market::PriceBook& book, const PricedOption& option);

// The largest share of a latency limit in use; 0 before the simulation and without such a limit.
double limit_used(const Request& request, const Deployment& deployment);

// The standard deviation of the logarithm of the times that a speed interval stands for.
double deviation_of(const perf::Interval& speed);

// How many times as long everything may take before a simulated service breaks a limit of latency or load.
double room_of(const Request& request, const Deployment& deployment);

// The chance that a service takes longer than that, given what the simulation of its slow end showed: it then needs
// more machines. The chance that a plan breaks its limits: the same, or that a job misses its deadline.
double chance_of_resizing(const Request& request, const Option& option);
double chance_of_missing(const Request& request, const PricedOption& option);

// Whether a service that needs more machines at the slow end of its speed then costs more than the budget.
bool outgrows_budget(const Request& request, const Plan& plan);

// Machines of a service if everything took `factor` times as long.
double machines_at(const Request& request, const Option& option, double factor);

// Whether `a` is better. A total order, so that a tighter limit which the best option meets leaves it the best.
bool is_better(const Request& request, const PricedOption& a, const PricedOption& b);

// Whether the host has an Arm processor: images and wheels must then be built for Arm.
bool has_arm_host(const market::Offer& offer);

// Whether the search chose separate prefill and decode workers. They are harder to operate, so they must save enough.
bool is_separated(const Request& request, const PricedOption& option);
inline constexpr double kLeastSavingOfSeparation = 0.15;

// Provider, GPU, terms, and whether prefill and decode are separate; one option of each kind is shown.
using Kind = std::tuple<std::string_view, const catalog::Gpu*, catalog::Purchase, bool>;
Kind kind_of(const PricedOption& option);

// The best of each kind, best first. Other merits are worth a few percent of the cost: limits met even at the slow end
// of the speed, evidence, a fresh price, less lost with one machine (training: fewer machines), an x86 host with CUDA.
// Half the time is worth 0.5 %.
std::vector<PricedOption> best_of_each_kind(const Request& request, const std::vector<PricedOption>& candidates);

// The options that no other beats in both cost and waiting, cheapest first.
std::vector<PricedOption> pareto_front(const Request& request, std::vector<PricedOption> candidates);

}  // namespace rightsize::plan
