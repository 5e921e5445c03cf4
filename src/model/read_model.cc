#include "model/read_model.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/suggest.h"
#include "model/config.h"
#include "model/families/families.h"

namespace rightsize::model {
namespace {

struct FamilyEntry {
  ModelFamily family;
  void (*read)(const Config& config, ModelShape& shape);
};

constexpr std::array kFamilies = {
    FamilyEntry{{"llama", "Llama 1-3 and what copies them: grouped-query attention, SwiGLU"}, read_llama},
    FamilyEntry{{"mistral", "Mistral 7B, Nemo, Small: Llama with a sliding window or wide heads"}, read_mistral},
    FamilyEntry{{"mixtral", "Mixtral: Mistral with 8 experts, 2 a token"}, read_mixtral},
    FamilyEntry{{"qwen2", "Qwen 1.5, 2 and 2.5: Llama with biases on q, k and v"}, read_qwen2},
    FamilyEntry{{"qwen3", "Qwen 3 dense: norms on q and k instead of biases"}, read_qwen3},
    FamilyEntry{{"qwen2_moe", "Qwen 1.5 and 2 mixtures, with a shared expert"}, read_qwen2_moe},
    FamilyEntry{{"qwen3_moe", "Qwen 3 mixtures: 128 small experts, 8 a token"}, read_qwen3_moe},
    FamilyEntry{{"gemma", "Gemma: wide heads, tied embeddings, GeGLU"}, read_gemma},
    FamilyEntry{{"gemma2", "Gemma 2: four norms a layer, every other layer windowed, soft caps"}, read_gemma2},
    FamilyEntry{{"gemma3", "Gemma 3 with its SigLIP image tower, or text alone"}, read_gemma3},
    FamilyEntry{{"gemma3_text", "Gemma 3, text alone"}, read_gemma3_text},
    FamilyEntry{{"phi", "Phi 1 to 2: parallel attention and MLP, biases throughout"}, read_phi},
    FamilyEntry{{"phi3", "Phi 3 and 4: fused q/k/v and gate/up"}, read_phi3},
    FamilyEntry{{"gpt2", "GPT-2: learned positions, fused q/k/v"}, read_gpt2},
    FamilyEntry{{"gpt_neo", "GPT-Neo: every other layer local"}, read_gpt_neo},
    FamilyEntry{{"gpt_neox", "GPT-NeoX and Pythia: parallel block, partly rotary"}, read_gpt_neox},
    FamilyEntry{{"gptj", "GPT-J: parallel block, one norm"}, read_gptj},
    FamilyEntry{{"gpt_bigcode", "StarCoder: GPT-2 with one key and value for all heads"}, read_gpt_bigcode},
    FamilyEntry{{"gpt_oss", "gpt-oss: experts with biases, attention sinks, windows"}, read_gpt_oss},
    FamilyEntry{{"opt", "OPT: GPT-3 sizes, learned positions, ReLU"}, read_opt},
    FamilyEntry{{"mpt", "MPT, of transformers (MptForCausalLM) and of llm-foundry (MPTForCausalLM)"}, read_mpt},
    FamilyEntry{{"bloom", "BLOOM: ALiBi, a norm after the embedding"}, read_bloom},
    FamilyEntry{{"falcon", "Falcon 7B (one key for all heads), 40B and 180B (groups), RW"}, read_falcon},
    FamilyEntry{{"deepseek_v2", "DeepSeek V2: latent attention, experts beside shared ones"}, read_deepseek_v2},
    FamilyEntry{{"deepseek_v3", "DeepSeek V3 and R1: V2 with 256 experts, 8 a token"}, read_deepseek_v3},
    FamilyEntry{{"granite", "Granite 3: Llama with other multipliers"}, read_granite},
    FamilyEntry{{"smollm3", "SmolLM 3: Llama, some layers without rotation"}, read_smollm3},
    FamilyEntry{{"olmo", "OLMo: norms without weights"}, read_olmo},
    FamilyEntry{{"olmo2", "OLMo 2: norms after each part, on q and k too"}, read_olmo2},
    FamilyEntry{{"starcoder2", "StarCoder 2: biases, layer norms, plain MLP"}, read_starcoder2},
    FamilyEntry{{"stablelm", "StableLM: layer norms, partly rotary"}, read_stablelm},
    FamilyEntry{{"cohere", "Command R: parallel block, tied embeddings"}, read_cohere},
    FamilyEntry{{"cohere2", "Command R7B: every fourth layer full"}, read_cohere2},
    FamilyEntry{{"glm", "GLM-4: fused gate/up, half rotary"}, read_glm},
    FamilyEntry{{"glm4", "GLM-4-0414: four norms a layer"}, read_glm4},
    FamilyEntry{{"olmoe", "OLMoE: OLMo 2 attention, 64 experts, 8 a token"}, read_olmoe},
    FamilyEntry{{"bert", "BERT with its masked-LM, pre-training or classifier heads"}, read_bert},
    FamilyEntry{{"roberta", "RoBERTa"}, read_roberta},
    FamilyEntry{{"xlm-roberta", "XLM-RoBERTa"}, read_roberta},
    FamilyEntry{{"camembert", "CamemBERT"}, read_roberta},
    FamilyEntry{{"distilbert", "DistilBERT"}, read_distilbert},
    FamilyEntry{{"t5", "T5, Flan-T5: relative positions"}, read_t5},
    FamilyEntry{{"mt5", "mT5"}, read_t5},
    FamilyEntry{{"umt5", "UMT5: position biases in every layer"}, read_t5},
    FamilyEntry{{"bart", "BART"}, read_bart},
    FamilyEntry{{"whisper", "Whisper: audio encoder, text decoder"}, read_whisper},
    FamilyEntry{{"vit", "Vision transformers, of transformers or torchvision"}, read_vit},
    FamilyEntry{{"deit", "DeiT: ViT with a distillation token"}, read_vit},
    FamilyEntry{{"swin", "Swin: windowed vision transformers"}, read_swin},
    FamilyEntry{{"resnet", "ResNet 18 to 152"}, read_resnet},
    FamilyEntry{{"convnext", "ConvNeXt tiny to large"}, read_convnext},
    FamilyEntry{{"efficientnet", "EfficientNet B0 to B7"}, read_efficientnet},
    FamilyEntry{{"unet2d_condition", "Stable Diffusion 1, 2 and XL U-Nets (diffusers UNet2DConditionModel)"},
                read_unet},
};

struct OtherName {
  std::string_view name, family;
};

// Spellings found in published files.
constexpr std::array kOtherNames = {
    OtherName{"RefinedWebModel", "falcon"},  OtherName{"RefinedWeb", "falcon"},
    OtherName{"kimi_k2", "deepseek_v3"},     OtherName{"gpt-neox", "gpt_neox"},
    OtherName{"xlm_roberta", "xlm-roberta"}, OtherName{"hf_mpt", "mpt"},
};

std::string_view canonical(std::string_view model_type) {
  for (const OtherName& other : kOtherNames) {
    if (other.name == model_type) return other.family;
  }
  return model_type;
}

const FamilyEntry* find_family(std::string_view model_type) {
  std::string_view name = canonical(model_type);
  for (const FamilyEntry& entry : kFamilies) {
    if (entry.family.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  names.reserve(kFamilies.size());
  for (const FamilyEntry& entry : kFamilies) names.emplace_back(entry.family.name);
  return names;
}

std::string list_families() {
  std::string text = "supported: ";
  for (const FamilyEntry& entry : kFamilies) fmt::format_to(std::back_inserter(text), "{} ", entry.family.name);
  text.pop_back();
  return text;
}

// The family whose name the class begins with: "LlamaForCausalLM" -> "llama".
std::string family_of_class(std::string_view architecture) {
  std::string folded = fold_name(architecture);
  std::string best;
  for (const std::string& name : family_names()) {
    if (name.size() > best.size() && folded.starts_with(fold_name(name))) best = name;
  }
  return best;
}

const FamilyEntry* choose_family(const JsonObject& json, const std::string& architecture) {
  if (json.get_string("_class_name").value_or("") == "UNet2DConditionModel") return find_family("unet2d_condition");
  if (!json.has("model_type")) {
    std::string guess = family_of_class(architecture);
    json.fail_at(
        "model_type", "'model_type' is missing: it names the family of the model",
        guess.empty() ? list_families() : fmt::format("'{}' suggests \"model_type\": \"{}\"", architecture, guess));
    return nullptr;
  }
  std::optional<std::string> model_type = json.get_string("model_type");
  if (!model_type) return nullptr;
  if (const FamilyEntry* entry = find_family(*model_type)) return entry;
  std::string hint = did_you_mean(*model_type, family_names());
  json.fail_at("model_type", fmt::format("unknown model_type '{}'", model_type->substr(0, 64)),
               hint.empty() ? list_families() : hint);
  return nullptr;
}

// Every size has its own limit, but their product can still be no model at all. Far below where 64-bit sums of bytes
// would wrap, so that nothing downstream has to check.
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
  json.fail_at("model_type", fmt::format("these sizes make a model of {:.1e} parameters, of which {:.1e} in '{}': more "
                                         "than {:.0e} is not supported",
                                         total, largest_size, largest->name, kMostParameters));
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

}  // namespace

std::vector<ModelFamily> model_families() {
  std::vector<ModelFamily> families;
  families.reserve(kFamilies.size());
  for (const FamilyEntry& entry : kFamilies) families.push_back(entry.family);
  return families;
}

Checked<ModelShape> read_model(const LocatedJson& document, const JsonValue& config, std::string name) {
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
  const FamilyEntry* entry = choose_family(json, shape.architecture);
  if (entry) {
    shape.family = entry->family.name;
    entry->read(Config(json), shape);
    json.refuse_misspelt();
  }
  if (errors.empty()) check_total(json, shape);
  if (!errors.empty()) return fail(std::move(errors));
  return shape;
}

Checked<ModelShape> read_model(std::string file, std::string json_text) {
  std::string name = base_name(file);
  Checked<LocatedJson> document = LocatedJson::parse(std::move(file), std::move(json_text));
  if (!document) return fail(std::move(document).error());
  return read_model(*document, document->root(), std::move(name));
}

}  // namespace rightsize::model
