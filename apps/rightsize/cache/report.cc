#include "rightsize/cache/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::positive;

// Memory and disks are bought in decimal units.
std::string size_text(Bytes size) {
  const double value = in_bytes(size);
  if (value >= 1e12) return format_number(value / 1e12) + " TB";
  return value >= 1e9 ? format_number(value / 1e9) + " GB" : format_number(value / 1e6) + " MB";
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

const Fields<CacheSize> kSizeFields = {
    {"bytes", "cache", "size of the cache, all GPUs of a replica together; null without a model",
     [](const CacheSize& c) { return c.size > bytes(0) ? std::optional(c.size) : std::nullopt; }, size_text},
    {"blocks", "cache, blocks", "blocks that it holds", &CacheSize::blocks, format_count},
    {"hit_rate", "hit rate", "share of prompt blocks found", &CacheSize::hit_rate, percent},
    {"of_unlimited", "of unlimited", "share of the hits of an unlimited cache", &CacheSize::of_unlimited, percent},
};

std::optional<double> measured(const TierRow& row, capacity::Quantity quantity) {
  if (!row.outcome.run) return std::nullopt;
  return in_seconds(row.outcome.run->value(quantity, capacity::Statistic::kMean));
}
std::string money(UsdPerSecond rate) { return format_usd(rate * kMonth) + "/month"; }

const Fields<TierRow> kTierFields = {
    {"name", "cache", "gpu: GPU memory alone; otherwise the tier below it",
     [](const TierRow& r) { return r.outcome.tier.name; }},
    {"bytes", "size per replica", "size of the tier of one replica",
     [](const TierRow& r) { return r.outcome.tier.size; },
     [](Bytes size) { return size > bytes(0) ? size_text(size) : std::string("-"); }},
    {"load_seconds_per_token", "load", "time to load a token from the tier",
     [](const TierRow& r) { return positive(r.outcome.load); }, format_duration},
    {"compute_seconds_per_token", "compute", "time to compute a prompt token",
     [](const TierRow& r) { return r.outcome.compute; }, format_duration},
    {"hit_rate", "tokens in GPU memory", "share of prompt tokens found in GPU memory",
     [](const TierRow& r) { return r.outcome.hit; }, percent},
    {"loaded_share", "loaded", "share of prompt tokens loaded from the tier",
     [](const TierRow& r) { return r.outcome.loaded; }, percent},
    {"ttft_seconds", "TTFT", "mean TTFT", [](const TierRow& r) { return measured(r, capacity::Quantity::kTtft); },
     [](double s) { return format_duration(seconds(s)); }},
    {"tpot_seconds", "TPOT", "mean TPOT", [](const TierRow& r) { return measured(r, capacity::Quantity::kTpot); },
     [](double s) { return format_duration(seconds(s)); }},
    {"gpus", "GPUs", "fewest GPUs that serve the trace within the limits; null: none found",
     [](const TierRow& r) { return positive(r.outcome.gpus); }},
    {"gpus_saved", "saved", "GPUs saved, compared with GPU memory alone", &TierRow::saved},
    {"usd_per_hour", "tier cost", "what the tiers of all replicas cost; 0: part of the machine", &TierRow::price,
     money},
    {"saving_usd_per_hour", "saving", "price of the GPUs saved, less that of the tier", &TierRow::saving, money},
    {"break_even_usd_per_gb_month", "price of the tier at which it saves nothing", &TierRow::break_even},
};

const Fields<RoutingOutcome> kRoutingFields = {
    {"name", "routing", "how requests are routed", &RoutingOutcome::name},
    {"gpus", "GPUs", "fewest GPUs; null: none found", [](const RoutingOutcome& r) { return positive(r.gpus); }},
    {"hit_rate", "in GPU memory", "share of prompt tokens found", &RoutingOutcome::hit, percent},
};

const Fields<TierAnswer> kTierAnswerFields = {
    {"gpu", "the GPU of the tiers", &TierAnswer::gpu},
    {"tp", "GPUs per replica", &TierAnswer::tp},
    {"requests_per_second", "rate at which the trace is replayed", &TierAnswer::rate},
    {"routing", "GPU memory alone with each kind of routing", kRoutingFields, &TierAnswer::routings},
    {"commands?", "how to start engines with the tier that saves most GPUs or time", &TierAnswer::commands},
};

const Fields<CacheAnswer> kCacheFields = {
    {"model", "the model", [](const CacheAnswer& a) { return report::when(!a.model.empty(), a.model); }},
    {"bytes_per_token", "keys and values of one token in all layers, stored once",
     [](const CacheAnswer& a) { return report::when(!a.model.empty(), a.per_token); }},
    {"block_tokens", "tokens per block", &CacheAnswer::block_tokens},
    {"token_characters?", "characters per token, assumed to find the blocks of texts",
     [](const CacheAnswer& a) { return positive(a.token_characters); }},
    {"requests", "requests in the trace", &CacheAnswer::requests},
    {"blocks", "prompt blocks of all requests", &CacheAnswer::blocks},
    {"distinct_blocks", "different blocks", &CacheAnswer::distinct},
    {"mean_input_tokens", "mean prompt length", &CacheAnswer::mean_input},
    {"mean_output_tokens", "mean output length", &CacheAnswer::mean_output},
    {"span_seconds", "time from the first to the last request", &CacheAnswer::span},
    {"curve", "hit rate by cache size", kSizeFields, &CacheAnswer::curve},
    {"unlimited_hit_rate", "hit rate of an unlimited cache", &CacheAnswer::unlimited},
    {"unlimited_bytes", "size that holds every block of the trace",
     [](const CacheAnswer& a) { return report::when(!a.model.empty(), a.unlimited_size); }},
    {"knee", "the smallest cache with 90 % of those hits", kSizeFields, &CacheAnswer::knee},
    {"tiers", "with --gpu: GPU memory alone, then with each tier below it", kTierFields,
     [](const CacheAnswer& a) { return a.tiers ? a.tiers->rows : std::vector<TierRow>{}; }},
    {kTierAnswerFields, [](const CacheAnswer& a) { return a.tiers ? &*a.tiers : nullptr; }},
    {"hit_rate_error?", "largest error of the hit rates; absent: exact",
     [](const CacheAnswer& a) { return positive(a.error); }},
    {"sampled_users?", "share of the users whose requests were simulated; absent: all",
     [](const CacheAnswer& a) { return positive(a.sampled_users < 1 ? a.sampled_users : 0); }},
};

const report::Document<CacheAnswer> kCacheDocument("cache", "Hit rate of a KV cache by size", kCacheFields);

std::string conclusion(const CacheAnswer& a) {
  if (!(a.unlimited > 0)) return "No cache helps: no prompt of this trace begins like an earlier one.";
  const std::string size =
      a.model.empty() ? fmt::format("{} blocks", format_count(a.knee.blocks)) : size_text(a.knee.size);
  return fmt::format(
      "A KV cache of {} still holds {} of the prompt blocks when they are needed again; an unlimited one {}.", size,
      percent(a.knee.hit_rate), percent(a.unlimited));
}

// "Host memory saves 2 of 6 GPUs ($4,300/month): a token loads in 2.4 µs and takes 21 µs to compute."
std::string tier_sentence(const TierAnswer& a) {
  const TierRow* best = nullptr;
  for (const TierRow& row : a.rows)
    if (row.saved > 0 && (best == nullptr || row.saved > best->saved)) best = &row;
  const TierRow& alone = a.rows.front();
  if (!alone.outcome.run) return fmt::format("No number of {} meets these limits.", a.gpu);
  if (best == nullptr) {
    const bool none_faster =
        std::none_of(a.rows.begin() + 1, a.rows.end(), [](const TierRow& row) { return row.outcome.loads_faster(); });
    return fmt::format(
        "No tier saves GPUs: {} {} serve this trace with GPU memory alone{}.", alone.outcome.gpus, a.gpu,
        none_faster && a.rows.size() > 1 ? ", and computing a token takes less time than loading it" : "");
  }
  return fmt::format("The tier '{}' saves {} of {} {}{}: a token loads in {} and takes {} to compute.",
                     best->outcome.tier.name, best->saved, alone.outcome.gpus, a.gpu,
                     best->saving ? fmt::format(" ({})", money(*best->saving)) : "",
                     format_duration(best->outcome.load), format_duration(best->outcome.compute));
}

std::string routing_sentence(const TierAnswer& a) {
  const RoutingOutcome &random = a.routings.front(), &aware = a.routings.back();
  if (random.gpus == 0 || aware.gpus == 0) return {};
  return fmt::format("Prefix-aware routing {} and finds {} of prompt tokens; random routing finds {}.",
                     aware.gpus < random.gpus
                         ? fmt::format("saves {} of {} GPUs", random.gpus - aware.gpus, random.gpus)
                         : "saves no GPU",
                     percent(aware.hit), percent(random.hit));
}

report::LineChart chart(const CacheAnswer& a) {
  report::LineChart chart;
  const bool sized = !a.model.empty();
  chart.x_label = sized ? "cache, GB" : "cache, blocks", chart.y_label = "hit rate, %";
  chart.logarithmic = true;
  report::LineChart::Series series{"hit rate", {}};
  for (const CacheSize& point : a.plotted)
    series.points.push_back({sized ? in_bytes(point.size) / 1e9 : point.blocks, 100 * point.hit_rate, ""});
  chart.series = {std::move(series)};
  return chart;
}

}  // namespace

