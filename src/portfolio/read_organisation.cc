#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/list_of.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "base/yaml_reader.h"
#include "catalog/words.h"
#include "plan/read_request.h"
#include "portfolio/organisation.h"

namespace rightsize::portfolio {
namespace {

constexpr std::array<std::string_view, 10> kHowNames = {"dedicated", "mig",           "mps",  "time-slicing", "sleep",
                                                        "lora",      "scale-to-zero", "spot", "queue",        "bought"};
constexpr int kMostGpus = 100'000;

Result<double> parse_dollars(std::string_view text) {
  constexpr double kMost = 1e9;
  Result<Usd> amount = parse_usd(text);
  if (!amount) return fail(std::move(amount).error());
  if (in_usd(*amount) > kMost) return fail(bad_input(fmt::format("'{}' is more than $1 billion", text)));
  return in_usd(*amount);
}

// The amount may have its unit: 60k/month.
Result<double> parse_monthly(std::string_view text) {
  for (const std::string_view unit : {"/month", "/mo"}) {
    if (text.ends_with(unit)) text.remove_suffix(unit.size());
  }
  return parse_dollars(text);
}

// Runs per month of a job with "every: 1d" or "schedule: weekly".
Result<double> parse_every(std::string_view text) {
  auto often = parse_amount(fmt::format("1/{}", text));
  if (!often) often = parse_amount(fmt::format("1 {}", text));
  if (often && often->per && *often->per >= seconds(60) && *often->per <= 1.1 * kMonth) return kMonth / *often->per;
  return fail(bad_input(fmt::format("'{}' must be a time between two runs", text)).with_hint("every: 1d, every: week"));
}

template <int kLeast>
Result<int> parse_gpus(std::string_view text) {
  const Result<std::int64_t> number = parse_integer(text);
  if (number && *number >= kLeast && *number <= kMostGpus) return static_cast<int>(*number);
  return fail(bad_input(fmt::format("'{}' is not a number of GPUs", text))
                  .with_hint(fmt::format("write a whole number from {} to {}", kLeast, kMostGpus)));
}

Result<double> parse_hours(std::string_view text) {
  Result<double> hours = parse_number(text);
  if (hours && *hours > 0 && *hours <= 24 * 31) return hours;
  return fail(bad_input(fmt::format("'{}' is not a number of hours of a month", text))
                  .with_hint(fmt::format("the hours of all blocks add up to {:g}", in_hours(kMonth))));
}

Result<double> parse_factor(std::string_view text) {
  constexpr double kMost = 100;
  Result<double> factor = parse_number(text);
  if (factor && *factor > 0 && *factor <= kMost) return factor;
  return fail(bad_input(fmt::format("'{}' is not a factor on demand", text))
                  .with_hint("write 1.5 for half as much again; at most 100"));
}

Result<How> parse_how(std::string_view text) {
  const auto at = std::ranges::find(kHowNames, text);
  if (at != kHowNames.end()) return static_cast<How>(at - kHowNames.begin());
  return fail(bad_input(fmt::format("unknown mechanism '{}'", text))
                  .with_hint(fmt::format("use {}", fmt::join(kHowNames, ", "))));
}

// A list of words, or one word.
template <auto kMember, class T>
void read_words(YamlReader& reader, const YamlValue& value, T& into) {
  if (value.kind == YamlValue::Kind::kScalar) {
    reader.take(value, parse_word, (into.*kMember).emplace_back());
  } else if (reader.is(value, YamlValue::Kind::kList)) {
    for (const YamlValue& word : value.list) reader.take(word, parse_word, (into.*kMember).emplace_back());
  }
}

class OrganisationReader : private YamlReader {
 public:
  OrganisationReader(const YamlDocument& document, const catalog::Catalog& catalog, const KeyNames& names)
      : YamlReader(document, names), catalog_(catalog), names_(names) {}

