#include "rightsize/diff/fit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "live_service/served_model.h"
#include "memory/memory.h"
#include "presets/model_job.h"

namespace rightsize::app {
namespace {

// Splits a command at spaces, and "--name=value" at the equals sign.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : command) {
    const bool separates = c == ' ' || c == '\n' || c == '\t' || c == '\\' || c == '"' || c == '\'';
    if (separates || (c == '=' && word.starts_with("--")))
      end();
    else
      word += c;
  }
  end();
  return words;
}

std::string precision_of(const EngineCommand& engine) {
  const std::string lower = to_lower(engine.quantization);
  if (lower.find("fp8") != std::string::npos) return "fp8";
  if (lower.find("awq") != std::string::npos || lower.find("gptq") != std::string::npos) return "int4";
  return {};
}

void take_size(const std::string& text, int& into) {
  const Result<std::int64_t> size = parse_integer(text);
  if (size && *size > 0 && *size <= 1024) into = static_cast<int>(*size);
}

}  // namespace

std::optional<EngineCommand> read_engine_command(std::string_view command) {
  const std::vector<std::string> words = words_of(command);
  EngineCommand engine;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string name = words[i];
    const std::string& value = words[i + 1];
    if (name.starts_with("--")) std::replace(name.begin(), name.end(), '_', '-');
    if (name == "serve" && !value.starts_with("-")) engine.model = value;
    if (name == "--model" || name == "--model-path" || name == "--model-id") engine.model = value;
    if (name == "--quantization" || name == "-q" || name == "--quantize") engine.quantization = value;
    if (name == "--tensor-parallel-size" || name == "-tp" || name == "--tp" || name == "--tp-size" ||
        name == "--num-shard") {
      take_size(value, engine.tensor_parallel);
    }
    if (name == "--pipeline-parallel-size" || name == "-pp" || name == "--pp-size") {
      take_size(value, engine.pipeline_parallel);
    }
  }
  if (engine.model.empty()) return std::nullopt;
  return engine;
}

std::optional<ModelFit> model_fit(const manifests::GpuRequest& request, const manifests::Cost& cost) {
  const std::optional<EngineCommand> engine = read_engine_command(request.command);
  // Pipeline stages over several pods are not supported.
  if (!engine || cost.gpu == nullptr || !request.mig_profile.empty() || engine->pipeline_parallel > 1)
    return std::nullopt;
  const Checked<live_service::ServedModel> served = live_service::find_served_model(engine->model);
  if (!served) return std::nullopt;
  const std::string tp = std::to_string(engine->tensor_parallel);
  std::vector<model::Setting> settings = {{"job", "serve", {}}, {"tp", tp, {}}, {"gpus", tp, {}}};
  std::string precision = precision_of(*engine);
  if (precision.empty() && served->precision_named) precision = model::name_of(served->precision);
  if (!precision.empty()) settings.push_back({"precision", precision, {}});
  const Checked<model::Job> job = model::parse_job(settings);
  if (!job) return std::nullopt;
  const Checked<model::ModelJob> both = model::fit_to_model(served->name, *job, settings);
  if (!both || !memory::check_job(both->model, both->job).empty()) return std::nullopt;
  const memory::MemoryNeed need = memory::estimate_memory(both->model, both->job, cost.gpu);
  const memory::Fit fit = memory::fits(need, *cost.gpu);
  ModelFit said;
  said.model = served->name;
  said.fits = fit.verdict != memory::Verdict::kNo;
  const int wanted = engine->tensor_parallel;
  if (request.per_unit && *request.per_unit < wanted) {
    said.fits = false;
    said.words = fmt::format("{} needs {} GPUs (tensor parallel), but the pod has {:.0f}", served->name, wanted,
                             *request.per_unit);
    return said;
  }
  said.words = fmt::format("{} needs {} on each of {} {}; {} has {}: {}", served->name, format_bytes(need.device),
                           wanted, wanted == 1 ? "GPU" : "GPUs", cost.gpu->name, format_bytes(fit.capacity),
                           fit.verdict == memory::Verdict::kNo      ? "does not fit"
                           : fit.verdict == memory::Verdict::kTight ? "tight"
                                                                    : "fits");
  return said;
}

}  // namespace rightsize::app
