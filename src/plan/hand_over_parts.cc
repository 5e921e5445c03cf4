#include "plan/hand_over_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/hand_over_facts.h"
#include "plan/startup.h"

namespace rightsize::plan {
namespace {

// The part length that running_time() counts as lost on an interruption, at most ten minutes.
Seconds counted_length(const Request& request, const Plan& plan) {
  constexpr Seconds kLongest = seconds(600), kOverhead = seconds(1);
  const market::JobAssumptions assumed = assumptions_on(request, perf::work_of(request.model), *plan.offer.gpu);
  const double per_hour = (is_spot(plan) ? assumed.spot_interruptions_per_hour : 0) +
                          assumed.failures_per_gpu_hour * gpus_used_per_machine(plan);
  return per_hour > 0 ? std::min(kLongest, market::checkpoint_interval(kOverhead, hours(1 / per_hour))) : kLongest;
}

// Two significant digits, rounded down.
std::int64_t round_number(double items) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(1.0, items))) - 1));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(items / unit) * unit));
}

constexpr double kTextBytesPerToken = 5, kRequestBytes = 300;  // English text, and the JSON around it

// A vector as base64 of 32-bit numbers, which the Embeddings API calls encoding_format base64.
double vector_bytes(const model::ModelShape& model) { return 16.0 / 3 * static_cast<double>(model.hidden); }

// Images as PNG, videos as H.264 at its usual quality.
double picture_bytes(const Request& request) {
  constexpr double kPngBytesPerPixel = 1.5, kVideoBytesPerPixel = 0.02;
  const model::ModelShape& model = request.model;
  const auto size = request.job.image.resolution;
  const double side = static_cast<double>(model.image_size);
  const double pixels = size ? static_cast<double>(size->width) * static_cast<double>(size->height) : side * side;
  const int frames = request.job.image.frames.value_or(model.pipeline ? model.pipeline->frames : 0);
  return frames > 1 ? pixels * frames * kVideoBytesPerPixel : pixels * kPngBytesPerPixel;
}

// The data of one item.
DataSize item_size(const Request& request) {
  constexpr double kAudioBytesPerSecond = 8000, kPromptImageBytes = 300e3;  // 64 kbit/s; a JPEG of a megapixel
  const model::ModelShape& model = request.model;
  const perf::ModelWork work = perf::work_of(model);
  const auto text = [](std::int64_t tokens) {
    return kRequestBytes + kTextBytesPerToken * static_cast<double>(std::max<std::int64_t>(0, tokens));
  };
  if (work.audio_seconds > 0) return {bytes(work.audio_seconds * kAudioBytesPerSecond), bytes(2 * kRequestBytes)};
  if (model.pipeline) return {bytes(text(100)), bytes(picture_bytes(request))};
  if (model.image_size > 0) return {bytes(kPromptImageBytes), bytes(kRequestBytes)};
  if (perf::serves_batches(work))
    return {bytes(text(request.job.sequence)), bytes(kRequestBytes + (model.labels > 0 ? 0 : vector_bytes(model)))};
  const model::ServeSettings& serve = request.job.serve;
  const double images = kPromptImageBytes * request.job.image.count;
  return {bytes(text(serve.isl - request.job.image.tokens) + images),
          bytes(serve.osl <= 1 ? kRequestBytes + vector_bytes(model) : text(serve.osl))};
}

}  // namespace

Parts parts_of(const Request& request, const Plan& plan) {
  constexpr Seconds kShortest = seconds(60);  // shorter parts cost more in files than they save
  const double each = plan.units_per_second / std::max(1, plan.replicas);
  Parts parts;
  // A script works batch by batch, so a part has at least one batch.
  const std::int64_t batch = needs_code(request) ? std::max<std::int64_t>(1, plan.job.batch) : 1;
  if (!needs_code(request)) parts.in_flight = seconds(plan.running / each);
  const Seconds length = std::max(kShortest, counted_length(request, plan) - parts.in_flight);
  parts.items = std::max(batch, round_number(in_seconds(length) * each));
  parts.count =
      std::max<std::int64_t>(1, std::llround(std::ceil(request.work.amount / static_cast<double>(parts.items))));
  parts.length = seconds(static_cast<double>(parts.items) / each);
  return parts;
}

DataSize data_size(const Request& request) {
  if (request.work.kind != WorkKind::kOffline || request.work.is_measured()) return {};
  const DataSize each = item_size(request);
  return {each.in * request.work.amount, each.out * request.work.amount};
}

std::string describe_data(const Request& request, const Plan& plan) {
  const DataSize size = data_size(request);
  if (!(size.both() > Bytes{})) return {};
  const Bytes stored = plan.side_cost > Usd{} ? request.assumptions.storage.value_or(size.both()) : Bytes{};
  return fmt::format("about {} in and {} out, with {} in the cost (--storage)", format_bytes(size.in),
                     format_bytes(size.out),
                     stored > Bytes{} ? "storage of " + format_bytes(stored) : std::string("no storage"));
}

}  // namespace rightsize::plan
