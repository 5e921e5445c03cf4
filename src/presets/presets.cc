#include "presets/presets.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "base/confine.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/list_of.h"
#include "base/located_json.h"
#include "base/memo.h"
#include "base/suggest.h"
#include "base/text.h"
#include "families/read_model.h"
#include "presets/hub_names.h"
#include "presets/scaled.h"

namespace rightsize::model {
namespace {

constexpr std::string_view kPresetFile = "models.json";

// Parsed on first use and kept: half a megabyte, in less than a millisecond.
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

Preset read_preset(const JsonMember& entry) {
  Preset preset;
  preset.name = entry.name;
  preset.source = text_at(entry.value, "source");
  preset.date = text_at(entry.value, "date");
  if (const JsonMember* count = entry.value.find("published_parameters"))
    preset.published_parameters = count->value.integer;
  if (const JsonMember* rounded = entry.value.find("rounded")) preset.rounded = rounded->value.boolean;
  if (const JsonMember* unverified = entry.value.find("unverified")) preset.unverified = unverified->value.boolean;
  for (const JsonValue& alias : items_at(entry.value, "aliases")) preset.aliases.push_back(alias.text);
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

// Turns the address of a Hub page into its model id, and a tag of Ollama ("llama3.1:8b") into a name.
std::string as_name(std::string_view text) {
  for (std::string_view prefix : {"https://", "http://", "www.", "huggingface.co/", "hf.co/", "hf://", "hf:"}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  for (std::string_view page : {"/tree/", "/blob/", "/resolve/"}) text = text.substr(0, text.find(page));
  while (text.ends_with('/')) text.remove_suffix(1);
  std::string name(text);
  std::ranges::replace(name, ':', '-');
  return name;
}

// Chat and base models have one shape: the name without the organization and without words such as "instruct".
std::string shape_name(std::string_view name) {
  static constexpr std::string_view kTuning[] = {"instruct", "chat", "it", "base", "hf", "pt", "meta"};
  std::string kept;
  for (std::string_view word : split_list(name.substr(name.find_last_of('/') + 1), '-')) {
    const bool tuning = std::find(std::begin(kTuning), std::end(kTuning), to_lower(word)) != std::end(kTuning);
    if (!tuning) kept += (kept.empty() ? "" : "-") + std::string(word);
  }
  return comparable(kept);
}

using Fold = std::string (*)(std::string_view);

// The first built-in model whose name or alias, after folding, is `wanted`; nullptr if there is none.
template <Fold fold>
const JsonMember* preset_named(const std::string& wanted) {
  static const std::unordered_map<std::string, const JsonMember*> kIndex = [] {
    std::unordered_map<std::string, const JsonMember*> index;
    for (const JsonMember& entry : preset_members()) {
      index.try_emplace(fold(entry.name), &entry);
      for (const JsonValue& alias : items_at(entry.value, "aliases")) index.try_emplace(fold(alias.text), &entry);
    }
    return index;
  }();
  const auto found = kIndex.find(wanted);
  return found == kIndex.end() ? nullptr : found->second;
}

const JsonMember* preset_called(std::string_view text) {
  const std::string name = as_name(text);
  if (const JsonMember* entry = preset_named<comparable>(comparable(name))) return entry;
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return nullptr;
  const std::string shape = shape_name(name);
  return shape.empty() ? nullptr : preset_named<shape_name>(shape);
}

// A built-in model, and the weight format given by the name.
struct FoundPreset {
  const JsonMember* entry = nullptr;
  std::optional<Precision> format;
  std::int64_t context = 0;  // 0: that of the preset
  std::string note;
};

std::string joined(const std::string& note, const std::string& other) {
  return note + (note.empty() || other.empty() ? "" : "; ") + other;
}

FoundPreset find_preset(std::string_view text) {
  if (const JsonMember* entry = preset_called(text)) return {entry, {}, 0, {}};
  std::error_code ignored;
  const std::string name = as_name(text);
  if (name.find(' ') != std::string::npos || std::filesystem::exists(text, ignored)) return {};
  if (const std::string plain = without_format(name); plain != name) {
    if (const JsonMember* entry = preset_called(plain)) return {entry, format_in_name(name), 0, {}};
  }
  const auto named = shape_of_name(name, preset_names());
  if (!named) {
    std::string joined(text);  // ViT-L/16 is no organisation's model
    std::ranges::replace(joined, '/', '-');
    return {preset_called(joined), {}, 0, {}};
  }
  return {preset_called(named->preset), named->format, named->context, named->note};
}

// "organisation/model", as the Hub names models.
bool is_hub_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() && text.front() != '.' &&
         text.front() != '~' && text.find('/', slash + 1) == std::string_view::npos && !text.ends_with(".json");
}

// The file to read if the text is a path rather than the name of a built-in model.
std::optional<std::string> as_path(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return std::nullopt;
  std::error_code ignored;
  const std::filesystem::path path(text);
  // A server must not reveal which files exist: a file that it may not read counts as a path only if it looks like one.
  const bool readable = may_read(std::string(text));
  if (readable && std::filesystem::is_directory(path, ignored)) return (path / "config.json").string();
  if (text == "-" || (readable && std::filesystem::exists(path, ignored))) return std::string(text);
  const bool looks_like_path = text.ends_with(".json") || text.find('/') != std::string_view::npos;
  return looks_like_path && !is_hub_id(text) ? std::optional(std::string(text)) : std::nullopt;
}

// Reads a model unless it was read before. Repeated reads share the forward pass, which makes cached replays reusable
// (memory/kept_replays.h).
template <class Read>
Checked<ModelShape> read_once(const std::string& what, const ReadOptions& options, const Read& read) {
  if (options.resolution || options.frames) return read();
  constexpr std::size_t kMost = 64;
  static std::mutex mutex;
  static std::map<std::string, ModelShape> shapes;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = shapes.find(what); found != shapes.end()) return found->second;
  }
  RIGHTSIZE_TRY(ModelShape shape, read());
  const std::lock_guard lock(mutex);
  if (shapes.size() >= kMost) shapes.clear();
  shapes.emplace(what, shape);
  return shape;
}

Checked<ModelShape> read_model_file(const std::string& path, const ReadOptions& options) {
  Result<std::string> text = read_file(path);
  if (!text)
    return fail(std::move(text).error().with_hint(
        "a model's Hub page has its config.json among the files; 'rightsize models' lists built-in ones"));
  const std::string name = path == "-" ? "standard input" : path;
  return read_once(name + '\n' + *text, options, [&] { return read_model(name, *text, options); });
}

// Models without public weights.
bool is_closed(std::string_view name) {
  const std::string folded = fold_name(name);
  constexpr std::string_view kClosed[] = {"gpt35", "gpt4", "gpt5", "claude", "gemini", "o1", "o3", "o4mini"};
  return std::any_of(std::begin(kClosed), std::end(kClosed),
                     [&](std::string_view closed) { return folded.starts_with(closed); });
}

// For a size such as "7b", the built-in models of that size; empty if the name is not a size.
std::string of_size(std::string_view name) {
  const std::string lower = to_lower(name);
  if (lower.size() < 2 || lower.back() != 'b' || lower.find_first_not_of("0123456789.") != lower.size() - 1) return {};
  std::string like;
  for (const std::string& known : preset_names()) {
    if (known.ends_with("-" + lower)) like += (like.empty() ? "" : ", ") + known;
  }
  return like.empty() ? "'rightsize models' lists them" : like;
}

Error unknown_model(std::string_view name) {
  std::vector<std::string> known;
  for (const Preset& preset : presets()) {
    known.push_back(preset.name);
    known.insert(known.end(), preset.aliases.begin(), preset.aliases.end());
  }
  if (const std::string id = as_name(name); is_hub_id(id)) {
    return bad_input(fmt::format("'{}' is not built in", id.substr(0, 100)))
        .with_hint(did_you_mean(id.substr(id.find('/') + 1), known))
        .with_hint(
            fmt::format("give its config.json: download https://huggingface.co/{}/resolve/main/config.json, then "
                        "--model config.json",
                        id.substr(0, 100)))
        .with_hint("'rightsize models' lists the built-in models and the families with a supported config.json");
  }
  if (is_closed(name)) {
    return bad_input(fmt::format("the shape of {} is not public", name.substr(0, 100)))
        .with_hint("use an open model such as 'llama-3.3-70b' or 'deepseek-v3' instead")
        .with_hint("name an open model of the size you expect: 'rightsize models' lists them");
  }
  if (const std::string like = of_size(name); !like.empty())
    return bad_input(fmt::format("'{}' is a size, not a model", name.substr(0, 100)))
        .with_hint(fmt::format("name a model of that size: {}", like));
  return bad_input(fmt::format("unknown model '{}'", name.substr(0, 100)))
      .with_hint(did_you_mean(name, known))
      .with_hint("'rightsize models' lists the built-in ones; the path of a Hugging Face config.json works too");
}

// Where a built-in model differs from the pipeline of its family.
void read_pipeline(const JsonMember& entry, ModelShape& shape) {
  const JsonMember* own = entry.value.find("pipeline");
  if (own == nullptr || !shape.pipeline) return;
  const auto read = [&](const char* name, int& value) {
    if (const JsonMember* given = own->value.find(name)) value = static_cast<int>(given->value.integer.value_or(value));
  };
  read("networks", shape.pipeline->networks);
  read("steps", shape.pipeline->steps);
}

// Adds the text encoders and the image decoder at the same resolution.
Result<> attach_pipeline(ModelShape& shape) {
  ImagePipeline& pipeline = *shape.pipeline;
  const std::int64_t width = std::int64_t{shape.image_size} * pipeline.pixels;
  const std::int64_t height =
      std::int64_t{shape.image_height > 0 ? shape.image_height : shape.image_size} * pipeline.pixels;
  const std::optional<int> frames = pipeline.frames > 0 ? std::optional(pipeline.frames) : std::nullopt;
  for (const std::string& name : pipeline.encoders) {
    Checked<ModelShape> encoder = find_model(name);
    if (!encoder) return fail(bug(fmt::format("the built-in model '{}' is missing", name)));
    pipeline.encoder_shapes.push_back(std::make_shared<const ModelShape>(*std::move(encoder)));
  }
  Checked<ModelShape> decoder = find_model(pipeline.decoder, {ImageSize{width, height}, frames});
  if (!decoder) return fail(bug(fmt::format("the built-in model '{}' is missing", pipeline.decoder)));
  pipeline.decoder_shape = std::make_shared<const ModelShape>(*std::move(decoder));
  return {};
}

// A dense decoder of the family that is closest in size, with other sizes. Families with other parts are scaled from
// Llama.
Checked<ModelShape> scaled_model(const ScaledName& wanted, const std::string& name) {
  constexpr std::string_view kPlain[] = {"llama", "qwen2", "qwen3", "mistral"};
  std::optional<ModelShape> from;
  double nearest = 0;
  std::int64_t context = 0;  // of the newest in the family: older ones have a shorter context
  for (const std::string& family : {wanted.like, std::string("llama")}) {
    for (const std::string& preset : preset_names()) {
      if (from && family != wanted.like) break;
      const auto billions = billions_in_name(preset);
      if (!billions || !fold_name(preset).starts_with(fold_name(family))) continue;
      const double distance = std::abs(std::log(*billions / wanted.billions));
      Checked<ModelShape> shape = find_model(preset);
      if (!shape || std::find(std::begin(kPlain), std::end(kPlain), shape->family) == std::end(kPlain)) continue;
      context = std::max(context, shape->context);
      if (from && distance >= nearest) continue;
      from = *std::move(shape), nearest = distance;
    }
  }
  if (!from) return fail(bug("no built-in model to scale"));
  const double embeddings = static_cast<double>(from->vocabulary) * static_cast<double>(from->hidden);
  const bool tied = from->tied_embeddings;
  const DecoderSizes sizes = scale_decoder(
      {static_cast<double>(from->parameters()), embeddings * (tied ? 1 : 2), static_cast<int>(from->hidden),
       from->layers, static_cast<int>(from->intermediate), from->heads, from->kv_heads},
      wanted.billions * 1e9);
  const std::string config =
      fmt::format(R"({{"model_type": "{}", "hidden_size": {}, "intermediate_size": {}, "num_hidden_layers": {}, )"
                  R"("num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {}, "vocab_size": {}, )"
                  R"("max_position_embeddings": {}, "tie_word_embeddings": {}}})",
                  from->family, sizes.hidden, sizes.intermediate, sizes.layers, sizes.heads, sizes.key_heads,
                  from->head_dim, from->vocabulary, context, tied);
  return read_model(name, config);
}

