#include "perf/stacks/serve_queue.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {
namespace {

double answer_of(const Replica& r) { return std::max(1.0, r.answer); }

// A prompt on a pipeline: its own stage's share of the work, and what the other stages lose to it.
double stage_share(const Replica& r) { return 1 / r.pipeline + r.c.pipeline_loss * (1 - 1 / r.pipeline); }

// Time at a station of service time s that `requests` visit in turn, spending z elsewhere between visits: Schweitzer's
// approximation of mean value analysis, R = s (1 + (N-1)/N Q) with Q = N R / (R + z), solved for R. Where others come
// together with a request, it finds `together` at an idle station, itself among them: R = s (together + ...).
double station_time(double s, double requests, double z, double together = 1) {
  const double b = s * requests - z;
  return 0.5 * (b + std::sqrt(b * b + 4 * together * s * z));
}

// One process takes requests in (HTTP, template, tokenizer) and turns tokens into text and sends them: seconds of each
// request. Tokens guessed right together are sent together.
struct FrontEnd {
  double taking, sending;
};
FrontEnd front_end(const Replica& r) {
  return {in_seconds(r.c.front_request), in_seconds(r.c.front_token) * answer_of(r) / r.accepted};
}

// The batch at which `served` of it, which grows with it, reaches `rate`, between 1 and `most`, which is enough: the
// Illinois method in logarithms (Dowell and Jarratt 1971, BIT 11), to a few parts in ten thousand.
template <typename Served>
double batch_that_serves(const Served& served, double rate, double most) {
  double low = 0, high = std::log(most);
  double below = std::log(served(1.0) / rate), above = std::log(served(most) / rate);
  if (below >= 0) return 1;
  int side = 0;
  for (int i = 0; i < 16 && high - low > 3e-4; ++i) {
    const double at = high - above * (high - low) / (above - below);
    const double value = std::log(served(std::exp(at)) / rate);
    if (std::abs(value) < 1e-4) return std::exp(at);
    if (value < 0) {
      low = at, below = value;
      if (side < 0) above /= 2;
      side = -1;
    } else {
      high = at, above = value;
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  return std::exp(high);
}

}  // namespace

// TPOT: the step, and the prefills of the others, each of which falls into this answer once, packed as they arrive.
// TTFT: own prefill, in a pass with the step of the others. Groups of attention that start prompts together wait for
// each other: a prompt finds the other groups without one.
Latency arriving_at(const Replica& r, const Prefill& prefill, double running) {
  Latency l;
  l.step = decode_step(r, running);
  const double answer = answer_of(r);
  const double together = running * r.accepted / answer;  // prompts that arrive during a step
  l.tpot = l.step.time / r.accepted + prefill.beside(r, l.step, together) * (r.c.prefill_interference * stage_share(r) *
                                                                             std::max(0.0, running - 1) / answer);
  const double steps = 1 + r.c.group_wait * (1 - 1.0 / r.layout.attention);
  l.ttft =
      r.c.request_overhead + r.c.front_request + prefill.beside(r, l.step, 1) * r.c.prefill_wait + l.step.time * steps;
  return l;
}

// TTFT besides. Requests of a closed loop come together: all at once when a benchmark starts, and again where those
// that were admitted together end together. A prompt waits for those before it; where the engine decodes nothing
// meanwhile, nobody ends and the group stays together, the longer the more of the time prompts take. Where slots are
// short there is a queue for them. And everything passes the front end, which the engine does not wait for: tokens that
// it cannot send in time pile up until the requests whose ends are among them slow the loop down.
Latency latency_at(const Replica& r, const Prefill& prefill, double running, double waiting) {
  Latency l = arriving_at(r, prefill, running);
  const double answer = answer_of(r), decoding = in_seconds(l.tpot) * answer;
  const double together = 1 + r.c.burst_wait * (running - 1);
  const double prompt = in_seconds(prefill.each(running));
  const double prompts = r.c.mixed_passes > 0 ? prompt * together : station_time(prompt, running, decoding, together);
  l.ttft += seconds(prompts - prompt);
  if (waiting > 0) l.ttft += l.tpot * (waiting / running * answer);
  const FrontEnd front = front_end(r);
  const double rest = in_seconds(l.ttft) - front.taking + decoding, own = front.taking + front.sending;
  const double passed = station_time(own, running + waiting, rest, together);
  // The first token waits for what is before it; sending the answer itself is no wait while the engine is slower.
  const double sending = together * front.sending * rest / (passed - own + rest);
  l.ttft += seconds(passed - sending - front.taking);
  return l;
}

// Little's law: requests in flight = rate x time in the system. Arrivals are Poisson, so a new prompt finds another in
// prefill with the waiting of an M/G/1 queue (Pollaczek and Khinchine).
OpenLoop open_loop(const Replica& r, const Prefill& prefill, double rate) {
  const double answer = answer_of(r);
  auto served = [&](double running) {
    const Latency l = arriving_at(r, prefill, running);
    return running / in_seconds(l.ttft + l.tpot * answer);
  };
  OpenLoop loop;
  const double most = std::max(1.0, r.slots);
  const Seconds prompt = prefill.alone.time;
  const double busy = rate * in_seconds(prompt);
  const FrontEnd front = front_end(r);
  loop.utilization = std::max({rate / served(most), busy, rate * (front.taking + front.sending)});
  loop.stable = loop.utilization < 1;
  if (!loop.stable) {
    loop.running = most;
    return loop;
  }
  loop.running = batch_that_serves(served, rate, most);
  loop.queue = prompt * (busy / (2 * (1 - busy)));
  return loop;
}

Seconds transfer_time(const Replica& decode, const model::Disaggregated& workers) {
  double width = 0;
  for (const LayerWork& layer : decode.work.kinds) width += layer.count * static_cast<double>(layer.attentions.size());
  const Bytes cache = bytes((decode.prompt + decode.cached) * width * decode.work.key_width * decode.layout.kv_bytes);
  const double links = std::min(workers.prefill_tensor, workers.decode_tensor);
  // Every GPU of the narrower side sends or receives its share; a pair of GPUs moves what an all-to-all of two does.
  const int group = workers.gpus() > decode.cluster.node_gpus ? decode.cluster.node_gpus + 1 : 2;
  return decode.c.transfer_overhead +
         collective_time(decode.gpu, decode.cluster, Collective::kAllToAll, group, cache * (2 / links));
}

// A closed loop of two stations: prompts queue for the prefill workers (as for one that is so many times faster), then
// decode together. How many decode follows from how fast they come, and how fast they come from how long the others
// take: a few rounds settle it, since a step grows slower than its batch.
Separate separate_workers(const Replica& decode, const Prefill& prefill, const model::Disaggregated& workers,
                          double requests, Seconds transfer) {
  constexpr int kRounds = 8;
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
    queued = std::max(1.0, found.requests_per_second * station / prefills);
    const double next = found.requests_per_second * in_seconds(l.tpot) * answer / count;
    found.full = next > most;
    running = std::clamp(next, 1.0, most);
  }
  found.running = running;
  if (found.full) found.requests_per_second = running * count / (in_seconds(found.latency.tpot) * answer);
  const Seconds burst = prefill.each(requests / prefills) * (decode.c.burst_wait * requests / prefills);
  const Seconds arrival = decode.c.request_overhead + transfer + found.latency.step.time;
  found.latency.ttft = arrival + prompt * decode.c.prefill_wait + burst;
  // Whoever finds no slot waits until one of the others has answered.
  const double system = requests / found.requests_per_second - in_seconds(found.latency.tpot) * answer;
  if (found.full) found.latency.ttft = std::max(found.latency.ttft, seconds(system));
  return found;
}

}  // namespace rightsize::perf
