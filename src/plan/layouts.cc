#include "plan/layouts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace rightsize::plan {

int replica_gpus(const model::Job& job) {
  return job.serve.disaggregated ? job.serve.disaggregated->gpus() : job.parallel.tensor * job.parallel.pipeline;
}

std::string layout_words(const model::Job& job) {
  std::string text;
  if (job.parallel.expert > 1) text += fmt::format(", expert parallel {}", job.parallel.expert);
  if (job.parallel.attention_data > 1) text += fmt::format(", attention data parallel {}", job.parallel.attention_data);
  if (const auto& d = job.serve.disaggregated)
    text += fmt::format(", disaggregated: {} x tp {} for prefill, {} x tp {} for decode", d->prefill_workers,
                        d->prefill_tensor, d->decode_workers, d->decode_tensor);
  return text;
}

std::vector<Groups> groups_of(const Request& request, int tensor) {
  const int experts = request.model.experts ? static_cast<int>(request.model.experts->count) : 1;
  const bool engine = request.job.stack != model::Stack::kHf;
  const std::vector<int>& asked = request.choices.expert;
  std::vector<Groups> groups;
  for (int count : asked.empty() ? std::vector{1, tensor} : asked) {
    const bool spreads = tensor % count == 0 && experts % count == 0 && engine;
    const bool is_new = groups.empty() || groups.back().expert != count;
    if ((count == 1 || spreads) && is_new) groups.push_back({count, 1});
  }
  // Engines use data-parallel attention where experts are spread: each GPU then holds different requests.
  const bool spread = !groups.empty() && groups.back().expert == tensor && tensor > 1;
  if (spread && request.job.parallel.attention_data == 1) groups.push_back({tensor, tensor});
  return groups;
}

bool may_separate(const Request& request) {
  return request.choices.separate && request.work.kind == WorkKind::kServing &&
         request.job.stack != model::Stack::kHf && request.limits.tpot.has_value() &&
         in_requests_per_s(request.work.rate) > 0;
}

std::optional<model::Disaggregated> best_separation(const std::vector<int>& tensors, int gpus,
                                                    const WorkerRate& prefill, const WorkerRate& decode) {
  std::map<int, double> prompts, answers;
  for (int tensor : tensors) {
    if (tensor < gpus) prompts[tensor] = prefill(tensor), answers[tensor] = decode(tensor);
  }
  std::optional<model::Disaggregated> best;
  double most = 0;
  for (const auto& [p, one_prefill] : prompts) {
    for (const auto& [d, one_decode] : answers) {
      for (int workers = 1; workers * p < gpus; ++workers) {
        const int rest = (gpus - workers * p) / d;
        const double rate = std::min(workers * one_prefill, rest * one_decode);
        if (rate <= most) continue;
        most = rate;
        best = model::Disaggregated{workers, p, rest, d};
      }
    }
  }
  return best;
}

}  // namespace rightsize::plan
