// The GPUs, latencies and dollars of `rightsize cache --gpu`: GPU memory alone and with each tier below it.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "capacity/sessions.h"
#include "catalog/words.h"
#include "model/serve_settings.h"
#include "rightsize/cache/report.h"
#include "rightsize/input/facts.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

using capacity::CacheTier;
using capacity::TierOutcome;

constexpr double kGb = 1e9;

// Dollars per GB-month if the machine does not include the tier. Judgement rather than a price list: about what clouds
// charge for more memory (differences between instance types of one size), for local disks, and for block storage (the
// default of --storage-price). break_even_usd_per_gb_month shows how sensitive the answer is.
struct TierPrice {
  const char* name;
  double usd_per_gb_month;
};
constexpr std::array kPrices = {TierPrice{"host", 2.6}, TierPrice{"disk", 0.07}, TierPrice{"remote", 0.08}};

std::optional<double> price_of(const std::string& name) {
  for (const TierPrice& price : kPrices)
    if (name == price.name) return price.usd_per_gb_month;
  return std::nullopt;
}

// Default read speed of a replica. Assumes one local NVMe drive, or half of a 100 Gbit/s network. --tier disk=2TB@6GB/s
// overrides it.
constexpr BytesPerSecond kDiskRead = gb_per_s(6), kRemoteRead = gb_per_s(6);

// Memory and disk of a machine per GPU: the median over the catalogue's machines with this GPU.
std::optional<Bytes> median_per_gpu(const catalog::Catalog& catalog, const std::string& gpu,
                                    std::optional<Bytes> catalog::Machine::*what) {
  std::vector<Bytes> all;
  for (const catalog::Machine& machine : catalog.machines)
    if (machine.gpu == gpu && machine.gpus > 0 && !machine.retired && machine.*what && *(machine.*what) > bytes(0))
      all.push_back(*(machine.*what) / machine.gpus);
  if (all.empty()) return std::nullopt;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

// The tiers of a machine with this GPU: half its memory, its disk, and 1 TB of shared remote storage per GPU.
std::vector<CacheTier> usual_tiers(const catalog::Catalog& catalog, const catalog::Gpu& gpu, int gpus) {
  std::vector<CacheTier> tiers;
  constexpr double kFree = 0.5;
  if (const auto memory = median_per_gpu(catalog, gpu.name, &catalog::Machine::memory))
    tiers.push_back({"host", *memory * (kFree * gpus), {}, false});
  const auto disk = median_per_gpu(catalog, gpu.name, &catalog::Machine::local_ssd);
  if (disk) tiers.push_back({"disk", *disk * gpus, {}, false});
  tiers.push_back({"remote", bytes(1e12) * gpus, {}, true});
  return tiers;
}

Result<std::vector<CacheTier>> read_tiers(const CacheFlags& flags, const catalog::Catalog& catalog,
                                          const catalog::Gpu& gpu, int gpus) {
  std::vector<CacheTier> tiers;
  for (const std::string& text : flags.tiers) {
    RIGHTSIZE_TRY(CacheTier tier, capacity::parse_tier(text));
    tiers.push_back(std::move(tier));
  }
  if (tiers.empty()) tiers = usual_tiers(catalog, gpu, gpus);
  for (CacheTier& tier : tiers) {
    if (tier.read > BytesPerSecond{}) continue;
    if (tier.name == "disk")
      tier.read = kDiskRead;
    else if (tier.name == "remote")
      tier.read = kRemoteRead;
    else if (const auto link = capacity::host_link(gpu))
      tier.read = *link * gpus;  // every GPU reads its share over its own link
    else
      return fail(bad_input(fmt::format("the speed of tier '{}' is unknown", tier.name))
                      .with_hint(fmt::format("--tier {}=500GB@50GB/s", tier.name)));
  }
  return tiers;
}

Result<model::Job> serving_job(const CacheFlags& flags, const model::ModelShape& shape, const sim::RequestShape& mean) {
  std::vector<model::Setting> settings{{"job", "serve", {}}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) settings.push_back({name, value, {}});
  };
  add("stack", flags.stack);
  add("precision", flags.precision);
  add("kv-precision", flags.kv_precision);
  Checked<model::Job> job = model::parse_job(settings);
  if (!job) return fail(job.error().front());
  if (flags.precision.empty()) job->precision = model::default_precision(shape, job->stack);
  job->serve.isl = std::max<std::int64_t>(1, std::llround(mean.size));
  job->serve.osl = std::max<std::int64_t>(1, std::llround(mean.output));
  return *job;
}

