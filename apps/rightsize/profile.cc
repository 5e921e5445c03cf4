// rightsize profile: what a workload really does to a GPU, and what to do about it.
#include <memory>

#include "command.h"
#include "profile_report.h"

namespace rightsize::app {
namespace {

struct Flags {
  std::string replay, gpu, catalog;
};

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    Result<const catalog::Gpu*> found = catalog.find_gpu(flags.gpu);
    if (!found) return fail(one(found.error()));
    gpu = *found;
  }
  diagnose::Observer observer;
  ProfileSource source;
  auto bytes = telemetry::open_bytes(flags.replay);
  if (!bytes) return fail(one(bytes.error()));
  auto summary = telemetry::read_samples(flags.replay, **bytes, observer);
  if (!summary) return fail(one(summary.error()));
  source.name = flags.replay;
  source.format = std::string(telemetry::name_of(summary->format));
  source.lines = summary->lines;
  source.refused = summary->refused;
  source.reasons = summary->reasons;
  std::vector<diagnose::GpuProfile> gpus;
  for (const diagnose::Observed& observed : observer.gpus()) {
    gpus.push_back(diagnose::understand(observed, catalog, gpu, false));
  }
  return Outcome{profile_report(gpus, source, catalog), kDone};
}

}  // namespace

Run add_profile(CLI::App& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("--replay", flags->replay, "a recording, or what a monitoring tool wrote; - is standard input");
  command.add_option("--gpu", flags->gpu, "which GPU it is, where the source does not say");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
