#include "rightsize/typed/aliases.h"

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

constexpr FlagAlias kFlags[] = {
    // Clouds, machines and GPUs.
    {"--cloud --clouds --infra", "--provider"},
    {"--aws --amazon --ec2", "--provider=aws"},
    {"--gcp --google", "--provider=gcp"},
    {"--azure", "--provider=azure"},
    {"--runpod", "--provider=runpod"},
    {"--coreweave", "--provider=coreweave"},
    {"--location --zone --datacenter --geo", "--region"},
    {"--spot --use-spot --preemptible", "--purchase=spot"},
    {"--on-demand --ondemand", "--purchase=on-demand"},
    {"--reserved --reservation", "--purchase=1y"},
    {"--commitment --term --terms --pricing --billing --purchase-type --capacity-type", "--purchase"},
    {"--accelerator --accelerators --gpu-type --gpu-name --device --system --hardware -g", "--gpu"},
    {"--num-gpus --num-gpu --gpu-count --gpu-num --ngpus --n-gpus --ngpu --number-of-gpus --count --num-processes "
     "--nproc-per-node --world-size --total-gpus --gres --gpus-per-task",
     "--gpus"},
    {"--gpus --num-gpus --gpu-count --count --number-of-gpus --quantity", "--base"},
    {"--instance-type --machine-type --vm-size --vm --sku --flavor --shape -t", "--instance"},
    {"--instance-type --machine-type --instance", "--machine"},
    {"--instance-type --machine-type --vm-size --vm --sku --instance --machine", "--gpu"},
    {"--compare --active-params --active-parameters", "argument"},
    {"--enable-prefix-caching --enable-chunked-prefill --trust-remote-code", "default"},
    {"--speculative --spec --speculative-decoding", "--speculate"},
    {"--base --base-ref --ref --rev --revision --branch", "--against"},
    {"--fail-above --max-increase --max-cost-increase --threshold --budget --fail-if-increase --fail-on-increase "
     "--max-diff",
     "--fail-over"},
    {"--all-regions --all-clouds --all-providers --any-region --any-cloud", "default"},
    {"--interval --scrape-interval --apart --period", "--step"},
    {"--own --owned --on-premises --onprem --own-hardware --server-price --node-price --machine-price "
     "--price-per-server --price-per-node --capex",
     "--on-prem"},
    {"--max-power --max-tdp --tdp --max-wattage --power", "--max-watts"},
    {"--compare --vendor --gpu-vendor --arch --architecture --generation", "--gpu"},
    {"--under --below --max-hourly --max-gpu-price --max-price-per-gpu", "--max-price"},
    {"--without --not --except --avoid --ignore --skip", "--exclude"},
    {"--min-vram --vram --gpu-memory", "--min-memory=*GB"},
    {"--fits --fit --fits-on --fits-in --runs-on --vram --gpu-memory", "--gpu"},
    // The model and the job.
    {"-m --base-model --model-name --model-id --model-path --model-name-or-path --hf-model --repo --repo-id "
     "--pretrained-model-name-or-path --llm --checkpoint",
     "--model"},
    {"--serve --serving --inference", "--job=serve"},
    {"--train --training --finetune", "--job=train"},
    {"--task --mode --workload-type --use-case --usecase --kind --job-type", "--job"},
    {"--gguf --quantisation --quants --weights-dtype --weight-precision", "--precision"},
    {"--bits --quant-bits --load-in-bits", "--precision"},
    {"--dtype --dtypes --torch-dtype --mixed-precision --quantization --quantize --quant", "--precision"},
    {"--fp16", "--precision=fp16", When::kServing},
    {"--fp16", "--precision=amp-fp16"},
    {"--bf16", "--precision=bf16", When::kServing},
    {"--bf16", "--precision=amp-bf16"},
    {"--fp8", "--precision=fp8"},
    {"--fp8", "--supports=fp8"},
    {"--fp4", "--supports=fp4"},
    {"--load-in-4bit", "--precision=nf4", When::kServing},
    {"--load-in-4bit --qlora --use-qlora", "--method=qlora"},
    {"--kv-cache-dtype", "--kv-precision"},
    {"--lora --use-lora --peft --use-peft", "--method=lora"},
    {"--full-finetune --full-fine-tune --full-finetuning --full", "--method=full"},
    {"--adapter --finetuning-type", "--method"},
    {"--lora-r --rank", "--lora-rank"},
    {"--lora-target-modules --target-modules", "--lora-targets"},
    {"--engine --framework --backend", "--stack"},
    {"--optim", "--optimizer"},
    {"--batch-size --bs -b", "--batch", When::kServing},
    {"--batch-size --bs -b", "--global-batch"},
    {"--batch-size --bs -b --micro-batch-size --per-device-batch-size --per-device-train-batch-size", "--batch"},
    {"--gradient-accumulation-steps --grad-accum --accumulation-steps --ga", "--accumulate"},
    {"--global-batch-size --train-batch-size --tokens-per-step --global-batch-tokens --batch-tokens", "--global-batch"},
    {"--grad-reduce-in-bf16", "--gradients=bf16"},
    {"--main-grads-dtype", "--gradients"},
    {"--num-frames", "--frames"},
    {"--num-inference-steps --inference-steps --denoising-steps --sampling-steps", "--steps"},
    {"--num-images-per-prompt", "--batch"},
    {"--gradient-checkpointing --activation-checkpointing", "--recompute=full"},
    {"--recompute-activations", "--recompute=selective"},
    {"--recompute-granularity", "--recompute"},
    {"--torch-compile", "--compile=yes"},
    {"--fsdp", "--zero=3"},
    {"--zero-stage --deepspeed --sharding-strategy", "--zero"},
    {"--cpu-offload --offload-optimizer --offload-optimizer-device", "--offload=optimizer"},
    {"--offload-params --offload-param-device", "--offload=parameters"},
    {"--num-epochs --num-train-epochs", "--epochs"},
    {"--dataset-rows --num-samples --num-examples", "--dataset-samples"},
    {"--dataset --data --corpus --dataset-size --data-size --corpus-size --training-data", "--dataset-tokens"},
    {"--cheapest --lowest-cost", "--objective=cost"},
    {"--fastest --quickest", "--objective=time"},
    {"--no-spot --on-demand-only", "--purchase=on-demand"},
    {"--kubernetes --k8s --kubectl", "--emit=kubernetes"},
    {"--skypilot --sky", "--emit=skypilot"},
    {"--slurm --sbatch", "--emit=slurm"},
    {"--terraform --tf", "--emit=terraform"},
    {"--karpenter", "--emit=karpenter"},
    {"--od --ondemand --payg --pay-as-you-go --list --list-price --on-demand-price --current-price", "--on-demand"},
    {"--1y --1yr --1-year --one-yr --yearly", "--one-year"},
    {"--3y --3yr --3-year --3-years --three-year", "--three-years"},
    {"--cost --gpu-price --gpu-cost --hourly-price --cost-per-hour --hourly-cost --hourly-rate --price-per-hour "
     "--price-per-gpu --usd-per-hour",
     "--price"},
    {"--num-tokens --train-tokens --total-tokens", "--tokens"},
    // Lengths of a served request, or of a training sequence.
    {"--input-len --input-length --input-tokens --random-input-len --prompt-len --prompt-length --prompt-tokens "
     "--prompt-size --avg-input-tokens --mean-input-tokens --tokens-in --in-tokens --doc-tokens --tokens-per-doc "
     "--chunk-tokens --doc-length --avg-prompt-tokens",
     "--isl"},
    {"--output-len --output-length --output-tokens --random-output-len --max-new-tokens --tokens-out --out-tokens "
     "--gen-tokens --generated-tokens --completion-tokens --response-tokens --answer-tokens --avg-output-tokens "
     "--mean-output-tokens --max-output-tokens --response-length",
     "--osl"},
    {"--context-window --ctx --num-ctx --ctx-size --n-ctx --max-context", "--max-model-len"},
    {"--context --context-length --context-size", "--max-model-len", When::kServing},
    {"--context --context-length --seq-len --seq-length --sequence-length", "--isl", When::kServing},
    {"--context --context-length --seq-len --seq-length --sequence-length "
     "--sequence-len --max-seq-len "
     "--max-seq-length --max-length --cutoff-len -s",
     "--seq"},
    // Parallelism and engine limits.
    {"--tensor-parallel-size --tensor-parallel --tensor-model-parallel-size --tp-size --num-shard -tp", "--tp"},
    {"--pipeline-parallel-size --pipeline-model-parallel-size --pp-size -pp", "--pp"},
    {"--expert-parallel-size --expert-model-parallel-size --ep-size", "--ep"},
    {"--context-parallel-size", "--cp"},
    {"--data-parallel-size", "--attention-dp", When::kServing},
    {"--max-num-seqs --max-batch-size --max-running-requests", "--max-batch"},
    {"--max-num-batched-tokens", "--max-tokens"},
    {"--gpu-memory-utilization --mem-fraction-static", "--memory-share"},
    {"--max-queue-delay", "--max-delay"},
    // Load and limits.
    {"--qps --rps --request-rate --requests-per-second", "--rate"},
    {"--rate --qps --rps --request-rate", "--arrivals"},
    {"--max-concurrency --concurrent-requests -c -np --parallel", "--concurrency"},
    {"--per-item --time-per-item --seconds-per-item --service-time", "--item-time"},
    {"--item-time --time-per-item --seconds-per-item", "--per-item"},
    {"--percentile", "--slo-percentile"},
    {"--cold-start --cold-start-time --startup-time --start-time", "--startup"},
    {"--rps-file --load-file --traffic-file", "--trace"},
    {"--duration --runtime", "--hours"},
    {"--years", "--hours=*y"},
    {"--monthly --per-month", "--hours=730h"},
    {"--interruption-rate --preemption-rate --eviction-rate", "--interruptions"},
    {"--host-memory --cpu-memory --cpu-offload-gb --kv-offloading-size --swap-space", "--tier=host=*GiB"},
    {"--slices --layout --mig-layout --partition", "--check"},
    {"--hours --max-hours", "--deadline=*h"},
    {"--days", "--deadline=*d"},
    {"--max-time --time-limit --time --within --by --due --finish-by --until --done-by --max-duration --walltime "
     "--completion-window",
     "--deadline"},
    {"--max-cost --max-budget --cost-limit --max-usd --spend", "--budget"},
    {"--minimize --optimize-for", "--objective"},
    // Input and output.
    {"--file --filename --path --input -f", "--from"},
    {"--file --filename --path --input --workload --config -f", "argument"},
    {"--prometheus-url --prom", "--prometheus"},
    {"--since --last --period --range --lookback", "--window"},
    {"-n", "--once=yes"},
    {"-1 -L", "--once=yes"},
    {"-i -d -l --loop --refresh", "--interval=*s"},
    {"--limit --max-results --head -n", "--top"},
    {"--all --list -a", "--top=0"},
    {"--sort-by --order-by -s", "--sort"},
    {"--group-by --aggregate", "--by"},
    {"--output --output-format -o", "--format"},
    {"--json", "--format=json"},
    {"--csv", "--format=csv"},
    {"--html", "--format=html"},
    {"--markdown --md", "--format=md"},
    {"--no-trunc -w", "--wide=yes"},
    {"--silent --brief", "--quiet=yes"},
    {"--verbose --why -v", "--explain=yes"},
    {"--size --image-size", "--resolution"},
    {"--search --size", "--model"},
    {"-lgip --profiles --mig-profiles --list --list-profiles", "--list-layouts=yes"},
    {"--sacct --slurm-jobs --accounting --metrics --metrics-file --logs", "--from"},
    {"--colocate --colocated --hybrid-engine", "--layout=colocated"},
    {"--budget --monthly-budget --budgets --amount --cap --max-spend", "--team-budget"},
    {"--since --start --start-date --from-day --last --lookback --period", "--from-date"},
    {"--fail-if --fail-when --fail-above", "--fail-on"},
    {"--idle-threshold --idle-below-percent --idle-percent", "--idle-below=*%"},
    {"--hours --hours-per-month --monthly-hours", "--job-hours=*h"},
    {"--canary --percent --rollout-percent", "--stage"},
    {"--per", "--sort"},
    {"--group-by --groupby", "--by"},
    {"--context --context-length --min-ctx --ctx", "--min-context"},
    {"--ttft --p95-ttft", "--measured=ttft_seconds=*"},
    {"--tpot --itl --p95-tpot", "--measured=tpot_seconds=*"},
    {"--latency --p95-latency", "--measured=latency_seconds=*"},
    {"--cost --bill --usd --monthly-cost", "--measured=usd=*"},
    {"--tokens-per-second --tps --throughput", "--measured=tokens_per_second=*"},
    {"--until --end-date --to-day", "--to-date"},
    {"--fail-over --max-waste", "--fail-on=waste>*%"},
    {"--electricity-price --electricity --kwh --power-price", "--kwh-price"},
    {"--grid --grid-intensity --carbon-intensity --co2", "--carbon"},
    {"--rollouts --group-size --num-generations --generations --answers --responses-per-prompt --samples-per-prompt "
     "--rollout-n",
     "--samples"},
    {"--prompts-per-step --prompts-per-batch --rollout-batch-size", "--prompts"},
    {"--cheapest --hourly --per-hour --per-gpu-hour", "--sort=usd-per-gpu-hour"},
    {"--algo --rl-algorithm", "--algorithm"},
    {"--passages-per-query --documents-per-query --candidates-per-query --chunks-per-query --pairs-per-query",
     "--docs-per-query"},
    {"--prefix-cache --cache-hit --cache-hit-rate --prefix-cache-hit-rate --hit-rate", "--prefix-hit"},
    {"--speculative --speculative-decoding --spec --draft", "--speculate"},
    {"--demand --steady --baseline --min --minimum --floor --always-on", "--base"},
    // Decisions and their measurements.
    {"--name --service --app", "--workload"},
    {"--owner --group --squad", "--team"},
    {"--baseline --current-cost --cost-now --was --old-cost", "--cost-before"},
    {"--new-cost --cost", "--cost-after"},
    {"--reason --because --comment --message -m", "--why"},
    // What other tools need to run a job and no estimate depends on.
    {"--partition --qos --account --job-name --cpus-per-task --mem --constraint --port --host --served-model-name "
     "--download-dir --seed --output-dir --learning-rate --lr --warmup-steps --warmup-ratio --logging-steps "
     "--save-steps --eval-steps --weight-decay --tokenizer --api-key --chat-template --tool-call-parser "
     "--reasoning-parser --load-format --revision --report-to --wandb-project --data-path --save --load "
     "--num-workers --lora-alpha --lora-dropout --max-grad-norm --lr-scheduler-type -ngl --n-gpu-layers --enable-lora "
     "--max-loras --max-lora-rank --max-cpu-loras --lora-modules --guidance-scale --negative-prompt",
     "ignored"},
    {"--enforce-eager --disable-log-requests --disable-log-stats --enable-auto-tool-choice --enable-reasoning --no-log "
     "--no-upfront --llm-d --dynamo --packing --push-to-hub --use-flash-attn --use-mcore-models --overlap-grad-reduce "
     "--overlap-param-gather --monthly --per-month --yearly --annual --forecast --idle",
     "default"},
};

