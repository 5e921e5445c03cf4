#include "presets/gguf.h"

#include <map>
#include <string>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::model {
namespace {

const std::map<std::string, double>& quantizations() {
  static const std::map<std::string, double> kAll = [] {
    std::map<std::string, double> all;
    const Csv csv = *Csv::parse("gguf.csv", std::string(embedded_file("gguf.csv")));
    for (const CsvRow& row : csv.rows())
      all.emplace(csv.cell(row, "quantization"), *parse_number(csv.cell(row, "bits_per_weight")));
    return all;
  }();
  return kAll;
}

// "_llama3_1_70b_instruct_q4_k_m_": words between underscores.
std::string joined_words(std::string_view name) {
  std::string joined = "_";
  for (const char c : to_lower(name.substr(name.find_last_of('/') + 1)))
    joined += std::string_view("-. :").find(c) == std::string_view::npos ? c : '_';
  return joined + "_";
}

}  // namespace

std::optional<double> gguf_bits(std::string_view name) {
  const std::string words = joined_words(name);
  const auto has = [&](const std::string& word) { return words.find("_" + word + "_") != std::string::npos; };
  std::string found;
  for (const auto& [quantization, bits] : quantizations())
    if (has(quantization) && quantization.size() > found.size()) found = quantization;
  if (!found.empty()) return quantizations().at(found);
  const bool tag = name.find(':') != std::string_view::npos && name.find('/') == std::string_view::npos;
  const bool wide = has("fp16") || has("f16") || has("bf16") || has("f32");
  // Another width that the table does not have is unknown.
  const bool other = words.find("_q") != std::string::npos && words.find("_k_") != std::string::npos;
  if (wide || other || !(tag || has("gguf"))) return std::nullopt;
  return quantizations().at("q4_k_m");
}

}  // namespace rightsize::model
