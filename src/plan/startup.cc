#include "plan/startup.h"

#include <map>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "memory/weight_bytes.h"

namespace rightsize::plan {
namespace {

struct Images {
  std::map<std::string, Bytes, std::less<>> sizes;
  BytesPerSecond pulled_at;
};

const Images& images() {
  static const Images kImages = [] {
    const Csv csv = *Csv::parse("data/images.csv", std::string(embedded_file("images.csv")));
    Images all;
    for (const CsvRow& row : csv.rows()) {
      const std::string_view size = csv.cell(row, "compressed"), rate = csv.cell(row, "pulled-at");
      if (!size.empty()) all.sizes.emplace(csv.cell(row, "image"), *parse_bytes(size));
      if (!rate.empty()) all.pulled_at = *parse_bandwidth(rate);
    }
    return all;
  }();
  return kImages;
}

}  // namespace

std::string image_for(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu) {
  const model::Job& job = request.job;
  const bool amd = gpu.vendor == "AMD";
  const bool pooled = request.work.kind == WorkKind::kServing && request.model.kind == model::ModelKind::kEncoder;
  const bool own_code = perf::serves_batches(work) && (!pooled || request.model.image_size > 0);
  const bool plain = job.kind == model::JobKind::kTrain || request.work.is_measured() || own_code;
  if (plain) return amd ? "rocm/pytorch:latest" : "pytorch/pytorch:latest";
  return serving_image(job.stack, amd);
}

std::string serving_image(model::Stack stack, bool amd) {
  if (stack == model::Stack::kSglang) return amd ? "lmsysorg/sglang:latest-rocm" : "lmsysorg/sglang:latest";
  if (stack == model::Stack::kTrtLlm) return "nvcr.io/nvidia/tensorrt-llm/release:latest";
  return amd ? "rocm/vllm:latest" : "vllm/vllm-openai:latest";
}

std::optional<Bytes> image_size(std::string_view image) {
  const auto known = images().sizes.find(image);
  return known == images().sizes.end() ? std::nullopt : std::optional(known->second);
}

Startup startup_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu) {
  constexpr double kMachineAndProcesses = 3 * 60;  // the timelines in data/images.csv: 2 min 14 s to 3 min 47 s
  constexpr double kGbPerSecond = 1;               // from storage in the same region
  Startup startup;
  startup.machine = seconds(kMachineAndProcesses);
  startup.image = image_for(request, work, gpu);
  startup.image_size = image_size(startup.image);
  if (startup.image_size) startup.image_pull = *startup.image_size / images().pulled_at;
  const model::ModelShape& model = request.model;
  const double each = model.checkpoint ? memory::bytes_per_element(*model.checkpoint) : 2.0;
  if (!request.from_scratch.value_or(false))
    startup.weights_size = bytes(each * static_cast<double>(model.loaded_parameters()));
  startup.weights = startup.weights_size / gb_per_s(kGbPerSecond);
  return startup;
}

market::JobAssumptions assumptions_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu) {
  market::JobAssumptions assumed = request.assumptions;
  assumed.startup = request.startup ? *request.startup : startup_on(request, work, gpu).total();
  assumed.restart = request.restart.value_or(assumed.startup);
  return assumed;
}

}  // namespace rightsize::plan
