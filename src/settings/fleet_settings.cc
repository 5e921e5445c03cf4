// Telemetry of GPUs: files, metrics servers, this machine, and thresholds for waste.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    file("from", "input files; plain, gzip or zstd; - is standard input").words(),
    duration("uptime", "2h", kSecond, kTenYears,
             "time since the engine started, for one scrape that does not state it"),
    moment("end", "end of the window").or_words("now"),
    duration("step", "60s", kSecond, kDay, "time between two readings").or_words("found from the data"),
    file("jobs", "Slurm accounting ('TZ=UTC sacct -P'): cost per job, and users where the metrics have none"),
    text("by", "LABEL", "also group by this label: label_app, ray_io_cluster, ...; may be repeated").words(),
    text("user", "NAME", "only jobs of this user; may be repeated"),
    text("namespace", "NAME", "only pods in this namespace; may be repeated"),
    flag("timeline", "JSON: include the activity of each GPU over time"),
    text("fail-on", "LIMIT", "exit with code 4 if exceeded: 'waste>30%', 'waste_usd>5000'; may be repeated").words(),
    file("fleet", "output of 'rightsize fleet --format json'"),
    duration("every", "15min", 0.1, 30 * kDay, "time between two measurements").or_else("15min"),
    duration("stale-after", "45min", kSecond, kOneYear,
             "withdraw the fleet's metrics and answer 503 on /healthz after this long without success")
        .or_words("three times --every"),
    flag("services", "also export the LLM services found, as 'rightsize service' sees them"),
    flag("once", "measure or show once, then exit"),
    text("listen", "HOST:PORT", "address and port; port 0 picks a free one"),
    count("pid", "4711", 1, 4'194'304, "watch this running process until it ends"),
    file("replay",
         "use a recording instead of a GPU: nvidia-smi CSV, dmon or XML, dcgmi dmon, dcgm-exporter text; - is standard "
         "input"),
    file("record", "write every reading to this CSV file"),
    count("hz", "10", 1, 100, "readings per second").or_else("10"),
    duration("duration", "30s", kMillisecond, kOneYear, "without a command: how long to watch")
        .or_words("until Ctrl-C"),
    duration("step-time", "410ms", 1e-9, 30 * kDay,
             "with --model: measured time of a step (an optimizer step, an output token, a batch)"),
    factor("speed", "10", 0.001, 1e6, "with --replay: playback speed").or_else("1"),
    duration("interval", "1s", 0.1, kMinute, "refresh interval").or_else("1s"),
    file("token-file", "file with the token clients must send (or $RIGHTSIZE_TOKEN)"),
    file("tls-cert", "serve HTTPS with this certificate chain (PEM)"),
    file("tls-key", "private key of --tls-cert (PEM)"),
    flag("openapi", "print the OpenAPI document of the API, then exit"),

    section("Metrics server"),
    text("prometheus", "URL", "Prometheus-compatible server, e.g. http://prometheus:9090"),
    text("match", "MATCHERS", "additional label matchers: 'cluster=\"a\",env=\"prod\"'"),
    count("shard", "96", 1, 100'000, "GPUs per query").or_else("96"),
    count("parallel", "2", 1, 64, "queries at a time").or_else("2"),
    text("resume", "DIR", "store the server's responses in this folder; an interrupted run then continues"),
    count("tries", "5", 1, 100, "attempts per query").or_else("5"),
    duration("retry-wait", "250ms", 0, kHour, "wait before the second attempt; doubles with each").or_else("250ms"),
    file("bearer-file", "file with a bearer token (or $RIGHTSIZE_BEARER)"),
    text("http-user", "NAME", "user name at the server, with the password from --password-file").alias("user"),
    file("password-file", "file with the password (or $RIGHTSIZE_PASSWORD)"),
    file("cert", "client certificate (PEM)"),
    file("key", "private key of --cert (PEM)"),
    file("ca", "certificate authority to trust (PEM)"),
    flag("insecure", "do not verify the server's certificate"),
    text("org-id", "TENANT", "tenant in Mimir, Cortex or Grafana Cloud (X-Scope-OrgID)"),
    text("header", "'NAME: VALUE'", "an additional HTTP header; may be repeated"),

    section("Output"),
    flag("progress", "show progress on standard error even if it is not a terminal"),

    section("What counts as waste"),
    share("idle-below", "0.5%", 0, 1, "a GPU with at most this activity is idle").or_else("0.5%"),
    size("held-above", "1GiB", 0, 1e15, "a GPU with more memory than this in use is held").or_else("1GiB"),
    share("target", "85%", 0.01, 1, "activity at which a GPU counts as full").or_else("85%"),
    share("sharing", "80%", 0.01, 1, "highest combined activity of jobs that share a GPU").or_else("80%"),
    share("memory-headroom", "90%", 0.01, 1, "share of GPU memory that plans may use").or_else("90%"),
    share("stop-above", "90%", 0, 1,
          "recommend stopping workloads that are idle for more than this share of the time, and during the last "
          "--min-age")
        .or_else("90%"),
    duration("park-after", "4h", kMinute, kOneYear, "idle periods this long can be parked").or_else("4h"),
    duration("min-age", "24h", 0, kOneYear,
             "never stop or park a workload observed for less than this; no other action on younger workloads")
        .or_else("24h"),
    share("max-overload", "1%", 0, 1, "share of the recorded time for which a smaller GPU may be too small")
        .or_else("1%"),
    number("max-slowdown", "1.5", 1, 1000,
           "largest factor on latency (p95 and peak) for a move to a smaller GPU to count")
        .or_else("1.5"),
    flag("across-teams", "let jobs of different or unknown teams share a GPU without MIG"),
};

}  // namespace

std::span<const Setting> fleet_rows() { return kRows; }

}  // namespace rightsize::settings
