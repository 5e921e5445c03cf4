// rightsize prices: the verbs and their flags.
#include "rightsize/prices/prices.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"

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

Run add_prices(FlagSet& command) {
  auto flags = std::make_shared<PricesFlags>();
  command.add_option("WHAT", flags->words,
                     "GPUs, instance types or providers to list; or compare, spot, import FILE..., update, history, "
                     "diff, forget (see docs/market.md)");
  command.add_option("--gpu", flags->gpu, "GPU names, aliases or families, comma-separated: a100, h100-sxm");
  command.add_option("--provider", flags->provider, "providers, comma-separated: aws, gcp, azure, lambda ...");
  command.add_option("--region", flags->region, "regions, their beginnings, or us, eu, asia, comma-separated");
  command.add_option("--purchase", flags->purchase, "on-demand, spot, 1y, 3y, capacity-block, comma-separated");
  command.add_option("--min-memory", flags->min_memory, "only GPUs with at least this much memory, e.g. 40GiB");
  command
      .add_option("--sort", flags->sort,
                  "usd-per-gpu-hour, usd-per-hour, usd-per-tflop-hour, usd-per-gbs-hour, usd-per-gib-hour or age")
      ->default_str("usd-per-gpu-hour");
  command.add_option("--best-per", flags->best_per, "only the first of each gpu, provider, instance or region");
  command.add_option("--top", flags->top, "how many rows; 0 for all (default: 40 in text, all elsewhere)")
      ->check([](const std::string& text) {
        return parse_count(text) ? std::string{} : "'" + text + "' is not a whole number from 0 up";
      });
  command.add_flag("--retired", flags->retired, "also machines that can no longer be bought");
  command.add_flag("--community", flags->community,
                   "also marketplaces that resell the machines of others: RunPod community, Vast, Shadeform, ...");
  add_price_flag(command, flags->price);
  command.add_option("--hours", flags->hours, "spot: hours of work, without any interruption");
  command.add_option("--machines", flags->machines, "spot: machines that work together")
      ->default_str("1")
      ->range(1, 4096);
  command.add_option("--save", flags->save, "spot: how long a checkpoint takes")->default_str("60s");
  command.add_option("--restart", flags->restart, "spot: from being taken back to working again")->default_str("10min");
  command.add_option("--interruptions", flags->interruptions,
                     "spot: interruptions per hour of one machine (default: the spot advisor's, else 0.05)");
  command.add_option("--feed", flags->feed,
                     "import: skypilot, aws, azure, gcp, gpuhunt, runpod, vast or csv; update: skypilot, aws or azure");
  command.add_option("--date", flags->date, "import: the day the prices are of (default: when the file was written)");
  command.add_flag("--dry-run", flags->dry_run, "import, update: read and audit, keep nothing");
  command.add_option("--write-to", flags->write_to,
                     "import: write machines.csv and prices/*.csv there, not to the store");
  command.add_option("--url", flags->url,
                     "update: where to fetch from instead of the public address; {} is the cloud or region");
  command.add_option("--instance", flags->instance, "instance types, comma-separated: p5.48xlarge");
  command.add_option("--zone", flags->zone, "history, diff: zones, comma-separated");
  command.add("from-date", flags->from);
  command.add("to-date", flags->to);
  command.add_option("--before", flags->before, "forget: days before this one, each offer's newest price kept");
  command.add_option("--store", flags->store,
                     "the price store: a file, or postgres://... (or $RIGHTSIZE_STORE; default rightsize/prices.db in "
                     "your XDG data folder)");
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run(*flags, command); };
}

}  // namespace rightsize::app
