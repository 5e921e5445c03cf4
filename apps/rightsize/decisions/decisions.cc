// rightsize decisions: the verbs and their flags.
#include "rightsize/decisions/decisions.h"

#include <memory>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "rightsize/input/verbs.h"

namespace rightsize::app {
namespace {

const std::vector<Verb>& verbs() {
  static const auto kWithFilter = [](std::vector<std::string> flags) {
    for (const char* flag : {"--workload", "--team", "--by", "--gpu", "--status", "--since", "--until"})
      flags.emplace_back(flag);
    return flags;
  };
  static const std::vector<Verb> kAll = {
      {"list", kWithFilter({"--top"})},
      {"show", {}},
      {"export", kWithFilter({})},
      {"savings", kWithFilter({})},
      {"review", kWithFilter({"--cheaper", "--price-change", "--drift", "--webhook", "--webhook-format", "--catalog"})},
  };
  return kAll;
}

Checked<Outcome> run_decisions(const DecisionsFlags& flags, const FlagSet& command) {
  std::string name = flags.words.empty() ? "list" : flags.words.front();
  const Verb* verb = find_verb(verbs(), name);
  if (verb != nullptr) name = verb->name;
  if (verb == nullptr) {
    const std::vector<std::string> names = list_of(verbs(), &Verb::name);
    return fail(bad_input(fmt::format("'decisions' has no verb '{}'", name))
                    .with_hint(did_you_mean(name, names))
                    .with_hint(fmt::format("use {}", fmt::join(names, ", "))));
  }
  if (Result<> fits = check_flags(command, "decisions", verbs(), *verb); !fits) return fail(fits.error());
  const std::vector<std::string> rest(flags.words.begin() + (flags.words.empty() ? 0 : 1), flags.words.end());
  if (name == "show") return show_decisions(flags, rest);
  if (name == "export") return export_decisions(flags, rest);
  if (!rest.empty())
    return fail(bad_input(fmt::format("'decisions {}' does not take an argument '{}'", name, rest.front()))
                    .with_hint(fmt::format("for a workload: --workload {}", rest.front())));
  return name == "savings" ? report_savings(flags) : name == "review" ? review_decisions(flags) : list_decisions(flags);
}

}  // namespace

Result<decisions::Filter> read_filter(const DecisionsFlags& flags) {
  decisions::Filter filter;
  filter.workload = flags.workload;
  filter.team = flags.team;
  filter.author = flags.by;
  filter.gpu = flags.gpu;
  for (const std::string& word : flags.status) {
    const std::optional<decisions::DecisionStatus> status = decisions::parse<decisions::DecisionStatus>(word);
    if (!status)
      return fail(bad_input(fmt::format("unknown status '{}'", word))
                      .with_hint("use decided, rolling-out, in-force, rolled-back or superseded"));
    filter.statuses.push_back(*status);
  }
  if (!flags.since.empty()) {
    RIGHTSIZE_TRY(filter.since, decisions::parse_time(flags.since));
  }
  if (!flags.until.empty()) {
    RIGHTSIZE_TRY(filter.until, decisions::parse_time(flags.until));
    // A day without a time includes all of it.
    if (flags.until.find('T') == std::string::npos) *filter.until += days(1);
  }
  return filter;
}

Run add_decisions(FlagSet& command) {
  auto flags = std::make_shared<DecisionsFlags>();
  command.verbs = verbs();
  command.add("WHAT", flags->words)
      ->meaning(
          "list, show DECISION..., export [DECISION...], savings, review; a decision is D12, 12 or its workload's "
          "name");
  command.add("workload", flags->workload)->meaning("only this workload");
  command.add("team", flags->team)->meaning("only this team");
  command.add("by", flags->by)->meaning("only decisions by this person");
  command.add("gpu", flags->gpu)->meaning("only decisions for this GPU");
  command.add("status", flags->status);
  command.add("since", flags->since);
  command.add("until", flags->until);
  command.add("top", flags->top)
      ->meaning("list: at most this many, newest first; 0 for all (default: 1,000; text shows 40)");
  command.add("cheaper", flags->cheaper);
  command.add("price-change", flags->price_change);
  command.add("drift", flags->drift);
  command.add("webhook", flags->webhook);
  command.add("webhook-format", flags->webhook_format);
  add_ledger_flags(command, flags->ledger);
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run_decisions(*flags, command); };
}

}  // namespace rightsize::app
