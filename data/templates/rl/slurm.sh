#!/bin/bash
# {{#ray}}A Ray cluster{{/ray}}{{^ray}}A job{{/ray}} on Slurm that runs {{start}}. Start: sbatch THIS_FILE
{{>rl/header}}
#SBATCH --job-name={{name}}
#SBATCH --nodes={{nodes}}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={{node_gpus}}
#SBATCH --time={{time_limit}}
#SBATCH --output=%x-%j.log
{{#two_pools}}
#SBATCH --constraint={{train_constraint}}
#SBATCH hetjob
#SBATCH --nodes={{engine_machines}}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={{engine_node_gpus}}
#SBATCH --time={{time_limit}}
#SBATCH --constraint={{rollout_constraint}}
{{/two_pools}}
set -euo pipefail
{{#two_pools}}
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST_HET_GROUP_0" | head -n1)
{{/two_pools}}
{{^two_pools}}
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
{{/two_pools}}
{{#ray}}
srun --nodes=1 --ntasks=1 -w "$HEAD" ray start --head --port=6379 --num-gpus={{node_gpus}} --block &
sleep 20
{{#several}}
srun --nodes={{other_nodes}} --ntasks={{other_nodes}} --exclude="$HEAD" ray start --address="$HEAD:6379" --num-gpus={{node_gpus}} --block &
sleep 20
{{/several}}
{{#two_pools}}
srun --het-group=1 --nodes={{engine_machines}} --ntasks={{engine_machines}} ray start --address="$HEAD:6379" --num-gpus={{engine_node_gpus}} --block &
sleep 20
{{/two_pools}}
srun --overlap --nodes=1 --ntasks=1 -w "$HEAD" {{&start}}
{{/ray}}
{{^ray}}
{{#own_server}}
SERVER=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | tail -n1)
srun --nodes=1 --ntasks=1 -w "$SERVER" {{serve}} &
{{/own_server}}
train() { {{start}}; }
export HEAD SERVER
export -f train
srun --nodes={{train_nodes}} --ntasks={{train_nodes}}{{#own_server}} --exclude="$SERVER"{{/own_server}} bash -c 'RANK=$SLURM_PROCID train'
{{/ray}}
