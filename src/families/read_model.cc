#include "families/read_model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "base/text.h"
#include "families/config.h"
#include "families/families.h"
#include "model/job.h"

namespace rightsize::model {
namespace {

std::vector<std::string> family_names() { return list_of<std::string>(all_families(), &Family::name); }

std::string list_families() { return fmt::format("supported: {}", fmt::join(family_names(), " ")); }

// The family named at the beginning of the class: "LlamaForCausalLM" -> "llama".
std::string family_of_class(std::string_view architecture) {
  std::string folded = fold_name(architecture);
  std::string best;
  for (const std::string& name : family_names()) {
    if (name.size() > best.size() && folded.starts_with(fold_name(name))) best = name;
  }
  return best;
}

const Family* choose_family(const JsonObject& json, const std::string& architecture) {
  const std::string class_name = json.get_string("_class_name").value_or("");
  for (const Family& family : all_families()) {
    if (!family.class_name.empty() && (family.class_name == class_name || family.is_also(class_name))) return &family;
  }
  if (!json.has("model_type")) {
    std::string guess = family_of_class(architecture);
    json.fail_at(
        "model_type", "'model_type' is missing: it names the family of the model",
        guess.empty() ? list_families() : fmt::format("'{}' suggests \"model_type\": \"{}\"", architecture, guess));
    return nullptr;
  }
  std::optional<std::string> model_type = json.get_string("model_type");
  if (!model_type) return nullptr;
  if (const Family* entry = find_family(*model_type)) return entry;
  std::string hint = did_you_mean(*model_type, family_names());
  json.fail_at("model_type", fmt::format("unknown model_type '{}'", model_type->substr(0, 64)),
               hint.empty() ? list_families() : hint);
  return nullptr;
}

// Every size has a limit, but their product can still be too large. This limit is far below the overflow of 64-bit sums
// of bytes, so later code need not check.
void check_total(const JsonObject& json, const ModelShape& shape) {
  constexpr double kMostParameters = 1e15;
  double total = 0;
  const Weight* largest = nullptr;
  double largest_size = 0;
  for (const Weight& weight : shape.weights) {
    double size =
        (static_cast<double>(weight.rows) * static_cast<double>(weight.cols) + static_cast<double>(weight.rows)) *
        static_cast<double>(weight.copies);
    total += size;
    if (size > largest_size) {
      largest_size = size;
      largest = &weight;
    }
  }
  if (total <= kMostParameters) return;
  json.fail_at("model_type", fmt::format("these sizes give {:.1e} parameters ({:.1e} in '{}'); the maximum is {:.0e}",
                                         total, largest_size, largest->name, kMostParameters));
}

// Counts the memory of a sequence while decoding, from the operations of the layers: keys and values, recurrent states
// in 32 bits, and the last tokens of short convolutions in 16 bits.
void count_states(ModelShape& shape) {
  if (shape.kind != ModelKind::kDecoder || !shape.forward) return;
  const Forward& forward = *shape.forward;
  for (const LayerStack& stack : forward.stacks) {
    for (const LayerRun& run : stack.runs) {
      for (std::int32_t program : run.programs) {
        bool cached = false;
        for (const Op& op : forward.programs[static_cast<std::size_t>(program)].ops) {
          const auto aux = static_cast<std::size_t>(op.aux);
          if (op.kind == OpKind::kAttention) cached |= forward.attentions[aux].cached;
          if (op.kind != OpKind::kScan) continue;
          shape.state_bytes += 4 * forward.scans[aux].state_elements() + 2 * forward.scans[aux].conv_elements();
        }
        shape.uncached_layers += cached ? 0 : 1;
      }
    }
  }
}

// Formats that engines support. For other methods the user must pass --precision.
std::optional<Precision> published_format(const JsonObject& quantization, const std::string& method) {
  const std::string algorithm = quantization.get_string("quant_algo").value_or("");
  if (method == "mxfp4" || method == "nvfp4" || algorithm == "NVFP4") return Precision::kFp4;
  if (method == "fp8" || algorithm == "FP8") return Precision::kFp8;
  if (method == "awq" || method == "gptq") return Precision::kInt4;
  return std::nullopt;
}

// Scales of an 8-bit KV cache are named by kv_cache_scheme (compressed-tensors) or kv_cache_quant_algo (ModelOpt).
void read_checkpoint(const JsonObject& json, ModelShape& shape) {
  const JsonObject quantization = json.get_object_or_empty("quantization_config");
  const std::string method = quantization.get_string("quant_method").value_or("");
  shape.checkpoint = published_format(quantization, method);
  const std::string algorithm = to_lower(quantization.get_string("kv_cache_quant_algo").value_or(""));
  shape.cache_scales =
      quantization.get_object_or_empty("kv_cache_scheme").has("num_bits") || algorithm.starts_with("fp8");
}

// A model is named after its file, or after its folder if the file is config.json and the folder has the name of a
// model: "phi-4", not "f" or "config".
std::string name_of_file(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  const std::string folder = path.parent_path().filename().string();
  // Text pasted into the page is stored in a temporary folder; its name would mean nothing to the user.
  std::error_code ignored;
  const bool sent = path.string().starts_with((std::filesystem::temp_directory_path(ignored) / "rightsize-").string());
  const bool named = folder.size() > 2 && folder.find_first_of("-_0123456789") != folder.npos && !sent;
  return path.filename() == "config.json" && named ? folder : path.filename().string();
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const Family& family : all_families()) {
    if (family.name == model_type || family.is_also(model_type)) return &family;
  }
  return nullptr;
}

std::vector<ModelFamily> model_families() {
  return list_of(all_families(), [](const Family& family) { return ModelFamily{family.name, family.summary}; });
}

Checked<ModelShape> read_model(const LocatedJson& document, const JsonValue& config, std::string name,
                               const ReadOptions& options) {
  Errors errors;
  JsonObject json(document, config, errors);
  if (config.type != JsonType::kObject) {
    errors.push_back(bad_input("a model configuration must be a JSON object").at(document.place(config)));
    return fail(std::move(errors));
  }
  ModelShape shape;
  shape.name = std::move(name);
  std::vector<std::string> classes = json.get_strings("architectures").value_or(std::vector<std::string>{});
  if (!classes.empty()) shape.architecture = classes.front();
  const Family* entry = choose_family(json, shape.architecture);
  if (entry) {
    shape.family = entry->name;
    entry->read(Config(json, options.resolution, options.frames), shape);
    if (json.has("quantization_config")) read_checkpoint(json, shape);
    json.refuse_misspelt();
  }
  if (errors.empty()) check_total(json, shape);
  if (errors.empty()) count_states(shape);
  if (!errors.empty()) return fail(std::move(errors));
  return shape;
}

Checked<ModelShape> read_model(std::string file, std::string json_text, const ReadOptions& options) {
  std::string name = name_of_file(file);
  Checked<LocatedJson> document = LocatedJson::parse(std::move(file), std::move(json_text));
  if (!document) return fail(std::move(document).error());
  return read_model(*document, document->root(), std::move(name), options);
}

}  // namespace rightsize::model
