#include "rightsize/models/report.h"

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "families/read_model.h"
#include "memory/kv_cache.h"
#include "model/serve_settings.h"
#include "presets/presets.h"
#include "report/fields.h"
#include "report/filter.h"

namespace rightsize::app {
namespace {

using model::ModelShape;
using report::Fields;
using report::kZeroIsUnknown;
using report::positive;
using report::spare;

std::string_view name_of(model::WeightRole role) {
  static constexpr std::string_view kNames[] = {"embedding", "positions", "attention", "mlp",  "experts",
                                                "router",    "norm",      "head",      "conv", "other"};
  return kNames[static_cast<int>(role)];
}

using Experts = decltype(ModelShape::experts)::value_type;
const Fields<Experts> kExpertsFields = {
    {"count", "experts of a layer", &Experts::count},
    {"per_token", "experts a token is routed to", &Experts::per_token},
    {"shared", "experts that every token passes", &Experts::shared},
};

using Latent = decltype(ModelShape::latent)::value_type;
const Fields<Latent> kLatentFields = {
    {"q_rank", "rank of the query projection", &Latent::q_rank},
    {"kv_rank", "rank of the cached keys and values", &Latent::kv_rank},
};

const Fields<model::Preset> kPresetFields = {
    {"source", "where the shape comes from", &model::Preset::source},
    {"date", "when it was read", &model::Preset::date},
    {"unverified", "no framework has confirmed the parameter count of this configuration", &model::Preset::unverified},
};

std::optional<model::Preset> preset_of(const ModelShape& model) {
  for (model::Preset& preset : model::presets()) {
    if (preset.name == model.name) return std::move(preset);
  }
  return std::nullopt;
}

// How a shape was estimated from the model's name; empty for a shape that is on file or was read.
std::optional<std::string> estimated_how(const ModelShape& model) {
  const std::string said = model::note_on_name(model.name);
  constexpr std::string_view kAssumed = "assumed: ";
  return said.starts_with(kAssumed) ? std::optional(said.substr(kAssumed.size())) : std::nullopt;
}

// Empty for models without a KV cache.
std::optional<Bytes> kv_token_bytes(const ModelShape& model) {
  if (model.kind != model::ModelKind::kDecoder && model.kind != model::ModelKind::kEncoderDecoder) return std::nullopt;
  const Bytes token = memory::kv_token_bytes(model, {});
  return token > Bytes{} ? std::optional(token) : std::nullopt;
}

std::string in_magnitudes(std::int64_t count) { return format_magnitude(static_cast<double>(count)); }

const Fields<ModelShape> kModelFields = {
    {"name", "model", "the model", &ModelShape::name},
    {"estimated?", "how the shape was estimated from the name, where it is not on file", estimated_how},
    {"family", "family", "the family of its layers", &ModelShape::family},
    {"architecture", "the class name in its config.json", &ModelShape::architecture},
    {"parameters", "parameters", "exact count, tied weights once", &ModelShape::parameters, kZeroIsUnknown},
    {"active_parameters", "active", "parameters that one token uses", &ModelShape::active_parameters, in_magnitudes},
    {"layers", "layers", "layers", &ModelShape::layers, kZeroIsUnknown},
    {"hidden", "hidden", "hidden size", &ModelShape::hidden, kZeroIsUnknown},
    {"heads", "heads", "attention heads", &ModelShape::heads, kZeroIsUnknown},
    {"kv_heads", "kv", "heads of keys and values", &ModelShape::kv_heads, kZeroIsUnknown},
    {"head_dim", "size of a head", &ModelShape::head_dim},
    {"intermediate", "hidden size of the MLP", &ModelShape::intermediate},
    {"vocabulary", "vocab", "size of the vocabulary", &ModelShape::vocabulary, kZeroIsUnknown},
    {"context", "context", "longest sequence in tokens", [](const ModelShape& m) { return positive(m.context); }},
    {"kv_bytes_per_token?", "KV cache of one token, in 16 bits and on one GPU", kv_token_bytes},
    {"tied_embeddings", "input and output embeddings are one matrix", &ModelShape::tied_embeddings},
    {"encoder_layers?", "layers of the encoder", [](const ModelShape& m) { return positive(m.encoder_layers); }},
    {"sliding_window?", "tokens that attention reaches back",
     [](const ModelShape& m) { return positive(m.sliding_window); }},
    {"experts?", "mixture of experts", kExpertsFields, &ModelShape::experts},
    {kPresetFields, preset_of},
    {"latent_attention?", "multi-head latent attention", kLatentFields, &ModelShape::latent},
};

const Fields<model::ModelFamily> kFamilyFields = {
    {"name", "the family", &model::ModelFamily::name},
    {"description", "models that belong to it", &model::ModelFamily::description},
};

struct ModelsView {
  const std::vector<ModelShape>& models;
  std::vector<model::ModelFamily> families;
};
const Fields<ModelsView> kDocumentFields = {
    {"models", "the models", kModelFields, [](const ModelsView& v) { return std::cref(v.models); }},
    {"families?", "families whose config.json is understood", kFamilyFields, &ModelsView::families},
};
const report::Document<ModelsView> kModelsDocument("models", "Shapes of models", kDocumentFields);

// The weights of one model.
struct WeightView {
  const model::Weight& weight;
  std::int64_t total;
};
const Fields<WeightView> kWeightFields = {
    {"weight", "weight", "the tensor", [](const WeightView& v) { return v.weight.name; }},
    {"role", "role", "what it is for", [](const WeightView& v) { return name_of(v.weight.role); }},
    {"shape", "shape", "rows and columns",
     [](const WeightView& v) {
       const model::Weight& w = v.weight;
       return w.cols == 1 ? fmt::format("{}", w.rows) : fmt::format("{} x {}", w.rows, w.cols);
     }},
    {"bias", "bias", "has a bias", [](const WeightView& v) { return v.weight.has_bias ? "yes" : ""; }},
    {"copies", "copies", "tensors of this shape", [](const WeightView& v) { return v.weight.copies; }, kZeroIsUnknown},
    {"parameters", "parameters", "of all copies", [](const WeightView& v) { return v.weight.elements(); },
     kZeroIsUnknown},
    {"share", "share", "share of the model's parameters",
     [](const WeightView& v) {
       return Ratio::fraction(static_cast<double>(v.weight.elements()) / static_cast<double>(v.total));
     }},
};

report::Table weights_table(const ModelShape& model) {
  std::vector<WeightView> views;
  for (const model::Weight& weight : model.weights) views.push_back({weight, model.parameters()});
  return table_of(kWeightFields, views, {"weight", "role", "shape", "bias", "copies", "parameters", "share"});
}

report::Table models_table(const std::vector<ModelShape>& models) {
  return table_of(kModelFields, models,
                  {"name", "family", "parameters", "active_parameters", "layers", spare("hidden"), spare("heads"),
                   spare("kv_heads"), spare("vocabulary"), "context"});
}

}  // namespace

std::vector<std::string> model_columns() { return report::filter_columns(kModelFields); }

Result<> keep_matching(std::vector<ModelShape>& models, const std::vector<std::string>& conditions) {
  RIGHTSIZE_TRY(const std::vector<bool> kept, report::matching(kModelFields, models, conditions));
  std::erase_if(models,
                [&](const ModelShape& model) { return !kept[static_cast<std::size_t>(&model - models.data())]; });
  return {};
}

std::string sentence_about(const ModelShape& m) {
  const double total = static_cast<double>(m.parameters());
  std::string text =
      fmt::format("{} is a {} model of {} parameters ({}); its weights take {} in bf16.", m.name, m.family,
                  format_count(total), format_magnitude(total), format_bytes(bytes(2 * total)));
  if (const auto how = estimated_how(m))
    text = fmt::format("Estimated, not exact: {}. It has about {} parameters; its weights take about {} in bf16.", *how,
                       format_magnitude(total), format_bytes(bytes(2 * total)));
  // For gpt-oss and quantized checkpoints, engines load the weights as published.
  if (const model::Precision published = model::checkpoint_precision(m); published != model::Precision::kBf16) {
    const int bits = published == model::Precision::kFp8 || published == model::Precision::kInt8 ? 8 : 4;
    text += fmt::format(" They are published in {}{}: about {}, plus scales and the parts that stay in 16 bits.",
                        model::name_of(published), published == model::Precision::kFp4 ? " (MXFP4 or NVFP4)" : "",
                        format_bytes(bytes(total * bits / 8)));
  }
  if (m.active_parameters() != m.parameters())
    text += fmt::format(" {} are active per token.", in_magnitudes(m.active_parameters()));
  if (m.pipeline && m.pipeline->networks > 1)
    text += fmt::format(" {} networks of this size take turns over the steps.", m.pipeline->networks);
  if (const std::int64_t loaded = m.loaded_parameters(); loaded != m.parameters())
    text += fmt::format(" With {}text encoders and image decoder, {} parameters are in memory ({} in bf16).",
                        m.pipeline->networks > 1 ? "all of them, " : "", in_magnitudes(loaded),
                        format_bytes(bytes(2.0 * static_cast<double>(loaded))));
  if (const auto token = kv_token_bytes(m))
    text += fmt::format(" The KV cache takes {} per token in 16 bits.", format_bytes(*token));
  return text;
}

report::Report model_report(const ModelShape& model) {
  report::Report report{.title = model.name, .document = kModelsDocument.of({{model}, {}})};
  report.say(sentence_about(model));
  report.blocks.emplace_back(models_table({model}));
  if (!estimated_how(model)) report.show("Weights", weights_table(model));
  return report;
}

report::Report models_report(const std::vector<ModelShape>& models) {
  const std::vector<model::ModelFamily> families = model::model_families();
  report::Report report{.title = "Models", .document = kModelsDocument.of({models, families})};
  report.blocks.emplace_back(models_table(models));
  const bool all = models.size() == model::preset_names().size();
  report.say(
      "Counts are exact, tied weights counted once; 'active': per token. --model also takes a Hugging Face config.json "
      "of " +
      (all ? fmt::format("these families: {}.", fmt::join(list_of(families, &model::ModelFamily::name), ", "))
           : fmt::format("{} families ('rightsize models' lists them).", families.size())));
  return report;
}

}  // namespace rightsize::app
