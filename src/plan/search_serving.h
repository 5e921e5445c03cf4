// Services: formulas screen every kind of replica, and the capacity planner confirms the plans that are shown.
#pragma once

#include <map>

#include "capacity/planner.h"
#include "plan/mix.h"
#include "plan/search.h"

namespace rightsize::plan {

// What all plannings of a request share.
struct PlanningFacts {
  const market::PriceBook& book;
  const perf::Constants& constants;
  const perf::ModelWork& work;
  const std::shared_ptr<capacity::RunCache>& run_cache;
};

class ServingSearch {
 public:
  ServingSearch(const Request& request, const std::vector<MachineClass>& classes, const perf::Constants& constants,
                const perf::ModelWork& work, std::shared_ptr<capacity::RunCache> run_cache);

  // For every class of machines, format and split: the machines that carry the mean load.
  FoundOptions screen();

  // Sets the machines of an option to the fewest it needs, estimated by short simulations: cheaper than confirm(), and
  // enough to decide which option is worth confirming.
  void size(Option& option) const;

  // The fewest machines that an option may need if the formulas ask for 1 / `ratio` times the replicas.
  int fewest_machines(const Option& option, double ratio) const;

  // Simulates the fewest machines that meet every SLO, and records their performance. An option that clearly needs more
  // than `of_interest` machines stays unconfirmed with that number; if no allowed number works, the obstacle is
  // recorded. The result does not depend on `of_interest`.
  enum class Confirmed { kKept, kTakesMore, kNever };
  Confirmed confirm(Option& option, Obstacles& obstacles, int of_interest);

  // Runs the simulations that confirm() of this option will need in advance, possibly concurrently. Needs a rate.
  void look_ahead(const Option& option, int of_interest) const;

  // Sets the need of a confirmed option at the slow end of its speed: the fewest machines of its class with the best
  // layout in `all`, estimated by short simulations.
  void find_slow_end(const std::vector<Option>& all, Option& option);

  // Simulates the machines that a confirmed option needs in each hour of request.work.rate_by_hour; never more than at
  // the peak.
  std::vector<int> machines_by_hour(const Option& option);

  // Whether different machines behind one router meet every SLO together.
  bool confirm_mix(const std::vector<MixChoice>& choices);

 private:
  // Plans for steps that take longer by a factor.
  struct Slower {
    capacity::Planner planner;
    std::map<std::size_t, std::size_t> replicas = {};  // by index in planner_
  };
  Slower& slower_by(double factor);
  std::size_t replica_in(Slower& slower, std::size_t replica) const;

  void screen_class(std::size_t index);
  void screen_machines(std::size_t index, model::Precision precision, std::vector<Option>& options);
  void screen_format(std::size_t index, model::Job job, std::vector<Option>& options);
  std::vector<model::Job> separations(const MachineClass& machines, model::Job job);
  std::optional<Option> screened_option(std::size_t index, const model::Job& job);
  Result<std::size_t> replica_on(const MachineClass& machines, const model::Job& job);
  Result<capacity::Replica> make_replica(const MachineClass& machines, const model::Job& job);
  void note_slo(const MachineClass& machines, const model::Job& job, std::size_t replica);
  std::vector<capacity::Slo> stated_slos() const;  // as users write them: the TTFT of one pass is its latency
  bool note_budget(const Option& option, int replicas, Obstacles& obstacles) const;
  int least_replicas(const Option& option, double rate) const;
  int replicas_for(const Option& option, double rate) const;
  int lost_together(const Option& option, double rate) const;
  void follow_hours(Option& option) const;
  double replica_capacity(std::size_t replica) const;
  capacity::ReplicaCounts counts_of(const MachineClass& machines, const Option& option) const;
  std::optional<int> takes_more(const Option& option, int of_interest) const;
  capacity::ReplicaCounts within(capacity::ReplicaCounts counts, const Option& option, int of_interest) const;
  std::optional<capacity::Assessment> fewest(const Option& option, const capacity::ReplicaCounts& counts) const;
  void set_replicas(int replicas, Option& option) const;
  void take(const capacity::Assessment& found, Option& option) const;
  double answer_tokens() const;

  const Request& request_;
  const std::vector<MachineClass>& classes_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  bool batches_;
  std::vector<RequestSize> sizes_;
  capacity::Planner planner_;
  std::map<double, Slower> slower_;                      // by factor
  std::map<std::string, Result<std::size_t>> replicas_;  // by GPU, links, format and split
  FoundOptions result_;
};

// The service that a request describes; without a rate, at `requests_per_second`.
capacity::Service service_of(const Request& request, const perf::ModelWork& work, double requests_per_second);

}  // namespace rightsize::plan
