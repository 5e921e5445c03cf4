// rightsize prices: the verbs and their flags.
#include "rightsize/prices/prices.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "rightsize/input/verbs.h"

namespace rightsize::app {
namespace {

const std::vector<Verb>& verbs() {
  static const auto kWith = [](std::vector<std::string> base, const std::vector<std::string>& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
  };
  static const std::vector<std::string> kOffers = {"--gpu",       "--provider", "--region",  "--purchase",
                                                   "--community", "--retired",  "--exclude", "--max-price"};
  static const std::vector<std::string> kHistory = {"--gpu",      "--instance", "--provider", "--region", "--zone",
                                                    "--purchase", "--from",     "--to",       "--store"};
  static const std::vector<Verb> kAll = {
      {"", kWith(kOffers, {"--min-memory", "--sort", "--best-per", "--top", "--price", "--store", "--instance",
                           "--gpus", "--hours", "--budget", "--currency", "--paid"})},
      {"compare", kWith(kOffers, {"--price", "--top", "--store"})},
      {"spot",
       {"--gpu", "--provider", "--region", "--community", "--price", "--top", "--store", "--hours", "--machines",
        "--gpus", "--instance", "--save", "--restart", "--checkpoint-every", "--interruptions"}},
      {"buy", kWith(kOffers, {"--price", "--store", "--instance", "--gpus", "--hours", "--on-prem",
                              "--on-prem-machines", "--kwh-price", "--pue", "--busy-share"})},
      {"import", {"--feed", "--provider", "--date", "--currency", "--store", "--dry-run", "--write-to"}},
      {"update", {"--feed", "--provider", "--region", "--store", "--dry-run", "--url"}},
      {"history", kHistory},
      {"diff", kHistory},
      {"forget", {"--before", "--store"}},
  };
  return kAll;
}

std::string feed_names() {
  std::string names;
  for (const feeds::FeedKind& kind : feeds::feed_kinds()) names += (names.empty() ? "" : "|") + kind.name;
  return names;
}

Checked<Outcome> run_prices(PricesFlags flags, const FlagSet& command) {
  const Verb* named = flags.words.empty() ? nullptr : find_verb(verbs(), flags.words.front());
  const Verb& verb = named == nullptr ? verbs().front() : *named;
  if (Result<> fits = check_flags(command, "prices", verbs(), verb); !fits) return fail(fits.error());
  const std::string& name = verb.name;
  const std::vector<std::string> rest(flags.words.begin() + (name.empty() ? 0 : 1), flags.words.end());
  // `prices h100` is `prices --gpu h100`, `prices spot h100` likewise.
  if (std::ranges::find(verb.flags, "--gpu") != verb.flags.end()) {
    for (const std::string& word : rest) flags.gpu += (flags.gpu.empty() ? "" : ",") + word;
  } else if (name != "import" && !rest.empty()) {
    return fail(bad_input(fmt::format("'prices {}' does not take an argument '{}'", name, rest.front())));
  }
  const std::string limit = to_lower(command.given(flags.paid ? "--paid" : "--max-price"));
  flags.machine_limit = limit.find("/h") != std::string::npos && limit.find("gpu") == std::string::npos;
  if (name == "import") return import_prices(flags, rest);
  if (name == "spot") return plan_on_spot(flags);
  static constexpr std::pair<std::string_view, Checked<Outcome> (*)(const PricesFlags&)> kRuns[] = {
      {"compare", compare_prices}, {"buy", buy_or_rent}, {"update", update_prices},
      {"history", price_history},  {"diff", price_diff}, {"forget", forget_prices}};
  if (flags.budget && flags.hours)
    return fail(bad_input("--hours asks for a cost, --budget for a time").with_hint("use one of the two"));
  if (flags.budget) flags.hours = hours(1);
  for (const auto& [verb_name, run_verb] : kRuns) {
    if (name == verb_name) return run_verb(flags);
  }
  return list_prices(flags);
}

}  // namespace

const report::Fields<market::Offer> kOfferFields = {
    {"provider", "provider", "who sells it", [](const market::Offer& o) { return o.machine->provider; }},
    {"instance", "instance", "instance type", [](const market::Offer& o) { return o.machine->instance; }},
    {"gpu", "GPU", "its GPU", [](const market::Offer& o) { return o.gpu->name; }},
    {"gpus", "GPUs", "GPUs of one machine", [](const market::Offer& o) { return o.machine->gpus; }},
    {"region", "region", "region; 'any': the same everywhere", [](const market::Offer& o) { return o.price->region; },
     [](const market::Offer& o) { return place_of(o.price->region, o.price->zone); }},
    {"zone", "zone; null: the whole region", [](const market::Offer& o) { return text_or_null(o.price->zone); }},
};
const report::Fields<market::PriceOutlook> kOutlookFields = {
    {"low", "10th percentile", &market::PriceOutlook::low},
    {"likely", "most likely", &market::PriceOutlook::likely},
    {"high", "90th percentile", &market::PriceOutlook::high},
};

Outcome nothing_found(Outcome outcome, std::string why) {
  outcome.report.say(std::move(why));
  outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

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
  command.verbs = verbs();
  command.add("WHAT", flags->words)
      ->meaning(
          "GPUs, instance types or providers to list; or compare, spot, buy, import FILE..., update, history, diff, "
          "forget (see docs/market.md)");
  command.add("gpu", flags->gpu)->meaning("GPU names, aliases or families, comma-separated: a100, h100-sxm");
  command.add("provider", flags->provider);
  command.add("region", flags->region);
  command.add("purchase", flags->purchase)
      ->meaning("on-demand, spot, 1y, 3y, capacity-block, comma-separated")
      ->or_words("all terms");
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
  command.add("budget", flags->budget)->meaning("how long this money pays for --gpus, instead of --hours");
  command.add("gpus", flags->gpus)
      ->meaning(
          "only machines with this many GPUs; with --hours: what they cost in all; buy: the GPUs that are needed");
  command.add("machines", flags->machines);
  command.add("on-prem", flags->on_prem)
      ->meaning("buy: the machine and its price, e.g. 8xh100-sxm=280000USD; a price alone is for eight GPUs of --gpu");
  command.add("on-prem-machines", flags->on_prem_machines)->or_words("as many as --gpus needs, else 1");
  command.add("kwh-price", flags->kwh_price);
  command.add("pue", flags->pue);
  command.add("busy-share", flags->busy)
      ->meaning("buy: share of --hours with work; on demand, only that share is paid for")
      ->or_else("1");
  command.add("save", flags->save);
  command.add("restart", flags->restart);
  command.add("checkpoint-every", flags->checkpoint_every);
  command.add("interruptions", flags->interruptions)->or_words("the spot advisor's rate, else 0.05");
  command.add("feed", flags->feed)->values(feed_names());
  command.add("date", flags->date);
  command.add("currency", flags->currency)
      ->meaning("show prices in this currency too, e.g. EUR; import: the currency of prices without one");
  command.add("dry-run", flags->dry_run);
  command.add("write-to", flags->write_to);
  command.add("url", flags->url);
  command.add("instance", flags->instance);
  command.add("exclude", flags->exclude);
  command.add("max-price", flags->max_price);
  command.add("paid", flags->paid);
  command.add("zone", flags->zone);
  command.add("from-date", flags->from);
  command.add("to-date", flags->to);
  command.add("before", flags->before);
  command.add("store", flags->store);
  add_catalog_flag(command, flags->catalog);
  return [flags, &command] { return run_prices(*flags, command); };
}

}  // namespace rightsize::app
