#include "model/presets.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/located_json.h"
#include "base/suggest.h"
#include "model/read_model.h"

namespace rightsize::model {
namespace {

constexpr std::string_view kPresetFile = "models.json";

// Parsed on first use and kept: half a megabyte of tree, under a millisecond.
const Checked<LocatedJson>& preset_document() {
  static const Checked<LocatedJson> kDocument =
      LocatedJson::parse(std::string(kPresetFile), std::string(embedded_file(kPresetFile)));
  return kDocument;
}

const std::vector<JsonMember>& preset_members() {
  static const std::vector<JsonMember> kNone;
  const Checked<LocatedJson>& document = preset_document();
  return document ? document->root().members : kNone;
}

std::string text_of(const JsonValue& object, std::string_view name) {
  const JsonMember* member = object.find(name);
  return member ? member->value.text : std::string();
}

Preset read_preset(const JsonMember& entry) {
  Preset preset;
  preset.name = entry.name;
  preset.source = text_of(entry.value, "source");
  preset.date = text_of(entry.value, "date");
  if (const JsonMember* count = entry.value.find("published_parameters"))
    preset.published_parameters = count->value.integer;
  if (const JsonMember* rounded = entry.value.find("rounded")) preset.rounded = rounded->value.boolean;
  if (const JsonMember* unverified = entry.value.find("unverified")) preset.unverified = unverified->value.boolean;
  if (const JsonMember* aliases = entry.value.find("aliases")) {
    for (const JsonValue& alias : aliases->value.items) preset.aliases.push_back(alias.text);
  }
  return preset;
}

// Names are compared without case and separators, but a point between digits counts: opt-1.3b is not opt-13b.
std::string comparable(std::string_view name) {
  auto digit = [&](std::size_t i) { return i < name.size() && name[i] >= '0' && name[i] <= '9'; };
  std::string kept;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.' && i > 0 && digit(i - 1) && digit(i + 1)) {
      kept += '.';
    } else {
      kept += fold_name(name.substr(i, 1));
    }
  }
  return kept;
}

bool answers_to(const JsonMember& entry, const std::string& wanted) {
  if (comparable(entry.name) == wanted) return true;
  const JsonMember* aliases = entry.value.find("aliases");
  if (!aliases) return false;
  for (const JsonValue& alias : aliases->value.items) {
    if (comparable(alias.text) == wanted) return true;
  }
  return false;
}

const JsonMember* find_preset(std::string_view name) {
  const std::string wanted = comparable(name);
  for (const JsonMember& entry : preset_members()) {
    if (answers_to(entry, wanted)) return &entry;
  }
  return nullptr;
}

// "organisation/model", as the Hub names models.
bool is_hub_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() && text.front() != '.' &&
         text.front() != '~' && text.find('/', slash + 1) == std::string_view::npos && !text.ends_with(".json");
}

// The file to read when the text names one rather than a built-in model.
std::optional<std::string> as_path(std::string_view text) {
  std::error_code ignored;
  const std::filesystem::path path(text);
  if (std::filesystem::is_directory(path, ignored)) return (path / "config.json").string();
  if (text == "-" || std::filesystem::exists(path, ignored)) return std::string(text);
  const bool looks_like_path = text.ends_with(".json") || text.find('/') != std::string_view::npos;
  return looks_like_path && !is_hub_id(text) ? std::optional(std::string(text)) : std::nullopt;
}

Checked<ModelShape> read_model_file(const std::string& path, const ReadOptions& options) {
  Result<std::string> text = read_file(path);
  if (!text) return fail(Errors{std::move(text).error()});
  return read_model(path == "-" ? "standard input" : path, *std::move(text), options);
}

Error unknown_model(std::string_view name) {
  if (is_hub_id(name)) {
    return bad_input(fmt::format("'{}' is not among the built-in models", name.substr(0, 100)))
        .with_hint(fmt::format("download https://huggingface.co/{}/resolve/main/config.json and give its path",
                               name.substr(0, 100)))
        .with_hint("`rightsize models` lists the built-in models and the families whose config.json can be read");
  }
  std::vector<std::string> known;
  for (const Preset& preset : presets()) {
    known.push_back(preset.name);
    known.insert(known.end(), preset.aliases.begin(), preset.aliases.end());
  }
  return bad_input(fmt::format("unknown model '{}'", name.substr(0, 100)))
      .with_hint(did_you_mean(name, known))
      .with_hint("`rightsize models` lists the built-in ones; the path of a Hugging Face config.json works too");
}

}  // namespace

std::vector<Preset> presets() {
  std::vector<Preset> all;
  for (const JsonMember& entry : preset_members()) all.push_back(read_preset(entry));
  return all;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const JsonMember& entry : preset_members()) names.push_back(entry.name);
  return names;
}

namespace {

// The models that run beside one that makes images, at the same resolution.
Result<> attach_pipeline(ModelShape& shape) {
  ImagePipeline& pipeline = *shape.pipeline;
  const std::int64_t width = std::int64_t{shape.image_size} * pipeline.pixels;
  const std::int64_t height =
      std::int64_t{shape.image_height > 0 ? shape.image_height : shape.image_size} * pipeline.pixels;
  for (const std::string& name : pipeline.encoders) {
    Checked<ModelShape> encoder = find_model(name);
    if (!encoder) return fail(bug(fmt::format("the built-in model '{}' is missing", name)));
    pipeline.encoder_shapes.push_back(std::make_shared<const ModelShape>(*std::move(encoder)));
  }
  Checked<ModelShape> decoder = find_model(pipeline.decoder, {ImageSize{width, height}});
  if (!decoder) return fail(bug(fmt::format("the built-in model '{}' is missing", pipeline.decoder)));
  pipeline.decoder_shape = std::make_shared<const ModelShape>(*std::move(decoder));
  return {};
}

Checked<ModelShape> find_alone(std::string_view name_or_path, const ReadOptions& options) {
  if (name_or_path.starts_with('{')) return read_model("config", std::string(name_or_path), options);
  if (const JsonMember* entry = find_preset(name_or_path)) {
    const JsonMember* config = entry->value.find("config");
    if (!config) return fail(Errors{bug(fmt::format("the built-in model '{}' has no configuration", entry->name))});
    return read_model(*preset_document(), config->value, entry->name, options);
  }
  if (std::optional<std::string> path = as_path(name_or_path)) return read_model_file(*path, options);
  return fail(Errors{unknown_model(name_or_path)});
}

}  // namespace

Checked<ModelShape> find_model(std::string_view name_or_path, const ReadOptions& options) {
  RIGHTSIZE_TRY(ModelShape shape, find_alone(name_or_path, options));
  if (!shape.pipeline) return shape;
  if (Result<> attached = attach_pipeline(shape); !attached) return fail(Errors{std::move(attached).error()});
  return shape;
}

}  // namespace rightsize::model
