// rightsize models: shapes of models, built in or from a config.json.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "families/read_model.h"
#include "memory/memory.h"
#include "presets/presets.h"
#include "rightsize/input/job_flags.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/models/report.h"

namespace rightsize::app {
namespace {

using model::ModelShape;

struct ModelsFlags {
  std::vector<std::string> models;
  std::string family, gpu, catalog, job, method, precision;
  std::string sort;
  std::size_t top = 0;
  std::vector<std::string> conditions;
  std::optional<double> min_params, max_params;
  bool moe = false;
  std::int64_t min_context = 0;

  std::vector<std::string> all_conditions() const {
    std::vector<std::string> all = conditions;
    if (min_params) all.push_back(fmt::format("parameters>={:.0f}", *min_params));
    if (max_params) all.push_back(fmt::format("parameters<={:.0f}", *max_params));
    if (moe) all.emplace_back("experts");
    return all;
  }
};

// Whether the GPUs hold the job: one request of a service, or a training batch of one, sharded where needed.
bool can_run(const JobFlags& flags, const ModelShape& model, const catalog::Gpu& gpu) {
  Checked<model::Job> job = read_job(flags, model);
  if (!job) return false;  // a setting that this model does not have
  use_formats_of(gpu, flags, *job);
  split_if_too_large(flags, model, gpu, *job);
  shard_if_too_large(flags, model, gpu, *job);
  return memory::fits(memory::estimate_memory(model, *job, &gpu), gpu).verdict != memory::Verdict::kNo;
}

// The flags of the job: serving, or training where a method is given.
JobFlags job_of_gpus(const ModelsFlags& flags, int gpus) {
  JobFlags job;
  const bool trains = flags.job == "train" || !flags.method.empty();
  job.settings = {{"job", trains ? "train" : "serve"}, {"gpus", std::to_string(gpus)}};
  if (!flags.method.empty()) job.settings["method"] = flags.method;
  if (!flags.precision.empty()) job.settings["precision"] = flags.precision;
  constexpr std::int64_t kAnswer = 256;
  if (flags.min_context > kAnswer)
    job.settings[trains ? "seq" : "isl"] = std::to_string(flags.min_context - (trains ? 0 : kAnswer));
  return job;
}

Checked<Outcome> models_that_fit(const ModelsFlags& flags, std::vector<ModelShape> models) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_hardware(flags.catalog));
  const catalog::CountedGpu wanted = catalog::split_gpu_count(flags.gpu);
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, named_gpu(catalog, wanted.name));
  const int count = wanted.count.value_or(1);
  const JobFlags job = job_of_gpus(flags, count);
  std::erase_if(models, [&](const ModelShape& model) { return !can_run(job, model, *gpu); });
  std::ranges::stable_sort(models,
                           [](const ModelShape& a, const ModelShape& b) { return a.parameters() > b.parameters(); });
  Outcome outcome{models_report(models)};
  const bool trains = job.settings.at("job") == "train";
  outcome.report.say(fmt::format(
      "Models that {}{} can {}, the largest first: {}, weights {}.", count == 1 ? "" : fmt::format("{} x ", count),
      gpu->name,
      !trains                ? "serve"
      : flags.method.empty() ? "train"
                             : fmt::format("fine-tune with {}", flags.method),
      trains ? "a batch of one sequence per GPU"
             : fmt::format("one request of {} tokens",
                           format_count(static_cast<double>(std::max<std::int64_t>(flags.min_context, 1'280)))),
      !flags.precision.empty()  ? "in " + flags.precision
      : flags.method == "qlora" ? "in nf4"
      : trains                  ? "in bf16"
                                : "as published or in bf16"));
  std::rotate(outcome.report.blocks.begin(), outcome.report.blocks.end() - 1, outcome.report.blocks.end());
  if (models.empty()) outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

// All built-in models, or those of the families that begin with a name: qwen is qwen2, qwen2_moe, ...
Checked<std::vector<ModelShape>> select(const ModelsFlags& flags) {
  const auto families = list_of<std::string>(model::model_families(), &model::ModelFamily::name);
  const auto is_family = [&](const std::string& family) {
    return to_lower(family).starts_with(to_lower(flags.family));
  };
  if (std::ranges::none_of(families, is_family))
    return fail(bad_input("unknown family '" + flags.family + "'").with_hint(did_you_mean(flags.family, families)));
  std::vector<ModelShape> models;
  for (const std::string& name : model::preset_names()) {
    RIGHTSIZE_TRY(ModelShape model, model::find_model(name));
    if (is_family(model.family)) models.push_back(std::move(model));
  }
  return models;
}

// What kind of model it is, for a search.
std::string kind_words(const ModelShape& model) {
  using enum model::ModelKind;
  std::string words = model.experts ? "moe " : "";
  if (model.vision) words += "vision multimodal vlm ";
  if (model.encoder_context > 0) words += "speech audio transcription asr ";
  if (model.kind == kDecoder) words += "language llm text ";
  if (model.kind == kEncoder) words += "embedding embeddings encoder ";
  if (model.kind == kVisionTransformer || model.kind == kConvNet) words += "vision image classification ";
  if (model.kind == kDiffusionUNet || model.kind == kDiffusionTransformer) {
    const bool video = std::ranges::any_of(std::array{"video", "wan", "mochi", "ltx"}, [&](const char* part) {
      return model.name.find(part) != std::string::npos;
    });
    words += video ? "diffusion video " : "diffusion image ";
  }
  return words;
}

// Models with a part of the name that begins with the word, or of that kind: `models qwen`, `models coder`, `models
// video`.
std::vector<ModelShape> named_like(const std::string& wanted) {
  std::vector<ModelShape> models;
  for (const std::string& name : model::preset_names()) {
    auto model = model::find_model(name);
    const bool alike = ("-" + name).find("-" + to_lower(wanted)) != std::string::npos;
    if (!model) continue;
    const std::string kinds = kind_words(*model);
    if (alike || std::ranges::count(split_list(kinds, ' '), to_lower(wanted)) > 0) models.push_back(*std::move(model));
  }
  return models;
}

Outcome listed(const ModelsFlags& flags, std::vector<ModelShape> models) {
  if (flags.top > 0 && flags.top < models.size())
    models.erase(models.begin() + static_cast<int>(flags.top), models.end());
  return Outcome{models_report(models)};
}

// The models that a word names: one, or all with such a name.
Checked<std::vector<ModelShape>> named(const std::string& name) {
  std::vector<ModelShape> alike = named_like(name);
  // The name of a model series lists all its members here; other commands take its most common member.
  if (alike.size() > 1 && model::note_on_name(name).starts_with("assumed")) return alike;
  Checked<ModelShape> model = model::find_model(name);
  if (!model && alike.empty()) return fail(model.error());
  if (!model) return alike;
  if (const std::string said = model::note_on_name(name); !said.empty()) {
    note(said);
    if (said.starts_with("assumed") && name.find('/') != std::string::npos) model->name = name;  // not a model on file
  }
  return std::vector{*std::move(model)};
}

// The largest first.
Result<> sort_models(std::vector<ModelShape>& models, const std::string& column) {
  using Key = std::int64_t (*)(const ModelShape&);
  static constexpr std::pair<std::string_view, Key> kKeys[] = {
      {"parameters", [](const ModelShape& m) { return m.parameters(); }},
      {"active_parameters", [](const ModelShape& m) { return m.active_parameters(); }},
      {"context", [](const ModelShape& m) { return std::int64_t{m.context}; }},
      {"layers", [](const ModelShape& m) { return std::int64_t{m.layers}; }},
      {"hidden", [](const ModelShape& m) { return std::int64_t{m.hidden}; }}};
  const auto key =
      std::ranges::find_if(kKeys, [&](const auto& one) { return fold_name(one.first).starts_with(fold_name(column)); });
  if (column.empty() || column == "name") return {};
  if (key == std::end(kKeys))
    return fail(bad_input(fmt::format("cannot sort by '{}'", column))
                    .with_hint("use parameters, active_parameters, context, layers or hidden"));
  std::ranges::stable_sort(models, std::ranges::greater{}, key->second);
  return {};
}

Checked<Outcome> run_models(const ModelsFlags& flags) {
  std::vector<ModelShape> found;
  for (const std::string& name : flags.models) {
    RIGHTSIZE_TRY(std::vector<ModelShape> more, named(name));
    for (ModelShape& model : more) {
      if (std::ranges::find(found, model.name, &ModelShape::name) == found.end()) found.push_back(std::move(model));
    }
  }
  if (flags.models.empty()) {
    RIGHTSIZE_TRY(found, select(flags));
  }
  if (Result<> kept = keep_matching(found, flags.all_conditions()); !kept) return fail(kept.error());
  if (flags.min_context > 0) std::erase_if(found, [&](const auto& model) { return model.context < flags.min_context; });
  if (Result<> sorted = sort_models(found, flags.sort); !sorted) return fail(sorted.error());
  if (!flags.gpu.empty()) return models_that_fit(flags, std::move(found));
  if (flags.models.empty() || found.size() != 1) return listed(flags, std::move(found));
  return Outcome{model_report(found.front())};
}

}  // namespace

Run add_models(FlagSet& command) {
  auto flags = std::make_shared<ModelsFlags>();
  command.add("model", flags->models)
      ->argument()
      ->meaning("built-in names or parts of them, or the path of a Hugging Face config.json");
  command.add("family", flags->family);
  command.add("min-params", flags->min_params);
  command.add("max-params", flags->max_params);
  command.add("min-context", flags->min_context);
  command.add("moe", flags->moe);
  command.add("filter", flags->conditions)->columns(model_columns());
  command.add("gpu", flags->gpu)->meaning("only models that this GPU can serve, or train, e.g. l4 or 2xrtx-4090");
  command.add("job", flags->job)->or_else("serve");
  command.add("method", flags->method);
  command.add("precision", flags->precision);
  command.add("sort", flags->sort)
      ->meaning("the largest first: parameters, active_parameters, context, layers or hidden");
  command.add("top", flags->top)->or_else("0");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_models(*flags); };
}

}  // namespace rightsize::app
