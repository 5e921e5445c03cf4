#include "sim/continuous_batching.h"

#include <algorithm>
#include <cmath>

#include "sim/sessions.h"

namespace rightsize::sim {

void plan_step(const StepView& view, const ContinuousConfig& config, StepPlan& plan) {
  plan.preempt = 0;
  plan.admitted = 0;
  plan.chunks.clear();
  if (view.decoding > view.kv_free) {  // each needs room for one token
    plan.preempt = 1;
    return;
  }
  std::int64_t budget = config.token_budget - (config.prompts_first ? 0 : view.decoding);
  std::int64_t room = view.kv_free - view.decoding;
  for (std::int64_t left : view.prefilling) {
    const std::int64_t chunk = std::max<std::int64_t>(0, std::min({left, budget, room}));
    plan.chunks.push_back(chunk);
    budget -= chunk;
    room -= chunk;
  }
  // The rest of admitted prompts stays reserved.
  for (std::size_t i = 0; i < view.prefilling.size(); ++i) room -= view.prefilling[i] - plan.chunks[i];
  const auto running = view.decoding + static_cast<std::int64_t>(view.prefilling.size());
  for (std::size_t i = 0; i < view.waiting.size(); ++i) {
    const std::int64_t prompt = view.waiting[i], needed = view.rooms.empty() ? prompt : view.rooms[i];
    const bool full = running + static_cast<std::int64_t>(plan.admitted) >= config.max_sequences;
    if (full || budget <= 0 || needed > room) break;
    if (!config.chunked_prefill && prompt > budget) break;
    const std::int64_t chunk = std::min(prompt, budget);
    plan.chunks.push_back(chunk);
    ++plan.admitted;
    budget -= chunk;
    room -= needed;
  }
}

RequestsPerSecond capacity(const ContinuousServer& server, const RequestShape& shape) {
  const ContinuousConfig& c = server.batching;
  const double per_sequence = shape.mean_context();
  const double limit = static_cast<double>(std::min(c.max_sequences, c.token_budget));
  const bool apart = !server.prefills.empty();
  const double computed = shape.size - (c.cache_block > 0 ? std::min(shape.cached, shape.size - 1) : 0);
  RequestsPerSecond total, prompts;
  for (const StepCost& cost : server.replicas) {
    const std::int64_t kv_tokens = cost.kv_tokens > 0 ? cost.kv_tokens : c.kv_tokens;
    const double batch = std::max(1.0, std::min(limit, std::floor(static_cast<double>(kv_tokens) / per_sequence)));
    // A request costs its prompt and, per output token, its share of a step.
    const double step = cost.decode(batch, batch * per_sequence);
    const double prompt = apart ? 0 : computed * cost.prefill;
    total += requests_per_s(1e9 / (prompt + shape.output * step / batch));
  }
  if (!apart) return total;
  for (const StepCost& cost : server.prefills) {
    const double base = cost.base / static_cast<double>(c.token_budget);  // near capacity every pass is full
    prompts += requests_per_s(1e9 / (computed * (cost.prefill + base)));
  }
  return std::min(total, prompts);
}

RequestShape mean_shape(const ArrivalProcess& arrivals, const RequestShape& shape) {
  const Trace* trace = trace_of(arrivals);
  if (trace == nullptr || !trace->has_tokens) return shape;
  RequestShape mean{.size = 0, .output = 0};
  double size_squares = 0, output_squares = 0;
  const double count = static_cast<double>(trace->arrivals.size());
  for (const Arrival& arrival : trace->arrivals) {
    const double size = arrival.size, output = arrival.output;
    mean.size += size / count;
    mean.output += output / count;
    size_squares += size * size / count;
    output_squares += output * output / count;
  }
  mean.size_variation = std::sqrt(std::max(0.0, size_squares / (mean.size * mean.size) - 1));
  mean.output_variation = std::sqrt(std::max(0.0, output_squares / (mean.output * mean.output) - 1));
  mean.cached = repeated_tokens(*trace);
  return mean;
}

}  // namespace rightsize::sim