  Checked<Organisation> read_all() {
    const YamlValue& root = document().root();
    if (root.kind != YamlValue::Kind::kMapping) {
      mistake(root, "an organisation has 'pools:' and 'workloads:'", "examples/portfolio/ has a file to start from");
      return fail(take_errors());
    }
    // Workloads refer to pools and blocks, wherever these are in the file.
    if (const YamlValue* blocks = root.find("blocks")) read_blocks(*blocks);
    if (made_.blocks.empty()) made_.blocks.push_back({"all", in_hours(kMonth)});
    if (const YamlValue* pools = root.find("pools")) read_pools(*pools);
    if (const YamlValue* reserved = root.find("reservations")) read_reservations(*reserved);
    const auto seen = [](YamlReader&, const YamlValue&, Organisation&) {};
    const YamlKeys<Organisation> keys = {
        {"name", seen},
        {"version", seen},
        {"description", seen},
        {"owner", seen},
        {"blocks", seen},
        {"pools", seen},
        {"reservations", seen},
        {"teams", [this](YamlReader&, const YamlValue& value, Organisation&) { read_teams(value); }},
        {"demand", [this](YamlReader&, const YamlValue& value, Organisation&) { read_demand(value); }},
        {"budget", yaml_field<&Organisation::budget, parse_monthly, Organisation>},
        {"moves", yaml_field<&Organisation::moves, parse_gpus<0>, Organisation>},
        {"cluster", [this](YamlReader&, const YamlValue& value, Organisation&) { read_cluster(value); }},
        {"workloads", [this](YamlReader&, const YamlValue& value, Organisation&) { read_workloads(value, {}); }},
    };
    read(root, keys, made_);
    if (made_.workloads.empty() && !made_.cluster && errors().empty())
      mistake(root, "the list 'workloads' is missing or empty");
    if (!errors().empty()) return fail(take_errors());
    return std::move(made_);
  }

 private:
  // Adds an error if the entry has no name, or the name of another one.
  bool check_name(const char* kind, const YamlValue& entry, const std::string& name) {
    if (name.empty()) {
      if (entry.find("name") == nullptr) mistake(entry, fmt::format("the {} has no name", kind));
      return false;
    }
    const YamlValue& at = *entry.find("name");
    const auto [first, fresh] = lines_.try_emplace(fmt::format("{} {}", kind, name), at.line + 1);
    if (!fresh)
      mistake(at, fmt::format("two {}s are named '{}'", kind, name),
              fmt::format("the first is on line {}", first->second));
    return fresh;
  }

  void read_blocks(const YamlValue& list) {
    static const YamlKeys<Block> kKeys = {{"name", yaml_field<&Block::name, parse_word, Block>},
                                          {"hours", yaml_field<&Block::hours, parse_hours, Block>}};
    for_each_mapping(list, [&](const YamlValue& entry) {
      Block block;
      const bool readable = read(entry, kKeys, block);
      if (check_name("block", entry, block.name) && readable && block.hours == 0)
        mistake(entry, "the block has no hours");
      made_.blocks.push_back(block);
    });
    constexpr double kSlack = 0.5;  // 730 hours, or those of a real month
    if (made_.month_hours() > 24 * 31 + kSlack)
      mistake(list, fmt::format("the blocks have {:g} hours, a month at most {}", made_.month_hours(), 24 * 31),
              "'hours' counts the hours of a month, not of a day");
  }

