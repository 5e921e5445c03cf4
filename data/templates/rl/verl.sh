#!/bin/bash
# Run on the head node of a Ray cluster: bash THIS_FILE
{{>rl/header}}
set -euo pipefail
python3 -m {{entry}}{{#config}} --config-name={{config}}{{/config}} \
  algorithm.adv_estimator={{estimator}} \
  data.train_files={{train_files}} \
  data.val_files={{val_files}} \
{{#streams}}
  data.train_batch_size=0 \
  data.gen_batch_size=1 \
  async_training.staleness_threshold={{staleness}} \
  async_training.require_batches=1 \
  async_training.trigger_parameter_sync_step={{mini_batches}} \
  rollout.total_rollout_steps={{all_prompts}} \
{{/streams}}
{{^streams}}
  data.train_batch_size={{prompts}} \
{{/streams}}
{{#filters_groups}}
  ++algorithm.filter_groups.enable=True \
  ++algorithm.filter_groups.metric=acc \
  ++algorithm.filter_groups.max_inflight_gen_batches={{generated_batches}} \
{{/filters_groups}}
  data.max_prompt_length={{max_prompt}} \
  data.max_response_length={{max_answer}} \
  data.filter_overlong_prompts=True \
  actor_rollout_ref.model.path={{'model'}} \
  actor_rollout_ref.model.enable_gradient_checkpointing={{recompute}} \
{{#lora}}
  actor_rollout_ref.model.{{#megatron}}lora.rank{{/megatron}}{{^megatron}}lora_rank{{/megatron}}={{lora}} \
{{/lora}}
  actor_rollout_ref.actor.ppo_mini_batch_size={{mini_prompts}} \
  actor_rollout_ref.actor.use_dynamic_bsz=True \
  actor_rollout_ref.actor.ppo_max_token_len_per_gpu={{tokens_per_gpu}} \
  actor_rollout_ref.actor.use_kl_loss={{use_kl}} \
{{#dapo}}
  actor_rollout_ref.actor.clip_ratio_low=0.2 \
  actor_rollout_ref.actor.clip_ratio_high=0.28 \
  actor_rollout_ref.actor.loss_agg_mode=token-mean \
{{/dapo}}
{{#megatron}}
  actor_rollout_ref.actor.megatron.tensor_model_parallel_size={{tp}} \
  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size={{pp}} \
  actor_rollout_ref.actor.megatron.context_parallel_size={{cp}} \
  actor_rollout_ref.actor.megatron.expert_model_parallel_size={{ep}} \
  actor_rollout_ref.actor.megatron.param_offload={{offload_weights}} \
  actor_rollout_ref.actor.megatron.optimizer_offload={{offload_optimizer}} \
  actor_rollout_ref.ref.megatron.param_offload={{offload_reference}} \
{{/megatron}}
{{^megatron}}
  actor_rollout_ref.actor.ulysses_sequence_parallel_size={{cp}} \
  actor_rollout_ref.actor.fsdp_config.param_offload={{offload_weights}} \
  actor_rollout_ref.actor.fsdp_config.optimizer_offload={{offload_optimizer}} \
  actor_rollout_ref.ref.fsdp_config.param_offload={{offload_reference}} \
{{/megatron}}
{{#critic}}
  critic.model.path={{'model'}} \
{{#megatron}}
  critic.megatron.param_offload={{offload_optimizer}} \
  critic.megatron.optimizer_offload={{offload_optimizer}} \
{{/megatron}}
{{^megatron}}
  critic.fsdp.param_offload={{offload_optimizer}} \
  critic.fsdp.optimizer_offload={{offload_optimizer}} \
{{/megatron}}
{{/critic}}
  actor_rollout_ref.rollout.name=vllm \
{{^split}}
  actor_rollout_ref.rollout.free_cache_engine=True \
{{/split}}
  actor_rollout_ref.rollout.n={{samples}} \
  actor_rollout_ref.rollout.tensor_model_parallel_size={{rollout_tp}} \
  actor_rollout_ref.rollout.gpu_memory_utilization={{memory_share}} \
  actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=True \
{{#fp8_engine}}
  actor_rollout_ref.rollout.quantization=fp8 \
{{/fp8_engine}}
{{#split}}
  actor_rollout_ref.hybrid_engine=False \
  ++rollout.nnodes={{rollout_nodes}} \
  ++rollout.n_gpus_per_node={{rollout_node_gpus}} \
  ++actor_rollout_ref.rollout.nnodes={{rollout_nodes}} \
  ++actor_rollout_ref.rollout.n_gpus_per_node={{rollout_node_gpus}} \
{{/split}}
  trainer.nnodes={{train_nodes}} \
  trainer.n_gpus_per_node={{train_node_gpus}} \
  trainer.save_freq={{save_steps}} \
  trainer.total_training_steps={{steps}}
