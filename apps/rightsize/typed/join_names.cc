#include "rightsize/typed/join_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "rightsize/typed/things.h"

namespace rightsize::app {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_count(std::string_view word) {
  return !word.empty() && word.size() < 5 && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// How many of these words, from here on, are one name; 1 where they are not.
std::size_t words_of_name(const std::vector<std::string>& words, std::size_t begin, std::string& name) {
  constexpr std::size_t kMost = 4;
  for (std::size_t many = std::min(kMost, words.size() - begin); many > 1; --many) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
    name = fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(many), "-"));
    if (thing_named(name) != Thing::kNothing) return many;
  }
  // "8 H100", "H100 x 8"
  if (begin + 1 < words.size() && is_count(words[begin]) && thing_named(words[begin + 1]) == Thing::kGpu) {
    name = words[begin] + "x" + words[begin + 1];
    return 2;
  }
  if (begin + 2 < words.size() && (words[begin + 1] == "x" || words[begin + 1] == "*") && is_count(words[begin + 2])) {
    name = words[begin] + ":" + words[begin + 2];
    return 3;
  }
  name = words[begin];
  return 1;
}

}  // namespace

void join_names(std::vector<std::string>& words) {
  constexpr std::string_view kNamed[] = {"memory", "estimate", "recommend", "prices", "gpus",
                                         "models", "batch",    "commit",    "mig"};
  constexpr std::string_view kBetween[] = {"on", "with", "using"};
  constexpr std::string_view kGpuByFlag[] = {"recommend", "commit", "mig"};
  if (words.empty() || !is_one_of(words.front(), kNamed)) return;
  const auto end =
      std::find_if(words.begin() + 1, words.end(), [](const std::string& w) { return w.starts_with('-'); });
  std::vector<std::string> plain(words.begin() + 1, end);
  if (plain.size() > 1) std::erase_if(plain, [&](const std::string& word) { return is_one_of(word, kBetween); });
  const bool by_flag = is_one_of(words.front(), kGpuByFlag);
  if (plain.empty() || (plain.size() == 1 && !by_flag)) return;
  // `estimate llama-3.1-8b h100-sxm`, as most type it, is not worth a look at the catalogue.
  const bool dashed = plain.size() == 2 && plain[1].find_first_of("-:") != std::string::npos;
  if (!by_flag && dashed && is_model_name(plain[0])) return;
  std::vector<std::string> joined{words.front()}, gpus;
  for (std::size_t i = 0; i < plain.size();) {
    std::string name;
    i += words_of_name(plain, i, name);
    const bool gpu = by_flag && (joined.size() > 1 || words.front() != "recommend") && thing_named(name) == Thing::kGpu;
    if (gpu) {
      gpus.insert(gpus.end(), {"--gpu", name});
    } else {
      joined.push_back(name);
    }
  }
  joined.insert(joined.end(), gpus.begin(), gpus.end());
  joined.insert(joined.end(), end, words.end());
  words = std::move(joined);
}

}  // namespace rightsize::app
