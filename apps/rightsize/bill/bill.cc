// rightsize bill: what a bill contains: effective prices, commitments, teams, budgets.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/amount.h"
#include "base/format.h"
#include "base/suggest.h"
#include "rightsize/bill/report.h"
#include "rightsize/bill/words.h"
#include "rightsize/command.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

struct BillFlags : BillFilters {
  std::vector<std::string> from, budgets;
  std::string emit, currency, catalog;
  std::size_t top = 10;
};

// The totals in another currency, at the rate of the bill's last day.
Result<InCurrency> converted(const bill::Bill& bill, const std::string& currency, const catalog::Catalog& catalog) {
  const Date day{bill.last_day};
  RIGHTSIZE_TRY(const catalog::ExchangeRate from,
                catalog.exchange_rate(bill.currency.empty() ? catalog::kDollars : bill.currency, day));
  RIGHTSIZE_TRY(const catalog::ExchangeRate to, catalog.exchange_rate(currency, day));
  const double factor = from.usd / to.usd;
  return InCurrency{to, bill.total.effective.amount() * factor, bill.total.billed.amount() * factor,
                    bill.gpu.amount() * factor};
}

Error no_group(const std::string& by, const bill::Bill& bill) {
  std::vector<std::string> names = bill::BillReader::groups();
  names.insert(names.end(), bill.columns.begin(), bill.columns.end());
  names.insert(names.end(), bill.tags.begin(), bill.tags.end());
  const auto tags = bill.tags.empty() ? "" : fmt::format("; or by a tag: {}", fmt::join(bill.tags, ", "));
  return bad_input(fmt::format("no row of the bill has a column or a tag '{}'", by))
      .with_hint(did_you_mean(by, names))
      .with_hint(fmt::format("group by {}; or by a column: {}{}", fmt::join(bill::BillReader::groups(), ", "),
                             fmt::join(bill.columns, ", "), tags));
}

// "3 months" counts back from the bill's last day, not from today; other texts name days.
Result<> count_back(BillFlags& flags, const std::string& typed, const catalog::Catalog& catalog) {
  if (!flags.first || parse_date(typed) || parse_period(typed, today())) return {};
  bill::BillReader reader(catalog);
  for (const std::string& file : flags.from) {
    if (Result<> read = reader.read(file); !read) return read;
  }
  const int last = reader.finish().last_day;
  if (last == 0 || last >= today().day) return {};
  flags.first = Date{flags.first->day - today().day + last + 1};
  note(fmt::format("the bill ends on {}: --since is {}", format_date(Date{last}), format_date(*flags.first)));
  return {};
}

Checked<Outcome> run_bill(BillFlags flags, const FlagSet& command) {
  if (!flags.emit.empty() && flags.emit != "rules" && flags.emit != "digest")
    return fail(bad_input(fmt::format("--emit '{}': use rules or digest", flags.emit)));
  RIGHTSIZE_TRY(const std::vector<bill::Budget> budgets, bill::parse_budgets(flags.budgets));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  if (const std::vector<std::string> words = take_words(flags.from); !words.empty()) {
    RIGHTSIZE_TRY(static_cast<BillFilters&>(flags), read_question(words, flags, flags.from, catalog));
  }
  if (Result<> counted = count_back(flags, command.given("--since"), catalog); !counted)
    return fail(std::move(counted).error());
  bill::BillReader reader(catalog, flags.by);
  const auto day = [](std::optional<Date> date) { return date ? std::optional(date->day) : std::nullopt; };
  reader.take_only({flags.team, day(flags.first), day(flags.last)});
  for (const std::string& file : flags.from) {
    if (Result<> read = reader.read(file); !read) return fail(std::move(read).error());
  }
  BillResult result;
  result.bill = reader.finish();
  const bill::Bill& bill = result.bill;
  const bool grouped = std::ranges::any_of(bill.teams, [](const bill::TeamCost& team) { return !team.name.empty(); });
  if (!flags.by.empty() && !grouped && bill.rows > 0) return fail(no_group(flags.by, bill));
  result.budgets = bill::against_budgets(bill.teams, budgets, bill.last_day);
  if (bill.last_day - bill.first_day >= 13) result.weeks = bill::week_over_week(bill.teams, bill.last_day);
  result.months = bill::month_over_month(bill);
  result.doubts = bill::doubtful_prices(bill, catalog.prices);
  if (!flags.currency.empty()) {
    RIGHTSIZE_TRY(result.converted, converted(bill, flags.currency, catalog));
  }
  Outcome outcome;
  outcome.report = flags.emit == "digest" ? bill_digest(result) : bill_report(result, flags.top);
  if (flags.emit == "rules") {
    outcome.report.title.clear();
    outcome.report.blocks = {report::Verbatim{"", bill::budget_rules(budgets)}};
  }
  return outcome;
}

}  // namespace

Run add_bill(FlagSet& command) {
  auto flags = std::make_shared<BillFlags>();
  command.add("from", flags->from)
      ->argument("files")
      ->required()
      ->meaning(
          "cost exports of AWS, Google Cloud or Azure: FOCUS 1.0-1.3 or their own (AWS Cost and Usage Reports, Cost "
          "Explorer); CSV or JSON, plain, gzip or zstd");
  command.add("team-tag", flags->by)
      ->called("by")
      ->meaning("group by a column of the bill, a tag, or project, account, service, region, gpu, instance");
  command.add("team", flags->team)->meaning("only this team's part");
  command.add("from-date", flags->first)
      ->called("since")
      ->meaning("only charges from this day on, e.g. 2026-11-05 or 30d");
  command.add("to-date", flags->last)->called("until")->meaning("only charges up to this day");
  command.add("team-budget", flags->budgets);
  command.add("currency", flags->currency)->meaning("show the totals in this currency too, e.g. EUR")->or_words("none");
  command.add("emit", flags->emit)
      ->meaning("write Prometheus alert rules for the budgets (rules) or a weekly message (digest)");
  command.add("top", flags->top)->meaning("rows of each table shown as text")->or_else("10");
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run_bill(*flags, command); };
}

}  // namespace rightsize::app
