// Prices, offers, the price store and commitments.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    section("Prices and offers"),
    text("provider", "LIST", "providers to consider, e.g. aws,gcp").alias("providers").listed(),
    text("region", "LIST", "regions to consider: names, prefixes, or us, eu, asia").alias("regions").listed(),
    text("purchase", "LIST", "purchase terms: on-demand, spot, 1y, 3y").or_words("on-demand").listed(),
    text("exclude", "LIST", "leave out these providers, GPUs, vendors or instance types: aws,amd").listed(),
    hourly_price("max-price", "2.50", 0.001, 2000, "only offers with at most this list price, USD per GPU-hour"),
    hourly_price("paid", "3.90", 0.001, 2000, "what you pay now, USD per GPU-hour: compared with the prices on file"),
    text("api-price", "IN/OUT",
         "price of an API in USD per 1M tokens in and out, e.g. 0.15/0.60: its cost for the same tokens, and the "
         "volume at which self-hosting breaks even"),
    flag("community",
         "include marketplaces that resell machines of other hosts (RunPod community, Vast, Shadeform, ...)"),
    price("price",
          "your price per hour instead of the list price: h100-sxm=2.49, p5.48xlarge=55, or 2.49 for every GPU; may be "
          "repeated"),
    file("bill",
         "prices you really pay, from your bill: a FOCUS 1.0-1.3 export or an AWS Cost and Usage Report (CSV, gzip); "
         "--price comes first; may be repeated"),
    text("team-tag", "NAME", "the tag of the bill that names a team")
        .or_words("team, owner, cost-center, costcenter or project"),
    text("team-budget", "TEAM=USD", "a team's budget per month: ml=20000, or '*=90000' for all; may be repeated")
        .alias("team-budgets")
        .listed(),
    price("spot-price", "your spot price per hour, as --price"),
    text("catalog", "DIR",
         "folder with your own gpus.csv, machines.csv and prices/*.csv, added to the built-in data (or "
         "$RIGHTSIZE_CATALOG, or rightsize/catalog in your XDG configuration folder)"),
    text("instance", "LIST", "instance types, e.g. p5.48xlarge").listed(),
    flag("retired", "include machines that can no longer be ordered"),
    choice("best-per", "gpu|provider|instance|region", "show only the first row of each"),
    text("store", "FILE|URL",
         "price store: a file or postgres://... (or $RIGHTSIZE_STORE; default rightsize/prices.db in your XDG data "
         "folder)"),
    hourly_price("on-demand", "6.88", 0.001, 2000, "your on-demand price, USD per GPU-hour"),
    hourly_price("spot", "2.49", 0.001, 2000, "your spot price, USD per GPU-hour"),
    text("one-year", "USD/H",
         "your one-year price, USD per GPU-hour, or 30% off the on-demand price; 2.60,half=2.52,all=2.40 with upfront "
         "payment"),
    text("three-years", "USD/H", "your three-year price, as --one-year"),
    share("discount", "30%", 0, 0.99,
          "your commitment price, as a discount on the on-demand price: for one year, or the term of --purchase or "
          "--years"),
    choice("years", "1|3", "years to plan"),

    section("GPUs"),
    size("min-memory", "40GiB", 0, 1e15, "only GPUs with at least this much memory"),
    bandwidth("min-bandwidth", "2TB/s", 0, 1e15, "only GPUs with at least this memory bandwidth"),
    count("max-watts", "350", 1, 100'000, "only GPUs with at most this board power (TDP)"),
    text("vendor", "NAME", "only GPUs from this vendor: NVIDIA, AMD, Intel, Google, AWS"),
    choice("supports", "fp64|fp32|tf32|fp16|bf16|fp8|int8|fp4", "only GPUs that compute in this number format"),

    section("Spot"),
    duration("hours", "100", kMinute, 100'000 * kHour, "hours of work, without interruptions").bare("h"),
    count("machines", "4", 1, 4096, "machines that run together").or_else("1"),
    duration("save", "60s", 0, kDay, "time to write a checkpoint").or_else("60s"),

    section("Import and update"),
    text("feed", "NAME", "format of the price feed; update: skypilot, aws or azure"),
    date("date", "day of the prices").or_words("what the file says"),
    text("currency", "CODE", "currency of prices without one, e.g. EUR")
        .or_words("what the file or its provider says, else USD"),
    text("write-to", "DIR", "write machines.csv and prices/*.csv there instead of to the store"),
    text("url", "URL", "fetch from here instead of the public address; {} is replaced by the cloud or region"),

    section(""),
    flag("dry-run", "report what would change, and write nothing"),
    duration("job-hours", "200", 0, in_seconds(kMonth),
             "hours per month that jobs run (Job, RayJob, sbatch, SkyPilot task)")
        .bare("h")
        .or_words("all month"),
    money("fail-over", "500", 0, 1e12, "exit with code 4 if the change costs more than this per month"),
    flag("strict", "exit with code 4 if something does not fit or has no price"),
    flag("all", "include requests that do not change"),
    text("against", "REVISION", "instead of OLD: the same files in this git revision, e.g. main or HEAD~1"),

    section("History"),
    text("zone", "LIST", "availability zones").listed(),
    date("from-date", "first day").alias("from").or_words("30 days ago for diff"),
    date("to-date", "last day").alias("to").or_words("today"),
    date("before", "forget prices of days before this one; the newest price of each offer is kept"),

    section("Demand"),
    file("usage",
         "GPUs in use over time: CSV with a column gpus, or gpu_hours per hour or day, or the JSON of 'fleet'"),
    text("base", "N[,peak=N,share=X]", "GPUs in use: 8, or 8,peak=20,share=0.3"),
    share("growth", "20%", -0.99, 10, "growth of demand per year").or_else("0"),
    text("future", "SCENARIO",
         "a scenario: NAME,weight=0.3,demand=1/0.7/0.7,prices=1/0.8/0.8 by year; may be repeated"),
    share("spot-share", "0.3", 0, 1, "share of demand that may be interrupted").or_else("0"),
    share("interest", "0.08", 0, 1, "cost of capital per year, to compare upfront payments").or_else("0.08"),
    count("increment", "8", 1, 1024, "buy commitments in steps of this many GPUs")
        .alias("step")
        .or_words("the GPUs of one machine"),
    count("ladder", "4", 2, 52, "purchases per year to compare with buying everything at once").or_else("4"),
};

}  // namespace

std::span<const Setting> price_rows() { return kRows; }

}  // namespace rightsize::settings
