#include "live_service/served_model.h"

#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "presets/presets.h"

namespace rightsize::live_service {
namespace {

using model::Precision;

// Suffixes of checkpoint names that give the format of the weights.
constexpr std::pair<std::string_view, Precision> kFormats[] = {
    {"-fp8-dynamic", Precision::kFp8},
    {"-fp8-kv", Precision::kFp8},
    {"-fp8", Precision::kFp8},
    {"-nvfp4", Precision::kFp4},
    {"-fp4", Precision::kFp4},
    {"-mxfp4", Precision::kFp4},
    {"-awq-int4", Precision::kInt4},
    {"-awq", Precision::kInt4},
    {"-gptq-int4", Precision::kInt4},
    {"-gptq-int8", Precision::kInt8},
    {"-gptq", Precision::kInt4},
    {"-w4a16", Precision::kInt4},
    {"-quantized.w4a16", Precision::kInt4},
    {"-quantized.w8a8", Precision::kInt8},
    {"-w8a8", Precision::kInt8},
    {"-int4", Precision::kInt4},
    {"-int8", Precision::kInt8},
    {"-bf16", Precision::kBf16},
    {"-fp16", Precision::kFp16},
};

// Parts of a checkpoint's name that do not change its architecture.
constexpr std::string_view kTunings[] = {"-instruct", "-chat", "-it", "-hf", "-turbo", "-preview"};

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    const std::size_t end = at + part.size();
    const bool whole = end == text.size() || text[end] == '-' || text[end] == '_';
    if (whole)
      text.erase(at, part.size());
    else
      at = end;
  }
  return text;
}

}  // namespace

Checked<ServedModel> find_served_model(std::string_view served) {
  ServedModel found;
  if (served.ends_with(".json")) {
    RIGHTSIZE_TRY(found.shape, model::find_model(served));
    found.name = std::string(served);
    return found;
  }
  std::string name =
      to_lower(served.substr(served.find_last_of('/') == std::string_view::npos ? 0 : served.find_last_of('/') + 1));
  for (const auto& [ending, precision] : kFormats) {
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    found.precision = precision, found.precision_named = true;
    break;
  }
  std::string plain = name;
  for (std::string_view part : kTunings) plain = without(plain, part);
  std::string bare = plain.starts_with("meta-") ? plain.substr(5) : plain;
  for (const std::string& candidate : {name, plain, bare}) {
    if (candidate.empty()) continue;
    if (Checked<model::ModelShape> shape = model::find_model(candidate)) {
      found.shape = *std::move(shape), found.name = candidate;
      return found;
    }
  }
  return fail(Errors(bad_input(fmt::format("unknown model '{}'", served))
                         .with_hint("pass --model llama-3.1-8b, or the path of its config.json")));
}

}  // namespace rightsize::live_service
