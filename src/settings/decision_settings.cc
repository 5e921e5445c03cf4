// Decisions, their rollout and verification.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    text("workload", "NAME", "name of the workload"),
    text("part", "NAME", "workload, service or scaling policy to take from a file with several"),
    text("team", "NAME", "team that pays"),
    text("why", "TEXT", "reason for the decision"),
    money("cost-before", "17447", 0, 1e12,
          "current cost of the workload in USD per month (training or offline: per run)")
        .alias("before"),
    money("cost-after", "9200", 0, 1e12, "its cost after the decision, where there is no plan: USD per month")
        .alias("after"),
    text("rollback", "TEXT", "how to undo the decision: a command or a sentence").alias("way-back"),
    share("tolerance", "15%", 0.001, 0.999, "accepted deviation where the plan has no interval"),
    text("status", "LIST", "decided, rolling-out, in-force, rolled-back or superseded").listed(),
    moment("since", "decided at or after this time"),
    moment("until", "decided before this time; a date includes that day"),
    share("cheaper", "20%", 0.001, 0.999, "review: alert if another choice is now this much cheaper").or_else("20%"),
    share("price-change", "5%", 0.001, 0.999, "review: alert if the price changed by this much").or_else("5%"),
    share("drift", "20%", 0.001, 0.999, "review: alert if utilization moved by this many points").or_else("20%"),
    text("webhook", "URL", "review: send alerts to this address, e.g. a Slack incoming webhook"),
    choice("webhook-format", "slack|json", "review: Slack message or the JSON report").or_else("slack"),
    text("ledger", "FILE|URL",
         "ledger of decisions: a file or postgres://... (or $RIGHTSIZE_LEDGER; default rightsize/decisions.db in your "
         "XDG data folder)"),
    duration("wait", "30s", 0, kHour, "how long to wait while another process writes to the ledger").or_else("30s"),
    choice("stage", "one-job|10%|50%|all", "start at this stage"),
    flag("by-hand", "confirm the stage even if a check failed"),
    text("note", "TEXT", "note for the record"),
    flag("calibrate", "calibrate the speed model with the measurements (writes calibration.csv)"),
    flag("ask", "ask for missing settings even if standard input is not a terminal"),
    flag("force", "overwrite an existing file"),
    text("output", "FILE", "write to this file instead of standard output").alias("o"),
    text("family", "NAME", "only models of this family, e.g. llama"),
    length("min-context", "128k", 1, 1e9, "only models with at least this context; --gpu must hold one such request"),
    count("min-params", "7B", 0, 1e15, "only models with at least this many parameters"),
    count("max-params", "70B", 0, 1e15, "only models with at most this many parameters"),
    flag("moe", "only mixtures of experts"),

    section("Measurements"),
    text("measured", "METRIC=VALUES",
         "measured by hand: tokens_per_second=40100,39800, tpot_seconds, hours, memory_bytes, usd_per_hour, usd, runs "
         "...; may be repeated"),
    count("oom", "0", 0, 1e6, "out-of-memory errors seen; 0 confirms that there were none"),
    text("query", "METRIC=PROMQL", "query for a metric; may be repeated")
        .or_words("latencies of vLLM and memory of dcgm-exporter"),
};

}  // namespace

std::span<const Setting> decision_rows() { return kRows; }

}  // namespace rightsize::settings
