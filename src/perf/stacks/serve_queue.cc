#include "perf/stacks/serve_queue.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {
namespace {

// A random arrival finds a step half done.
constexpr double kMidStep = 0.5;

double answer_of(const EngineCopy& r) { return std::max(1.0, r.answer); }

// The share of a prompt's time that its own pipeline stage takes, and what the other stages lose to it.
double stage_share(const EngineCopy& r) { return 1 / r.pipeline + r.c.pipeline_loss * (1 - 1 / r.pipeline); }

// Time at a station with service time s that `requests` visit in turn, spending z elsewhere between visits:
// Schweitzer's approximation of mean value analysis, R = s (1 + (N-1)/N Q) with Q = N R / (R + z), solved for R. If
// requests arrive in groups, each finds `together` of them at an idle station, itself included: R = s (together + ...).
double station_time(double s, double requests, double z, double together = 1) {
  const double b = s * requests - z;
  return 0.5 * (b + std::sqrt(b * b + 4 * together * s * z));
}

Seconds cold_start(const EngineCopy& r) {
  const bool eight_bits = r.layout.experts == WeightFormat::kFp8 || r.layout.experts == WeightFormat::kInt8;
  const bool compiled = r.work.experts > 0 && eight_bits;
  return (r.gpu.rocm ? r.c.cold_start_rocm : r.c.cold_start) + (compiled ? r.c.cold_experts : Seconds{});
}

}  // namespace

double steps_before(const EngineCopy& r, double running) {
  return (r.c.wait_steps + r.poll_steps.at(running) / 2) * std::clamp(running - 1, 0.0, 1.0);
}

// TPOT: the decode step, plus the prefills of the other running requests, each of which interrupts this output once.
// TTFT: the steps until the scheduler sees the request, then its own prefill, in a pass with the decode step of the
// others. Attention groups wait for each other when one of them processes a prompt.
Latency arriving_at(const EngineCopy& r, const Prefill& prefill, double running) {
  Latency l;
  l.running = running;
  l.step = decode_step(r, running);
  const double answer = answer_of(r);
  const double together = running * r.accepted / answer;  // prompts that arrive during one step
  l.tpot = l.step.time / r.accepted + prefill.beside(r, l.step, together) * (r.c.prefill_interference * stage_share(r) *
                                                                             std::max(0.0, running - 1) / answer);
  const double steps = 1 + steps_before(r, running) - kMidStep * std::clamp(running - 1, 0.0, 1.0) +
                       r.c.group_wait * (1 - 1.0 / r.layout.attention);
  l.ttft =
      r.c.request_overhead + r.c.front_request + prefill.beside(r, l.step, 1) * r.c.prefill_wait + l.step.time * steps;
  return l;
}

// Adds what TTFT gains in a closed loop. All its requests arrive at once when a benchmark starts, at an engine that is
// still cold: a prompt of that burst waits for the prompts before it, and the mean over all requests has the burst's
// share of this. Later, prompts meet only by chance: an engine that mixes them with decoding hides this wait, one that
// runs prompts first is a station that they queue for. If slots are short, requests queue for them. The front end
// receives requests one after another and sends tokens one after another: a first token waits for half of those of a
// step, and none come faster than it sends those of all requests.
Latency latency_at(const EngineCopy& r, const Prefill& prefill, double running, double waiting) {
  Latency l = arriving_at(r, prefill, running);
  const Seconds sending = r.c.front_token * (running / r.accepted);
  l.tpot = std::max(l.tpot, sending);
  const double answer = answer_of(r), decoding = in_seconds(l.tpot) * answer;
  const double together = 1 + r.c.burst_wait * (running - 1);
  const double prompt = in_seconds(prefill.each(running));
  const double queued = r.c.mixed_passes > 0 ? 0 : station_time(prompt, running, decoding) - prompt;
  // A new request follows the end of another, and requests end when the next step begins.
  l.ttft += l.step.time * (kMidStep * std::clamp(running - 1, 0.0, 1.0));
  l.ttft += cold_start(r) + seconds(prompt * (together - 1) + queued);
  if (waiting > 0) l.ttft += l.tpot * (waiting / running * answer);
  const double receiving = in_seconds(r.c.front_request), rest = in_seconds(l.ttft) - receiving + decoding;
  l.ttft += seconds(station_time(receiving, running + waiting, rest, together) - receiving) + sending * kMidStep;
  return l;
}

