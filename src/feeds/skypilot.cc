// SkyPilot's catalogue: vms.csv of each cloud, schemas 5 to 8. Columns differ in order and number between clouds.
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "feeds/csv_stream.h"
#include "feeds/readers.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;

// The value after 'key': in SkyPilot's GpuInfo, which is Python's or JSON's text of a dictionary.
std::string_view info_value(std::string_view info, std::string_view key) {
  std::size_t at = info.find(key);
  if (at == std::string_view::npos) return {};
  at = info.find(':', at + key.size());
  if (at == std::string_view::npos) return {};
  std::string_view rest = trim(info.substr(at + 1));
  while (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) rest.remove_prefix(1);
  return trim(rest.substr(0, rest.find_first_of("'\",}]")));
}

// Megabytes as SkyPilot states them, where mistakes can be told apart: RunPod and Shadeform write gigabytes (no GPU has
// under one), Prime Intellect the memory of all GPUs of the machine (its instance says "8xH100_80GB").
void read_gpu_memory(std::string_view info, FeedRow& row) {
  const std::optional<double> stated = cell_number(info_value(info, "SizeInMiB"));
  if (!stated || *stated <= 0) return;
  if (*stated < 1024) {
    row.gpu_memory_gib = *stated;
    row.corrected = "GPU memory in GB where MiB is said";
    return;
  }
  row.gpu_memory_gib = *stated / 1024;
  const std::string total = fmt::format("_{:g}GB", *stated / 1024 / row.gpus.value_or(1));
  if (row.gpus.value_or(1) > 1 && row.instance.find(total) != std::string::npos) {
    *row.gpu_memory_gib /= *row.gpus;
    row.corrected = "memory of all GPUs where one is said";
  }
}

class Reader {
 public:
  Reader(const Source& source, FeedSink& sink) : source_(source), sink_(sink) {}

