// rightsize portfolio: all workloads of an organisation in one plan.
#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/file.h"
#include "base/long_work.h"
#include "portfolio/small_models.h"
#include "portfolio/work_options.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/portfolio/report.h"

namespace rightsize::app {
namespace {

struct PortfolioFlags {
  std::string file, catalog;
  Seconds time_limit;
  std::optional<Usd> budget;  // per month; overrides the file's
  ElectricityFlags electricity;
};

// The optimum without quotas, to report which quotas are too small.
Result<portfolio::Optimum> without_quotas(portfolio::Organisation organisation, const portfolio::SearchLimits& limits) {
  for (portfolio::Pool& pool : organisation.pools) pool.quota.reset();
  return find_optimum(portfolio::CostModel(organisation), limits);
}

std::optional<PackedCluster> pack(const std::optional<portfolio::Cluster>& cluster, Seconds limit) {
  if (!cluster) return std::nullopt;
  const auto began = std::chrono::steady_clock::now();
  const auto stop = [&] {
    return cancelled() || std::chrono::steady_clock::now() - began > std::chrono::duration<double>(in_seconds(limit));
  };
  PackedCluster made;
  made.pods = cluster->pods.size(), made.nodes = cluster->nodes.size();
  for (const solve::ClusterNode& node : cluster->nodes) made.gpus += node.gpus;
  made.packed = pack_cluster(cluster->pods, cluster->nodes, stop);
  made.best_fit = place_in_order(cluster->pods, cluster->nodes, solve::ClusterRule::kBestFit);
  made.least_fragmentation = place_in_order(cluster->pods, cluster->nodes, solve::ClusterRule::kLeastFragmentation);
  return made;
}

// A setting of every plan; that of a workload in the file comes first.
void add_setting(const std::string& name, const std::string& value, portfolio::Organisation& organisation) {
  for (portfolio::Workload& w : organisation.workloads) {
    if (!w.work.empty() && std::ranges::find(w.work, name, &model::Setting::name) == w.work.end())
      w.work.push_back({name, value, {}});
  }
}

Checked<Outcome> run_portfolio(const PortfolioFlags& flags) {
  if (flags.file.empty())
    return fail(
        bad_input("the file is missing").with_hint("for example rightsize portfolio examples/portfolio/team.yaml"));
  RIGHTSIZE_TRY(std::string text, read_file(flags.file));
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  Checked<portfolio::Organisation> read =
      portfolio::read_organisation(flags.file, std::move(text), facts.catalog, our_key);
  if (!read) {
    Errors errors = std::move(read).error();
    errors.back().hints.emplace_back("'rightsize init --portfolio' prints an example");
    return fail(std::move(errors));
  }
  portfolio::Organisation& organisation = *read;
  for (const std::string& words : organisation.notes) note(words);
  if (flags.budget) organisation.budget = in_usd(*flags.budget);
  RIGHTSIZE_TRY(Electricity electricity, read_electricity(flags.electricity));
  if (electricity.pue > 1) add_setting("pue", fmt::format("{}", electricity.pue), organisation);
  std::optional<PackedCluster> cluster = pack(organisation.cluster, flags.time_limit);
  if (organisation.workloads.empty()) return Outcome{cluster_report(*cluster)};
  const market::PriceBook book(facts.catalog);
  if (Checked<> made = add_work_options(organisation, book, facts.constants); !made) return fail(made.error());
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  if (Checked<> made = add_small_options(organisation, speeds); !made) return fail(made.error());
  const portfolio::CostModel apart(organisation);
  const portfolio::SearchLimits limits{in_seconds(flags.time_limit), 0};
  const LongWork counted("plans compared", 0);  // Ctrl-C ends the search and shows the best plan so far
  const auto began = std::chrono::steady_clock::now();
  RIGHTSIZE_TRY(portfolio::Optimum optimum, find_optimum(apart, limits));
  // Small models on shared GPUs, if that is cheaper than a GPU or slice for each.
  RIGHTSIZE_TRY(const std::optional<portfolio::Organisation> sharing, with_shared_gpus(organisation, speeds));
  const portfolio::CostModel together(sharing ? *sharing : organisation);
  bool shared = false;
  if (sharing) {
    RIGHTSIZE_TRY(const portfolio::Optimum other, find_optimum(together, limits));
    shared = other.found() && (!optimum.found() || other.usd < optimum.usd);
    if (shared) optimum = other;
  }
  const portfolio::CostModel& costs = shared ? together : apart;
  if (!optimum.found()) {
    RIGHTSIZE_TRY(const portfolio::Optimum relaxed, without_quotas(organisation, limits));
    return no_portfolio(costs, optimum, relaxed);
  }
  // Shadow prices get the remaining time, and a little even if none remains.
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  constexpr double kLeastSeconds = 2;
  RIGHTSIZE_TRY(std::vector<portfolio::ShadowPrice> prices,
                shadow_prices(costs, optimum, {std::max(kLeastSeconds, limits.seconds - spent), 0}));
  if (optimum.proved()) {
    RIGHTSIZE_TRY(const std::vector<portfolio::RelaxedLimit> relaxed,
                  relaxed_limits(costs.organisation(), book, facts.constants));
    for (const portfolio::RelaxedLimit& limit : relaxed) {
      const portfolio::CostModel with(limit.organisation);
      RIGHTSIZE_TRY(const portfolio::Optimum better, find_optimum(with, limits, optimum.choice));
      prices.push_back({limit.what, std::max(0.0, optimum.usd - better.usd), better.proved()});
    }
  }
  std::vector<portfolio::Purchase> purchases;
  RIGHTSIZE_TRY(std::optional<portfolio::ReservationPlan> range, reserve_for_range(costs.organisation(), limits));
  if (!range) {
    RIGHTSIZE_TRY(purchases, what_to_reserve(costs, optimum, limits));
  }
  const bool over = organisation.budget && optimum.usd > *organisation.budget;
  return Outcome{portfolio_report({apart, costs, optimum, std::move(prices), std::move(purchases), std::move(range),
                                   std::move(cluster), electricity}),
                 over ? kNoFeasibleAnswer : kDone};
}

}  // namespace

Run add_portfolio(FlagSet& command) {
  auto flags = std::make_shared<PortfolioFlags>();
  command.add("ORGANISATION", flags->file);
  command.add("budget", flags->budget)
      ->meaning("most that all workloads together may cost per month")
      ->or_words("the file's 'budget'");
  command.add("time-limit", flags->time_limit);
  add_electricity_flags(command, flags->electricity, "estimated");
  command.find("--pue")->or_words("1.3");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_portfolio(*flags); };
}

}  // namespace rightsize::app
