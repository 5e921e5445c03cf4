#!/bin/bash
# A Ray cluster on Slurm that runs {{start}}. Start: sbatch THIS_FILE
{{>rl/header}}
#SBATCH --job-name={{name}}
#SBATCH --nodes={{nodes}}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={{node_gpus}}
#SBATCH --time={{time_limit}}
#SBATCH --output=%x-%j.log
set -euo pipefail
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
srun --nodes=1 --ntasks=1 -w "$HEAD" ray start --head --port=6379 --num-gpus={{node_gpus}} --block &
sleep 20
{{#several}}
srun --nodes={{other_nodes}} --ntasks={{other_nodes}} --exclude="$HEAD" ray start --address="$HEAD:6379" --num-gpus={{node_gpus}} --block &
sleep 20
{{/several}}
srun --overlap --nodes=1 --ntasks=1 -w "$HEAD" {{&start}}
