#include "presets/hub_names.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::model {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Lower-case words between separators; a point between digits belongs to the number: "llama-3.1_8b" is llama 3.1 8b.
std::vector<std::string> name_words(std::string_view name) {
  const std::string lower = to_lower(name.substr(name.find_last_of('/') + 1));
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const bool point =
        lower[i] == '.' && i > 0 && i + 1 < lower.size() && is_digit(lower[i - 1]) && is_digit(lower[i + 1]);
    const bool separator = !point && std::string_view("-_ :.").find(lower[i]) != std::string_view::npos;
    if (separator && !words.back().empty()) words.emplace_back();
    if (!separator) words.back() += lower[i];
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// The same with letters and numbers separated ("llama3.1" is llama 3.1), except for sizes and versions: 8b, 8x7b, a3b,
// v0.1.
std::vector<std::string> name_parts(std::string_view name) {
  std::vector<std::string> parts;
  for (const std::string& word : name_words(name)) {
    const auto digit = std::ranges::find_if(word, is_digit);
    const auto letters = digit - word.begin();
    if (letters > 1 && digit != word.end()) {
      parts.push_back(word.substr(0, static_cast<std::size_t>(letters)));
      parts.push_back(word.substr(static_cast<std::size_t>(letters)));
    } else {
      parts.push_back(word);
    }
  }
  return parts;
}

bool is_size(std::string_view part) {
  if (part.size() < 2 || (part.back() != 'b' && part.back() != 'm')) return false;
  return is_digit(part.front()) && part.find_first_not_of("0123456789.x") == part.size() - 1;
}

struct FormatWord {
  std::string_view words;
  std::string_view format;
};
// Words for number formats. "4bit" after "bnb" is nf4: see format_in_name().
constexpr FormatWord kFormats[] = {
    {"fp8 float8 f8 fp8kv w8a8fp8", "fp8"},
    {"nvfp4 mxfp4 fp4 w4a4", "fp4"},
    {"nf4", "nf4"},
    {"w8a8 w8a16 int8 8bit qint8 q8 w8", "int8"},
    {"awq gptq w4a16 int4 4bit q4 iq4 w4 exl2 hqq", "int4"},
    {"q5 q6", "int8"},
    {"q2 q3 iq3 iq2", "int4"},
};
// Other words in such names.
constexpr std::string_view kFormatFillers =
    "bnb bitsandbytes unsloth dynamic block quantized quant gguf mlx autoround marlin gs128 g128 128g w4a16 k m s l xl "
    "0 1 xs xxs nl kv bf16 fp16 ct compressed tensors ggml onnx trt";

std::string_view format_of_word(std::string_view word) {
  for (const FormatWord& row : kFormats) {
    for (const std::string_view known : split_list(row.words, ' ')) {
      if (word == known) return row.format;
    }
  }
  return {};
}

// Files of llama.cpp: by the word, or by a format that only they have (q4_k_m, q8_0, iq3_xs).
bool is_gguf(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t q = word.starts_with("iq") ? 1 : 0;
    const bool width = word.size() == q + 2 && word[q] == 'q' && is_digit(word[q + 1]);
    const bool variant = i + 1 < words.size() && (words[i + 1] == "k" || words[i + 1] == "0" || words[i + 1] == "1" ||
                                                  (q == 1 && words[i + 1].size() <= 3));
    if (word == "gguf" || word == "ggml" || (width && variant)) return true;
  }
  return false;
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const Precision precision :
       {Precision::kFp8, Precision::kInt8, Precision::kInt4, Precision::kNf4, Precision::kFp4}) {
    if (name_of(precision) == name) return precision;
  }
  return std::nullopt;
}