// Whether a name begins like that of a built-in diffusion model: CogVideoX-5b-I2V is not a language model.
bool names_diffusion_model(std::string_view id) {
  const std::string folded = fold_name(id.substr(id.find('/') + 1));
  return std::ranges::any_of(preset_members(), [&](const JsonMember& entry) {
    const JsonMember* config = entry.value.find("config");
    if (config == nullptr || config->value.find("_class_name") == nullptr) return false;
    const std::string line = entry.name.substr(0, entry.name.find_first_of("-.0123456789"));
    return line.size() > 2 && folded.starts_with(fold_name(line));
  });
}

// The size of an unknown model of the Hub, and the family in its name.
std::optional<ScaledName> size_of_unknown(std::string_view text) {
  const std::string id = as_name(text);
  std::error_code ignored;
  if (!is_hub_id(id) || std::filesystem::exists(text, ignored)) return std::nullopt;
  const auto billions = billions_in_name(id);
  if (!billions || names_diffusion_model(id)) return std::nullopt;
  const std::string folded = fold_name(id);
  for (const char* family : {"qwen3", "qwen2.5", "mistral"}) {
    if (folded.find(fold_name(family)) != std::string::npos) return ScaledName{*billions, family};
  }
  return ScaledName{*billions, "llama"};
}

