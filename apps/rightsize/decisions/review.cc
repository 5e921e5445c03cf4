// rightsize decisions review: whether live decisions still hold, for cron. The exit code is 4 if there are alerts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "base/format.h"
#include "http/http.h"
#include "market/price_book.h"
#include "plan/plan.h"
#include "plan/read_request.h"
#include "plan/widen.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::DecisionSummary;
using decisions::MeasuredValue;
using report::Fields;
using report::Json;

struct Alert {
  std::string kind;  // "price", "utilization", "cheaper"
  DecisionSummary decision;
  std::string words;
  std::optional<Usd> saving;  // by the cheaper choice, per month or run
};

struct Review {
  std::string at = decisions::format_time(decisions::now());
  std::size_t reviewed = 0;
  std::vector<Alert> alerts;
  std::vector<std::string> not_planned_again;  // "D3 (chat): the plan has no request"

  void alert(const char* kind, const Decision& decision, const std::string& what, std::optional<Usd> saving = {}) {
    alerts.push_back({kind, decision.summary, fmt::format("{}: {}", full_name(decision.summary), what), saving});
  }
};

const Fields<Alert> kAlertFields = {
    {"kind", "price, utilization or cheaper", &Alert::kind},
    {"id", "number of the decision", [](const Alert& a) { return decisions::label(a.decision.id); }},
    {"workload", "name of the workload", [](const Alert& a) { return a.decision.workload; }},
    {"team", "who pays for it", [](const Alert& a) { return a.decision.team; }},
    {"words", "the alert in words", &Alert::words},
    {"per", "month (services) or run (jobs)", [](const Alert& a) { return a.decision.per; }},
    {"saving_usd", "saving of the cheaper choice", &Alert::saving},
};
const Fields<Review> kReviewFields = {
    {"at", "time of the review", &Review::at},
    {"reviewed", "live decisions reviewed", &Review::reviewed},
    {"alerts", "what has changed", kAlertFields, &Review::alerts},
    {"not_asked_again", "decisions that could not be planned again, and why", &Review::not_planned_again},
};
const report::Document<Review> kReviewDocument("review", "Whether live decisions still hold", kReviewFields);

// The list price of one machine at the time of the decision; empty if it is unknown or 0.
std::optional<double> old_price(const Decision& decision) {
  const std::optional<double> price = PlanFields(decision).number("list_usd_per_machine_hour");
  return price && *price > 0 ? price : std::nullopt;
}

std::optional<market::MachineQuote> price_today(const Decision& decision, const market::PriceBook& book) {
  const decisions::ChosenPlan& choice = decision.summary.choice;
  const catalog::Machine* machine = book.catalog().find_machine(choice.provider, choice.instance);
  const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(choice.purchase);
  if (machine == nullptr || !purchase) return std::nullopt;
  return book.list_price(*machine, *purchase, choice.region);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The cost of the chosen machines at today's price.
std::optional<Usd> cost_today(const Decision& decision, const market::PriceBook& book) {
  if (!decision.cost) return std::nullopt;
  const std::optional<double> old = old_price(decision);
  const std::optional<market::MachineQuote> now = price_today(decision, book);
  if (!old || !now) return decision.cost->likely;
  return decision.cost->likely * (in_usd_per_machine_hour(now->rate) / *old);
}

void review_price(const Decision& decision, const catalog::Catalog& catalog, const DecisionsFlags& flags,
                  Review& review) {
  const std::optional<double> old = old_price(decision);
  if (!old) return;
  const std::optional<market::MachineQuote> now = price_today(decision, market::PriceBook(catalog));
  const std::string& instance = decision.summary.choice.instance;
  if (!now)
    return review.alert("price", decision,
                        fmt::format("the catalogue no longer has a price for {} on these terms", instance));
  const double price = in_usd_per_machine_hour(now->rate), change = price / *old - 1;
  if (std::abs(change) < flags.price_change.fraction()) return;
  review.alert("price", decision,
               fmt::format("{} costs {}/h, {}/h when it was decided ({:+.1f} %)", instance, format_usd_per_hour(price),
                           format_usd_per_hour(*old), change * 100));
}

void review_use(const Decision& decision, const std::vector<MeasuredValue>& samples, const DecisionsFlags& flags,
                Review& review) {
  constexpr std::size_t kRecent = 20;
  const auto compare = [&](std::string_view what, double was, const char* basis, double is) {
    if (std::abs(is - was) < flags.drift.fraction()) return;
    review.alert("utilization", decision,
                 fmt::format("{} is {}, {} {}", what, format_percent(Ratio::fraction(is)),
                             format_percent(Ratio::fraction(was)), basis));
  };
  const std::vector<double> load = values_of(samples, decisions::kUtilization);
  const decisions::PredictedMetric* predicted = decision.find(decisions::kUtilization);
  if (!load.empty() && predicted != nullptr)
    compare("utilization", predicted->value.likely, "predicted",
            mean_of(std::span(load).last(std::min(kRecent, load.size()))));
  // GPU utilization is not predicted: the latest readings are compared with the first.
  const std::vector<double> busy = values_of(samples, decisions::kGpuUtil);
  if (busy.size() < 2 * kRecent) return;
  compare("GPU utilization", mean_of(std::span(busy).first(kRecent)), "when it was first measured",
          mean_of(std::span(busy).last(kRecent)));
}

void review_choice(const Decision& decision, const catalog::Catalog& catalog, const perf::Constants& constants,
                   const DecisionsFlags& flags, Review& review) {
  const auto skip = [&](const std::string& why) {
    review.not_planned_again.push_back(fmt::format("{}: {}", full_name(decision.summary), why));
  };
  if (decision.request.empty()) return skip("the plan has no request");
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : decision.request) settings.push_back({name, value, {}});
  Checked<plan::Request> request = plan::read_request(settings, catalog);
  if (!request) return skip(request.error().front().message);
  catalog::Catalog own = catalog;
  if (Result<> added = market::add_own_hardware(own, request->own); !added) return skip(added.error().message);
  const market::PriceBook book(own, request->prices);
  const plan::Recommendation found = plan::recommend_widely(*request, book, constants);
  const std::optional<Usd> today = cost_today(decision, book);
  if (found.plans.empty() || !today) return skip("no plan is feasible today");
  const plan::Plan& best = found.plans.front();
  const double share = 1 - best.cost / *today;
  if (share < flags.cheaper.fraction()) return;
  const decisions::ChosenPlan& choice = decision.summary.choice;
  const bool same = best.offer.gpu->name == choice.gpu && best.offer.machine->instance == choice.instance;
  review.alert(
      "cheaper", decision,
      fmt::format("{} x {} ({} x {} at {}, {}) would cost {}, {:.0f} % less than {}{}", best.gpus, best.offer.gpu->name,
                  best.machines, best.offer.machine->instance, best.offer.machine->provider,
                  catalog::name_of(best.offer.price->purchase), show_cost(best.cost, decision.summary.per), share * 100,
                  show_cost(*today, decision.summary.per), same ? " (the same machines, other settings)" : ""),
      *today - best.cost);
}

