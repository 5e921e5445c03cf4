// rightsize models: the shapes of models, built in or from a config.json.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "base/suggest.h"
#include "model/presets.h"
#include "model/read_model.h"
#include "rightsize/command.h"

namespace rightsize::app {
namespace {

using model::ModelShape;
using report::Align;
using report::Json;

struct Flags {
  std::string model, family;
};

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
                   {"hidden", "hidden", Align::kRight},
                   {"heads", "heads", Align::kRight},
                   {"kv", "kv_heads", Align::kRight},
                   {"vocab", "vocabulary", Align::kRight},
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

std::string sentence_about(const ModelShape& m) {
  const double total = static_cast<double>(m.parameters());
  std::string text =
      fmt::format("{} is a {} model of {} parameters ({}); its weights take {} in 16 bits.", m.name, m.family,
                  format_count(total), format_magnitude(total), format_bytes(bytes(2 * total)));
  if (m.active_parameters() != m.parameters()) {
    text += fmt::format(" {} of them work on one token.", format_magnitude(static_cast<double>(m.active_parameters())));
  }
  return text;
}

Checked<std::vector<ModelShape>> select(const Flags& flags) {
  std::vector<ModelShape> models;
  if (!flags.model.empty()) {
    RIGHTSIZE_TRY(ModelShape model, model::find_model(flags.model));
    models.push_back(std::move(model));
    return models;
  }
  if (!flags.family.empty()) {
    std::vector<std::string> families;
    for (const model::ModelFamily& family : model::model_families()) families.emplace_back(family.name);
    if (std::find(families.begin(), families.end(), flags.family) == families.end()) {
      return fail(
          one(bad_input("unknown family '" + flags.family + "'").with_hint(did_you_mean(flags.family, families))));
    }
  }
  for (const std::string& name : model::preset_names()) {
    RIGHTSIZE_TRY(ModelShape model, model::find_model(name));
    if (flags.family.empty() || model.family == flags.family) models.push_back(std::move(model));
  }
  return models;
}

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(std::vector<ModelShape> models, select(flags));
  Outcome outcome;
  outcome.report.document = {{"schema", "rightsize/models/1"}, {"models", Json::array()}};
  for (const ModelShape& model : models) outcome.report.document["models"].push_back(json_of(model));
  if (!flags.model.empty()) {
    outcome.report.title = models[0].name;
    outcome.report.blocks.emplace_back(report::Paragraph{sentence_about(models[0])});
    outcome.report.blocks.emplace_back(table_of(models));
    outcome.report.blocks.emplace_back(inventory_of(models[0]));
    return outcome;
  }
  outcome.report.title = "Models";
  outcome.report.blocks.emplace_back(table_of(models));
  std::vector<std::string> families;
  for (const model::ModelFamily& family : model::model_families()) {
    families.emplace_back(family.name);
    outcome.report.document["families"].push_back({{"name", family.name}, {"description", family.description}});
  }
  outcome.report.blocks.emplace_back(report::Paragraph{
      fmt::format("--model also takes a Hugging Face config.json of these families: {}. Counts are exact, tied weights "
                  "counted once; 'active' are those that work on one token.",
                  fmt::join(families, ", "))});
  return outcome;
}

}  // namespace

Run add_models(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("--model", flags->model, "one model: a built-in name, or the path of a Hugging Face config.json");
  command.add_option("--family", flags->family, "only built-in models of one family, e.g. llama");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