bool lists(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = split_list(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

struct HubRow {
  std::string model, precision, checked, difference;
  std::string id;  // as published; empty for the name of several models
  std::int64_t context = 0;
};

// By the name in lower case, with and without the organization.
const std::unordered_map<std::string, HubRow>& hub_table() {
  static const auto kTable = [] {
    std::unordered_map<std::string, HubRow> table;
    const Checked<Csv> csv = Csv::parse("hub_models.csv", std::string(embedded_file("hub_models.csv")));
    if (!csv) return table;
    for (const CsvRow& row : csv->rows()) {
      const HubRow made{std::string(csv->cell(row, "model")),
                        std::string(csv->cell(row, "precision")),
                        std::string(csv->cell(row, "checked")),
                        std::string(csv->cell(row, "difference")),
                        std::string(csv->cell(row, "hub_id")),
                        static_cast<std::int64_t>(parse_number(csv->cell(row, "context")).value_or(0))};
      const std::string id = to_lower(made.id);
      table.emplace(id, made);
      const auto [named, is_new] = table.emplace(id.substr(id.find('/') + 1), made);
      const bool is_id = id.find('/') != std::string::npos;
      if (!is_new && is_id && to_lower(named->second.id) != id) named->second.id.clear();
    }
    return table;
  }();
  return kTable;
}

std::optional<NamedShape> by_table(std::string_view name) {
  const auto found = hub_table().find(to_lower(name));
  if (found == hub_table().end()) return std::nullopt;
  const HubRow& row = found->second;
  NamedShape shape{row.model, precision_named(row.precision), row.context, {}};
  shape.note = fmt::format("{} has the shape of {}", name, row.model);
  if (row.checked == "line") {
    shape.note = fmt::format("assumed: '{}' is {}; 'rightsize models {}' lists other sizes", name, row.model, name);
    return shape;
  }
  if (row.checked == "near")
    shape.note += fmt::format(", except: {}", row.difference);
  else if (row.checked != "yes")
    shape.note += " by its name; its config.json was not checked";
  return shape;
}

// Words for models with a shape that differs from the model they are named after.
constexpr std::string_view kOtherShapes =
    "vl vision visual audio omni moe mini nano micro tiny small large next embed embedding embeddings rerank reranker "
    "minitron pruned eagle eagle3 medusa draft mtp clip llava tts asr speech diffusion linear mamba hybrid super ultra "
    "scout maverick flash lite";

std::optional<NamedShape> by_parts(std::string_view name, std::span<const std::string> presets) {
  const std::vector<std::string> typed = name_parts(without_format(name));
  const std::string* best = nullptr;
  std::size_t most = 0;
  for (const std::string& preset : presets) {
    const std::vector<std::string> wanted = name_parts(preset);
    const bool encoder = wanted.front().ends_with("bert") || wanted.front().ends_with("berta");  // bert-base-NER
    const bool sized = std::ranges::any_of(wanted, is_size) || (encoder && lists("base large", wanted.back()));
    const auto has = [&](const std::string& part) { return std::ranges::find(typed, part) != typed.end(); };
    if (!sized || wanted.size() <= most || !std::ranges::all_of(wanted, has)) continue;
    // No other word may indicate a different shape: another size, or a word for another kind.
    const bool other = std::ranges::any_of(typed, [&](const std::string& part) {
      const bool ours = std::ranges::find(wanted, part) != wanted.end();
      const bool active = part.size() > 2 && part.front() == 'a' && is_size(std::string_view(part).substr(1));
      return !ours && (is_size(part) || active || lists(kOtherShapes, part));
    });
    if (!other) best = &preset, most = wanted.size();
  }
  if (best == nullptr || most < 2) return std::nullopt;
  return NamedShape{*best, format_in_name(name), 0,
                    fmt::format("{} has the shape of {} by its name; its config.json was not checked", name, *best)};
}

// The first of these IDs that is published.
std::string first_listed(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    const auto found = hub_table().find(to_lower(id));
    if (found != hub_table().end() && !found->second.id.empty()) return found->second.id;
  }
  return {};
}

}  // namespace

std::optional<Precision> format_in_name(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  std::string_view format;
  // A GGUF repository holds files of several widths; Q4_K_M is the default download of llama.cpp and Ollama.
  const bool gguf = is_gguf(words);
  const bool bnb = std::ranges::find(words, "bnb") != words.end();
  for (const std::string& word : words) {
    const std::string_view found = format_of_word(word);
    // "GPTQ-Int8" is int8, "AWQ" alone int4: the width decides.
    if (!found.empty() && (format.empty() || found == "int8")) format = found;
    if (bnb && word == "4bit") format = "nf4";
  }
  return precision_named(format.empty() && gguf ? "int4" : format);
}