  void read_pools(const YamlValue& list) {
    const YamlKeys<Pool> keys = {
        {"name", yaml_field<&Pool::name, parse_word, Pool>},
        {"gpu", [this](YamlReader& reader, const YamlValue& value, Pool& pool) { read_gpu(reader, value, pool.gpu); }},
        {"usd_per_gpu_hour", yaml_field<&Pool::usd_per_gpu_hour, parse_dollars, Pool>},
        {"price", yaml_field<&Pool::usd_per_gpu_hour, parse_dollars, Pool>},
        {"gpus_per_machine", yaml_field<&Pool::gpus_per_machine, parse_gpus<1>, Pool>},
        {"quota", yaml_field<&Pool::quota, parse_gpus<0>, Pool>},
        {"reserved", yaml_field<&Pool::reserved, parse_gpus<0>, Pool>},
        {"reserved_usd_per_month", yaml_field<&Pool::reserved_usd, parse_dollars, Pool>},
        {"offer_usd_per_gpu_month", yaml_field<&Pool::offer_usd, parse_dollars, Pool>},
        {"offer_3_years_usd_per_gpu_month", yaml_field<&Pool::long_offer_usd, parse_dollars, Pool>},
        {"mig", yaml_field<&Pool::mig, parse_flag, Pool>},
        {"region", yaml_field<&Pool::region, parse_word, Pool>},
        {"provider", [this](YamlReader&, const YamlValue& value, Pool&) { note_provider(value); }},
    };
    for_each_mapping(list, [&](YamlValue entry) {
      Pool pool;
      const bool counted = refuse_counts(entry);
      const bool readable = read(entry, keys, pool) && !counted;
      if (check_name("pool", entry, pool.name) && readable) check_pool(entry, pool);
      made_.pools.push_back(std::move(pool));
    });
  }

  // A pool's number of GPUs may be those that are paid for or the most that can be rented; removes it from the entry.
  bool refuse_counts(YamlValue& entry) {
    const std::size_t removed = std::erase_if(entry.mapping, [this](const auto& member) {
      constexpr std::string_view kNames[] = {"gpus", "count", "size", "gpu_count", "num_gpus"};
      const std::string& key = member.first.scalar;
      if (std::ranges::find(kNames, key) == std::end(kNames)) return false;
      mistake(
          member.first, fmt::format("'{}' does not say whether the GPUs of the pool are reserved", key),
          fmt::format("write 'reserved: {0}' for GPUs that you own or have committed to, or 'quota: {0}' for the most "
                      "that you can rent",
                      member.second.scalar));
      return true;
    });
    return removed > 0;
  }

  void note_provider(const YamlValue& value) {
    const std::string text =
        fmt::format("the provider of a pool is not used: its price decides (line {})", value.line + 1);
    if (made_.notes.empty() || made_.notes.back() != text) made_.notes.push_back(text);
  }

  // A family ("h100") means its usual member, as in every command.
  void read_gpu(YamlReader& reader, const YamlValue& value, const catalog::Gpu*& gpu) const {
    const auto usual = [this](const std::string& text) -> Result<const catalog::Gpu*> {
      RIGHTSIZE_TRY(const catalog::UsualGpu found, catalog::usual_gpu(catalog_, text));
      return found.gpu;
    };
    reader.take(value, usual, gpu);
  }