Checked<ModelShape> find_alone(std::string_view name_or_path, const ReadOptions& options) {
  if (name_or_path.starts_with('{')) return read_model("config", std::string(name_or_path), options);
  if (const auto scaled = parse_scaled_name(name_or_path)) return scaled_model(*scaled, std::string(name_or_path));
  if (const FoundPreset found = find_preset(name_or_path); found.entry != nullptr) {
    const JsonMember& entry = *found.entry;
    const JsonMember* config = entry.value.find("config");
    if (!config) return fail(bug(fmt::format("the built-in model '{}' has no configuration", entry.name)));
    RIGHTSIZE_TRY(ModelShape shape, read_once(entry.name, options, [&] {
                    return read_model(*preset_document(), config->value, entry.name, options);
                  }));
    read_pipeline(entry, shape);
    if (found.context > 0) shape.context = found.context;
    if (found.format) {
      shape.checkpoint = found.format;
      shape.cache_scales = to_lower(name_or_path).starts_with("nvidia/");  // converted with Model Optimizer
    }
    return shape;
  }
  if (const auto sized = size_of_unknown(name_or_path)) {
    const std::string name = as_name(name_or_path);
    RIGHTSIZE_TRY(ModelShape shape, scaled_model(*sized, name));
    if (const auto format = format_in_name(name)) shape.checkpoint = format;
    return shape;
  }
  if (std::optional<std::string> path = as_path(name_or_path)) return read_model_file(*path, options);
  return fail(unknown_model(name_or_path));
}

}  // namespace

