#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

std::vector<std::string> parts_of_name(const std::string& name) {
  std::vector<std::string> parts;
  const std::string lower = to_lower(name);
  for (const std::string_view part : split_list(lower, '-')) parts.emplace_back(part);
  return parts;
}

// Words of a sentence that are part of no name.
bool is_between_names(const std::string& word) {
  return word.find("/s") != std::string::npos ||
         lists_word("will can could would does do get gets is are on with vs and of for at in by the a an i my to from",
                    to_lower(word));
}

// The built-in model that a part of its name means: qwen3-235b is qwen3-235b-a22b, and llama-70b the newest Llama of
// 70B. Empty where there is none.
std::string completed_model(const std::string& name) {
  const std::vector<std::string> typed = parts_of_name(name);
  const bool sized = typed.size() > 1 &&
                     std::any_of(typed.begin(), typed.end(), [](const std::string& part) { return is_size(part); });
  std::string found;
  bool goes_on = true;
  for (const std::string& preset : model::preset_names()) {
    if (preset.starts_with(to_lower(name) + "-")) {
      if (!found.empty() && !preset.starts_with(found)) goes_on = false;
      if (found.empty()) found = preset;
    }
  }
  if (!found.empty() && goes_on) return found;
  if (!sized) return {};
  std::string newest;
  for (const std::string& preset : model::preset_names()) {
    const std::vector<std::string> parts = parts_of_name(preset);
    const bool all =
        std::all_of(typed.begin(), typed.end(), [&](const std::string& part) { return holds(parts, part); });
    // A family, a version and a size: "llama-3.3-70b", not "llama-3.2-11b-vision".
    if (!all || parts.front() != typed.front() || parts.size() > typed.size() + 1) continue;
    if (newest.empty() || strverscmp(preset.c_str(), newest.c_str()) > 0) newest = preset;
  }
  return newest;
}

}  // namespace

std::size_t gpu_words(const std::vector<std::string>& words, std::size_t at) {
  for (std::size_t many = std::min<std::size_t>(4, words.size() - std::min(at, words.size())); many > 0; --many) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at), end = first + static_cast<std::ptrdiff_t>(many);
    const bool apart = many > 1 && (std::any_of(first, end, is_between_names) || is_flag_word(*(end - 1)));
    if (!apart && kind_of_word(fmt::format("{}", fmt::join(first, end, "-"))) == WordKind::kGpu) return many;
  }
  return 0;
}