  // GPUs that are paid for, used or not: a pool in which nothing more can be rented.
  void read_reservations(const YamlValue& list) {
    struct Reservation {
      Pool pool;
      double usd_per_hour = 0;
      std::string instance, provider;  // machines instead of GPUs
    };
    const YamlKeys<Reservation> keys = {
        {"name", [](YamlReader& reader, const YamlValue& value,
                    Reservation& r) { reader.take(value, parse_word, r.pool.name); }},
        {"gpu",
         [this](YamlReader& reader, const YamlValue& value, Reservation& r) { read_gpu(reader, value, r.pool.gpu); }},
        {"count", [](YamlReader& reader, const YamlValue& value,
                     Reservation& r) { reader.take(value, parse_gpus<1>, r.pool.reserved); }},
        {"price", yaml_field<&Reservation::usd_per_hour, parse_dollars, Reservation>},
        {"instance", yaml_field<&Reservation::instance, parse_word, Reservation>},
        {"provider", yaml_field<&Reservation::provider, parse_word, Reservation>},
        {"region", [](YamlReader& reader, const YamlValue& value,
                      Reservation& r) { reader.take(value, parse_word, r.pool.region); }},
    };
    for_each_mapping(list, [&](const YamlValue& entry) {
      Reservation made;
      if (!read(entry, keys, made)) return;
      Pool& pool = made.pool;
      int gpus = 1;  // of each
      for (const catalog::Machine& machine : catalog_.machines) {
        const bool named = to_lower(machine.instance) == to_lower(made.instance) && machine.gpus > 0 &&
                           (made.provider.empty() || machine.provider == to_lower(made.provider));
        const auto gpu = catalog_.find_gpu(machine.gpu);
        if (!named || pool.gpu != nullptr || !gpu) continue;
        pool.gpu = *gpu, gpus = machine.gpus;
        if (pool.name.empty()) pool.name = machine.instance + "-reserved";
      }
      if (pool.gpu == nullptr && !made.instance.empty())
        return mistake(*entry.find("instance"), fmt::format("unknown instance type '{}'", made.instance));
      if (pool.gpu == nullptr || pool.reserved == 0 || entry.find("price") == nullptr)
        return mistake(entry, "a reservation needs 'gpu' or 'instance', 'count' and 'price'",
                       "for example {gpu: h100-sxm, count: 8, price: 2.10}, or {instance: p5.48xlarge, "
                       "count: 2, price: 33}, in USD per hour of one of them");
      pool.quota = 0;
      pool.reserved_usd = made.usd_per_hour * pool.reserved * in_hours(kMonth);
      pool.reserved *= gpus;
      if (pool.name.empty()) pool.name = fmt::format("{}-reserved", pool.gpu->name);
      if (std::ranges::find(made_.pools, pool.name, &Pool::name) != made_.pools.end())
        return mistake(entry, fmt::format("two pools are named '{}'", pool.name), "add a 'name'");
      made_.pools.push_back(std::move(pool));
    });
  }

  void check_pool(const YamlValue& entry, Pool& pool) {
    if (!(pool.usd_per_gpu_hour > 0) && entry.find("usd_per_gpu_hour") == nullptr && pool.quota != 0)
      mistake(entry, fmt::format("pool '{}' has no usd_per_gpu_hour", pool.name),
              "add the on-demand price, or 'quota: 0' if nothing can be rented there");
    if (!pool.mig) return;
    if (pool.gpu != nullptr) pool.geometry = mig::Geometry::of(catalog_, *pool.gpu);
    if (!pool.geometry)
      mistake(*entry.find("mig"),
              pool.gpu == nullptr ? "'mig: true' needs 'gpu'" : fmt::format("{} does not support MIG", pool.gpu->name));
  }

  // Nodes or pods of one kind, with how many there are.
  struct Counted {
    int count = 1;
    double gpus = 0, cpu = 0;
    Bytes memory;
    std::string name, kind;          // of a node
    std::vector<std::string> kinds;  // kinds that a pod may run on
  };

  void read_counted(const YamlValue& list, const std::function<void(const YamlValue&, const Counted&)>& use) {
    static const YamlKeys<Counted> kKeys = {
        {"name", yaml_field<&Counted::name, parse_word, Counted>},
        {"count", yaml_field<&Counted::count, parse_gpus<1>, Counted>},
        {"gpus", yaml_field<&Counted::gpus, parse_number, Counted>},
        {"cpu", yaml_field<&Counted::cpu, parse_number, Counted>},
        {"memory", yaml_field<&Counted::memory, parse_bytes, Counted>},
        {"kind", yaml_field<&Counted::kind, parse_word, Counted>},
        {"kinds", read_words<&Counted::kinds, Counted>},
    };
    for_each_mapping(list, [&](const YamlValue& entry) {
      Counted counted;
      if (!read(entry, kKeys, counted)) return;
      constexpr double kMostOfOne = 64;
      const bool whole = counted.gpus == std::floor(counted.gpus);
      if (!(counted.gpus >= 0 && counted.gpus <= kMostOfOne) || (!whole && counted.gpus > 1) || !(counted.cpu >= 0))
        return mistake(entry, "'gpus' must be a part of one GPU, such as 0.5, or a whole number up to 64",
                       "'cpu' counts processors and is 0 or more");
      use(entry, counted);
    });
  }