OpenLoop open_loop(const EngineCopy& r, const Prefill& prefill, double rate, Latency& last) {
  // The front-end process receives a request (HTTP, template, tokenizer) and sends its output; tokens accepted together
  // by speculative decoding are sent together.
  const Seconds front = r.c.front_request + r.c.front_token * (answer_of(r) / r.accepted);
  return open_loop([&](double running) -> const Latency& { return last = arriving_at(r, prefill, running); },
                   {rate, std::max(1.0, r.slots), answer_of(r), prefill.alone.time, rate * in_seconds(front)});
}

Seconds transfer_time(const EngineCopy& decode, const model::Disaggregated& workers) {
  double width = 0;
  for (const LayerWork& layer : decode.work.kinds) width += layer.count * static_cast<double>(layer.attentions.size());
  const Bytes cache = bytes((decode.prompt + decode.cached) * width * decode.work.key_width * decode.layout.kv_bytes);
  const double links = std::min(workers.prefill_tensor, workers.decode_tensor);
  // Every GPU of the narrower side sends or receives its share; a pair of GPUs transfers as in an all-to-all of two.
  const int group = workers.gpus() > decode.cluster.node_gpus ? decode.cluster.node_gpus + 1 : 2;
  return decode.c.transfer_overhead +
         collective_time(decode.gpu, decode.cluster, Collective::kAllToAll, group, cache * (2 / links));
}

// A closed loop of two stations: prompts queue for the prefill workers (modelled as one worker that is n times as
// fast), then decode together. The decode batch depends on the arrival rate from prefill, and that rate on the time in
// decode. A few iterations converge because a step grows more slowly than its batch.
Separate separate_workers(const EngineCopy& decode, const Prefill& prefill, const model::Disaggregated& workers,
                          double requests, Seconds transfer) {
  constexpr int kRounds = 16;
  Separate found;
  const double answer = answer_of(decode), count = workers.decode_workers, prefills = workers.prefill_workers;
  const double most = std::max(1.0, decode.slots);
  double running = std::max(1.0, std::min(requests / count, most)), queued = 1;
  Seconds prompt;
  for (int i = 0; i < kRounds; ++i) {
    Latency& l = found.latency;
    l.step = decode_step(decode, running);
    l.tpot = l.step.time / decode.accepted;
    const Seconds service = prefill.each(queued);
    const double away = in_seconds(transfer + l.step.time + l.tpot * answer);
    const double station = station_time(in_seconds(service) / prefills, requests, away);
    prompt = seconds(station) + service * (1 - 1 / prefills);
    found.requests_per_second = requests / (in_seconds(prompt) + away);
    // A longer queue fills passes better, which shortens it again: half steps (in logs) keep this from swinging.
    queued = std::sqrt(queued * std::max(1.0, found.requests_per_second * station / prefills));
    const double next = found.requests_per_second * in_seconds(l.tpot) * answer / count;
    found.full = next > most;
    running = std::clamp(next, 1.0, most);
  }
  found.running = running;
  if (found.full) found.requests_per_second = running * count / (in_seconds(found.latency.tpot) * answer);
  const Seconds burst = prefill.each(requests / prefills) * (decode.c.burst_wait * requests / prefills);
  // The prefill worker and the decode worker both start cold.
  const Seconds arrival = decode.c.request_overhead + cold_start(decode) * 2.0 + transfer +
                          found.latency.step.time * (1 + steps_before(decode, running));
  found.latency.ttft = arrival + prompt * decode.c.prefill_wait + burst;
  // A request without a slot waits until another one finishes.
  const double system = requests / found.requests_per_second - in_seconds(found.latency.tpot) * answer;
  if (found.full) found.latency.ttft = std::max(found.latency.ttft, seconds(system));
  return found;
}

}  // namespace rightsize::perf
