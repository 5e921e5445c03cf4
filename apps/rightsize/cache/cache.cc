// rightsize cache: the hit rate of a KV cache against its size, from a trace with block hashes.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "kv_cache/hashed_trace.h"
#include "kv_cache/reuse.h"
#include "memory/kv_cache.h"
#include "presets/presets.h"
#include "rightsize/cache/report.h"

namespace rightsize::app {
namespace {

using Flags = CacheFlags;

// Keys and values of one token in all layers, stored once: tensor parallelism splits them, and every copy of a latent
// holds the same. 16 bits, unless the cache has another format.
Checked<Bytes> bytes_per_token(const Flags& flags, const model::ModelShape& model) {
  memory::KvLayout layout;
  if (!flags.kv_precision.empty()) {
    RIGHTSIZE_TRY(const model::Job job,
                  model::parse_job({{"job", "serve", {}}, {"kv-precision", flags.kv_precision, {}}}));
    layout.format = memory::kv_format(job, false);
  }
  const Bytes size = memory::kv_token_bytes(model, layout);
  if (size > bytes(0)) return size;
  return fail(Errors{bad_input(fmt::format("{} has no KV cache", model.name)).with_hint("use a language model")});
}

// 1, 2 and 5 times powers of ten, from the size of one block to one that holds everything.
std::vector<Bytes> round_sizes(Bytes least, Bytes most) {
  std::vector<Bytes> sizes;
  for (double power = std::pow(10, std::floor(std::log10(in_bytes(least)))); bytes(power) < most; power *= 10)
    for (const double digit : {1, 2, 5})
      if (bytes(digit * power) >= least && bytes(digit * power) < most) sizes.push_back(bytes(digit * power));
  constexpr std::size_t kMost = 9;  // a screen of rows; the largest are those people ask about
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

std::vector<CacheSize> curve_at(std::vector<Bytes> sizes, const kv_cache::ReuseCurve& reuse, Bytes block) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<double> rooms;
  for (const Bytes size : sizes) rooms.push_back(std::floor(size / block));
  const std::vector<double> rates = reuse.hit_rates(rooms);
  const double all = reuse.unlimited_hit_rate();
  std::vector<CacheSize> curve;
  for (std::size_t i = 0; i < sizes.size(); ++i) curve.push_back({sizes[i], rates[i], all > 0 ? rates[i] / all : 1});
  return curve;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(const model::ModelShape shape, model::find_model(flags.model));
  CacheAnswer answer;
  answer.model = shape.name, answer.file = flags.trace, answer.block_tokens = flags.block_tokens;
  RIGHTSIZE_TRY(answer.per_token, bytes_per_token(flags, shape));
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> raw, open_bytes(flags.trace));
  RIGHTSIZE_TRY(const std::unique_ptr<ByteSource> source, uncompress(flags.trace, std::move(raw)));
  kv_cache::ReuseCurve reuse;
  double input = 0, output = 0, first = 0, last = 0;
  const Result<> read = kv_cache::each_request(*source, flags.trace, [&](const kv_cache::HashedRequest& request) {
    if (reuse.requests() == 0) first = request.at_ms;
    last = request.at_ms;
    input += static_cast<double>(request.input), output += static_cast<double>(request.output);
    reuse.add(request.blocks);
  });
  if (!read) return fail(Errors{read.error()});
  const Bytes block = answer.per_token * static_cast<double>(flags.block_tokens);
  answer.requests = reuse.requests(), answer.blocks = reuse.blocks(), answer.distinct = reuse.distinct();
  answer.mean_input = input / static_cast<double>(answer.requests);
  answer.mean_output = output / static_cast<double>(answer.requests);
  answer.span = milliseconds(last - first);
  answer.unlimited = reuse.unlimited_hit_rate();
  answer.unlimited_size = block * std::max(1.0, answer.distinct);
  answer.error = reuse.error();
  const Bytes all = answer.unlimited_size;
  answer.curve = curve_at(flags.sizes.empty() ? round_sizes(block, all) : flags.sizes, reuse, block);
  answer.plotted = curve_at(spread_sizes(block, all), reuse, block);
  constexpr double kKnee = 0.9;
  answer.knee = curve_at({block * reuse.room_for(kKnee)}, reuse, block).front();
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(answer.tiers, answer_tiers(flags, shape, answer.per_token));
  } else if (!flags.tiers.empty() || !flags.slo.empty() || flags.tp || flags.rate) {
    return fail(Errors{bad_input("--tier, --slo, --tp and --rate need --gpu").with_hint("--gpu h100-sxm")});
  }
  Outcome outcome;
  outcome.report = cache_report(answer);
  return outcome;
}

}  // namespace

Run add_cache(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add("trace", flags->trace)
      ->argument("file")
      ->required()
      ->meaning("requests with block hashes, one JSON object per line (Mooncake's format); also .gz and .zst");
  command.add("model", flags->model)->required()->meaning("the model whose cache it is: a name or a config.json");
  command.add("sizes", flags->sizes)->or_words("1, 2 and 5 times powers of ten");
  command.add("block-tokens", flags->block_tokens);
  command.add("kv-precision", flags->kv_precision)->or_words("16 bits");
  command.add("gpu", flags->gpu)->meaning("also compare tiers on this GPU: hits, TTFT, GPUs, dollars");
  command.add("tier", flags->tiers)->or_words("the memory and the disks of machines with this GPU, and remote storage");
  command.add("tp", flags->tp)->one_value()->meaning("GPUs per replica")->or_words("as few as hold the model");
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
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