report::Report cache_report(const CacheAnswer& a) {
  report::Report report{.title = "KV cache", .document = kCacheDocument.of(a)};
  report.say(conclusion(a));
  const bool sized = !a.model.empty();
  report.say(fmt::format("{}: {} requests, {} blocks of {} tokens, {} different. {}.", a.file,
                         format_count(static_cast<double>(a.requests)), format_count(static_cast<double>(a.blocks)),
                         a.block_tokens, format_count(std::round(a.distinct)),
                         sized ? fmt::format("{} keeps {} per token", a.model, format_bytes(a.per_token))
                               : "For sizes in GB, add --model"));
  if (a.token_characters > 0)
    report.say(fmt::format(
        "Assumed: the blocks are those of the prompts' text, with {:.1f} characters per token; the template "
        "of the model is not counted.",
        a.token_characters));
  if (a.sampled_users < 1)
    report.say(
        fmt::format("Simulated: {} of the users, whose blocks stand for those of all.", percent(a.sampled_users)));
  if (a.error > 0)
    report.say(
        fmt::format("The trace has too many blocks to track all of them; hit rates are within {}.", percent(a.error)));
  report.show("Hit rate by cache size",
              table_of(kSizeFields, a.curve, {sized ? "bytes" : "blocks", "hit_rate", "of_unlimited"}));
  if (a.unlimited > 0) report.blocks.emplace_back(chart(a));
  if (!a.tiers) return report;
  report.say(tier_sentence(*a.tiers));
  report.show(
      fmt::format("Tiers on {} at {} requests/s", a.tiers->gpu, format_number(in_requests_per_s(a.tiers->rate))),
      table_of(kTierFields, a.tiers->rows,
               {"name", "bytes", "hit_rate", "loaded_share", "ttft_seconds", "tpot_seconds", "gpus", "gpus_saved",
                report::spare("load_seconds_per_token"), report::spare("compute_seconds_per_token"),
                report::spare("saving_usd_per_hour")}));
  report.say(routing_sentence(*a.tiers));
  for (const auto& [engine, line] : a.tiers->commands)
    report.blocks.emplace_back(report::Verbatim{engine, line + "\n"});
  return report;
}

}  // namespace rightsize::app
