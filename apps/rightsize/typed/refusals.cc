// What other tools' flags have no counterpart for, and what to do.
#include "rightsize/typed/spellings.h"

namespace rightsize::app {
namespace {

constexpr Refusal kRefusals[] = {
    {"--context-window", "--isl and --osl say how long requests are"},
    {"--max-bid",
     "--sort usd-per-gpu-hour --top 10 shows the cheapest; 'prices spot --gpu NAME --hours N' says what spot will "
     "likely cost"},
    {"--max-price", "'prices --sort usd-per-gpu-hour --top 10' shows the cheapest; 'recommend' has --budget"},
    {"--data-parallel-size", "copies of a model are counted by --gpus over --tp times --pp"},
    {"--dp", "copies of a model are counted by --gpus over --tp times --pp"},
    {"--enable-expert-parallel", "--ep N spreads the experts over N of the --tp GPUs"},
    {"--load-in-8bit", "for training, --method qlora keeps the frozen weights in 4 bits; 8 bits are not modelled"},
    {"--vram", "every GPU is listed with whether the job fits; 'gpus --min-memory 24GB' lists GPUs by memory"},
    {"--gpu-memory", "every GPU is listed with whether the job fits; 'gpus --min-memory 24GB' lists GPUs by memory"},
    {"--min-vram", "every GPU is listed with whether the job fits; 'gpus --min-memory 24GB' lists GPUs by memory"},
    {"--exclude-gpu", "--gpu lists those that may be used: --gpu h100,h200,l40s"},
    {"--exclude-provider", "--providers lists those that may be used: --providers aws,gcp"},
    {"--exclude", "--gpu, --providers and --regions list what may be used"},
    {"--replicas", "replicas follow from --rate and the SLOs; --max-gpus limits them"},
    {"--num-replicas", "replicas follow from --rate and the SLOs; --max-gpus limits them"},
    {"--p50", "--ttft-slo 1s and --tpot-slo 50ms set the limits, --slo-percentile 50 what share keeps them"},
    {"--p90", "--ttft-slo 1s and --tpot-slo 50ms set the limits, --slo-percentile 90 what share keeps them"},
    {"--p95", "--ttft-slo 1s and --tpot-slo 50ms set the limits, --slo-percentile 95 what share keeps them"},
    {"--p99", "--ttft-slo 1s and --tpot-slo 50ms set the limits, --slo-percentile 99 what share keeps them"},
    {"--currency", "prices are in US dollars"},
    {"--query", "--format json and jq pick out fields"},
    {"--jq", "--format json and jq pick out fields"},
    {"--query-gpu", "'top --once --format json' has every value; 'profile' records them over time"},
    {"--query-compute-apps", "'fleet' says which pod or job was on which GPU"},
    {"--compare-to", "name the old files first: rightsize diff BEFORE AFTER"},
    {"--out-file", "write it where you like: rightsize ... --format json > FILE"},
    {"--output-file", "write it where you like: rightsize ... --format json > FILE"},
    {"--save", "write it where you like: rightsize ... --format json > FILE"},
    {"--start-time", "every price that is kept is shown; --format csv for a table"},
    {"--kubeconfig", "'--prometheus URL' reads a cluster's metrics; no access to Kubernetes is needed"},
    {"--kube-context", "'--prometheus URL' reads a cluster's metrics; no access to Kubernetes is needed"},
    {"--filter", "--gpu, --provider and --region narrow the list"},
    {"--filters", "--gpu, --provider and --region narrow the list"},
    {"--cpus", "machines are chosen by their GPUs; 'prices --format json' says what else they have"},
    {"--nodes", "--gpus counts the GPUs of all nodes: two nodes of 8 are --gpus 16; --max-gpus limits them"},
    {"--num-nodes", "--gpus counts the GPUs of all nodes: two nodes of 8 are --gpus 16; --max-gpus limits them"},
    {"--max-nodes", "--max-gpus counts the GPUs of all nodes: two nodes of 8 are --max-gpus 16"},
    {"--namespace",
     "with --prometheus, --match 'namespace=\"x\"' asks for a part of the metrics; the owners of a file's GPUs are all "
     "listed"},
    {"--watch", "'rightsize top' watches the GPUs of this machine"},
    {"--latency",
     "--ttft-slo 1s limits the first token (of an encoder: the whole answer), --tpot-slo 50ms every token after it"},
    {"--latency-slo",
     "--ttft-slo 1s limits the first token (of an encoder: the whole answer), --tpot-slo 50ms every token after it"},
    {"--only", "every GPU of this machine is shown; none can be left out"},
    {"--no-headers", "--format csv has one header line: ... --format csv | tail -n +2"},
    {"--count", "so many GPUs in one machine are written with the name: H100:8"},
    {"--max-steps", "--tokens says how much is trained on: steps x samples a step (--global-batch) x tokens (--seq)"},
    {"--max-hourly-cost", "--budget limits the whole job (a service: a month); 'prices' lists what an hour costs"},
    {"--enforce-eager", "CUDA graphs are assumed: an engine without them is slower than predicted"},
    {"--enable-prefix-caching", "--prefix-hit 0.3 says what share of the prompt is found in the prefix cache"},
    {"--cpu-offload-gb", "weights are kept on the GPU: --precision fp8 or int4 makes them smaller, --tp splits them"},
    {"--host", "'rightsize serve --listen 0.0.0.0:8477 --token-file FILE' opens the page to other machines"},
    {"--open", "it prints the page's address; open that in a browser"},
    {"--kube-context", "'--prometheus URL' reads a cluster's metrics; no access to Kubernetes is needed"},
    {"--dpo", "DPO is not modelled: it adds the weights of a frozen copy and a second forward pass"},
    {"--image-id", "'recommend --emit' writes the image; start-up time is --startup"},
    {"--disk-size", "--storage says how much is kept; 'recommend --emit' writes the disk"},
    {"--nproc", "--gpus counts all GPUs"},
    {"--params",
     "name a model of that size: llama-2-7b, llama-3.1-8b, qwen2.5-32b, llama-3.1-70b; 'rightsize models' lists all"},
};

}  // namespace

std::span<const Refusal> refusals() { return kRefusals; }

}  // namespace rightsize::app
