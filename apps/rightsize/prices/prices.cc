// rightsize prices: the verbs and their flags.
#include "rightsize/prices/prices.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

struct Verb {
  const char* name;
  std::vector<std::string> flags;  // that it takes beside --format, --catalog
  bool files;                      // takes more words
};

const std::vector<std::string> kChoice{"--gpu", "--provider", "--region", "--purchase", "--community", "--retired"};

std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kAll = {
      {"", with(kChoice, {"--min-memory", "--sort", "--best-per", "--top", "--price", "--store", "--instance"}), true},
      {"compare", with(kChoice, {"--price", "--top", "--store"}), false},
      {"spot",
       {"--gpu", "--provider", "--region", "--community", "--price", "--top", "--store", "--hours", "--machines",
        "--save", "--restart", "--interruptions"},
       false},
      {"import", {"--feed", "--provider", "--date", "--store", "--dry-run", "--write-to"}, true},
      {"update", {"--feed", "--provider", "--region", "--store", "--dry-run", "--url"}, false},
      {"history",
       {"--gpu", "--instance", "--provider", "--region", "--zone", "--purchase", "--from", "--to", "--store"},
       false},
      {"diff",
       {"--gpu", "--instance", "--provider", "--region", "--zone", "--purchase", "--from", "--to", "--store"},
       false},
      {"forget", {"--before", "--store"}, false},
  };
  return kAll;
}

const Verb& verb_of(const PricesFlags& flags) {
  for (const Verb& verb : verbs()) {
    if (!flags.words.empty() && flags.words.front() == verb.name) return verb;
  }
  return verbs().front();
}

// A flag that means nothing to the verb is refused, not ignored.
Result<> check_flags(const FlagSet& command, const Verb& verb) {
  for (const Verb& other : verbs()) {
    for (const std::string& flag : other.flags) {
      if (command.given(flag).empty()) continue;
      if (std::find(verb.flags.begin(), verb.flags.end(), flag) != verb.flags.end()) continue;
      const bool list = *verb.name == '\0';
      return fail(bad_input(fmt::format("'prices{}{}' takes no {}", list ? "" : " ", verb.name, flag))
                      .with_hint(fmt::format("'prices {}' does", *other.name == '\0' ? "[GPU...]" : other.name)));
    }
  }
  return {};
}

Checked<Outcome> run(PricesFlags flags, const FlagSet& command) {
  const Verb& verb = verb_of(flags);
  if (Result<> fits = check_flags(command, verb); !fits) return fail(fits.error());
  const std::string_view name = verb.name;
  std::vector<std::string> rest = flags.words;
  if (!name.empty()) rest.erase(rest.begin());
  // `prices h100` is `prices --gpu h100`, `prices spot h100` likewise.
  const bool gpus = std::find(verb.flags.begin(), verb.flags.end(), "--gpu") != verb.flags.end();
  if (gpus) {
    for (const std::string& word : rest) flags.gpu += (flags.gpu.empty() ? "" : ",") + word;
  } else if (!verb.files && !rest.empty()) {
    return fail(bad_input(fmt::format("'prices {}' takes no argument '{}'", name, rest.front())));
  }
  if (name.empty()) return list_prices(flags);
  if (name == "compare") return compare_prices(flags);
  if (name == "spot") return plan_on_spot(flags);
  if (name == "import") return import_prices(flags, rest);
  if (name == "update") return update_prices(flags);
  if (name == "history") return price_history(flags);
  if (name == "diff") return price_diff(flags);
  return forget_prices(flags);
}

}  // namespace

std::string place_of(const std::string& region, const std::string& zone) {
  return zone.empty() ? region : region + " " + zone;
}

std::vector<std::string> words_of(const std::string& list) {
  const std::vector<std::string_view> words = split_list(list, ',');
  return {words.begin(), words.end()};
}

std::optional<std::string> text_or_null(const std::string& text) { return report::when(!text.empty(), text); }

Run add_prices(FlagSet& command) {
  auto flags = std::make_shared<PricesFlags>();
  command.add("WHAT", flags->words)
      ->meaning(
          "GPUs, instance types or providers to list; or compare, spot, import FILE..., update, history, diff, "
          "forget (see docs/market.md)");
  command.add("gpu", flags->gpu)->meaning("GPU names, aliases or families, comma-separated: a100, h100-sxm");
  command.add("provider", flags->provider);
  command.add("region", flags->region);
  command.add("purchase", flags->purchase)->meaning("on-demand, spot, 1y, 3y, capacity-block, comma-separated");
  command.add("min-memory", flags->min_memory);
  command.add("sort", flags->sort)
      ->meaning("usd-per-gpu-hour, usd-per-hour, usd-per-tflop-hour, usd-per-gbs-hour, usd-per-gib-hour or age")
      ->or_else("usd-per-gpu-hour");
  command.add("best-per", flags->best_per);
  command.add("top", flags->top)->or_words("40 in text, all elsewhere");
  command.add("retired", flags->retired);
  command.add("community", flags->community);
  add_price_flag(command, flags->price);
  command.add("hours", flags->hours);
  command.add("machines", flags->machines);
  command.add("save", flags->save);
  command.add("restart", flags->restart);
  command.add("interruptions", flags->interruptions)->or_words("the spot advisor's rate, else 0.05");
  command.add("feed", flags->feed);
  command.add("date", flags->date);
  command.add("dry-run", flags->dry_run);
  command.add("write-to", flags->write_to);
  command.add("url", flags->url);
  command.add("instance", flags->instance);
  command.add("zone", flags->zone);
  command.add("from-date", flags->from);
  command.add("to-date", flags->to);
  command.add("before", flags->before);
  command.add("store", flags->store);
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run(*flags, command); };
}

}  // namespace rightsize::app