  Result<> read() {
    CsvStream csv(source_.bytes, source_.file);
    std::string_view record;
    if (!csv.next(record)) return ended(csv);
    columns_ = CsvColumns(record);
    for (const char* needed : {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"}) {
      if (columns_.has(needed)) continue;
      return fail(bad_input(fmt::format("not a SkyPilot catalogue: no column {}", needed))
                      .at({source_.file, 1, 1, 1, std::string(record.substr(0, 100))}));
    }
    const bool parts = source_.options.provider == "gcp";
    while (csv.next(record)) {
      split_csv(record, cells_);
      line_ = csv.line();
      if (cells_.size() < columns_.count()) {
        sink_.refuse("too few columns", record.substr(0, 60), line_);
      } else if (parts) {
        keep_part();
      } else {
        whole_machine();
      }
    }
    if (csv.failed()) return fail(csv.error());
    if (parts) sum_parts();
    return {};
  }

 private:
  Result<> ended(const CsvStream& csv) {
    if (csv.failed()) return fail(csv.error());
    return fail(bad_input(source_.file + ": the file is empty"));
  }

  std::string_view cell(std::string_view name) const { return columns_.cell(cells_, name); }

  void offer(FeedRow row, std::string_view price, std::string_view spot) {
    const std::optional<double> list = cell_number(price), lowest = cell_number(spot);
    if (list) {
      row.usd_per_hour = *list;
      row.purchase = Purchase::kOnDemand;
      sink_.take(row);
    }
    if (lowest && *lowest != 0) {  // Vast and others write 0 for none
      row.usd_per_hour = *lowest;
      row.purchase = Purchase::kSpot;
      sink_.take(row);
    }
    if (!list && !lowest) sink_.refuse("no price", row.instance + " " + row.region, row.line);
  }

  void whole_machine() {
    if (cell("AcceleratorName").empty() || cell_number(cell("AcceleratorCount")).value_or(0) <= 0) return sink_.pass();
    FeedRow row;
    row.provider = source_.options.provider;
    row.instance = cell("InstanceType");
    row.region = cell("Region");
    row.zone = cell("AvailabilityZone");
    row.gpus = cell_number(cell("AcceleratorCount"));
    row.vcpus = cell_number(cell("vCPUs"));
    row.memory_gib = cell_number(cell("MemoryGiB"));
    read_gpu_memory(cell("GpuInfo"), row);
    const std::string_view named = info_value(cell("GpuInfo"), "Name");
    // The catalogue's own name where it says more: "A100-80GB-SXM" against "A100".
    row.gpu = cell("AcceleratorName").size() >= named.size() ? cell("AcceleratorName") : named;
    row.community = row.instance.ends_with("_COMMUNITY") || resells(row.provider);
    row.line = line_;
    offer(std::move(row), cell("Price"), cell("SpotPrice"));
  }

  // Google's machines have a row without their GPUs and one for the GPUs without a machine.
  struct Part {
    std::optional<double> price, spot;
    double vcpus = 0, memory_gib = 0;
    long line = 0;
  };
  using Zone = std::pair<std::string, std::string>;  // region, zone

  void keep_part() {
    const std::string_view instance = cell("InstanceType");
    const Part part{cell_number(cell("Price")), cell_number(cell("SpotPrice")), cell_number(cell("vCPUs")).value_or(0),
                    cell_number(cell("MemoryGiB")).value_or(0), line_};
    const Zone zone(cell("Region"), cell("AvailabilityZone"));
    if (instance.empty()) {
      gpus_[fmt::format("{}x{}", cell_number(cell("AcceleratorCount")).value_or(0), cell("AcceleratorName"))][zone] =
          part;
    } else {
      hosts_[std::string(instance)][zone] = part;
    }
  }

  // Names of Google's GPUs as SkyPilot writes them, by ours.
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

  void sum_parts() {
    for (const catalog::Machine& machine : source_.options.catalog->machines) {
      if (machine.provider != "gcp") continue;
      const auto gpus = gpus_.find(gpu_part(machine));
      if (gpus == gpus_.end()) continue;
      const bool alone = machine.instance.starts_with("tpu-");
      const auto host = hosts_.find(machine.instance.substr(0, machine.instance.find('+')));
      if (host == hosts_.end() && !alone) continue;
      for (const auto& [zone, gpu] : gpus->second) sum_part(machine, zone, gpu, alone ? nullptr : &host->second);
    }
  }

  void sum_part(const catalog::Machine& machine, const Zone& zone, const Part& gpu, const std::map<Zone, Part>* hosts) {
    Part host{0, 0, 0, 0, gpu.line};
    if (hosts != nullptr) {
      const auto found = hosts->find(zone);
      if (found == hosts->end()) return;  // the GPU is there, this machine is not
      host = found->second;
    }
    FeedRow row;
    row.provider = "gcp";
    row.instance = machine.instance;
    row.region = zone.first;
    row.zone = zone.second;
    row.gpus = machine.gpus;
    row.line = gpu.line;
    const auto add = [&](std::optional<double> a, std::optional<double> b, Purchase purchase) {
      // A host whose GPUs include it has no price of its own: a4 is sold by the GPU slice.
      if (!a || !b || *b <= 0) return;
      row.purchase = purchase;
      row.usd_per_hour = *a + *b;
      sink_.take(row);
    };
    add(host.price, gpu.price, Purchase::kOnDemand);
    add(host.spot, gpu.spot, Purchase::kSpot);
  }

  const Source& source_;
  FeedSink& sink_;
  CsvColumns columns_;
  std::vector<std::string_view> cells_;
  long line_ = 0;
  std::map<std::string, std::map<Zone, Part>, std::less<>> hosts_, gpus_;
};

}  // namespace

Result<> read_skypilot(const Source& source, FeedSink& sink) {
  if (source.options.provider.empty()) {
    return fail(bad_input(source.file + ": the file does not say which cloud it is of")
                    .with_hint("name it with --provider, or keep the catalogue's folder: aws/vms.csv"));
  }
  return Reader(source, sink).read();
}

}  // namespace rightsize::feeds
