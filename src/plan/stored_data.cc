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

namespace {

// JPEGs of ImageNet's size (500 x 375, 111 kB) that a vCPU decodes, crops, resizes, flips and normalizes with
// Pillow 12.3 and torchvision 0.26 while the 15 others of an Intel Xeon do the same: 2,969 images/s in all, measured
// 2026-11-19.
constexpr double kImagesPerCpu = 185;

std::string rate_words(double images) { return format_count(std::round(images)) + " images/s"; }

}  // namespace

std::optional<ImageInput> image_input(const Request& request, const Plan& plan) {
  if (request.work.kind != WorkKind::kTraining || request.model.image_size == 0 || request.work.is_measured())
    return std::nullopt;
  ImageInput input{plan.units_per_second, plan.units_per_second / kImagesPerCpu, {}};
  const catalog::Machine& machine = *plan.offer.machine;
  if (machine.vcpus) input.available = static_cast<double>(*machine.vcpus) * plan.gpus / std::max(1, machine.gpus);
  return input;
}

std::string describe_image_input(const Request& request, const Plan& plan) {
  const auto input = image_input(request, plan);
  if (!input) return {};
  return fmt::format("{} decoded on the hosts, which takes about {} vCPUs", rate_words(input->images_per_second),
                     format_count(std::ceil(input->cpus)));
}

std::string short_of_cpus(const Request& request, const Plan& plan) {
  const auto input = image_input(request, plan);
  if (!input || !input->is_short()) return {};
  return fmt::format(
      "the {} vCPUs next to the GPUs decode about {} JPEGs of ImageNet's size per second, and the plan needs {}: "
      "decode "
      "on the GPU (DALI), or store smaller images",
      format_count(*input->available), format_count(std::round(*input->available * kImagesPerCpu)),
      format_count(std::round(input->images_per_second)));
}

namespace {

using SkyPilotClouds = std::vector<std::pair<std::string, SkyPilotCloud>>;

const SkyPilotClouds& skypilot_clouds() {
  static const SkyPilotClouds kClouds = [] {
    const Csv csv = *Csv::parse("data/skypilot_clouds.csv", std::string(embedded_file("skypilot_clouds.csv")));
    SkyPilotClouds clouds;
    for (const CsvRow& row : csv.rows()) {
      const auto is = [&](const char* column) { return csv.cell(row, column) == "yes"; };
      SkyPilotCloud cloud{std::string(csv.cell(row, "infra")),
                          is("nodes"),
                          is("buckets"),
                          is("volumes"),
                          is("spot"),
                          is("docker"),
                          is("ports"),
                          is("autodown"),
                          {}};
      for (std::string_view word : split_list(csv.cell(row, "network"), ' ')) cloud.network.emplace_back(word);
      clouds.emplace_back(csv.cell(row, "provider"), std::move(cloud));
    }
    return clouds;
  }();
  return kClouds;
}

// The first need that a cloud does not meet; empty: none.
std::string_view unmet(const SkyPilotCloud& cloud, const SkyPilotNeeds& needs) {
  if (needs.nodes && !cloud.nodes) return "starts no jobs over several machines";
  if (needs.spot && !cloud.spot) return "rents no spot machines";
  if (needs.ports && !cloud.ports) return "opens no ports for a service";
  if (needs.docker && !cloud.docker) return "starts no container images, which ROCm needs,";
  return {};
}

}  // namespace

SkyPilotCloud skypilot_cloud(std::string_view provider) {
  const SkyPilotClouds& all = skypilot_clouds();
  const auto found = std::ranges::find(all, provider, [](const auto& row) { return std::string_view(row.first); });
  return found == all.end() ? SkyPilotCloud{} : found->second;
}

Result<> check_skypilot(std::string_view provider, const SkyPilotNeeds& needs) {
  const std::string_view lacks = unmet(skypilot_cloud(provider), needs);
  if (lacks.empty()) return {};
  constexpr std::size_t kFew = 4;
  std::vector<std::string_view> able;
  for (const auto& [name, cloud] : skypilot_clouds())
    if (able.size() < kFew && !cloud.infra.empty() && unmet(cloud, needs).empty()) able.push_back(name);
  return fail(
      bad_input(fmt::format("SkyPilot {} on {}", lacks, provider))
          .with_hint("use --emit kubernetes or --emit slurm")
          .with_hint(fmt::format("--providers {} restricts the plan to clouds where it can", fmt::join(able, ","))));
}

bool keeps_results(const market::Offer& offer) {
  const SkyPilotCloud cloud = skypilot_cloud(offer.machine->provider);
  return cloud.buckets || cloud.volumes;
}

}  // namespace rightsize::plan
