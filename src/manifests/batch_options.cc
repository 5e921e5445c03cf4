#include "manifests/batch_options.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/mig_type.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::manifests {

bool has_marked_line(std::string_view text, std::string_view mark) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::size_t end = at + mark.size();
    if ((at == 0 || text[at - 1] == '\n') && end < text.size() && (text[end] == ' ' || text[end] == '\t')) return true;
  }
  return false;
}

std::vector<std::string> option_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, open = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (c == '#' && !open) {
      break;
    } else {
      word += c, open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

std::vector<Option> options_of(std::string_view line, Words known) {
  const std::vector<std::string> words = option_words(line);
  std::vector<Option> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-') || word.size() < 2) continue;
    const bool is_long = word.starts_with("--"), is_known = !is_long && is_any(word.substr(1), known);
    const std::size_t end = is_long ? std::min(word.find('='), word.size()) : is_known ? word.size() : 2;
    Option option{std::string(word.substr(is_long ? 2 : 1, end - (is_long ? 2 : 1))), {}};
    if (end < word.size())
      option.value = word.substr(word[end] == '=' ? end + 1 : end);
    else if (i + 1 < words.size() && !words[i + 1].starts_with('-'))
      option.value = words[++i];
    options.push_back(std::move(option));
  }
  return options;
}

std::optional<ArrayTasks> read_array(std::string_view list) {
  ArrayTasks array;
  if (const std::size_t percent = list.find('%'); percent != std::string_view::npos) {
    if (const auto limit = parse_integer(list.substr(percent + 1)); limit && *limit > 0)
      array.at_once = static_cast<double>(*limit);
    list = list.substr(0, percent);
  }
  for (std::string_view item : split_list(list, ',')) {
    double step = 1;
    if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
      if (const auto by = parse_integer(item.substr(colon + 1)); by && *by > 0) step = static_cast<double>(*by);
      item = item.substr(0, colon);
    }
    const std::size_t dash = item.find('-');
    const auto first = parse_integer(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(item.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    array.tasks += std::floor(static_cast<double>(*last - *first) / step) + 1;
  }
  if (array.tasks <= 0) return std::nullopt;
  return array;
}

void set_array(GpuRequest& request, const ArrayTasks& array) {
  const double at_once = std::min(array.at_once.value_or(array.tasks), array.tasks);
  request.part = fmt::format("array of {:.0f}{}", array.tasks,
                             array.at_once ? fmt::format(", {:.0f} at once", *array.at_once) : "");
  if (request.units) *request.units *= at_once;
  if (request.time_limit) *request.time_limit = *request.time_limit * std::ceil(array.tasks / at_once);
}

void set_type(GpuRequest& request, std::string_view type) {
  MigType split = split_mig_type(type);
  request.mig_profile = std::move(split.profile);
  request.gpus.clear();
  if (!split.gpu.empty()) request.gpus.push_back(std::move(split.gpu));
}

}  // namespace rightsize::manifests
