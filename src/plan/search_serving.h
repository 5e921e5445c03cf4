// Services: every kind of replica screened by formulas, and what is to be shown confirmed by the planner of services.
#pragma once

#include <map>

#include "capacity/planner.h"
#include "plan/mix.h"
#include "plan/search.h"

namespace rightsize::plan {

class ServingSearch {
 public:
  ServingSearch(const Request& request, const std::vector<MachineClass>& classes, const perf::Constants& constants,
                const perf::ModelWork& work, std::shared_ptr<capacity::Findings> findings);

  // For every class of machines, format and split: as many machines as carry the load if means decided.
  SearchResult screen();

  // Raises or lowers the machines of an option to what it takes at least, by first looks: less work than confirm(), and
  // tells which option is worth that.
  void size(Option& option) const;

  // The fewest machines that keep every SLO by simulation, and what they then deliver. Where first looks tell that it
  // takes more than `of_interest` it is left with that number, unconfirmed; where no number that is allowed does, the
  // obstacle is noted. What is found does not depend on `of_interest`.
  enum class Confirmed { kKept, kTakesMore, kNever };
  Confirmed confirm(Option& option, Obstacles& obstacles, int of_interest);

  // Simulates what confirm() of this option will ask for; safe beside it. Services of a rate only.
  void look_ahead(const Option& option, int of_interest) const;

  // Machines of a confirmed option that each hour of request.work.rate_by_hour needs; never more than at the peak.
  std::vector<int> machines_by_hour(const Option& option);

  // Whether different machines behind one router keep every SLO together.
  bool confirm_mix(const std::vector<MixChoice>& choices);

 private:
  void screen_class(std::size_t index);
  void screen_machines(std::size_t index, model::Precision precision, std::vector<Option>& options);
  void screen_format(std::size_t index, model::Job job, std::vector<Option>& options);
  std::vector<model::Job> separations(const MachineClass& machines, model::Job job);
  std::optional<Option> screened_option(std::size_t index, const model::Job& job);
  Result<std::size_t> replica_on(const MachineClass& machines, const model::Job& job);
  Result<capacity::Replica> make_replica(const MachineClass& machines, const model::Job& job);
  void note(const MachineClass& machines, Stage stage, double distance, const Shortfall& shortfall);
  void note_slo(const MachineClass& machines, const model::Job& job, std::size_t replica);
  int least_replicas(std::size_t replica) const;
  double replica_capacity(std::size_t replica) const;
  capacity::Counts counts_of(const MachineClass& machines, const Option& option) const;
  std::optional<int> takes_more(const Option& option, int of_interest) const;
  capacity::Counts within(capacity::Counts counts, const Option& option, int of_interest) const;
  std::optional<capacity::Assessment> fewest(const Option& option, const capacity::Counts& counts) const;
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
  std::map<std::string, Result<std::size_t>> replicas_;  // by GPU, links, format and split
  SearchResult result_;
};

// The service a request describes; without a rate, at the one given.
capacity::Service service_of(const Request& request, const perf::ModelWork& work, double requests_per_second);

}  // namespace rightsize::plan
