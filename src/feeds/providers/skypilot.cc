// SkyPilot's catalogue: vms.csv of each cloud, schemas 5 to 8. Columns differ in order and number between clouds.
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;

constexpr RowColumns kSkyColumns{"InstanceType",     "Region", "AvailabilityZone", "AcceleratorName",
                                 "AcceleratorCount", "vCPUs",  "MemoryGiB",        ""};

// The value after 'key': in SkyPilot's GpuInfo, which is a dictionary printed by Python or as JSON.
std::string_view info_value(std::string_view info, std::string_view key) {
  std::size_t at = info.find(key);
  if (at == std::string_view::npos) return {};
  at = info.find(':', at + key.size());
  if (at == std::string_view::npos) return {};
  std::string_view rest = trim(info.substr(at + 1));
  while (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) rest.remove_prefix(1);
  return trim(rest.substr(0, rest.find_first_of("'\",}]")));
}

// Corrects two mistakes: RunPod and Shadeform write gigabytes in a column of MiB (no GPU has less than 1 GiB), and
// Prime Intellect and Vast write the memory of all GPUs of the machine. Prime Intellect's instances are named
// "8xH100_80GB". For others, the importer corrects the memory if the GPU is unambiguous.
void read_gpu_memory(std::string_view info, FeedRow& row) {
  const std::optional<double> stated = cell_number(info_value(info, "SizeInMiB"));
  const double gpus = row.gpus.value_or(1);
  if (!stated || *stated <= 0) return;
  row.gpu_memory_gib = *stated / 1024;
  const bool of_all = gpus > 1 && row.provider == "vast";
  if (*stated < 1024) {
    row.gpu_memory_gib = *stated;
    row.corrected = "GPU memory in GB, labelled MiB";
  } else if (of_all ||
             (gpus > 1 && row.instance.find(fmt::format("_{:g}GB", *stated / 1024 / gpus)) != std::string::npos)) {
    *row.gpu_memory_gib /= gpus;
    row.corrected = kMemoryOfAll;
  }
}

void take_machine(const TableRow& table, const FeedInput& input, FeedSink& sink) {
  FeedRow row = row_of(table, kSkyColumns, input.provider);
  row.currency = input.list_currency();
  if (row.gpu.empty() || row.gpus.value_or(0) <= 0) return sink.pass();
  read_gpu_memory(table["GpuInfo"], row);
  // The catalogue's own name if it is more specific: "A100-80GB-SXM" rather than "A100".
  if (const std::string_view named = info_value(table["GpuInfo"], "Name"); named.size() > row.gpu.size())
    row.gpu = named;
  row.community = row.instance.ends_with("_COMMUNITY") || resells(row.provider);
  const std::optional<double> list = table.number("Price"), spot = table.number("SpotPrice");
  if (!list && !spot) return sink.refuse("no price", row.instance + " " + row.region, row.line);
  if (list) {
    row.usd_per_hour = *list;
    sink.take(row);
  }
  if (spot && *spot != 0) {  // Vast and others write 0 for none
    row.usd_per_hour = *spot;
    row.purchase = Purchase::kSpot;
    sink.take(std::move(row));
  }
}

// Google's machines have a row without their GPUs and one for the GPUs without a machine.
class GoogleParts {
 public:
  explicit GoogleParts(const catalog::Catalog& catalog) {
    for (const catalog::Machine& machine : catalog.machines) {
      if (machine.provider == "gcp") hosts_[host_of(machine)];
    }
  }

  void keep(const TableRow& table, FeedSink& sink) {
    const FeedRow row = row_of(table, kSkyColumns, "gcp");
    if (++kept_ > kMostPrices) return sink.refuse(kTooMany, row.instance, row.line);
    const Part part{table.number("Price"), table.number("SpotPrice"), row.line};
    if (row.instance.empty()) {
      gpus_[fmt::format("{}x{}", row.gpus.value_or(0), row.gpu)][{row.region, row.zone}] = part;
    } else if (const auto host = hosts_.find(row.instance); host != hosts_.end()) {
      host->second[{row.region, row.zone}] = part;
    } else {
      --kept_;  // a machine without GPUs
    }
  }

