#include "rightsize/models/report.h"

#include <fmt/format.h>

#include "base/format.h"
#include "families/presets.h"
#include "families/read_model.h"

namespace rightsize::app {
namespace {

using model::ModelShape;
using report::Align;
using report::Json;

std::string_view name_of(model::WeightRole role) {
  static constexpr std::string_view kNames[] = {"embedding", "positions", "attention", "mlp",  "experts",
                                                "router",    "norm",      "head",      "conv", "other"};
  return kNames[static_cast<int>(role)];
}

Json json_of(const ModelShape& m) {
  Json json = {{"name", m.name},
               {"family", m.family},
               {"architecture", m.architecture},
               {"parameters", m.parameters()},
               {"active_parameters", m.active_parameters()},
               {"layers", m.layers},
               {"hidden", m.hidden},
               {"heads", m.heads},
               {"kv_heads", m.kv_heads},
               {"head_dim", m.head_dim},
               {"intermediate", m.intermediate},
               {"vocabulary", m.vocabulary},
               {"context", m.context > 0 ? Json(m.context) : Json(nullptr)},
               {"tied_embeddings", m.tied_embeddings}};
  if (m.encoder_layers > 0) json["encoder_layers"] = m.encoder_layers;
  if (m.sliding_window > 0) json["sliding_window"] = m.sliding_window;
  if (m.experts) {
    json["experts"] = {{"count", m.experts->count}, {"per_token", m.experts->per_token}, {"shared", m.experts->shared}};
  }
  for (const model::Preset& preset : model::presets()) {
    if (preset.name != m.name) continue;
    json["source"] = preset.source;
    json["date"] = preset.date;
    json["unverified"] = preset.unverified;
  }
  if (m.latent) json["latent_attention"] = {{"q_rank", m.latent->q_rank}, {"kv_rank", m.latent->kv_rank}};
  return json;
}

report::Cell count_cell(std::int64_t value) {
  return value > 0 ? report::number_cell(format_count(static_cast<double>(value)), static_cast<double>(value))
                   : report::unknown_cell();
}

report::Table table_of(const std::vector<ModelShape>& models) {
  report::Table table;
  table.columns = {{"model", "name", Align::kLeft},
                   {"family", "family", Align::kLeft},
                   {"parameters", "parameters", Align::kRight},
                   {"active", "active_parameters", Align::kRight},
                   {"layers", "layers", Align::kRight},
                   {"hidden", "hidden", Align::kRight, 0, true},
                   {"heads", "heads", Align::kRight, 0, true},
                   {"kv", "kv_heads", Align::kRight, 0, true},
                   {"vocab", "vocabulary", Align::kRight, 0, true},
                   {"context", "context", Align::kRight}};
  for (const ModelShape& m : models) {
    table.rows.push_back({report::text_cell(m.name), report::text_cell(m.family), count_cell(m.parameters()),
                          report::number_cell(format_magnitude(static_cast<double>(m.active_parameters())),
                                              static_cast<double>(m.active_parameters())),
                          count_cell(m.layers), count_cell(m.hidden), count_cell(m.heads), count_cell(m.kv_heads),
                          count_cell(m.vocabulary), count_cell(m.context)});
  }
  return table;
}

// Every weight of one model, so that a count can be followed to its tensors.
report::Table inventory_of(const ModelShape& model) {
  report::Table table;
  table.title = "Weights";
  table.columns = {{"weight", "weight", Align::kLeft},  {"role", "role", Align::kLeft},
                   {"shape", "shape", Align::kLeft},    {"bias", "bias", Align::kLeft},
                   {"copies", "copies", Align::kRight}, {"parameters", "parameters", Align::kRight},
                   {"share", "share", Align::kRight}};
  const double total = static_cast<double>(model.parameters());
  for (const model::Weight& w : model.weights) {
    const double elements = static_cast<double>(w.elements());
    table.rows.push_back(
        {report::text_cell(w.name), report::text_cell(name_of(w.role)),
         report::text_cell(w.cols == 1 ? fmt::format("{}", w.rows) : fmt::format("{} x {}", w.rows, w.cols)),
         report::text_cell(w.has_bias ? "yes" : ""), count_cell(w.copies), count_cell(w.elements()),
         report::number_cell(format_percent(Ratio::fraction(elements / total)), elements / total)});
  }
  return table;
}

report::Report with_document(const std::vector<ModelShape>& models) {
  report::Report report;
  report.document = {{"schema", "rightsize/models/1"}, {"models", Json::array()}};
  for (const ModelShape& model : models) report.document["models"].push_back(json_of(model));
  return report;
}

}  // namespace

std::string sentence_about(const ModelShape& m) {
  const double total = static_cast<double>(m.parameters());
  std::string text =
      fmt::format("{} is a {} model of {} parameters ({}); its weights take {} in bf16.", m.name, m.family,
                  format_count(total), format_magnitude(total), format_bytes(bytes(2 * total)));
  if (m.active_parameters() != m.parameters()) {
    text += fmt::format(" {} are active per token.", format_magnitude(static_cast<double>(m.active_parameters())));
  }
  return text;
}

report::Report model_report(const ModelShape& model) {
  report::Report report = with_document({model});
  report.title = model.name;
  report.blocks.emplace_back(report::Paragraph{sentence_about(model)});
  report.blocks.emplace_back(table_of({model}));
  report.blocks.emplace_back(inventory_of(model));
  return report;
}

report::Report models_report(const std::vector<ModelShape>& models) {
  report::Report report = with_document(models);
  report.title = "Models";
  report.blocks.emplace_back(table_of(models));
  std::vector<std::string> families;
  for (const model::ModelFamily& family : model::model_families()) {
    families.emplace_back(family.name);
    report.document["families"].push_back({{"name", family.name}, {"description", family.description}});
  }
  const bool all = models.size() == model::preset_names().size();
  report.blocks.emplace_back(
      report::Paragraph{"Counts are exact, tied weights counted once; 'active': per token. --model also takes a "
                        "Hugging Face config.json of " +
                        (all ? fmt::format("these families: {}.", fmt::join(families, ", "))
                             : fmt::format("{} families ('rightsize models' lists them).", families.size()))});
  return report;
}

}  // namespace rightsize::app
