#include <fmt/format.h>

#include "fleet/emit.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

// A label value of the exposition format.
std::string quoted(std::string_view text) { return "\"" + escape_quoted(text) + "\""; }

struct Page {
  std::string text;
  void family(const char* name, const char* help) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  }
  void sample(const char* name, const std::string& labels, double value) {
    text += labels.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
};

std::string labels_of(const GpuRow& gpu) {
  const Device& device = gpu.use.device;
  return fmt::format("id={},host={},gpu=\"{}\",model={},owner={},team={}", quoted(device.key()), quoted(device.host),
                     device.index, quoted(gpu_name(gpu)), quoted(gpu.owner().shown()), quoted(gpu.owner().team));
}

void emit_gpus(Page& page, const FleetAnalysis& a) {
  page.family("rightsize_gpu_verdict", "1 for the verdict of this GPU over the window");
  for (const GpuRow& gpu : a.gpus) {
    page.sample("rightsize_gpu_verdict",
                fmt::format("{},verdict={}", labels_of(gpu), quoted(diagnose::name_of(gpu.verdict))), 1);
  }
  page.family("rightsize_gpu_confidence_ratio", "how sure the verdict is");
  for (const GpuRow& gpu : a.gpus) page.sample("rightsize_gpu_confidence_ratio", labels_of(gpu), gpu.confidence);
  page.family("rightsize_gpu_waste_ratio", "share of the GPU's time that was wasted");
  for (const GpuRow& gpu : a.gpus) page.sample("rightsize_gpu_waste_ratio", labels_of(gpu), gpu.waste_share());
  page.family("rightsize_gpu_usd_per_hour", "what the GPU costs an hour");
  for (const GpuRow& gpu : a.gpus) {
    if (gpu.price.rate) {
      page.sample("rightsize_gpu_usd_per_hour", labels_of(gpu), in_usd_per_gpu_hour(*gpu.price.rate) * gpu.price.share);
    }
  }
}

}  // namespace

std::string emit_metrics(const FleetAnalysis& a, double share_read, bool trusted) {
  Page page;
  const Totals& t = a.totals;
  page.family("rightsize_fleet_gpus", "GPUs seen in the window");
  page.sample("rightsize_fleet_gpus", "", static_cast<double>(t.gpus));
  page.family("rightsize_fleet_window_seconds", "length of the window");
  page.sample("rightsize_fleet_window_seconds", "", in_seconds(t.window));
  page.family("rightsize_fleet_read_ratio", "share of the fleet that could be read");
  page.sample("rightsize_fleet_read_ratio", "", share_read);
  page.family("rightsize_fleet_trusted", "0 when the numbers would mislead");
  page.sample("rightsize_fleet_trusted", "", trusted ? 1 : 0);
  page.family("rightsize_fleet_usd", "dollars of the window by where they went");
  for (const LedgerLine& line : a.ledger) {
    page.sample("rightsize_fleet_usd", fmt::format("category={}", quoted(name_of(line.category))), in_usd(line.spend));
  }
  page.family("rightsize_fleet_gpu_seconds", "GPU-seconds of the window by where they went");
  for (const LedgerLine& line : a.ledger) {
    page.sample("rightsize_fleet_gpu_seconds", fmt::format("category={}", quoted(name_of(line.category))),
                in_seconds(line.gpu_time / gpus(1)));
  }
  page.family("rightsize_owner_usd", "dollars of the window by owner");
  for (const GroupLine& line : a.owners)
    page.sample("rightsize_owner_usd", "owner=" + quoted(line.name), in_usd(line.spend));
  page.family("rightsize_owner_waste_usd", "wasted dollars of the window by owner");
  for (const GroupLine& line : a.owners)
    page.sample("rightsize_owner_waste_usd", "owner=" + quoted(line.name), in_usd(line.waste));
  page.family("rightsize_savings_usd_per_month", "what the actions of a kind save, no dollar twice");
  for (ActionKind kind : {ActionKind::kStop, ActionKind::kConsolidate, ActionKind::kMig, ActionKind::kBatch,
                          ActionKind::kDownsize, ActionKind::kQuantize, ActionKind::kCommit}) {
    UsdPerSecond sum;
    for (const Action& action : a.actions) {
      if (action.kind == kind) sum += action.saving;
    }
    page.sample("rightsize_savings_usd_per_month", "kind=" + quoted(name_of(kind)), in_usd_per_month(sum));
  }
  emit_gpus(page, a);
  return page.text;
}

}  // namespace rightsize::fleet