  void sum(const catalog::Catalog& catalog, FeedSink& sink) const {
    for (const catalog::Machine& machine : catalog.machines) {
      const auto gpus = machine.provider == "gcp" ? gpus_.find(gpu_part(machine)) : gpus_.end();
      if (gpus == gpus_.end()) continue;
      const bool alone = machine.instance.starts_with("tpu-");
      const auto hosts = hosts_.find(host_of(machine));
      for (const auto& [zone, gpu] : gpus->second) {
        Part host{0, 0, gpu.line};
        if (!alone) {
          const auto found = hosts->second.find(zone);
          if (found == hosts->second.end()) continue;  // the GPU is offered there, but not this machine
          host = found->second;
        }
        add(machine, zone, host.price, gpu.price, Purchase::kOnDemand, gpu.line, sink);
        add(machine, zone, host.spot, gpu.spot, Purchase::kSpot, gpu.line, sink);
      }
    }
  }

 private:
  struct Part {
    std::optional<double> price, spot;
    long line = 0;
  };
  using Zone = std::pair<std::string, std::string>;  // region, zone

  static std::string host_of(const catalog::Machine& machine) {
    return machine.instance.substr(0, machine.instance.find('+'));
  }

  // A host that is included in the price of its GPUs has no separate price: a4 is sold by the GPU slice.
  static void add(const catalog::Machine& machine, const Zone& zone, std::optional<double> host,
                  std::optional<double> gpu, Purchase purchase, long line, FeedSink& sink) {
    if (!host || !gpu || *gpu <= 0) return;
    FeedRow row = row_of(machine, zone.first, *host + *gpu);
    row.zone = zone.second;
    row.gpus = machine.gpus;
    row.purchase = purchase;
    row.line = line;
    sink.take(std::move(row));
  }

  // Google's GPUs as SkyPilot names them: "8xH100".
  static std::string gpu_part(const catalog::Machine& machine) {
    static const std::map<std::string, std::string, std::less<>> kNames = {
        {"a100-40gb-sxm", "A100"}, {"a100-80gb-sxm", "A100-80GB"}, {"h100-sxm", "H100"}, {"h200-sxm", "H200"},
        {"b200-sxm", "B200"},      {"rtx-pro-6000", "RTXPRO6000"}, {"l4", "L4"},         {"t4", "T4"},
        {"v100-16gb-sxm", "V100"}, {"p100-pcie", "P100"}};
    if (machine.instance.starts_with("tpu-")) return "1x" + machine.instance;
    const auto name = kNames.find(machine.gpu);
    if (name == kNames.end()) return {};
    const bool mega = machine.instance.starts_with("a3-mega");
    return fmt::format("{}x{}", machine.gpus, mega ? "H100-MEGA" : name->second);
  }

  std::map<std::string, std::map<Zone, Part>, std::less<>> hosts_, gpus_;
  std::size_t kept_ = 0;
};

Result<> read_skypilot(const FeedInput& input, FeedSink& sink) {
  if (input.provider.empty())
    return fail(bad_input(input.file + ": the file does not name its cloud")
                    .with_hint("name it with --provider, or keep the catalogue's folder: aws/vms.csv"));
  GoogleParts parts(input.catalog);
  Result<> done = read_rows(input, {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"},
                            "a SkyPilot catalogue", [&](const TableRow& table) {
                              if (!table.is_complete()) {
                                sink.refuse("too few columns", table["InstanceType"], table.line());
                              } else if (input.provider == "gcp") {
                                parts.keep(table, sink);
                              } else {
                                take_machine(table, input, sink);
                              }
                            });
  if (done && input.provider == "gcp") parts.sum(input.catalog, sink);
  return done;
}

}  // namespace

std::vector<Feed> skypilot() {
  return {{{"skypilot", "SkyPilot catalogue: vms.csv of a cloud", true, true},
           true,
           read_skypilot,
           "InstanceType AcceleratorName"}};
}

}  // namespace rightsize::feeds
