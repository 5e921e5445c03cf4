#include "presets/model_job.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "families/vision_tower.h"
#include "presets/presets.h"

namespace rightsize::model {
namespace {

bool is_image_model(const ModelShape& model) {
  return model.kind != ModelKind::kDecoder && model.kind != ModelKind::kEncoder &&
         model.kind != ModelKind::kEncoderDecoder;
}

class Fitting {
 public:
  Fitting(const ModelShape& model, Job& job, const std::vector<Setting>& given)
      : model_(model), job_(job), given_(given) {}

  Errors check() {
    other_jobs();
    adapters();
    if (job_.kind == JobKind::kServe) serve_lengths();
    images();
    return std::move(errors_);
  }

 private:
  const Setting* find(std::string_view name) const {
    const auto found = std::ranges::find_if(given_, [&](const Setting& s) { return s.name == name; });
    return found == given_.end() ? nullptr : &*found;
  }

  void refuse(std::initializer_list<std::string_view> names, std::string_view why, std::string hint) {
    for (std::string_view name : names) {
      const Setting* setting = find(name);
      if (setting == nullptr) continue;
      errors_.push_back(bad_input(fmt::format("'{}' does not apply to {}: {}", name, model_.name, why))
                            .at(setting->place)
                            .with_hint(std::move(hint)));
      return;
    }
  }

  // Settings that apply only to the other kind of job.
  void other_jobs() {
    const bool serving = job_.kind == JobKind::kServe;
    for (const Setting& setting : given_) {
      if (!belongs_only_to(serving ? JobKind::kTrain : JobKind::kServe, setting.name)) continue;
      errors_.push_back(bad_input(fmt::format("'{}' belongs to {}, and this is {}", setting.name,
                                              serving ? "training" : "serving", serving ? "serving" : "training"))
                            .at(setting.place)
                            .with_hint(fmt::format("leave it out, or use --job {}", serving ? "train" : "serve")));
    }
  }

  void adapters() {
    const Setting* method = find("method");
    if (job_.kind != JobKind::kTrain || job_.train.method != Method::kFull ||
        (method != nullptr && method->value.find("lora") != std::string::npos))
      return;
    for (const char* name : {"lora-rank", "lora-targets"}) {
      if (const Setting* setting = find(name)) {
        errors_.push_back(bad_input(fmt::format("'{}' belongs to adapters, and this is full training", name))
                              .at(setting->place)
                              .with_hint("add --method lora (or qlora)"));
      }
    }
  }

  void serve_lengths() {
    if (is_image_model(model_)) {
      refuse({"isl", "osl", "seq"}, "it works on images, not on tokens",
             model_.pipeline ? "--resolution and --steps set the work per image" : "use --batch");
      return;
    }
    if (model_.kind == ModelKind::kEncoder) {
      encoder_lengths();
      return;
    }
    refuse({"seq"}, "a request has a prompt and an answer", "give --isl (prompt) and --osl (answer)");
    // Engines batch requests themselves, so --batch means the requests in flight.
    if (find("batch") != nullptr && find("concurrency") == nullptr && job_.stack != Stack::kHf)
      job_.serve.concurrency = job_.batch;
    fill_lengths(model_, find("isl") != nullptr, find("osl") != nullptr, job_);
  }

  // An encoder has one length and no output tokens, so --isl and --seq mean the same.
  void encoder_lengths() {
    if (find("osl") != nullptr && job_.serve.osl > 0)
      refuse({"osl"}, "it answers in one pass and generates no tokens", "leave --osl out");
    // Chunks to embed and pairs to rank have a few hundred tokens, whatever the model could read.
    constexpr std::int64_t kUsualText = 512;
    if (find("isl") == nullptr && job_.sequence == 0 && model_.context > kUsualText) job_.sequence = kUsualText;
    if (find("isl") == nullptr) return;
    if (job_.sequence != 0 && job_.sequence != job_.serve.isl)
      refuse({"isl"}, fmt::format("--isl {} and --seq {} set the same length; use one", job_.serve.isl, job_.sequence),
             "give one of them");
    job_.sequence = job_.serve.isl;
  }

  void images() {
    if (!errors_.empty()) return;
    if (!model_.pipeline) refuse({"steps", "guidance"}, "it does not make images step by step", "leave it out");
    if (!model_.pipeline || model_.pipeline->frames == 0) refuse({"frames"}, "it does not make videos", "leave it out");
    if (!model_.vision) refuse({"images"}, "it does not read images", "leave it out");
    if (!model_.vision && !is_image_model(model_)) refuse({"resolution"}, "it has no images", "leave it out");
  }

  const ModelShape& model_;
  Job& job_;
  const std::vector<Setting>& given_;
  Errors errors_;
};

// Images of a prompt take tokens in addition to the text, and time in the tower.
void add_images(ModelShape& model, Job& job) {
  if (!has_images(model, job)) return;
  if (job.image.count == 0) job.image.count = 1;
  const ImageSize size = job.image.resolution.value_or(kUsualImage);
  job.image.tokens = job.image.count * image_tokens(*model.vision, size);
  job.serve.isl += job.image.tokens;
  model.tower = std::make_shared<const ModelShape>(trace_tower(*model.vision, size));
  model.tower_images = job.image.count;
}

}  // namespace

void fill_lengths(const ModelShape& model, bool isl_given, bool osl_given, Job& job) {
  // Whisper: 30 s of speech at about 150 words per minute and 1.3 tokens per word, after four tokens that name the
  // task.
  constexpr std::int64_t kSpokenTokens = 100, kTaskTokens = 4;
  ServeSettings& serve = job.serve;
  if (model.encoder_context > 0) {
    if (!isl_given) serve.isl = kTaskTokens;
    if (!osl_given) serve.osl = std::min(kSpokenTokens, std::max<std::int64_t>(1, model.context - serve.isl));
    return;
  }
  if (model.context <= 0 || serve.isl + serve.osl <= model.context) return;
  // 80 % of the context is for the prompt, as in 1024 to 256.
  if (!isl_given && !osl_given) serve.osl = std::min(serve.osl, std::max<std::int64_t>(1, model.context / 5));
  if (!isl_given && osl_given) serve.isl = std::max<std::int64_t>(1, model.context - serve.osl);
  if (!isl_given) serve.isl = std::min(serve.isl, std::max<std::int64_t>(1, model.context - serve.osl));
  if (isl_given && !osl_given) serve.osl = std::min(serve.osl, std::max<std::int64_t>(1, model.context - serve.isl));
}

bool has_images(const ModelShape& model, const Job& job) {
  return model.vision && job.kind == JobKind::kServe && (job.image.count > 0 || job.image.resolution);
}

Checked<Job> fit_job(const ModelShape& model, Job job, const std::vector<Setting>& given) {
  if (Errors errors = Fitting(model, job, given).check(); !errors.empty()) return fail(std::move(errors));
  return job;
}

Checked<ModelJob> fit_to_model(std::string_view name, Job job, const std::vector<Setting>& given) {
  RIGHTSIZE_TRY(ModelShape model, find_model(name, {job.image.resolution, job.image.frames}));
  RIGHTSIZE_TRY(job, fit_job(model, job, given));
  add_images(model, job);
  return ModelJob{std::move(model), job};
}

}  // namespace rightsize::model
