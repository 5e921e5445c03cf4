// Output settings, and the arguments without a flag.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    section("Output"),
    count("top", "10", 0, 1e6, "rows to show; 0 shows all"),
    text("sort", "COLUMN", "sort by this column"),
    text("emit", "TOOL", "write files for this tool").listed(),
    text("partition", "NAME", "the partition in Slurm scripts"),
    text("account", "NAME", "the account in Slurm scripts"),
    count("plan", "1", 1, 1000, "number of the plan").or_else("1"),
    flag("explain", "also show why this plan, what would change it, and why other GPUs were rejected"),
    duration("time-limit", "30s", 0.1, kDay, "longest search; then the best plan so far is shown with its bound")
        .or_else("30s"),
    flag("stats", "show how many options were examined and how long each stage took"),
    flag("plans-only", "rank the plans and stop: no trade-offs, changes or confidence, in a fraction of the time"),
    text("sweep", "SETTING=VALUES", "table over one setting, e.g. batch=1..256 (doubling) or isl=512,2k"),
    flag("roofline", "draw the operations under the GPU's roofline"),
    choice("per", "minute|hour|day|week|month", "also give the work that is done in this time"),
    flag("longest", "begin with the longest request, or training sequence, that fits --gpu"),
    flag("options", "show what each option frees, its effect on speed, and the cheapest combination that fits")
        .alias("levers"),
    choice("format", "text|json|csv|md|html", "output format").or_else("text"),
    flag("wide", "do not fit tables to the terminal"),
    flag("quiet", "print the answer in one line").alias("q"),
    flag("help", "show this help").alias("h"),

    section(""),
    text("WORKLOAD", "", "workload file (see 'rightsize init'), - for standard input, or a model"),
    text("WORKLOADS", "", "workloads to place, a YAML file; - is standard input (see examples/mig)"),
    text("ORGANISATION", "", "pools, reservations and workloads, a YAML file; - is standard input (docs/portfolio.md)"),
    text("WHAT", "", "what to show or do").words(),
    text("FILE", "",
         "CSV with your measurements: model, gpu, settings of the job as columns, and tokens_per_second_per_gpu, "
         "step_ms, ttft_ms, tpot_ms or batch_ms"),
    text("COMMAND", "", "command to run and watch, after --; or a recording to read").words(),
    text("OLD", "", "files before the change: a file, a folder, or /dev/null"),
    text("NEW", "", "files after the change"),
    text("DECISION", "", "D12, 12 or the name of the workload"),
};

}  // namespace

std::span<const Setting> output_rows() { return kRows; }

}  // namespace rightsize::settings