constexpr CommandAlias kCommands[] = {
    {"show-gpus list-gpus accelerators accelerator-types", "gpus"},
    {"price pricing cost costs offers instance-types machine-types", "prices"},
    {"spot spot-price spot-prices", "prices --purchase=spot"},
    {"compare", "prices compare"},
    {"history", "prices history"},
    {"mem vram fit fits estimate-memory estimate-vram", "memory"},
    {"speed throughput perf latency bench benchmark", "estimate"},
    {"optimize optimise plan size suggest advise rightsize sizing choose pick find cheapest best which what quote",
     "recommend"},
    {"nvtop nvitop nvidia-smi gpustat monitor watch", "top"},
    {"services", "service"},
    {"cluster waste usage utilization", "fleet"},
    {"budget budgets spend spending invoice", "bill"},
    {"reserve reservation commitment savings-plan", "commit"},
    {"savings", "decisions savings"},
    {"new wizard", "init"},
    {"simulate batching", "batch"},
    {"schedule", "window"},
    {"ui web dashboard", "serve"},
    {"energy power watts joules carbon", "estimate"},
    {"man", "manual"},
    {"completions", "completion"},
    {"commands", "help"},
    {"sacct", "fleet --from jobs.txt", "shows what Slurm's jobs cost, after 'TZ=UTC sacct -P --format=ALL > jobs.txt'"},
};