std::vector<Preset> presets() { return list_of(preset_members(), read_preset); }

std::vector<std::string> preset_names() { return list_of(preset_members(), &JsonMember::name); }

std::string hub_id(std::string_view typed) {
  const std::string id = as_name(typed), wanted = comparable(id);
  std::error_code ignored;
  if (std::filesystem::exists(typed, ignored)) return {};
  const auto is_tuned = [](std::string_view name) {
    const std::string lower = to_lower(name);
    return lower.find("instruct") != std::string::npos || lower.ends_with("-it") || lower.ends_with("-chat");
  };
  for (const JsonMember& entry : preset_members()) {
    const std::string* first = nullptr;
    for (const JsonValue& alias : items_at(entry.value, "aliases")) {
      const std::size_t slash = alias.text.find('/');
      if (slash == std::string::npos) continue;
      const std::string own = alias.text.substr(slash + 1);
      if (comparable(alias.text) == wanted || comparable(own) == wanted) return alias.text;
      // "llama-3.1-8b-instruct" and "gemma-2-9b-it": as Meta, Alibaba and Google name them.
      for (const char* tuned : {"-Instruct", "-it"}) {
        if (comparable(own + tuned) == wanted) return alias.text + tuned;
      }
      if (first == nullptr) first = &alias.text;
    }
    if (first != nullptr && preset_named<comparable>(wanted) == &entry)
      return is_tuned(id) && !is_tuned(*first) ? std::string() : *first;
  }
  if (is_hub_id(id)) return id;
  const std::string listed = listed_id(id);
  return listed.empty() || is_hub_id(listed) ? listed : hub_id(listed);
}

std::string note_on_name(std::string_view name) {
  if (name.empty() || name == "-" || name.starts_with('{')) return {};
  if (const auto scaled = parse_scaled_name(name))
    return fmt::format("assumed: the shape of {} scaled to {:g}B parameters", scaled->like, scaled->billions);
  const FoundPreset found = find_preset(name);
  if (found.entry != nullptr) {
    if (!found.format) return found.note;
    const Checked<ModelShape> shape = find_model(name);
    const bool engine = shape && shape->kind == ModelKind::kDecoder;
    return joined(found.note, engine ? note_on_format(as_name(name))
                                     : "quantized weights of such models are not modelled: 16-bit weights are assumed");
  }
  const auto sized = size_of_unknown(name);
  if (!sized) return {};
  return joined(
      fmt::format(
          "assumed: {} is not built in; using a {} shape with {:g}B parameters (--model config.json uses the real one)",
          as_name(name), sized->like, sized->billions),
      note_on_format(as_name(name)));
}

bool is_known_name(std::string_view name) {
  static Memo<bool> known;  // sentences ask for the same names many times
  return known.get(name, [](std::string_view one) {
    return parse_scaled_name(one) || find_preset(one).entry != nullptr || size_of_unknown(one);
  });
}

Checked<ModelShape> find_model(std::string_view name_or_path, const ReadOptions& options) {
  RIGHTSIZE_TRY(ModelShape shape, find_alone(name_or_path, options));
  if (!shape.pipeline) return shape;
  if (Result<> attached = attach_pipeline(shape); !attached) return fail(std::move(attached).error());
  return shape;
}

}  // namespace rightsize::model
