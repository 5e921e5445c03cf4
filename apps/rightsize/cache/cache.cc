// rightsize cache: the hit rate of a KV cache against its size, from a trace with block hashes.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/format.h"
#include "capacity/sessions.h"
#include "kv_cache/hashed_trace.h"
#include "kv_cache/reuse.h"
#include "memory/kv_cache.h"
#include "presets/presets.h"
#include "rightsize/cache/report.h"
#include "rightsize/input/named_gpu.h"
#include "sim/trace_file.h"

namespace rightsize::app {
namespace {

using Flags = CacheFlags;

// Keys and values of one token in all layers, stored once: tensor parallelism splits them, and all copies of an MLA
// latent are identical. 16 bits unless the cache has another format.
Checked<Bytes> bytes_per_token(const Flags& flags, const model::ModelShape& model) {
  memory::KvLayout layout;
  if (!flags.kv_precision.empty()) {
    RIGHTSIZE_TRY(const model::Job job,
                  model::parse_job({{"job", "serve", {}}, {"kv-precision", flags.kv_precision, {}}}));
    layout.format = memory::kv_format(job, {}, false);
  }
  const Bytes size = memory::kv_token_bytes(model, layout);
  if (size > bytes(0)) return size;
  return fail(bad_input(fmt::format("{} has no KV cache", model.name)).with_hint("use a language model"));
}

// 1, 2 and 5 times powers of ten, from one block to the size that holds everything.
std::vector<Bytes> round_sizes(Bytes least, Bytes most) {
  std::vector<Bytes> sizes;
  for (double power = std::pow(10, std::floor(std::log10(in_bytes(least)))); bytes(power) < most; power *= 10)
    for (const double digit : {1, 2, 5})
      if (bytes(digit * power) >= least && bytes(digit * power) < most) sizes.push_back(bytes(digit * power));
  constexpr std::size_t kMost = 9;  // one screen of rows; keeps the largest sizes
  if (sizes.size() > kMost) sizes.erase(sizes.begin(), sizes.end() - kMost);
  sizes.push_back(most);
  return sizes;
}

std::vector<Bytes> spread_sizes(Bytes least, Bytes most) {
  constexpr int kPoints = 60;
  std::vector<Bytes> sizes;
  for (int i = 0; i <= kPoints; ++i) sizes.push_back(least * std::pow(most / least, i / double{kPoints}));
  return sizes;
}

// `sized`: the bytes of a block are known; otherwise a block counts as one. `share`: of the users that were simulated.
std::vector<CacheSize> curve_at(std::vector<Bytes> sizes, const kv_cache::ReuseCurve& reuse, Bytes block, bool sized,
                                double share) {
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<double> rooms;
  for (const Bytes size : sizes) rooms.push_back(std::floor(size / block) * share);
  const std::vector<double> rates = reuse.hit_rates(rooms);
  const double all = reuse.unlimited_hit_rate();
  std::vector<CacheSize> curve;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    curve.push_back({sized ? sizes[i] : Bytes{}, rooms[i] / share, rates[i], all > 0 ? rates[i] / all : 1});
  return curve;
}

// Traffic of sessions, and the share of the users that it has. Users do not depend on each other, so part of them find
// the same share of their blocks in that part of a cache.
struct SessionTraffic {
  std::shared_ptr<const sim::Trace> trace;
  double share = 1;
};

// The sessions of --sessions, or of --users with --turns, --system-prompt, --isl and --osl. Null with a trace.
Checked<SessionTraffic> sessions_of(const Flags& flags, const model::ModelShape& shape) {
  std::string text = flags.sessions;
  if (flags.users) {
    constexpr std::int64_t kTurns = 6, kSystem = 0, kTurnIn = 200, kTurnOut = 300;
    text = fmt::format("users={},turns={},think=30s,system={},turn-in={},turn-out={}", *flags.users,
                       flags.turns.value_or(kTurns), flags.system_prompt.value_or(kSystem), flags.isl.value_or(kTurnIn),
                       flags.osl.value_or(kTurnOut));
    note("assumed: --sessions " + text);
  }
  const int given = (text.empty() ? 0 : 1) + (flags.trace.empty() ? 0 : 1);
  const bool parts = flags.turns || flags.system_prompt || flags.isl || flags.osl;
  if (given != 1 || (!flags.sessions.empty() && flags.users) || (parts && !flags.users)) {
    return fail(
        Errors{bad_input("give the traffic once: a trace with block hashes, --sessions, or --users with --turns, "
                         "--system-prompt, --isl and --osl")
                   .with_hint("--users 1000 --turns 6 --system-prompt 2000")});
  }
  if (text.empty()) return SessionTraffic{};
  RIGHTSIZE_TRY(sim::Sessions sessions, sim::parse_sessions(text));
  // Every user of a trace must come back often. GPUs are counted with all users.
  constexpr double kSampled = 2'000, kMostOnGpus = 5'000, kQuick = 1'000;
  if (!flags.gpu.empty() && sessions.users > kMostOnGpus)
    return fail(bad_input(fmt::format("sizing GPUs for more than {} users with conversations takes too long",
                                      format_count(kMostOnGpus)))
                    .with_hint(flags.users ? fmt::format("--users {}", kQuick)
                                           : fmt::format("--sessions users={},turns={},turn-in={},turn-out={}", kQuick,
                                                         sessions.turns, sessions.turn_in, sessions.turn_out)));
  SessionTraffic traffic;
  if (flags.gpu.empty()) traffic.share = std::min(1.0, kSampled / sessions.users);
  sessions.users *= traffic.share;
  sessions.system_prompts = std::max(1.0, sessions.system_prompts * traffic.share);
  traffic.trace = capacity::session_traffic(sessions, {.context = shape.context});
  return traffic;
}

// The complete blocks of a prompt. A block is identified by its position and the hash chain of its last token.
std::vector<std::uint64_t> blocks_of(std::span<const sim::Segment> prompt, std::int64_t block_tokens) {
  std::vector<std::uint64_t> blocks;
  std::int64_t end = 0;
  for (const sim::Segment& segment : prompt) {
    end += segment.tokens;
    while (static_cast<std::int64_t>(blocks.size() + 1) * block_tokens <= end)
      blocks.push_back((std::uint64_t{segment.chain} << 32U) + blocks.size());
  }
  return blocks;
}

struct Totals {
  double input = 0, output = 0, first = 0, last = 0;  // tokens; milliseconds
  double token_characters = 0;                        // of texts
};

void use_trace(const sim::Trace& trace, std::int64_t block_tokens, kv_cache::ReuseCurve& reuse, Totals& totals) {
  for (const sim::Arrival& arrival : trace.arrivals) {
    if (cancelled()) return;
    totals.last = in_milliseconds(sim::from_sim_time(arrival.at));
    totals.input += arrival.size, totals.output += arrival.output;
    reuse.add(blocks_of(trace.prompts->of(arrival.prompt), block_tokens));
  }
}

// Sets the tokens of a block if they were not given.
Result<> use_file(Flags& flags, kv_cache::ReuseCurve& reuse, Totals& totals) {
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> raw, open_bytes(flags.trace));
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> source, uncompress(flags.trace, std::move(raw)));
  constexpr std::size_t kBeginning = 64U << 10;
  RIGHTSIZE_TRY(std::string beginning, read_beginning(*source, kBeginning));
  if (!flags.block_tokens) flags.block_tokens = kv_cache::usual_block(beginning);
  source = put_back(std::move(beginning), std::move(source));
  const auto use = [&](const kv_cache::HashedRequest& request) {
    if (reuse.requests() == 0) totals.first = request.at_ms;
    totals.last = request.at_ms;
    totals.input += static_cast<double>(request.input), totals.output += static_cast<double>(request.output);
    totals.token_characters = request.token_characters;
    reuse.add(request.blocks);
  };
  return kv_cache::each_request(*source, flags.trace, use, *flags.block_tokens);
}