std::string summary_of(const Review& review) {
  if (review.alerts.empty())
    return fmt::format("{} reviewed: no relevant change.", count_of(review.reviewed, "live decision"));
  return fmt::format("{} on {}.", count_of(review.alerts.size(), "alert"), count_of(review.reviewed, "live decision"));
}

// The format of chat tools: a text, and a coloured line per alert.
Json slack_payload(const Review& review) {
  Json payload = {{"text", "rightsize: " + summary_of(review)}, {"attachments", Json::array()}};
  for (const Alert& a : review.alerts) {
    payload["attachments"].push_back({{"color", a.kind == "cheaper" ? "good" : "warning"},
                                      {"title", fmt::format("{}: {}", a.kind, a.decision.workload)},
                                      {"text", a.words},
                                      {"fallback", a.words}});
  }
  return payload;
}

// A webhook's URL is a secret: only its host is shown.
std::string host_of(const std::string& url) {
  const std::string shown = http::shown_url(url);
  const std::size_t scheme = shown.find("://");
  return shown.substr(0, shown.find('/', scheme == std::string::npos ? 0 : scheme + 3));
}

Result<> send(const DecisionsFlags& flags, const Review& review, const Json& document) {
  http::Auth auth;
  auth.headers.emplace_back("Content-Type", "application/json");
  http::Policy policy;
  policy.tries = 3;
  policy.limit = seconds(30);
  http::Client client(auth, policy, nullptr);
  const Json payload = flags.webhook_format == "json" ? document : slack_payload(review);
  const Result<http::Answer> answer = client.post(flags.webhook, payload.dump());
  if (!answer) return fail(unreadable(fmt::format("the webhook at {} could not be reached", host_of(flags.webhook))));
  if (answer->status >= 300)
    return fail(unreadable(fmt::format("the webhook at {} answered {}", host_of(flags.webhook), answer->status)));
  return {};
}

}  // namespace

Checked<Outcome> review_decisions(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(decisions::Filter filter, read_filter(flags));
  using decisions::DecisionStatus;
  if (filter.statuses.empty())
    filter.statuses = {DecisionStatus::kDecided, DecisionStatus::kRollingOut, DecisionStatus::kInForce};
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(decisions::Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<DecisionSummary> live, ledger.list(filter));
  Review review;
  for (const DecisionSummary& summary : live) {
    RIGHTSIZE_TRY(const Decision decision, ledger.find(decisions::label(summary.id)));
    RIGHTSIZE_TRY(const std::vector<MeasuredValue> samples, ledger.samples(summary.id));
    ++review.reviewed;
    review_price(decision, facts.catalog, flags, review);
    review_use(decision, samples, flags, review);
    review_choice(decision, facts.catalog, facts.constants, flags, review);
  }
  Outcome outcome{{.title = "Review of decisions", .document = kReviewDocument.of(review)}};
  report::Report& report = outcome.report;
  report.say(summary_of(review));
  std::vector<std::string> lines, skipped;
  for (const Alert& alert : review.alerts) lines.push_back(alert.words + ".");
  for (const std::string& why : review.not_planned_again) skipped.push_back(fmt::format("Not planned again: {}.", why));
  report.say(fmt::format("{}", fmt::join(lines, "\n")));
  report.say(fmt::format("{}", fmt::join(skipped, "\n")));
  report_backup(ledger.backup(), report);
  if (!review.alerts.empty()) outcome.exit_code = kCheckFailed;
  if (!review.alerts.empty() && !flags.webhook.empty()) {
    if (Result<> sent = send(flags, review, report.document); !sent) return fail(sent.error());
    report.say(fmt::format("Sent to {}.", host_of(flags.webhook)));
  }
  return outcome;
}

}  // namespace rightsize::app