  void read_cluster(const YamlValue& value) {
    if (!is(value, YamlValue::Kind::kMapping)) return;
    Cluster cluster;
    std::vector<std::string> kinds;
    const auto kind_of = [&](const std::string& name) {
      const auto at = std::ranges::find(kinds, name);
      if (at != kinds.end()) return static_cast<int>(at - kinds.begin());
      kinds.push_back(name);
      return static_cast<int>(kinds.size()) - 1;
    };
    constexpr std::size_t kMostKinds = 64, kMostEntries = 100'000;
    if (const YamlValue* nodes = value.find("nodes")) {
      read_counted(*nodes, [&](const YamlValue& entry, const Counted& n) {
        const int kind = kind_of(n.kind);
        if (n.gpus != std::floor(n.gpus)) return mistake(entry, "a node has whole GPUs");
        if (kinds.size() > kMostKinds) return mistake(entry, "more than 64 kinds of node");
        cluster.nodes.insert(cluster.nodes.end(), static_cast<std::size_t>(n.count),
                             {n.cpu, in_gib(n.memory), static_cast<int>(n.gpus), kind});
      });
    }
    if (const YamlValue* pods = value.find("pods")) {
      read_counted(*pods, [&](const YamlValue& entry, const Counted& p) {
        solve::ClusterTask task{p.cpu, in_gib(p.memory), static_cast<int>(p.gpus), p.gpus - std::floor(p.gpus)};
        if (!p.kinds.empty()) task.types = 0;
        for (const std::string& name : p.kinds) {
          const auto at = std::ranges::find(kinds, name);
          if (at == kinds.end())
            return mistake(entry, fmt::format("no node is of kind '{}'", name),
                           "give the nodes a kind: {count: 4, gpus: 8, kind: a100}");
          task.types |= 1ULL << (at - kinds.begin());
        }
        cluster.pods.insert(cluster.pods.end(), static_cast<std::size_t>(p.count), task);
      });
    }
    if (!errors().empty()) return;
    if (cluster.nodes.empty() || cluster.pods.empty())
      return mistake(value, "a cluster has 'nodes' and 'pods'",
                     "for example nodes: [{count: 10, gpus: 8, cpu: 96, memory: 768GiB}]");
    if (cluster.nodes.size() + cluster.pods.size() > kMostEntries)
      return mistake(value, "more than 100,000 nodes and pods");
    made_.cluster = std::move(cluster);
  }

  void read_demand(const YamlValue& value) {
    static const YamlKeys<DemandRange> kKeys = {
        {"low", yaml_field<&DemandRange::low, parse_factor, DemandRange>},
        {"likely", yaml_field<&DemandRange::likely, parse_factor, DemandRange>},
        {"high", yaml_field<&DemandRange::high, parse_factor, DemandRange>},
    };
    if (!is(value, YamlValue::Kind::kMapping)) return;
    DemandRange range;
    if (!read(value, kKeys, range)) return;
    if (!(range.low <= range.likely && range.likely <= range.high))
      return mistake(value, "'demand' needs low <= likely <= high", "for example {low: 0.7, high: 1.5}");
    made_.demand = range;
  }

  void read_teams(const YamlValue& list) {
    const YamlKeys<Team> keys = {
        {"name", yaml_field<&Team::name, parse_word, Team>},
        {"budget_usd_per_month", yaml_field<&Team::budget, parse_dollars, Team>},
        {"budget", yaml_field<&Team::budget, parse_monthly, Team>},
        {"workloads", [](YamlReader&, const YamlValue&, Team&) {}},  // read when the name of the team is known
        {"quota", [](YamlReader&, const YamlValue&, Team&) {}},
    };
    for_each_mapping(list, [&](const YamlValue& entry) {
      Team team;
      read(entry, keys, team);
      if (const YamlValue* workloads = entry.find("workloads")) read_workloads(*workloads, team.name);
      if (entry.find("quota") != nullptr)
        made_.notes.push_back(fmt::format(
            "the quota of team '{}' does not limit the plan: only pools have one, e.g. pools: [{{name: h100, gpu: "
            "h100-sxm, usd_per_gpu_hour: 2.5, quota: 16}}]",
            team.name));
      check_name("team", entry, team.name);
      made_.teams.push_back(std::move(team));
    });
  }

