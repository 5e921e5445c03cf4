// Flags as documented in 2026: vLLM's NixlConnector behind vllm-router, SGLang's --disaggregation-mode behind
// sglang_router, TensorRT-LLM's cache_transceiver_config behind `trtllm-serve disaggregated`.
#include "plan/hand_over/apart.h"

#include <fmt/format.h>

#include "plan/hand_over/parts.h"

namespace rightsize::plan {
namespace {

using model::Stack;

constexpr int kPrefillPort = 8100, kDecodePort = 8200, kBootstrapPort = 8998, kSideChannel = 5600;

// One kind of worker: how many, on which GPUs, and what its command says besides.
struct Workers {
  bool prefill = false;
  int count = 1, tensor = 1, first_gpu = 0, first_port = 0;
};

std::string with_port(std::string command, int first) {
  const std::string was = fmt::format("--port {}", kPort);
  const std::size_t at = command.find(was);
  if (at != std::string::npos) command.replace(at, was.size(), fmt::format("--port $(( {} + i ))", first));
  if (!command.empty() && command.back() == '\n') command.pop_back();
  return command;
}

std::string role_flags(Stack stack, const Workers& w) {
  if (stack == Stack::kSglang) {
    return w.prefill ? fmt::format(" \\\n  --disaggregation-mode prefill --disaggregation-bootstrap-port $(( {} + i ))",
                                   kBootstrapPort)
                     : std::string(" \\\n  --disaggregation-mode decode");
  }
  if (stack == Stack::kTrtLlm) {
    return fmt::format(" \\\n  --extra_llm_api_options <(printf '{}cache_transceiver_config:\\n  backend: DEFAULT\\n')",
                       w.prefill ? "disable_overlap_scheduler: true\\n" : "");
  }
  return R"( \
  --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}')";
}

std::string started(Stack stack, const Workers& w, const std::string& command) {
  const std::string side =
      stack == Stack::kVllm
          ? fmt::format("  export VLLM_NIXL_SIDE_CHANNEL_PORT=$(( {} + {} + i ))\n", kSideChannel, w.first_gpu)
          : std::string{};
  return fmt::format(
      "for i in $(seq 0 {}); do\n"
      "  export CUDA_VISIBLE_DEVICES=$(seq -s, $(( {} + i * {} )) $(( {} + i * {} + {} )))\n{}{}done\n",
      w.count - 1, w.first_gpu, w.tensor, w.first_gpu, w.tensor, w.tensor - 1, side,
      indented(with_port(command, w.first_port) + role_flags(stack, w) + " &\n", "  "));
}

std::string urls(const Workers& w, const std::string& flag, bool bootstrap) {
  std::string text;
  for (int i = 0; i < w.count; ++i) {
    text += fmt::format(" \\\n  {} http://127.0.0.1:{}", flag, w.first_port + i);
    if (bootstrap) text += fmt::format(" {}", kBootstrapPort + i);
  }
  return text;
}

std::string trtllm_servers(const char* kind, const Workers& w) {
  std::string text = fmt::format("{}:\n  num_instances: {}\n  urls:\n", kind, w.count);
  for (int i = 0; i < w.count; ++i) text += fmt::format("    - \"127.0.0.1:{}\"\n", w.first_port + i);
  return text;
}

std::string router(Stack stack, const Workers& prefill, const Workers& decode) {
  if (stack == Stack::kTrtLlm) {
    return fmt::format("cat > disaggregated.yaml <<'END'\nhostname: 0.0.0.0\nport: {}\n{}{}END\n", kPort,
                       trtllm_servers("context_servers", prefill), trtllm_servers("generation_servers", decode)) +
           "trtllm-serve disaggregated -c disaggregated.yaml\n";
  }
  const bool sglang = stack == Stack::kSglang;
  return fmt::format(
      "{} --host 0.0.0.0 --port {}{}{}\n",
      sglang ? "python -m sglang_router.launch_router --pd-disaggregation" : "vllm-router --vllm-pd-disaggregation",
      kPort, urls(prefill, "--prefill", sglang), urls(decode, "--decode", false));
}

}  // namespace

Plan prefill_worker(const Plan& plan) {
  Plan worker = decode_worker(plan);
  worker.job.parallel.tensor = plan.job.serve.disaggregated->prefill_tensor;
  worker.job.parallel.expert = worker.job.parallel.attention_data = 1;
  return worker;
}

Plan decode_worker(const Plan& plan) {
  Plan worker = plan;
  worker.job.serve.disaggregated.reset();
  return worker;
}

std::string apart_commands(const Plan& plan, const std::string& prefill, const std::string& decode) {
  const model::Disaggregated& d = *plan.job.serve.disaggregated;
  const Stack stack = plan.job.stack;
  const Workers prompts{true, d.prefill_workers, d.prefill_tensor, 0, kPrefillPort};
  const Workers answers{false, d.decode_workers, d.decode_tensor, d.prefill_workers * d.prefill_tensor, kDecodePort};
  return started(stack, prompts, prefill) + started(stack, answers, decode) + "unset CUDA_VISIBLE_DEVICES\n" +
         router(stack, prompts, answers);
}

}  // namespace rightsize::plan
