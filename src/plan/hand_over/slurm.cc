// Slurm: a batch script with one task a machine.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/hand_over/parts.h"

namespace rightsize::plan {
namespace {

// The upper end of the estimate and a tenth more, as days-hours:minutes:seconds; a service gets a month.
std::string time_limit(const Request& request, const Plan& plan) {
  constexpr double kMargin = 1.1, kLeastMinutes = 15;
  if (is_served(request)) return "30-00:00:00";
  const double minutes = in_hours(plan.time.total()) * 60 * std::max(1.0, plan.speed.high) * kMargin;
  const auto whole = static_cast<long>(std::ceil(std::max(kLeastMinutes, minutes)));
  return fmt::format("{}-{:02}:{:02}:00", whole / 1440, whole / 60 % 24, whole % 60);
}

// Where the batch script is submitted from: the shared file system.
constexpr std::string_view kShared = "./checkpoints";

// The task's share of a machine's processors; 0: nobody says how many there are.
int cpus_of(const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  if (!machine.vcpus) return 0;
  return std::max(1, static_cast<int>(*machine.vcpus * working_gpus(plan) / std::max(1, machine.gpus)));
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string to_slurm(const Request& request, const Plan& plan) {
  const std::string name = object_name(request);
  std::string out = "#!/bin/bash\n";
  out +=
      header(request, plan, "A Slurm batch script. Start: sbatch THIS_FILE",
             inputs_and(request, plan,
                        {"partition, account, and a constraint for the GPU, as your cluster names them",
                         "submit from a folder on the shared file system: code, data and checkpoints are found there"},
                        kShared));
  out += fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n", name, plan.machines);
  out += fmt::format("#SBATCH --gpus-per-node={}\n", working_gpus(plan));
  const int cpus = cpus_of(plan);
  if (cpus > 0) out += fmt::format("#SBATCH --cpus-per-task={}\n", cpus);
  out += fmt::format("#SBATCH --time={}\n#SBATCH --requeue\n#SBATCH --output=%x-%j.log\n", time_limit(request, plan));
  out += "\nset -euo pipefail\n";
  for (const Input& input : inputs_of(request, plan, kShared))
    out += fmt::format("export {}={}\n", input.name, single_quoted(input.value));
  out += "HEAD=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n1)\nexport HEAD\n\n";
  const int span = replica_machines(request, plan);
  const Launcher launcher = span == 1 ? Launcher{"$SLURM_NODEID", "$HEAD", machine_replicas(plan)}
                                      : Launcher{"\"$MEMBER\"", "\"$LEADER\"", 1};
  // Machines of an engine follow each other in the list; each group has its own head.
  const std::string group =
      span == 1 ? std::string()
                : fmt::format(
                      "MEMBER=$(( SLURM_NODEID % {0} ))\n"
                      "LEADER=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n \"$(( SLURM_NODEID - "
                      "MEMBER + 1 ))p\")\n",
                      span);
  // Since 22.05 srun does not take the processors of the batch script: without them a task has one.
  const std::string srun = cpus > 0 ? "srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\"" : "srun";
  // Not through standard input: a command of the work that reads its own would swallow the rest.
  return out + "WORK=$(cat <<'SCRIPT'\nset -eu\n" + group + work_command(request, plan, launcher) + "SCRIPT\n)\n" +
         srun + " bash -c \"$WORK\"\n";
}

}  // namespace rightsize::plan