  // `team`: of workloads that are listed below it.
  void read_workloads(const YamlValue& list, const std::string& team) {
    YamlKeys<Workload> keys = {
        {"name", yaml_field<&Workload::name, parse_word, Workload>},
        {"team", yaml_field<&Workload::team, parse_word, Workload>},
        {"options", [this](YamlReader&, const YamlValue& value, Workload& w) { read_options(value, w); }},
        {"regions", read_words<&Workload::regions, Workload>},
        {"slo", read_slo},
        {"apart", yaml_field<&Workload::apart, parse_word, Workload>},
        {"blocks", read_words<&Workload::blocks, Workload>},
        {"now", yaml_field<&Workload::now, parse_gpus<0>, Workload>},
        {"every", yaml_field<&Workload::runs, parse_every, Workload>},
        {"schedule", yaml_field<&Workload::runs, parse_every, Workload>},
        {"small",
         [this](YamlReader& reader, const YamlValue& value, Workload& w) {
           w.small = mig::read_workload(reader.document(), value, "small", catalog_, reader.errors(), names_);
         }},
    };
    for (const std::string& name : plan::request_settings()) {
      if (name == "name" || name == "regions") continue;
      keys.emplace_back(name, [name](YamlReader& reader, const YamlValue& value, Workload& w) {
        read_setting(reader, name, value, w);
      });
    }
    for_each_mapping(list, [&](const YamlValue& entry) {
      Workload w;
      w.team = team;
      w.place = document().place(entry.find("name") == nullptr ? entry : *entry.find("name"));
      const bool readable = read(entry, keys, w);
      if (check_name("workload", entry, w.name) && readable) check_workload(entry, w);
      made_.workloads.push_back(std::move(w));
    });
  }

  // A setting of `recommend`; the rate may differ between blocks.
  static void read_setting(YamlReader& reader, const std::string& name, const YamlValue& value, Workload& w) {
    std::string text;
    if (name == "rate" && value.kind == YamlValue::Kind::kMapping) {
      for_each_entry(reader.document(), value, reader.errors(), [&](const YamlValue& block, const YamlValue& rate) {
        RequestsPerSecond parsed;
        reader.take(rate, parse_request_rate, parsed);
        w.rate_by_block.emplace_back(block.scalar, rate.scalar);
      });
      return;
    }
    if (value.kind == YamlValue::Kind::kList) {
      for (const YamlValue& item : value.list) text += (text.empty() ? "" : ",") + item.scalar;
    } else {
      reader.take(value, parse_word, text);
    }
    // Common names for services; the model and its settings determine the rest.
    constexpr std::array<std::string_view, 6> kServices = {"embed", "rerank", "chat", "inference", "api", "transcribe"};
    constexpr std::array<std::string_view, 7> kTraining = {"lora",       "qlora",       "finetune", "fine-tune",
                                                           "finetuning", "fine-tuning", "sft"};
    const std::string job = name == "job" ? to_lower(text) : std::string();
    if (std::ranges::find(kServices, job) != kServices.end()) text = "serve";
    if (std::ranges::find(kTraining, job) != kTraining.end()) text = "train";
    w.work.push_back({name, text, reader.document().place(value)});
    if (job == "lora" || job == "qlora") w.work.push_back({"method", job, reader.document().place(value)});
  }

