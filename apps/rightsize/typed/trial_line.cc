#include "rightsize/typed/trial_line.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/suggest.h"
#include "rightsize/call.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

bool only_reads(const std::vector<std::string>& words) {
  constexpr std::string_view kReaders =
      "portfolio recommend checklist estimate memory batch cache autoscale bill init window commit mig gpus models "
      "prices fleet service diff";
  const bool records = words.front() == "profile" || words.front() == "top" || words.front() == "exporter";
  const bool harmless = std::ranges::any_of(words, [&](const std::string& word) {
    return word == "--dry-run" || (records && (word.starts_with("--replay") || word == "--once"));
  });
  if (!lists_word(kReaders, words.front()) && !harmless) return false;
  constexpr std::string_view kActs = "--prometheus --out - --record import update forget nvml";
  return std::none_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    const bool remote = word.find("http://") != std::string::npos || word.find("https://") != std::string::npos;
    return remote || lists_word(kActs, word.substr(0, word.find('=')));
  });
}

std::vector<std::string> quick_flags(const std::vector<std::string>& words) {
  const auto given = [&](std::string_view flag) {
    return std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(flag); });
  };
  if (words.front() == "recommend") return {"--plans-only"};
  if (words.front() != "autoscale" || given("--sessions")) return {};  // sessions need the whole simulation
  if (given("--policy")) return {"--plans-only"};
  return {"--plans-only", "--policy=hpa:target=24"};
}

std::vector<std::vector<std::string>> lines_without_command(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> lines;
  const auto add = [&](const std::string& command, std::size_t from) {
    lines.push_back({command});
    lines.back().insert(lines.back().end(), words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
  };
  for (const std::string& word : words) {  // `team.yaml portfolio`
    if (!holds(command_names(), word)) continue;
    lines.push_back(words);
    std::erase(lines.back(), word);
    lines.back().insert(lines.back().begin(), word);
  }
  if (!words.front().starts_with('-'))
    for (const std::string& name : suggest(words.front(), command_names())) add(name, 1);
  bool model = false, gpu = false, job = false;
  for (const std::string& word : words) {
    const std::string value = word.substr(word.starts_with("--") ? word.find('=') + 1 : 0);
    model |= kind_of_word(value) == WordKind::kModel;
    gpu |= kind_of_word(singular_gpu(value)) == WordKind::kGpu;
    job |= !job_of(value).empty() || read_work_flag(word.substr(0, word.find('=')));
    if (const std::vector<std::string> reader = command_for_file(value); !reader.empty()) lines.push_back(reader);
  }
  const bool named = words.front().starts_with('-') || kind_of_word(singular_gpu(words.front())) != WordKind::kOther ||
                     !job_of(words.front()).empty();
  const std::size_t from = named ? 0 : 1;
  if (model || job) add("recommend", from);
  if (words.size() == 1 && job) lines.back().back() = "--job=" + job_of(words.front());
  if (model) add("memory", from);
  if (gpu) add("prices", from), add("gpus", from);
  return lines;
}

std::optional<std::vector<std::string>> example_with(
    const std::vector<std::string>& named, std::span<const std::string> examples,
    const std::function<bool(const std::vector<std::string>& words)>& runs) {
  for (const std::string_view example : examples) {
    const std::vector<std::string_view> words = split_list(example, ' ');
    const std::vector<std::string> shown(words.begin(), words.end());
    const bool same = named.empty() || std::ranges::any_of(named, [&](const auto& name) { return holds(shown, name); });
    const bool needs_file = std::ranges::any_of(shown, [](const std::string& word) {
      std::error_code ignored;
      return word.find('/') < word.find('=') && !std::filesystem::exists(word, ignored);
    });
    if (same && !needs_file && example.find('\'') == example.npos && runs(shown)) return shown;
  }
  return std::nullopt;
}

Error unknown_command(const std::string& typed) {
  const WordKind kind = kind_of_word(typed);
  std::string word = typed;  // with hyphens, as it must be typed
  std::replace(word.begin(), word.end(), ' ', '-');
  if (kind == WordKind::kGpu) {
    return bad_input(fmt::format("'{}' is a GPU, not a command", word))
        .with_hint(fmt::format("'rightsize gpus {0}' shows its data sheet, 'rightsize prices {0}' its prices", word));
  }
  if (kind == WordKind::kModel) {
    return bad_input(fmt::format("'{}' is a model, not a command", word))
        .with_hint(
            fmt::format("'rightsize recommend {0} --tokens 1B' plans its training, 'rightsize recommend {0} --job "
                        "serve --rate 5/s' a service",
                        word))
        .with_hint(
            fmt::format("'rightsize memory {0}' shows its memory, 'rightsize estimate {0} h100' its speed", word));
  }
  if (const std::string instead = suggested_command(word); !instead.empty())
    return bad_input(fmt::format("unknown command '{}'", word)).with_hint(instead);
  return bad_input(fmt::format("unknown command '{}'", word))
      .with_hint(did_you_mean(word, command_names()))
      .with_hint(
          "'rightsize --help' lists the commands; for example 'rightsize recommend --model llama-3.1-8b --tokens 1B'");
}

}  // namespace rightsize::app
