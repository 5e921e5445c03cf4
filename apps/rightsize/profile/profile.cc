// rightsize profile: how a workload uses a GPU, and how to improve it.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "rightsize/input/named_gpu.h"
#include "rightsize/profile/report.h"

namespace rightsize::app {
namespace {

// In `profile recording.csv`, the file is not executable, so it is read and not run.
bool is_recording(const ProfileFlags& flags) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (flags.command.size() != 1 || !flags.replay.empty()) return false;
  const fs::file_status status = fs::status(flags.command.front(), ignored);
  return fs::is_regular_file(status) && (status.permissions() & fs::perms::owner_exec) == fs::perms::none;
}

// The GPU that the source names, else that of --gpu, which must not contradict the source.
Result<const catalog::Gpu*> gpu_of(const telemetry::Device& device, const catalog::Gpu* gpu, const std::string& typed,
                                   const catalog::Catalog& catalog) {
  const catalog::Gpu* named = diagnose::identify(catalog, device);
  if (gpu == nullptr || named == nullptr || named == gpu) return named != nullptr ? named : gpu;
  const auto meant = catalog.match_gpus(typed);
  if (meant && std::ranges::count(*meant, named) > 0) return named;
  return fail(bad_input(fmt::format("the source names {}, and --gpu names {}", named->name, gpu->name))
                  .with_hint("leave out --gpu; the table of other GPUs compares them"));
}

Checked<Outcome> run_profile(ProfileFlags flags) {
  if (is_recording(flags)) {
    flags.replay = flags.command.front();
    flags.command.clear();
  }
  if (Result<> fine = check(flags); !fine) return fail(fine.error());
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  RIGHTSIZE_TRY(const market::OwnPrices own, read_own_prices(facts.catalog, flags.price, "--price", true));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.job.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(facts.catalog, flags.job.gpu));
  }
  RIGHTSIZE_TRY(const std::optional<KnownWork> known, known_work(flags, facts.constants));
  ProfileSinks sinks;
  RIGHTSIZE_TRY(const ProfileRun watched, flags.live() ? watch(flags, sinks) : replay(flags, sinks));
  const std::vector<diagnose::Observed>& seen = sinks.observer.gpus();
  std::vector<diagnose::GpuProfile> gpus;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!watched.used[i]) continue;
    RIGHTSIZE_TRY(const catalog::Gpu* one, gpu_of(seen[i].device, gpu, flags.job.gpu, facts.catalog));
    gpus.push_back(diagnose::understand(seen[i], facts.catalog, one, !flags.command.empty()));
  }
  std::vector<fleet::GpuUse> use = sinks.use.finish();
  for (fleet::GpuUse& one : use) {
    if (gpu != nullptr && diagnose::identify(facts.catalog, one.device) == nullptr) one.device.name = gpu->name;
  }
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  const fleet::DevicePrices prices(facts.catalog, own);
  const std::vector<Elsewhere> elsewhere =
      find_elsewhere(gpus, std::move(use), prices, speeds, known ? &known->job : nullptr, !flags.command.empty());
  return Outcome{profile_report(gpus, elsewhere, watched.source, speeds, known ? &*known : nullptr, flags.top),
                 watched.source.exit_status.value_or(kDone)};
}

}  // namespace

Run add_profile(FlagSet& command) {
  auto flags = std::make_shared<ProfileFlags>();
  flags->all = &command;
  command.add("COMMAND", flags->command);
  command.add("pid", flags->pid);
  command.add("replay", flags->replay);
  command.add("record", flags->record);
  command.add("hz", flags->hertz);
  command.add("duration", flags->duration);
  add_job_flags(command, flags->job);
  command.find("--model")->required(false)->meaning(
      "the model that runs, with its settings; speeds on other GPUs are then estimates for it");
  command.find("--gpu")->meaning("the GPU, if the source does not name it");
  command.add("step-time", flags->step_time);
  add_price_flag(command, flags->price);
  command.add("top", flags->top)->meaning("rows of each table shown as text")->or_else("10");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_profile(*flags); };
}

}  // namespace rightsize::app