  // `slo: {ttft: 1s, tpot: 50ms}`, or `slo: ttft=1s,tpot=50ms`.
  static void read_slo(YamlReader& reader, const YamlValue& value, Workload& w) {
    const auto take = [&](const YamlValue& at, std::string_view what, std::string_view limit) {
      if (what != "ttft" && what != "tpot")
        return reader.mistake(at, fmt::format("'{}' does not say which time it limits", at.scalar),
                              "write slo: {ttft: 1s, tpot: 50ms}");
      w.work.push_back({fmt::format("{}-slo", what), std::string(limit), reader.document().place(at)});
    };
    if (value.kind == YamlValue::Kind::kMapping) {
      for_each_entry(reader.document(), value, reader.errors(),
                     [&](const YamlValue& key, const YamlValue& limit) { take(key, key.scalar, limit.scalar); });
      return;
    }
    if (!reader.is(value, YamlValue::Kind::kScalar)) return;
    for (const std::string_view part : split_list(value.scalar, ',')) {
      const std::size_t equals = part.find('=');
      take(value, trim(part.substr(0, equals)), equals == std::string_view::npos ? "" : trim(part.substr(equals + 1)));
    }
  }

  void check_workload(const YamlValue& entry, Workload& w) {
    const YamlValue* options = entry.find("options");
    if (options != nullptr && !w.work.empty())
      return mistake(*options, fmt::format("'{}' has both options and '{}'", w.name, w.work.front().name),
                     "'options' replaces the plans of recommend: delete one of the two");
    if (w.small) {
      w.small->name = w.name;
      if (options != nullptr || !w.work.empty())
        mistake(*entry.find("small"), fmt::format("'{}' has both 'small' and other ways to run it", w.name),
                "delete one of the two");
      return;
    }
    if (w.options.empty() && w.work.empty())
      return mistake(options == nullptr ? entry : *options, fmt::format("'{}' has no options", w.name),
                     "list the ways to run it, options: [{where: POOL, gpus: 2}], or give the work as in a "
                     "workload file: model, rate, tokens, deadline; or 'small: {memory: 4GiB, rate: 1/s, "
                     "service: 20ms}'");
    for (const std::string& name : w.blocks) check_block(*entry.find("blocks"), name);
    for (const auto& [name, rate] : w.rate_by_block) check_block(*entry.find("rate"), name);
    if (!w.work.empty()) return;
    if (w.now && *w.now >= static_cast<int>(w.options.size()))
      mistake(*entry.find("now"), fmt::format("'{}' has {} options; they count from 0", w.name, w.options.size()));
    if (Result<> applied = apply_rules(made_, w); !applied) add(Errors(std::move(applied).error()), *options);
  }
  void check_block(const YamlValue& at, const std::string& name) {
    if (std::ranges::find(made_.blocks, name, &Block::name) == made_.blocks.end())
      mistake(at, fmt::format("unknown block '{}'", name), did_you_mean(name, list_of(made_.blocks, &Block::name)));
  }

  const Pool& pool_of(const Option& option) const { return made_.pools[static_cast<std::size_t>(option.pool)]; }

  void read_options(const YamlValue& list, Workload& w) {
    for_each_mapping(list, [&](const YamlValue& entry) {
      Option option;
      // The pool decides how slices are named, wherever it is in the option.
      if (const YamlValue* where = entry.find("where")) take(*where, parse_word, option.where);
      const auto pool = std::ranges::find(made_.pools, option.where, &Pool::name);
      if (pool != made_.pools.end()) option.pool = static_cast<int>(pool - made_.pools.begin());
      option.gpus.assign(made_.blocks.size(), 0);
      option.how = !option.in_pool() ? How::kBought : entry.find("needs") != nullptr ? How::kMig : How::kDedicated;
      const YamlKeys<Option> keys = {
          {"where", [](YamlReader&, const YamlValue&, Option&) {}},
          {"gpus", [this](YamlReader&, const YamlValue& value, Option& into) { read_gpus(value, into); }},
          {"needs", [this](YamlReader&, const YamlValue& value, Option& into) { read_needs(value, into); }},
          {"usd_per_month", yaml_field<&Option::usd, parse_dollars, Option>},
          {"how", yaml_field<&Option::how, parse_how, Option>},
          {"region", yaml_field<&Option::region, parse_word, Option>},
      };
      if (read(entry, keys, option)) check_option(entry, option);
      w.options.push_back(std::move(option));
    });
  }