Checked<Outcome> run_cache(Flags flags) {
  if (const auto gpus = take_replica_gpus(flags.gpu); gpus && !flags.tp) flags.tp = gpus;
  CacheAnswer answer;
  model::ModelShape shape;
  const bool sized = !flags.model.empty();
  if (sized) {
    RIGHTSIZE_TRY(shape, model::find_model(flags.model));
    answer.model = shape.name;
    RIGHTSIZE_TRY(answer.per_token, bytes_per_token(flags, shape));
  } else if (flags.trace.empty() || !flags.gpu.empty() || !flags.sizes.empty() || flags.gpu_blocks) {
    return fail(bad_input("without --model, hit rates are by blocks of a trace; other flags need the model")
                    .with_hint("--model llama-3.1-8b"));
  }
  RIGHTSIZE_TRY(const SessionTraffic sessions, sessions_of(flags, shape));
  const double share = answer.sampled_users = sessions.share;
  std::shared_ptr<const sim::Trace> trace = sessions.trace;
  answer.file = trace ? "sessions" : flags.trace;
  kv_cache::ReuseCurve reuse;
  Totals totals;
  if (trace) {
    if (!flags.block_tokens) flags.block_tokens = kv_cache::kBlockTokens;
    use_trace(*trace, *flags.block_tokens, reuse, totals);
  } else if (const Result<> read = use_file(flags, reuse, totals); !read) {
    return fail(read.error());
  }
  if (cancelled()) return fail(bad_input("cancelled"));
  answer.block_tokens = *flags.block_tokens, answer.token_characters = totals.token_characters;
  const Bytes block = sized ? answer.per_token * static_cast<double>(answer.block_tokens) : bytes(1);
  answer.requests = reuse.requests(), answer.blocks = reuse.blocks(), answer.distinct = reuse.distinct() / share;
  answer.mean_input = totals.input / static_cast<double>(answer.requests);
  answer.mean_output = totals.output / static_cast<double>(answer.requests);
  answer.span = milliseconds(totals.last - totals.first);
  answer.unlimited = reuse.unlimited_hit_rate();
  const Bytes all = block * std::max(1.0, answer.distinct);
  if (sized) answer.unlimited_size = all;
  answer.error = reuse.error();
  std::vector<Bytes> sizes = flags.sizes.empty() ? round_sizes(block, all) : flags.sizes;
  constexpr double kTokensOfBlock = 16;  // vLLM's block_size
  if (flags.gpu_blocks) sizes.push_back(answer.per_token * kTokensOfBlock * static_cast<double>(*flags.gpu_blocks));
  answer.curve = curve_at(std::move(sizes), reuse, block, sized, share);
  answer.plotted = curve_at(spread_sizes(block, all), reuse, block, sized, share);
  constexpr double kKnee = 0.9;
  answer.knee = curve_at({block * (reuse.room_for(kKnee) / share)}, reuse, block, sized, share).front();
  if (!flags.gpu.empty()) {
    if (!trace) {
      RIGHTSIZE_TRY(sim::Trace read, sim::read_trace_file(flags.trace, static_cast<std::int32_t>(answer.block_tokens)));
      trace = std::make_shared<const sim::Trace>(std::move(read));
    }
    RIGHTSIZE_TRY(answer.tiers, answer_tiers(flags, shape, answer.per_token, trace));
  } else if (!flags.tiers.empty() || !flags.slo.empty() || flags.tp || flags.rate) {
    return fail(bad_input("--tier, --slo, --tp and --rate need --gpu").with_hint("--gpu h100-sxm"));
  }
  return Outcome{cache_report(answer)};
}

}  // namespace

