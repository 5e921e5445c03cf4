// rightsize decisions review: for cron. Exit code 4 where there is something to look at.
#include <fmt/format.h>

#include "base/format.h"
#include "decisions/clock.h"
#include "http/http.h"
#include "rightsize/decisions/decisions.h"
#include "rightsize/decisions/review.h"
#include "rightsize/decisions/words.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {
namespace {

using decisions::Ledger;
using report::Align;
using report::Json;
using report::json_number;

Json review_json(const Review& review) {
  Json j = {{"schema", "rightsize/review/1"},
            {"at", decisions::format_time(decisions::now())},
            {"reviewed", review.reviewed},
            {"alerts", Json::array()}};
  for (const Alert& a : review.alerts) {
    j["alerts"].push_back({{"kind", a.kind},
                           {"id", decisions::label(a.decision.id)},
                           {"workload", a.decision.workload},
                           {"team", a.decision.team},
                           {"words", a.words},
                           {"per", name_of(a.decision.per)},
                           {"saving_usd", json_number(a.saving, in_usd)}});
  }
  j["not_asked_again"] = review.not_asked_again;
  return j;
}

std::string summary_of(const Review& review) {
  if (review.alerts.empty()) {
    return fmt::format("{} live {} reviewed: nothing has changed that matters.", review.reviewed,
                       review.reviewed == 1 ? "decision" : "decisions");
  }
  return fmt::format("{} {} on {} live {}.", review.alerts.size(), review.alerts.size() == 1 ? "alert" : "alerts",
                     review.reviewed, review.reviewed == 1 ? "decision" : "decisions");
}

// What chat tools take: a text, and a coloured line an alert.
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

// The address of a webhook is a secret: only its host is shown.
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
  if (answer->status >= 300) {
    return fail(unreadable(fmt::format("the webhook at {} answered {}", host_of(flags.webhook), answer->status)));
  }
  return {};
}

Result<ReviewLimits> read_limits(const DecisionsFlags& flags) {
  ReviewLimits limits;
  RIGHTSIZE_TRY(limits.cheaper, parse_share(flags.cheaper, "--cheaper"));
  RIGHTSIZE_TRY(limits.price_change, parse_share(flags.price_change, "--price-change"));
  RIGHTSIZE_TRY(limits.drift, parse_share(flags.drift, "--drift"));
  if (flags.webhook_format != "slack" && flags.webhook_format != "json") {
    return fail(bad_input(fmt::format("--webhook-format '{}' is neither slack nor json", flags.webhook_format)));
  }
  return limits;
}

}  // namespace

Checked<Outcome> review_decisions(const DecisionsFlags& flags) {
  RIGHTSIZE_TRY(const ReviewLimits limits, read_limits(flags));
  RIGHTSIZE_TRY(decisions::Filter filter, read_filter(flags));
  using decisions::Status;
  if (filter.statuses.empty()) filter.statuses = {Status::kDecided, Status::kRollingOut, Status::kInForce};
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(Ledger ledger, open_ledger(flags.ledger, store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<decisions::Summary> live, ledger.list(filter));
  Review review;
  for (const decisions::Summary& summary : live) {
    RIGHTSIZE_TRY(const decisions::Decision decision, ledger.find(decisions::label(summary.id)));
    RIGHTSIZE_TRY(const std::vector<decisions::Sample> samples, ledger.samples(summary.id));
    ++review.reviewed;
    review_price(decision, facts.catalog, limits, review);
    review_use(decision, samples, limits, review);
    review_choice(decision, facts.catalog, facts.constants, limits, review);
  }
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Review of decisions";
  report.blocks.emplace_back(report::Paragraph{summary_of(review)});
  std::string lines;
  for (const Alert& alert : review.alerts) lines += fmt::format("{}{}.", lines.empty() ? "" : "\n", alert.words);
  if (!lines.empty()) report.blocks.emplace_back(report::Paragraph{std::move(lines)});
  std::string skipped;
  for (const std::string& why : review.not_asked_again)
    skipped += fmt::format("{}Not planned again: {}.", skipped.empty() ? "" : "\n", why);
  if (!skipped.empty()) report.blocks.emplace_back(report::Paragraph{std::move(skipped)});
  report.document = review_json(review);
  report_backup(ledger.backup(), report);
  if (!review.alerts.empty()) outcome.exit_code = kCheckFailed;
  if (!review.alerts.empty() && !flags.webhook.empty()) {
    if (Result<> sent = send(flags, review, report.document); !sent) return fail(sent.error());
    report.blocks.emplace_back(report::Paragraph{fmt::format("Sent to {}.", host_of(flags.webhook))});
  }
  return outcome;
}

}  // namespace rightsize::app
