#include "presets/scaled.h"

#include <algorithm>
#include <cmath>

#include "base/amount.h"
#include "base/text.h"

namespace rightsize::model {

std::optional<ScaledName> parse_scaled_name(std::string_view name) {
  const std::string lower = to_lower(name);
  const std::size_t like = lower.find(" like ");
  if (like == std::string::npos) return std::nullopt;
  constexpr double kFewest = 1e6, kMost = 1e13;
  const std::optional<Amount> parameters = parse_amount(name.substr(0, like));
  const std::string_view family = trim(name.substr(like + 6));
  if (!parameters || parameters->per || family.empty()) return std::nullopt;
  if (parameters->count < kFewest || parameters->count > kMost) return std::nullopt;
  return ScaledName{parameters->count / 1e9, std::string(family)};
}

DecoderSizes scale_decoder(const DecoderSizes& from, double parameters) {
  const double head = static_cast<double>(from.hidden) / from.heads;
  const double layer = (from.parameters - from.embeddings) / from.layers;
  const auto count = [&](double hidden, double layers) {
    const double wider = hidden / from.hidden;
    return from.embeddings * wider + layer * wider * wider * layers;
  };
  DecoderSizes best = from;
  double best_error = 1e300;
  const int group = std::max(1, from.heads / std::max(1, from.key_heads));
  // Heads come in groups that share a key head, and tensor parallelism needs multiples of eight.
  const int step = from.heads >= 16 ? std::max(8, group) : group;
  for (int heads = step; heads <= 512; heads += step) {
    const double hidden = heads * head, wider = hidden / from.hidden;
    const double left = parameters - from.embeddings * wider;
    const int layers = std::max(1, static_cast<int>(std::lround(left / (layer * wider * wider))));
    const double shape = std::log(layers / (from.layers * wider));  // 0: depth grows with width
    const double error = std::abs(std::log(count(hidden, layers) / parameters)) * 20 + std::abs(shape);
    if (error >= best_error) continue;
    best_error = error;
    best.heads = heads, best.key_heads = std::max(1, heads / group);
    best.hidden = static_cast<int>(std::lround(hidden)), best.layers = layers;
    best.intermediate = static_cast<int>(std::lround(from.intermediate * wider / 64) * 64);
    best.embeddings = from.embeddings * wider, best.parameters = count(hidden, layers);
  }
  return best;
}

}  // namespace rightsize::model