Checked<capacity::Service> service_of(const CacheFlags& flags, const std::shared_ptr<const sim::Trace>& trace,
                                      const model::Job& job) {
  capacity::Service service;
  service.arrivals = trace;
  if (flags.rate) service.arrivals = sim::scaled(trace, *flags.rate / *sim::mean_rate(trace));
  RIGHTSIZE_TRY(const capacity::Statistic at, capacity::parse_percentile(flags.slo_percentile));
  if (!flags.slo.empty()) {
    RIGHTSIZE_TRY(service.slos, capacity::parse_slos(flags.slo, at));
  }
  service.cache_block = capacity::cache_block(job.stack);
  service.routing = capacity::parse_routing(flags.routing);
  return service;
}

// The replica of --tp GPUs, or the size that needs the fewest GPUs in total: if the model barely fits, no memory is
// left for requests.
Result<capacity::Replica> replica_of(const CacheFlags& flags, const Facts& facts, const model::ModelShape& shape,
                                     model::Job job, const catalog::Gpu& gpu, const capacity::Service& service) {
  const perf::ModelWork work = perf::work_of(shape);
  const perf::Cluster cluster = perf::default_cluster(gpu);
  std::optional<Error> reason;
  std::optional<capacity::Replica> best;
  int fewest = 0;
  for (const int tensor : flags.tp ? std::vector{*flags.tp} : std::vector{1, 2, 4, 8}) {
    if (!flags.tp && tensor > std::max(1, cluster.node_gpus)) break;
    job.parallel.gpus = job.parallel.tensor = tensor;
    Result<capacity::Replica> replica = capacity::token_replica({facts.constants, shape, work}, job, gpu,
                                                                perf::gpu_speed(facts.constants, gpu), cluster);
    if (!replica) {
      if (!reason) reason = replica.error();
      continue;
    }
    if (flags.tp) return replica;
    const int needed = capacity::compare_tiers(service, *replica, {}, {}).front().gpus;
    if (!best || (needed > 0 && (fewest == 0 || needed < fewest))) best = *replica, fewest = needed;
  }
  if (best) return *best;
  return fail(*reason);
}

std::vector<RoutingOutcome> compare_routings(capacity::Service service, const capacity::Replica& replica) {
  std::vector<RoutingOutcome> all;
  for (const char* name : {"random", "least-loaded", "prefix-aware"}) {
    service.routing = capacity::parse_routing(name);
    const TierOutcome outcome = capacity::compare_tiers(service, replica, {}, {}).front();
    all.push_back({name, outcome.gpus, outcome.hit});
  }
  return all;
}

// Fewer GPUs first, then a shorter TTFT.
std::pair<int, double> merit(const TierRow& row) {
  return {row.saved, -in_seconds(row.outcome.run->value(capacity::Quantity::kTtft, capacity::Statistic::kMean))};
}

