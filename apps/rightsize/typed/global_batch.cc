#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/format.h"
#include "catalog/words.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {
namespace {

double number_of(const Typed& typed, const std::string& flag, double otherwise) {
  const auto amount = parse_amount(value_of(typed.words, flag));
  return amount ? amount->count : otherwise;
}

void put_sequences(Typed& typed, std::string& word) {
  constexpr double kMostSequences = 1e5, kSequence = 2048;
  const auto amount = parse_amount(word.substr(word.find('=') + 1));
  const bool tokens = amount && thing_of(amount->thing) == Thing::kToken;
  if (!amount || amount->per || (!tokens && amount->count < kMostSequences)) return;
  const double sequence = number_of(typed, "--seq", kSequence);
  const double samples = std::max(1.0, std::round(amount->count / sequence));
  word = fmt::format("--global-batch={:.0f}", samples);
  typed.notes.push_back(fmt::format("a step of {} tokens is {} sequences of {} tokens", format_count(amount->count),
                                    format_count(samples), format_count(sequence)));
}

// Data-parallel copies of the model.
double copies_of(const Typed& typed) {
  return std::max(
      1.0, gpus_of(typed) / (number_of(typed, "--tp", 1) * number_of(typed, "--pp", 1) * number_of(typed, "--cp", 1)));
}

void put_passes(Typed& typed, double samples) {
  const double copies = copies_of(typed);
  const double passes = std::max(1.0, std::round(samples / (number_of(typed, "--batch", 1) * copies)));
  typed.words.push_back(fmt::format("--accumulate={:.0f}", passes));
  typed.notes.push_back(fmt::format("{} samples per step on {} cop{} of the model: --accumulate {:.0f}",
                                    format_count(samples), format_count(copies), copies == 1 ? "y" : "ies", passes));
}

}  // namespace

double gpus_of(const Typed& typed) {
  double gpus = 1;
  for (const std::string& word : typed.words) {
    const catalog::CountedGpu named = catalog::split_gpu_count(word.substr(word.starts_with("--gpu=") ? 6 : 0));
    if (!is_flag_word(named.name) && named.count && kind_of_word(named.name) == WordKind::kGpu) gpus = *named.count;
  }
  return number_of(typed, "--gpus", gpus);
}

void put_steps(Typed& typed, const std::deque<FlagInfo>& declared) {
  const double steps = number_of(typed, "--steps", 0);
  if (steps <= 0) return;
  std::erase_if(typed.words, [](const std::string& word) { return word.starts_with("--steps="); });
  if (find_flag(declared, "--tokens") == nullptr || !value_of(typed.words, "--tokens").empty()) {
    typed.notes.push_back(fmt::format("{} steps are not used here", format_count(steps)));
    return;
  }
  constexpr double kSequence = 2048;
  const double samples = number_of(typed, "--batch", 1) * number_of(typed, "--accumulate", 1) * copies_of(typed);
  const double sequence = number_of(typed, "--seq", kSequence), tokens = steps * samples * sequence;
  typed.words.push_back(fmt::format("--tokens={:.0f}", tokens));
  typed.notes.push_back(fmt::format("{} steps of {} x {} tokens: --tokens {:.0f}", format_count(steps),
                                    format_count(samples), format_count(sequence), tokens));
}

void put_trainer(Typed& typed, bool work_given) {
  const double passes = number_of(typed, "--accumulate", 0), steps = number_of(typed, "--steps", 0);
  if (passes <= 0 && steps <= 0) return;
  const double gpus = gpus_of(typed), batch = std::max(1.0, number_of(typed, "--batch", 1));
  double samples = number_of(typed, "--global-batch", 0);
  if (samples <= 0 && (passes > 0 || number_of(typed, "--batch", 0) > 0)) {
    samples = batch * std::max(1.0, passes) * gpus;
    typed.words.push_back(fmt::format("--global-batch={:.0f}", samples));
    typed.notes.push_back(
        fmt::format("{:g} x {:g} samples per step on {} GPU{}: --global-batch {:.0f}; more GPUs share "
                    "them",
                    batch, std::max(1.0, passes), gpus, gpus == 1 ? "" : "s", samples));
  }
  constexpr double kUsual = 128;
  if (samples <= 0) samples = kUsual;
  // A number of steps replaces the passes over a data set, as in Hugging Face's Trainer, but no total.
  work_given |= !value_of(typed.words, "--tokens").empty() || !value_of(typed.words, "--samples").empty();
  if (steps > 0 && !work_given) {
    std::erase_if(typed.words, [&](const std::string& word) {
      const bool data = word.starts_with("--dataset-tokens=") || word.starts_with("--dataset-samples=");
      if (data)
        typed.notes.push_back(
            fmt::format("training stops after {} steps, whatever the data: {} is not used", format_count(steps), word));
      return data;
    });
    typed.words.push_back(fmt::format("--samples={:.0f}", steps * samples));
    typed.notes.push_back(fmt::format("{} steps of {} sample{}: --samples {:.0f}", format_count(steps),
                                      format_count(samples), samples == 1 ? "" : "s", steps * samples));
  } else if (steps > 0) {
    typed.notes.push_back(fmt::format("{} steps are not used: the total amount decides", format_count(steps)));
  }
  std::erase_if(typed.words, [](const std::string& word) {
    return word.starts_with("--batch=") || word.starts_with("--accumulate=") || word.starts_with("--steps=");
  });
}

void put_global_batch(Typed& typed, const std::deque<FlagInfo>& declared, bool language_model) {
  const auto has = [&](std::string_view name) { return find_flag(declared, name) != nullptr; };
  std::vector<std::string>& words = typed.words;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (has("--global-batch")) {
      if (name == "--global-batch" && language_model) return put_sequences(typed, words[i]);
      continue;
    }
    if (!has("--accumulate") || !lists_word("--global-batch --global-batch-size --train-batch-size --gbs", name))
      continue;
    const bool joined = name.size() < words[i].size();
    if (!joined && i + 1 == words.size()) return;
    const auto samples = parse_amount(joined ? words[i].substr(name.size() + 1) : words[i + 1]);
    if (!samples || samples->per) return;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
    return put_passes(typed, samples->count);
  }
}

}  // namespace rightsize::app