  void check_option(const YamlValue& entry, const Option& option) {
    if (option.where.empty()) return mistake(entry, "the option has no 'where'", "add 'where: POOL'");
    const bool uses = entry.find("gpus") != nullptr || entry.find("needs") != nullptr;
    if (option.in_pool()) {
      if (!uses) mistake(entry, fmt::format("the option in '{}' needs 'gpus' or 'needs'", option.where));
      return;
    }
    if (uses) {
      mistake(*entry.find("where"), fmt::format("unknown pool '{}'", option.where),
              made_.pools.empty() ? "the file has no pools"
                                  : did_you_mean(option.where, list_of(made_.pools, &Pool::name)));
    } else if (entry.find("usd_per_month") == nullptr) {
      mistake(entry, fmt::format("'{}' is not a pool, so the option needs usd_per_month", option.where));
    }
  }

  // `gpus: 4`, or `gpus: {day: 3, night: 1}`.
  void read_gpus(const YamlValue& value, Option& option) {
    if (value.kind != YamlValue::Kind::kMapping) {
      int gpus = 0;
      take(value, parse_gpus<0>, gpus);
      option.gpus.assign(made_.blocks.size(), gpus);
      return;
    }
    for_each_entry(document(), value, errors(), [&](const YamlValue& key, const YamlValue& number) {
      const auto block = std::ranges::find(made_.blocks, key.scalar, &Block::name);
      if (block == made_.blocks.end())
        return mistake(key, fmt::format("unknown block '{}'", key.scalar),
                       did_you_mean(key.scalar, list_of(made_.blocks, &Block::name)));
      take(number, parse_gpus<0>, option.gpus[static_cast<std::size_t>(block - made_.blocks.begin())]);
    });
  }

  void read_needs(const YamlValue& value, Option& option) {
    if (!is(value, YamlValue::Kind::kMapping)) return;
    if (!option.in_pool()) return;  // check_option() reports the unknown pool
    const Pool& pool = pool_of(option);
    if (!pool.geometry)
      return mistake(value, fmt::format("the GPUs of '{}' are not partitioned", pool.name),
                     "add 'mig: true' to the pool");
    const std::vector<int>& plain = pool.geometry->plain_profiles();
    option.needs.assign(plain.size(), 0);
    for_each_entry(document(), value, errors(), [&](const YamlValue& key, const YamlValue& number) {
      int profile = -1;
      take(
          key, [&](const std::string& name) { return pool.geometry->find_profile(name); }, profile);
      if (profile < 0) return;
      const auto at = std::ranges::find(plain, profile);
      if (at == plain.end()) return mistake(key, fmt::format("'{}' is a media profile", key.scalar));
      int count = 0;
      take(number, parse_gpus<0>, count);
      option.needs[static_cast<std::size_t>(at - plain.begin())] += count;
    });
  }

  const catalog::Catalog& catalog_;
  const KeyNames& names_;
  Organisation made_;
  std::map<std::string, std::size_t> lines_;  // "pool NAME": its line
};

}  // namespace

std::string_view name_of(How how) { return kHowNames[static_cast<std::size_t>(how)]; }

Checked<Organisation> read_organisation(const std::string& file, std::string text, const catalog::Catalog& catalog,
                                        const KeyNames& names) {
  RIGHTSIZE_TRY(const YamlDocument document, YamlDocument::parse(file, std::move(text)));
  return OrganisationReader(document, catalog, names).read_all();
}

}  // namespace rightsize::portfolio
