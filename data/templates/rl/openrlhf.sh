#!/bin/bash
# Run on the head node of a Ray cluster: bash THIS_FILE
{{>rl/header}}
set -euo pipefail
python3 -m openrlhf.cli.train_ppo_ray \
  --advantage_estimator {{estimator}} \
  --pretrain {{'model'}} \
  --prompt_data {{train_files}} \
  --remote_rm_url {{reward_function}} \
  --actor_num_nodes {{train_nodes}} \
  --actor_num_gpus_per_node {{train_node_gpus}} \
{{#kl}}
  --ref_num_nodes {{train_nodes}} \
  --ref_num_gpus_per_node {{train_node_gpus}} \
{{/kl}}
{{#critic}}
  --critic_num_nodes {{train_nodes}} \
  --critic_num_gpus_per_node {{train_node_gpus}} \
{{/critic}}
  --vllm_num_engines {{engines}} \
  --vllm_tensor_parallel_size {{rollout_tp}} \
  --vllm_gpu_memory_utilization {{memory_share}} \
{{^split}}
  --colocate_all_models \
  --vllm_enable_sleep \
  --deepspeed_enable_sleep \
{{/split}}
{{#async}}
  --async_train \
  --colocate_all_models \
{{/async}}
{{#shares_reference}}
  --colocate_actor_ref \
{{/shares_reference}}
{{#lora}}
  --lora_rank {{lora}} \
{{/lora}}
{{#offloads_optimizer}}
  --adam_offload \
{{/offloads_optimizer}}
{{#offloads_reference}}
  --ref_reward_offload \
{{/offloads_reference}}
  --init_kl_coef {{kl_coefficient}} \
  --n_samples_per_prompt {{samples}} \
  --rollout_batch_size {{prompts}} \
  --train_batch_size {{train_batch}} \
  --micro_train_batch_size 1 \
  --micro_rollout_batch_size {{micro_rollout}} \
  --prompt_max_len {{max_prompt}} \
  --generate_max_len {{max_answer}} \
  --max_samples {{all_prompts}} \
{{#dapo}}
  --eps_clip_low_high 0.2 0.28 \
{{/dapo}}
{{#filters_groups}}
  --dynamic_filtering \
  --dynamic_filtering_reward_range 0 1 \
{{/filters_groups}}
  --save_steps {{save_steps}} \
  --ckpt_path ./checkpoints \
  --load_checkpoint \
  --zero_stage 3 \
  --bf16 \
  --packing_samples \
  --gradient_checkpointing
