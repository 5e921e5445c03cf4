#!/bin/bash
# A Slurm batch script. Start: sbatch THIS_FILE
{{>plan_header}}
{{>plan_inputs}}
#   software on every node: {{#install}}{{install}}{{/install}}{{^install}}the engine built for ROCm{{/install}}{{#nixl_on_amd}}, and NIXL built for ROCm (it has no wheel){{/nixl_on_amd}}
#   partition, account, and a constraint for the GPU, as your cluster names them
#   submit from a folder on the shared file system that holds code, data and checkpoints
#SBATCH --job-name={{name}}
{{#partition}}
#SBATCH --partition={{partition}}
{{/partition}}
{{#account}}
#SBATCH --account={{account}}
{{/account}}
#SBATCH --nodes={{nodes}}
{{#apart}}
#SBATCH --array=0-{{last_machine}}
{{/apart}}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={{machine_gpus_used}}
{{#cpus}}
#SBATCH --cpus-per-task={{cpus}}
{{/cpus}}
#SBATCH --time={{time_limit}}
#SBATCH --requeue
#SBATCH --output=%x-%j.log

set -euo pipefail
{{#inputs}}
export {{name}}={{'value'}}
{{/inputs}}
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
export HEAD

# The script is not passed on standard input: a command that reads its own input would swallow the rest of it.
WORK=$(cat <<'SCRIPT'
set -eu
{{#spans}}
MEMBER=$(( SLURM_NODEID % {{span}} ))
LEADER=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n "$(( SLURM_NODEID - MEMBER + 1 ))p")
{{/spans}}
{{&work}}
SCRIPT
)
srun{{#cpus}} --cpus-per-task="$SLURM_CPUS_PER_TASK"{{/cpus}} bash -c "$WORK"
