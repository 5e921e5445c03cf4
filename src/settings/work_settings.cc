// The amount of work, its limits, and assumptions about running it.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr double kMostWork = 1e18;  // a thousand times the largest training set

constexpr Setting kRows[] = {
    section("Training", Jobs::kTrain),
    count("tokens", "1B", 1, kMostWork, "tokens to train on"),
    count("samples", "90M", 1, kMostWork, "sequences or images to train on; rl: answers per prompt"),
    number("epochs", "3", 1e-6, 1e6, "passes over the data set"),
    count("dataset-tokens", "100M", 1, kMostWork, "tokens in the data set"),
    count("dataset-samples", "1.28M", 1, kMostWork, "sequences or images in the data set"),
    count("global-batch", "128", 1, 1e7, "samples per optimizer step")
        .or_words("128, more for runs over 2B tokens; images: 256"),
    yes_no("from-scratch", "start from random weights instead of a checkpoint")
        .or_words("yes above 20 tokens per parameter"),
    duration("checkpoint-every", "4h", kMinute, kTenYears, "longest time between two checkpoints").or_else("4h"),

    section("Serving", Jobs::kServe),
    per_second("rate", "20/s", 1e-5, 1e7, "arrival rate of requests, e.g. 20/s or 1M/d; or --users 2000"),
    text("mix", "LIST", "request sizes with their shares: 1024:256=0.7,8192:512=0.3"),
    file("trace", "recorded traffic (time, tokens in, tokens out), replayed as recorded or at --rate"),
    text("sessions", "users=N,...",
         "conversations instead of independent requests: users=2000,turns=6,think=30s,system=1200,turn-in=150,"
         "turn-out=300; repeat=yes: each user sends the same prompt again"),
    choice("routing", "random|least-loaded|prefix-aware",
           "how a router chooses the replica; prefix-aware prefers the one that has the prompt's beginning cached")
        .or_else("prefix-aware"),
    file("rate-profile", "CSV with columns hour, rate (hours 0-23, or 0-167 for a week); machines follow the hours"),
    count("docs-per-query", "50", 1, 10'000,
          "documents a reranker scores for one query: they arrive together, and a query is done with its last one")
        .or_else("1"),
    duration("ttft-slo", "1s", 1e-5, kDay, "limit on TTFT (on the whole response, for models without tokens)")
        .alias("ttft"),
    duration("tpot-slo", "50ms", 1e-6, kHour, "limit on TPOT").alias("tpot"),
    duration("latency-slo", "3s", 1e-5, kDay, "limit on the time of a whole answer"),
    choice("slo-percentile", "50|95|99", "percentile of TTFT, TPOT and answers the limits apply to").or_else("95"),
    share("max-load", "0.8", 0.01, 1, "highest load of a replica, as a share of its capacity").or_else("0.8"),
    flag("allow-single", "allow a single replica, without a spare"),

    section("Offline work", Jobs::kOffline),
    count("items", "1M", 1, kMostWork,
          "requests to process offline, without latency limits; also --docs, --prompts, --images"),
    number("audio-hours", "100", 1e-3, 1e12, "hours of audio to transcribe"),
    duration("per-item", "80ms", 1e-9, 30 * kDay, "measured time per item on the one --gpu, instead of an estimate"),

    section(""),
    count("hours-per-day", "8", 1, 24,
          "hours per day with traffic, or in which a job runs (on --on-prem machines only, where given); machines are "
          "off in the others")
        .or_else("24"),
    file("profile", "plan for measured work: the output of 'rightsize profile --format json'"),
    text("on-prem", "NxGPU=USD",
         "a machine you own and its purchase price, e.g. 8xh100-sxm=280000USD; repeat for others")
        .listed(),
    count("on-prem-machines", "4", 1, 10'000, "number of such machines, one for each --on-prem").listed().or_else("1"),
    duration("window", "7d", kMinute, kTenYears, "how far back to look").or_else("7d"),

    section("Measured work"),
    duration("gpu-hours", "200h", kMinute, 1e5 * kTenYears,
             "with --profile: amount of work, in time on the profiled GPU")
        .bare("h")
        .or_words("one month"),

    section("Limits"),
    duration("deadline", "14d", kSecond, kTenYears, "finish within this time or by this day, e.g. 14d or friday"),
    money("budget", "500", 0.01, 1e12, "cost limit (serve: per month)"),
    choice("objective", "cost|time|cost-time|energy", "what to minimize").or_else("cost"),
    text("max-power", "POWER", "power limit of all GPUs and hosts together, e.g. 20kW"),
    number("max-carbon", "50", 1e-6, 1e12, "limit on the CO2 of the work in kg (serve: per month)"),
    text("carbon", "G/KWH|PLACE|region", "grams of CO2 per kWh, a place on file, or 'region': that of each plan"),

    section("Assumptions"),
    duration("startup", "3min", 0, 7 * kDay, "time from ordering a machine to the first step")
        .or_words("3min, plus the image at 41 MB/s and the weights at 1 GB/s"),
    duration("restart", "10min", 0, 7 * kDay, "time to resume after an interruption").or_words("as --startup"),
    per_hour("interruptions", "0.05", 0, 60,
             "spot interruptions per machine-hour; 10%: the share of "
             "machines interrupted within a month, as AWS publishes it; 10%/d: within a day")
        .or_else("0.05"),
    bandwidth("checkpoint-rate", "1GB/s", 1e5, 1e14, "speed at which all machines together write checkpoints")
        .or_words("1GB/s for each machine that writes"),
    size("storage", "2TB", 0, 1e19, "storage kept for the length of the job")
        .or_words("the checkpoints, or the items and results, of the job"),
    money("storage-price", "0.08", 0, 100, "storage price, USD per GB-month").or_else("0.08"),
    size("egress", "500GB", 0, 1e19, "data transferred out of the cloud, once"),
    money("egress-price", "0.09", 0, 100, "egress price, USD per GB").or_else("0.09"),

    section("Your own machines"),
    money("kwh-price", "0.12", 0, 10, "electricity price, USD per kWh").or_else("0.12"),
    number("amortise-years", "4", 0.25, 20, "depreciation period in years").alias("amortize-years").or_else("4"),
    share("busy-share", "0.7", 0.001, 1, "share of the depreciation period the machine is in use").or_else("0.7"),
    number("pue", "1.3", 1, 5, "power usage effectiveness of the data center").or_else("1.3"),

    section("Collected work"),
    per_second("volume", "1M/d", 1e-9, 1e9, "items per time to process: 1M/d, 40k/h, 12/s").bare(kTimeRequired),
    duration("item-time", "80ms", 1e-9, 30 * kDay, "GPU time per item"),
    size("item-memory", "50MiB", 1, 1e15, "memory per item of a batch"),
    size("fixed-memory", "4GiB", 0, 1e15, "memory for the model and the runtime"),
    text("gpu-power", "WATTS", "mean power of a GPU while it works, e.g. 450W; 'rightsize profile' measures it"),
    factor("peak", "2", 1, 100, "real time: busiest hour relative to the mean").or_else("1"),
    duration("chunk", "5min", kSecond, 30 * kDay, "spot: work between two saves").or_else("5min"),
};

}  // namespace

std::span<const Setting> work_rows() { return kRows; }

}  // namespace rightsize::settings