void add_money(TierRow& row, const TierRow& alone, const std::optional<UsdPerSecond>& gpu_price, Bytes memory_paid) {
  if (!row.outcome.run || !alone.outcome.run) return;
  row.saved = alone.outcome.gpus - row.outcome.gpus;
  const double replicas = row.outcome.run->configuration.replicas();
  const double gb = in_bytes(row.outcome.tier.size) / kGb * replicas;
  if (!(gb > 0)) return;
  // The price of a GPU machine includes its memory and disks.
  const bool included = row.outcome.tier.size <= memory_paid;
  if (const auto price = price_of(row.outcome.tier.name))
    row.price = included ? UsdPerSecond{} : usd(*price * gb) / kMonth;
  if (!gpu_price) return;
  row.break_even = in_usd(*gpu_price * row.saved * kMonth) / gb;
  if (row.price) row.saving = *gpu_price * row.saved - *row.price;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> cache_commands(const CacheTier& tier, Bytes gpu_cache, int gpus,
                                                                const std::string& model) {
  const bool host = tier.name == "host";
  // Data for the disk passes through host memory, which engines require to be larger than the GPU's cache.
  const Bytes memory = host ? tier.size : gpu_cache * 2.0;
  const auto gb = [](Bytes size) { return static_cast<std::int64_t>(std::ceil(in_bytes(size) / kGb)); };
  const std::string split = gpus > 1 ? fmt::format(" --tensor-parallel-size {}", gpus) : "";
  std::vector<std::pair<std::string, std::string>> all;
  if (host)
    all.emplace_back("vllm", fmt::format("vllm serve {}{} --kv-offloading-backend native --kv-offloading-size {}",
                                         model, split, static_cast<std::int64_t>(std::ceil(in_gib(memory)))));
  const std::string below = host ? ""
                            : tier.shared
                                ? " LMCACHE_REMOTE_URL=redis://REDIS_HOST:6379"
                                : fmt::format(" LMCACHE_LOCAL_DISK=file:///mnt/kv-cache LMCACHE_MAX_LOCAL_DISK_SIZE={}",
                                              gb(tier.size / gpus));
  all.emplace_back("lmcache",
                   fmt::format("LMCACHE_LOCAL_CPU=True LMCACHE_MAX_LOCAL_CPU_SIZE={}{} vllm serve {}{} "
                               "--kv-transfer-config '{{\"kv_connector\": \"LMCacheConnectorV1\", \"kv_role\": "
                               "\"kv_both\"}}'",
                               gb(memory / gpus), below, model, split));
  if (host)
    all.emplace_back("sglang", fmt::format("python -m sglang.launch_server --model-path {}{} "
                                           "--enable-hierarchical-cache --hicache-size {}",
                                           model, gpus > 1 ? fmt::format(" --tp {}", gpus) : "", gb(memory / gpus)));
  if (!tier.shared)
    all.emplace_back(
        "dynamo",
        fmt::format("DYN_KVBM_CPU_CACHE_GB={}{} python3 -m dynamo.vllm --model {}{} --kv-transfer-config "
                    "'{{\"kv_connector\": \"DynamoConnector\", \"kv_role\": \"kv_both\", "
                    "\"kv_connector_module_path\": \"kvbm.vllm_integration.connector\"}}'",
                    gb(memory), host ? "" : fmt::format(" DYN_KVBM_DISK_CACHE_GB={}", gb(tier.size)), model, split));
  return all;
}

Checked<TierAnswer> answer_tiers(const CacheFlags& flags, const model::ModelShape& shape, Bytes per_token,
                                 const std::shared_ptr<const sim::Trace>& trace) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, named_gpu(facts.catalog, flags.gpu));
  const std::optional<RequestsPerSecond> recorded = sim::mean_rate(trace);
  if (!recorded) return fail(bad_input(fmt::format("{}: too short to compute a rate", flags.trace)));
  RIGHTSIZE_TRY(const model::Job job, serving_job(flags, shape, sim::mean_shape(trace, {})));
  RIGHTSIZE_TRY(const capacity::Service service, service_of(flags, trace, job));
  RIGHTSIZE_TRY(const capacity::Replica replica, replica_of(flags, facts, shape, job, *gpu, service));
  RIGHTSIZE_TRY(const std::vector<CacheTier> tiers, read_tiers(flags, facts.catalog, *gpu, replica.gpus));
  TierAnswer answer{gpu->name, replica.gpus, flags.rate.value_or(*recorded), {}, {}, {}};
  for (TierOutcome& outcome : capacity::compare_tiers(service, replica, per_token, tiers))
    answer.rows.push_back({std::move(outcome)});
  RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(flags.purchase));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(facts.catalog, flags.price));
  std::optional<UsdPerSecond> price;
  if (const auto quote = book.gpu(*gpu, purchase)) price = quote->rate * gpus(1);
  TierRow* best = nullptr;
  for (TierRow& row : answer.rows) {
    const std::string& name = row.outcome.tier.name;
    const auto what = name == "host" ? &catalog::Machine::memory : &catalog::Machine::local_ssd;
    const Bytes paid = median_per_gpu(facts.catalog, gpu->name, what).value_or(bytes(0)) * replica.gpus;
    add_money(row, answer.rows.front(), price, name == "host" || name == "disk" ? paid : bytes(0));
    if (row.outcome.loaded > 0 && (best == nullptr || merit(row) > merit(*best))) best = &row;
  }
  answer.routings = compare_routings(service, replica);
  const Bytes cache = per_token * static_cast<double>(replica.step.kv_tokens);
  if (best != nullptr) answer.commands = cache_commands(best->outcome.tier, cache, replica.gpus, shape.name);
  return answer;
}

}  // namespace rightsize::app
