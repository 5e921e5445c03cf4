// rightsize gpus: hardware facts of the catalogue.
#include <memory>

#include "rightsize/command.h"
#include "rightsize/gpus/report.h"
#include "rightsize/gpus/select.h"

namespace rightsize::app {
namespace {

struct Flags {
  GpuChoice choice;
  std::string catalog;
  std::size_t top = 0;
};

Checked<Outcome> run(const Flags& flags) {
  const bool priced = sorts_by_price(flags.choice);  // prices take longer to load than GPUs
  RIGHTSIZE_TRY(const catalog::Catalog catalog, priced ? open_catalog(flags.catalog) : open_hardware(flags.catalog));
  const auto book = priced ? std::make_unique<market::PriceBook>(catalog) : nullptr;
  RIGHTSIZE_TRY(std::vector<const catalog::Gpu*> gpus, select_gpus(flags.choice, catalog, book.get()));
  if (flags.top > 0 && flags.top < gpus.size()) gpus.resize(flags.top);
  return Outcome{gpus_report(gpus, catalog, book.get()), gpus.empty() ? kNoFeasibleAnswer : kDone};
}

}  // namespace

Run add_gpus(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add("gpu", flags->choice.gpus)
      ->argument()
      ->meaning("GPUs by name or alias, families such as a100, or a vendor");
  command.add("vendor", flags->choice.vendor);
  command.add("min-memory", flags->choice.min_memory);
  command.add("min-bandwidth", flags->choice.min_bandwidth);
  command.add("max-watts", flags->choice.max_watts);
  command.add("supports", flags->choice.supports);
  command.add("sort", flags->choice.sort)
      ->or_else("catalogue")
      ->meaning("catalogue, memory, bandwidth, bf16, tdp, bf16-per-watt, year or price");
  command.add("top", flags->top)->or_else("0");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