bool only_reads(std::string_view name) {
  constexpr std::string_view kReaders = "embed embedder embedding embeddings rerank reranker e5 gte bge";
  return std::ranges::any_of(name_words(name), [&](const std::string& word) { return lists(kReaders, word); });
}

std::string note_on_format(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  const std::optional<Precision> format = format_in_name(name);
  if (!format) return {};
  const bool width = std::ranges::any_of(words, [](const auto& w) { return !format_of_word(w).empty(); });
  if (!is_gguf(words)) return {};
  return fmt::format("GGUF weights{} are modelled as {} weights in an engine such as vllm; llama.cpp is not modelled",
                     width ? "" : " of 4 bits (Q4_K_M, the usual file)", name_of(*format));
}

std::string without_format(std::string_view name) {
  const std::string_view organization = name.substr(0, name.find_last_of('/') + 1);
  std::vector<std::string> words = name_words(name);
  bool format = false;
  // From the end: formats come last.
  while (words.size() > 1 && (!format_of_word(words.back()).empty() || lists(kFormatFillers, words.back()))) {
    format |= !format_of_word(words.back()).empty() || words.back().size() > 2;
    words.pop_back();
  }
  if (!format) return std::string(name);
  return fmt::format("{}{}", organization, fmt::join(words, "-"));
}

std::optional<double> billions_in_name(std::string_view name) {
  std::optional<double> billions;
  for (const std::string& part : name_parts(name)) {
    if (!is_size(part)) continue;
    const Result<double> number = parse_number(std::string_view(part).substr(0, part.size() - 1));
    if (!number || billions) return std::nullopt;
    billions = *number * (part.back() == 'm' ? 1e-3 : 1);
  }
  return billions;
}

std::string listed_id(std::string_view name) {
  const auto found = hub_table().find(to_lower(name));
  if (found == hub_table().end()) return {};
  return found->second.checked == "line" ? found->second.model : found->second.id;
}

std::string tuned_id(std::string_view id) {
  std::string plain(id);
  for (const char* base : {"-pt", "-Base"})
    if (plain.ends_with(base)) plain.resize(plain.size() - std::string_view(base).size());
  std::vector<std::string> ids{plain + "-Instruct", plain + "-it", plain + "-Chat"};
  if (const std::size_t base = plain.find("-Base-"); base != std::string::npos)
    ids.push_back(std::string(plain).replace(base, 6, "-Instruct-"));
  if (const std::size_t version = plain.rfind("-v"); version != std::string::npos)
    ids.push_back(std::string(plain).insert(version, "-Instruct"));
  return first_listed(ids);
}

std::string longer_id(std::string_view preset, std::int64_t context) {
  std::string first;
  for (const auto& [name, row] : hub_table()) {
    const bool fits = row.model == preset && row.context >= context && row.checked == "yes" && row.precision.empty();
    if (fits && !row.id.empty() && (first.empty() || row.id < first)) first = row.id;
  }
  return first;
}

std::string fp8_id(std::string_view id) {
  const std::string name(id.substr(id.find('/') + 1));
  return first_listed({std::string(id) + "-FP8", "RedHatAI/" + name + "-FP8-dynamic", "RedHatAI/" + name + "-FP8",
                       "nvidia/" + name + "-FP8"});
}

std::optional<NamedShape> shape_of_name(std::string_view name, std::span<const std::string> presets) {
  if (auto found = by_table(name)) return found;
  if (const std::string plain = without_format(name); plain != name) {
    if (auto found = by_table(plain)) {
      found->format = format_in_name(name);
      return found;
    }
  }
  // A model that is only published with instructions is often called by its short name.
  for (const char* tuned : {"-instruct", "-it", "-chat"})
    if (auto found = by_table(std::string(name) + tuned)) return found;
  return by_parts(name, presets);
}

}  // namespace rightsize::model
