#include "plan/stored_data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"

namespace rightsize::plan {
namespace {

constexpr double kTextBytesPerToken = 5, kRequestBytes = 300;  // English text, and the JSON around it

// A vector as base64 of 32-bit numbers, which the Embeddings API calls encoding_format base64.
double vector_bytes(const model::ModelShape& model) { return 16.0 / 3 * static_cast<double>(model.hidden); }

// Images as PNG, videos as H.264 at its usual quality.
double picture_bytes(const Request& request) {
  constexpr double kPngBytesPerPixel = 1.5, kVideoBytesPerPixel = 0.02;
  const model::ModelShape& model = request.model;
  const auto size = request.job.image.resolution;
  const double each = model.pipeline ? model.pipeline->pixels : 1;
  const double width = each * model.image_size, height = each * std::max(model.image_height, 0);
  const double pixels = size ? static_cast<double>(size->width) * static_cast<double>(size->height)
                             : width * (height > 0 ? height : width);
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

SkyPilotCloud skypilot_cloud(std::string_view provider) {
  static const Csv kClouds = *Csv::parse("data/skypilot_clouds.csv", std::string(embedded_file("skypilot_clouds.csv")));
  for (const CsvRow& row : kClouds.rows()) {
    if (kClouds.cell(row, "provider") != provider) continue;
    const auto is = [&](const char* column) { return kClouds.cell(row, column) == "yes"; };
    SkyPilotCloud cloud{std::string(kClouds.cell(row, "infra")),
                        is("nodes"),
                        is("buckets"),
                        is("volumes"),
                        is("spot"),
                        is("docker"),
                        is("ports"),
                        is("autodown"),
                        {}};
    for (std::string_view word : split_list(kClouds.cell(row, "network"), ' ')) cloud.network.emplace_back(word);
    return cloud;
  }
  return {};
}

bool keeps_results(const market::Offer& offer) {
  const SkyPilotCloud cloud = skypilot_cloud(offer.machine->provider);
  return cloud.buckets || cloud.volumes;
}

}  // namespace rightsize::plan