Run add_cache(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add("trace", flags->trace)
      ->argument("file")
      ->meaning(
          "requests with block hashes, one JSON object per line (Mooncake's format), or logs of chats (messages or "
          "prompt); also .gz and .zst");
  command.add("model", flags->model)
      ->meaning("the model of the cache: a name or a config.json")
      ->or_words("none: sizes in blocks");
  command.add("sessions", flags->sessions)->meaning("conversations instead of a trace: users=2000,turns=6,...");
  command.add("session-users", flags->users)->called("users");
  command.add("turns", flags->turns);
  command.add("system-prompt", flags->system_prompt);
  command.add("isl", flags->isl)->meaning("with --users: new prompt tokens of a turn")->or_words("200");
  command.add("osl", flags->osl)->meaning("with --users: tokens of an answer")->or_words("300");
  command.add("sizes", flags->sizes)->or_words("1, 2 and 5 times powers of ten");
  command.add("gpu-blocks", flags->gpu_blocks);
  command.add("block-tokens", flags->block_tokens);
  command.add("kv-precision", flags->kv_precision)->or_words("16 bits");
  command.add("gpu", flags->gpu)->meaning("also compare tiers on this GPU: hits, TTFT, GPUs, dollars");
  command.add("tier", flags->tiers)->or_words("the memory and the disks of machines with this GPU, and remote storage");
  command.add("tp", flags->tp)
      ->one_value()
      ->meaning("GPUs per replica")
      ->or_words("the number with the fewest GPUs in all");
  command.add("slo", flags->slo)->meaning("limits that the GPUs must meet, e.g. ttft=2s,tpot=50ms");
  command.add("slo-percentile", flags->slo_percentile);
  command.add("rate", flags->rate)->meaning("replay the trace at this rate")->or_words("as recorded");
  command.add("routing", flags->routing);
  command.add("stack", flags->stack)->meaning("vllm, trtllm or sglang")->or_words("vllm");
  command.add("precision", flags->precision)
      ->meaning("number format of the weights")
      ->or_words("as published, else bf16");
  add_price_flag(command, flags->price);
  command.add("purchase", flags->purchase)
      ->or_else("on-demand")
      ->meaning("terms of catalogue prices: on-demand, spot, 1y or 3y");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_cache(*flags); };
}

}  // namespace rightsize::app
