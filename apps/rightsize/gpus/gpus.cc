// rightsize gpus: hardware facts of the catalogue.
#include <memory>

#include "rightsize/command.h"
#include "rightsize/gpus/report.h"
#include "rightsize/gpus/select.h"
#include "rightsize/input/open_hardware.h"

namespace rightsize::app {
namespace {

struct Flags {
  GpuChoice choice;
  std::string catalog;
};

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_hardware(flags.catalog));
  RIGHTSIZE_TRY(std::vector<const catalog::Gpu*> gpus, select_gpus(flags.choice, catalog));
  return Outcome{gpus_report(gpus, catalog)};
}

}  // namespace

Run add_gpus(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("--gpu,gpu", flags->choice.gpus, "GPUs by name or alias, families such as a100, or a vendor")
      ->delimiter(',')
      ->type_name("NAME");
  command.add_option("--vendor", flags->choice.vendor, "NVIDIA, AMD, Intel, Google, AWS");
  command.add_option("--min-memory", flags->choice.min_memory, "only GPUs with at least this much, e.g. 40GiB");
  command.add_option("--sort", flags->choice.sort, "catalogue, memory, bandwidth, bf16, tdp or year")
      ->default_str("catalogue");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
