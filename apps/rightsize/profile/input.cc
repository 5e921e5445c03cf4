#include "rightsize/profile/input.h"

#include <fmt/format.h>

#include "rightsize/profile/child.h"

namespace rightsize::app {

Result<> check(const ProfileFlags& flags) {
  const int ways = (flags.replay.empty() ? 0 : 1) + (flags.command.empty() ? 0 : 1) + (flags.pid == 0 ? 0 : 1);
  if (ways > 1) return fail(bad_input("use only one of --replay, --pid and a command"));
  if (flags.pid != 0 && !process_exists(flags.pid)) return fail(bad_input(fmt::format("no process {}", flags.pid)));
  return {};
}

Checked<std::optional<KnownWork>> known_work(const ProfileFlags& flags, const perf::Constants& constants) {
  if (flags.job.model.empty()) {
    if (flags.job.settings.empty() && !flags.step_time) return std::nullopt;
    const std::string flag = flags.step_time ? "step-time" : flags.job.settings.begin()->first;
    return fail(
        bad_input(fmt::format("--{} needs --model", flag)).with_hint("add --model NAME, e.g. --model llama-3.1-8b"));
  }
  RIGHTSIZE_TRY(ModelAndJob input, read_job(flags.job));
  std::string described = describe_job(input.model, input.job);
  return KnownWork{{&constants, std::move(input.model), input.job}, std::move(described), flags.step_time};
}

}  // namespace rightsize::app