void join_names(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  constexpr std::array kNamed = {"memory", "estimate", "recommend", "prices", "gpus",      "models",
                                 "batch",  "commit",   "init",      "cache",  "checklist", "autoscale"};
  if (!holds(kNamed, words.front())) return;
  const auto end = std::find_if(words.begin() + 1, words.end(), [](const auto& word) { return word.starts_with('-'); });
  std::transform(words.begin() + 1, end, words.begin() + 1, singular_gpu);
  std::vector<std::string> bare(words.begin() + 1, end), joined;
  const bool gpu_by_flag = holds(std::array{"recommend", "commit", "models", "init", "checklist"}, words.front());
  if (bare.size() + (gpu_by_flag ? 1 : 0) < 2 ||
      (bare.size() == 2 && !gpu_by_flag && model::is_known_name(bare[0]) && kind_of_word(bare[1]) == WordKind::kGpu))
    return;
  bool linked = false;  // "batch 64 on H200": the number is not that of the GPU
  for (std::size_t at = 0; at < bare.size();) {
    std::size_t many = std::min<std::size_t>(6, bare.size() - at);  // deepseek r1 distill qwen 32b
    std::string name;
    for (; many > 0; --many) {
      const auto first = bare.begin() + static_cast<std::ptrdiff_t>(at);
      name = fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(many), "-"));
      // Several words are one name only if that is exactly the name of a GPU or a built-in model.
      if (many > 1 && name.find('=') != std::string::npos) continue;  // verl's data.train_batch_size=1024
      if (many > 1 && std::any_of(first, first + static_cast<std::ptrdiff_t>(many), is_between_names)) continue;
      // "llama 3.1 70b fp16": the format that was said, not a part of the name.
      const std::string last = to_lower(bare[at + many - 1]);
      if (many > 1 && lists_word("memory estimate recommend", words.front()) && lists_word("fp16 bf16 fp32", last))
        continue;
      const WordKind kind = many == 1 ? WordKind::kOther : kind_of_word(name);
      const std::string whole = many > 1 && kind == WordKind::kOther ? completed_model(name) : std::string();
      if (!whole.empty()) {
        if (!whole.starts_with(to_lower(name)))
          typed.notes.push_back(fmt::format("assumed: '{}' is {}; 'rightsize models {}' lists others",
                                            fmt::join(first, first + static_cast<std::ptrdiff_t>(many), " "), whole,
                                            bare[at]));
        name = whole;
      }
      if (many == 1 || kind == WordKind::kGpu || !whole.empty() ||
          (kind == WordKind::kModel && model::note_on_name(name).find("by its name") == std::string::npos))
        break;
    }
    at += std::max<std::size_t>(many, 1);
    if (const catalog::Machine* machine = machine_named(name); words.front() == "commit" && machine != nullptr) {
      joined.insert(joined.begin(), "--provider=" + machine->provider);
      name = gpus_of_instance(name);
    }
    const bool link = many == 1 && bare.size() > 1 && lists_word("on with vs and of for at the", name);
    const bool apart = std::exchange(linked, link);
    if (link) continue;
    // `8 h100` and `8x h100` are 8xh100; a number may itself be the name of a GPU, as 4090 is.
    const std::string count = joined.empty() ? "" : joined.back().substr(0, joined.back().find('x'));
    const bool counted = !count.empty() && count.find_first_not_of("0123456789") == std::string::npos &&
                         joined.back().size() <= count.size() + 1 && kind_of_word(joined.back()) != WordKind::kGpu;
    const catalog::CountedGpu inside = catalog::split_gpu_count(name);  // "6 p4d.24xlarge": 6 times its GPUs
    if (counted && !apart && (kind_of_word(inside.name) == WordKind::kGpu)) {
      name = fmt::format("{}x{}", std::atoi(count.c_str()) * inside.count.value_or(1), inside.name);
      joined.pop_back();
    }
    if (const catalog::CountedGpu gpu = catalog::split_gpu_count(name); words.front() == "commit" && gpu.count) {
      joined.push_back(fmt::format("--base={}", *gpu.count));
      name = gpu.name;
    }
    // `5000 hours` and `5000 dollars` are amounts, not a Quadro RTX 5000.
    const bool amount = (name.find_first_not_of("0123456789.,") == std::string::npos) && at < bare.size() &&
                        (thing_of(bare[at]) != Thing::kNone || continues_amount(bare[at]) ||
                         lists_word("hours dollars dollar usd bucks euros eur", to_lower(bare[at])));
    if (gpu_by_flag && !amount && kind_of_word(name) == WordKind::kGpu)
      joined.push_back("--gpu=" + name);
    else
      joined.push_back(name);
  }
  constexpr std::array kModelFirst = {"memory", "estimate", "batch"};
  if (joined.size() == 2 && holds(kModelFirst, words.front()) && kind_of_word(joined[0]) == WordKind::kGpu &&
      kind_of_word(joined[1]) != WordKind::kGpu)
    std::swap(joined[0], joined[1]);
  joined.insert(joined.begin(), words.front());
  joined.insert(joined.end(), end, words.end());
  words = std::move(joined);
}

void drop_gpu(std::vector<std::string>& words, const std::string& gpu) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t named = gpu_words(words, i), counted = i > 0 && is_digits(words[i - 1]);
    const std::string one = catalog::split_gpu_count(singular_gpu(words[i])).name;
    if (named == 0 && kind_of_word(one) != WordKind::kGpu && bare_word(one) != gpu) continue;
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i - counted);
    words.erase(first, first + static_cast<std::ptrdiff_t>(std::max<std::size_t>(named, 1) + counted));
    return;
  }
}

std::string take_present(const std::vector<std::string>& sentence, const std::string& gpu, double count,
                         std::vector<std::string>& kept) {
  std::vector<std::string> offer{gpu, fmt::format("--gpus={:g}", count), "--hours=730h"};
  std::string terms = "on-demand";
  for (const std::string& word : sentence) {
    if (kind_of_word(word) != WordKind::kGpu && is_vendor_or_provider(word)) offer.push_back("--provider=" + word);
    if (catalog::read_purchase(word)) terms = word;
  }
  offer.push_back("--purchase=" + terms);
  drop_gpu(kept, gpu);
  const Checked<Outcome> cost = call("prices", offer);
  const auto* text = cost && cost->exit_code == 0 && !cost->report.blocks.empty()
                         ? std::get_if<report::Paragraph>(&cost->report.blocks.front())
                         : nullptr;
  return text != nullptr ? text->text : fmt::format("{:g} x {}, without a price on file", count, gpu);
}

}  // namespace rightsize::app
