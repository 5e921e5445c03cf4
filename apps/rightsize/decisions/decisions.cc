// rightsize decisions: the verbs and their flags.
#include "rightsize/decisions/decisions.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "decisions/clock.h"

namespace rightsize::app {
namespace {

struct Verb {
  const char* name;
  std::vector<std::string> flags;  // that it takes beside --format, --ledger, --wait
  bool names;                      // takes decisions
};

const std::vector<Verb>& verbs() {
  static const std::vector<std::string> kFilter{"--workload", "--team",  "--by",   "--gpu",
                                                "--status",   "--since", "--until"};
  static const auto kWith = [](std::vector<std::string> more) {
    more.insert(more.end(), kFilter.begin(), kFilter.end());
    return more;
  };
  static const std::vector<Verb> kAll = {
      {"list", kWith({"--top"}), false},
      {"show", {}, true},
      {"export", kFilter, true},
      {"savings", kFilter, false},
      {"review", kWith({"--cheaper", "--price-change", "--drift", "--webhook", "--webhook-format", "--catalog"}),
       false},
  };
  return kAll;
}

// A flag that means nothing to the verb is refused, not ignored.
Result<> check_flags(const FlagSet& command, const Verb& verb) {
  for (const Verb& other : verbs()) {
    for (const std::string& flag : other.flags) {
      if (command.given(flag).empty()) continue;
      if (std::find(verb.flags.begin(), verb.flags.end(), flag) != verb.flags.end()) continue;
      return fail(bad_input(fmt::format("'decisions {}' takes no {}", verb.name, flag))
                      .with_hint(fmt::format("'decisions {}' does", other.name)));
    }
  }
  return {};
}

Checked<Outcome> run(const DecisionsFlags& flags, const FlagSet& command) {
  const std::string name = flags.words.empty() ? "list" : flags.words.front();
  const auto verb = std::find_if(verbs().begin(), verbs().end(), [&](const Verb& each) { return name == each.name; });
  if (verb == verbs().end()) {
    std::vector<std::string> names;
    for (const Verb& each : verbs()) names.emplace_back(each.name);
    return fail(bad_input(fmt::format("'decisions' cannot '{}'", name))
                    .with_hint(did_you_mean(name, names))
                    .with_hint(fmt::format("it can {}", fmt::join(names, ", "))));
  }
  if (Result<> fits = check_flags(command, *verb); !fits) return fail(fits.error());
  const std::vector<std::string> rest(flags.words.begin() + (flags.words.empty() ? 0 : 1), flags.words.end());
  if (!verb->names && !rest.empty()) {
    return fail(bad_input(fmt::format("'decisions {}' takes no argument '{}'", name, rest.front()))
                    .with_hint(fmt::format("for a workload: --workload {}", rest.front())));
  }
  if (name == "show") return show_decisions(flags, rest);
  if (name == "export") return export_decisions(flags, rest);
  if (name == "savings") return report_savings(flags);
  if (name == "review") return review_decisions(flags);
  return list_decisions(flags);
}

}  // namespace

Result<double> parse_share(const std::string& text, const char* flag) {
  std::string_view digits = trim(text);
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  const Result<double> number = parse_number(trim(digits));
  const double share = number ? *number / (percent ? 100 : 1) : -1;
  if (share > 0 && share < 1) return share;
  return fail(
      bad_input(fmt::format("{} '{}': a share between 0 and 1 expected", flag, text)).with_hint("for example 20%"));
}

Result<decisions::Filter> read_filter(const DecisionsFlags& flags) {
  decisions::Filter filter;
  filter.workload = flags.workload;
  filter.team = flags.team;
  filter.author = flags.by;
  filter.gpu = flags.gpu;
  for (std::string_view word : split_list(flags.status, ',')) {
    const std::optional<decisions::Status> status = decisions::parse_status(word);
    if (!status) {
      return fail(bad_input(fmt::format("--status '{}' is none", word))
                      .with_hint("decided, rolling-out, in-force, rolled-back or superseded"));
    }
    filter.statuses.push_back(*status);
  }
  if (!flags.since.empty()) {
    RIGHTSIZE_TRY(filter.since, decisions::parse_time(flags.since));
  }
  if (!flags.until.empty()) {
    RIGHTSIZE_TRY(filter.until, decisions::parse_time(flags.until));
  }
  return filter;
}

Run add_decisions(FlagSet& command) {
  auto flags = std::make_shared<DecisionsFlags>();
  command.add_option(
      "WHAT", flags->words,
      "list, show DECISION..., export [DECISION...], savings, review; a decision is D12, 12 or its workload's name");
  command.add_option("--workload", flags->workload, "only of this workload");
  command.add_option("--team", flags->team, "only of this team");
  command.add_option("--by", flags->by, "only by this person");
  command.add_option("--gpu", flags->gpu, "only for this GPU");
  command.add_option("--status", flags->status,
                     "decided, rolling-out, in-force, rolled-back or superseded, comma-separated");
  command.add_option("--since", flags->since, "decided at or after this time, 2026-11-01 or 2026-11-01T09:00:00Z");
  command.add_option("--until", flags->until, "decided before this time");
  command
      .add_option("--top", flags->top,
                  "list: how many, newest first; 0 for all (default: 1,000, of which text shows 40)")
      ->check([](const std::string& text) {
        return parse_count(text) ? std::string{} : "'" + text + "' is not a whole number from 0 up";
      });
  command.add_option("--cheaper", flags->cheaper, "review: alert where another choice is this much cheaper today")
      ->default_str("20%");
  command.add_option("--price-change", flags->price_change, "review: alert where the price changed by this much")
      ->default_str("5%");
  command
      .add_option("--drift", flags->drift, "review: alert where utilization is this far (in points) from what it was")
      ->default_str("20%");
  command.add_option("--webhook", flags->webhook, "review: send alerts there, e.g. a Slack incoming webhook");
  command
      .add_option("--webhook-format", flags->webhook_format,
                  "review: slack (text and attachments) or json (the report)")
      ->default_str("slack");
  add_ledger_flags(command, flags->ledger);
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run(*flags, command); };
}

}  // namespace rightsize::app
