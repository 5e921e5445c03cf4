// rightsize fleet: what a fleet of GPUs costs, how much of it is wasted, who wastes it, and what saves most.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/date.h"
#include "bill/budget.h"
#include "fleet/emit.h"
#include "rightsize/fleet/report.h"

namespace rightsize::app {
namespace {

struct Flags {
  FleetFlags fleet;
  std::string emit, power_cap, currency;
  ElectricityFlags electricity;
  std::vector<std::string> fail_on, budgets;
  std::size_t top = 10;
  bool timeline = false;
};

// The value that a limit applies to, as a share or in dollars.
double value_of(const Limit& limit, const fleet::FleetAnalysis& a) {
  if (limit.what == "waste") return a.totals.waste_share();
  if (limit.what == "waste_usd") return in_usd(a.totals.waste);
  if (limit.what == "savings_usd") return in_usd_per_month(a.totals.saving);
  for (const fleet::LedgerLine& line : a.ledger) {
    if (fleet::name_of(line.category) == limit.what) return a.totals.share_of_spend(line.spend);
  }
  return 0;
}

Checked<std::vector<Limit>> parse_limits(const std::vector<std::string>& texts) {
  std::vector<Limit> limits;
  Errors errors;
  for (const std::string& text : texts) {
    if (Result<Limit> limit = parse_limit(text)) {
      limits.push_back(*std::move(limit));
    } else {
      errors.push_back(std::move(limit).error());
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return limits;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(const std::vector<Limit> limits, parse_limits(flags.fail_on));
  constexpr std::string_view kFiles[] = {"", "rules", "grafana", "focus", "portfolio"};
  if (std::ranges::find(kFiles, flags.emit) == std::end(kFiles))
    return fail(bad_input(fmt::format("--emit '{}': use rules, grafana, focus or portfolio", flags.emit)));
  RIGHTSIZE_TRY(Facts opened, open_facts(flags.fleet.catalog));
  const auto kept_facts = std::make_shared<const Facts>(std::move(opened));
  const Facts& facts = *kept_facts;
  RIGHTSIZE_TRY(FleetRequest request, read_request(flags.fleet, facts.catalog));
  if (!flags.power_cap.empty()) {
    RIGHTSIZE_TRY(request.power_cap, market::read_power("power-cap", flags.power_cap));
  }
  RIGHTSIZE_TRY(const Electricity electricity, read_electricity(flags.electricity));
  RIGHTSIZE_TRY(FleetResult result, run_fleet(request, facts));
  result.electricity = electricity;
  if (!flags.currency.empty()) {
    RIGHTSIZE_TRY(result.currency, facts.catalog.exchange_rate(flags.currency, today()));
  }
  result.with_timelines = flags.timeline;
  RIGHTSIZE_TRY(result.billing,
                bill_fleet(result.analysis, result.namespaces, facts.catalog, flags.fleet.prices, flags.budgets));
  if (!flags.emit.empty()) {
    const fleet::EmitInput input{result.sources, result.labels, result.thresholds, result.analysis};
    result.emitted = flags.emit == "rules"   ? fleet::emit_rules(input)
                     : flags.emit == "focus" ? emit_focus(result.analysis)
                     : flags.emit == "portfolio"
                         ? fleet::emit_portfolio(result.analysis, result.thresholds, facts.catalog)
                         : fleet::emit_grafana(input);
    if (result.emitted.empty())
      return fail(bad_input("no workload is running on a GPU with a known price, so no portfolio was written")
                      .with_hint("add --price GPU=USD, or read GPU metrics instead of a job log"));
    if (flags.emit == "rules" && !flags.budgets.empty()) {
      RIGHTSIZE_TRY(const std::vector<bill::Budget> budgets, bill::parse_budgets(flags.budgets));
      // Both sets of rules are groups of one file.
      result.emitted += bill::budget_rules(budgets).substr(std::string_view("groups:\n").size());
    }
  }
  Outcome outcome;
  outcome.report = fleet_report(result, flags.top);
  if (!result.misleading.empty()) outcome.exit_code = exit_code(unreadable(""));
  if (!flags.emit.empty()) {
    outcome.report.blocks = {report::Verbatim{"", result.emitted}};
    outcome.report.title.clear();
  }
  for (const Limit& limit : limits) {
    const double value = value_of(limit, result.analysis);
    if (value <= limit.most) continue;
    outcome.exit_code = kCheckFailed;
    const std::string shown = limit.is_share ? fmt::format("{:.1f} % > {:.1f} %", value * 100, limit.most * 100)
                                             : fmt::format("${:.0f} > ${:.0f}", value, limit.most);
    std::fputs(fmt::format("fail-on: {} {}\n", limit.what, shown).c_str(), stderr);
  }
  // Every GPU is listed only in the formats that show it; prices refer to the catalogue.
  outcome.report.long_lists = [kept_facts, kept = std::make_shared<const FleetResult>(std::move(result))](
                                  report::Json& document) { document = fleet_document(*kept); };
  return outcome;
}

}  // namespace

Run add_fleet(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  add_fleet_flags(command, flags->fleet);
  command.add("top", flags->top)->meaning("rows of each table shown as text")->or_else("10");
  command.add("timeline", flags->timeline);
  command.add("emit", flags->emit)
      ->meaning(
          "write Prometheus rules (rules), a dashboard (grafana), the cost per owner as FOCUS rows (focus) or what "
          "runs "
          "now for rightsize portfolio (portfolio) instead of the report");
  command.add("team-budget", flags->budgets);
  command.add("currency", flags->currency)->meaning("show the totals in this currency too, e.g. EUR")->or_words("none");
  command.add("power-cap", flags->power_cap)
      ->meaning("what this power cap would save and slow down, e.g. 500W")
      ->or_words("the best for each kind of GPU and verdict, at most 5 % slower");
  add_electricity_flags(command, flags->electricity, "measured");
  command.add("fail-on", flags->fail_on);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