struct ValueAliases {
  std::string_view flag, values;  // typed=meant, separated by spaces; typed without case, '-' and '_'
};
constexpr ValueAliases kValues[] = {
    {"--speculate", "eagle=3,method=eagle3 eagle3=3,method=eagle3 mtp=3,method=mtp"},
    {"--resolution", "480p=832x480 540p=960x544 720p=1280x720 1080p=1920x1080 4k=3840x2160"},
    {"--precision",
     "bfloat16=bf16 float16=fp16 half=fp16 float32=fp32 float=fp32 float8=fp8 awq=int4 gptq=int4 "
     "w4a16=int4 4bit=int4 q4=int4 q4km=int4 q4ks=int4 q40=int4 iq4xs=int4 q80=int8 8bit=int8 q8=int8 w8a8=int8 "
     "bitsandbytes=nf4 bitsandbytesnf4=nf4 bnb4bit=nf4 bitsandbytesfp4=fp4 eetq=int8 nvfp4=fp4 mxfp4=fp4 "
     "awqmarlin=int4 gptqmarlin=int4 marlin=int4 fbgemmfp8=fp8 modelopt=fp8 modeloptfp4=fp4"},
    {"--bits", "4=int4 8=int8 16=bf16 32=fp32"},
    {"--mixed-precision", "bf16=amp-bf16 fp16=amp-fp16 no=fp32"},
    {"--kv-precision", "fp8e4m3=fp8 fp8e5m2=fp8 bfloat16=bf16"},
    {"--lora-targets", "all=all-linear qproj,vproj=attention qproj,kproj,vproj,oproj=attention"},
    {"--format", "markdown=md githubcomment=md table=text plain=text txt=text"},
    {"--optimizer",
     "adam=adamw adamwtorch=adamw adamwtorchfused=adamw adamwhf=adamw adamwbnb8bit=adamw-8bit "
     "adamw8bit=adamw-8bit adam8bit=adamw-8bit pagedadamw8bit=adamw-paged-8bit"},
    {"--offload", "cpu=optimizer"},
    {"--dataset",
     "imagenet=1281167samples imagenet1k=1281167samples cifar10=50000samples cifar100=50000samples mnist=60000samples "
     "coco=118287samples alpaca=52002samples ultrachat200k=207865samples gsm8k=7473samples"},
    {"--algorithm", "rlhf=ppo reinforce=reinforce++"},
    {"--recompute", "true=full yes=full false=none no=none"},
    {"--attention", "flashattention2=flash flashattn=flash"},
    {"--stack",
     "transformers=hf huggingface=hf pytorch=hf tensorrtllm=trtllm trt=trtllm megatronlm=megatron "
     "nemo=megatron"},
    {"--sharding-strategy", "1=3 3=0"},  // Accelerate's numbers: FULL_SHARD, SHARD_GRAD_OP, NO_SHARD
    {"--zero", "zero1=1 zero2=2 zero3=3 stage1=1 stage2=2 stage3=3 fullshard=3 shardgradop=2 noshard=0"},
    {"--purchase", "all=on-demand,spot,1y,3y any=on-demand,spot,1y,3y"},
    {"--objective", "price=cost speed=time co2=energy carbon=energy emissions=energy"},
    {"--emit", "k8s=kubernetes yaml=kubernetes sbatch=slurm tf=terraform sky=skypilot"},
};

}  // namespace

std::span<const FlagAlias> flag_aliases() { return kFlags; }
std::span<const CommandAlias> command_aliases() { return kCommands; }

std::string meant_value(std::string_view flag, const std::string& typed) {
  const std::string folded = fold_name(typed);
  for (const ValueAliases& row : kValues) {
    if (row.flag != flag) continue;
    for (const std::string_view pair : split_list(row.values, ' ')) {
      const std::size_t equals = pair.find('=');
      if (pair.substr(0, equals) == folded) return std::string(pair.substr(equals + 1));
    }
  }
  return flag == "--format" ? to_lower(typed) : typed;
}

}  // namespace rightsize::app
