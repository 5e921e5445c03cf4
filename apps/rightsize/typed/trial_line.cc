#include "rightsize/typed/trial_line.h"

#include <algorithm>

#include "rightsize/typed/lists.h"

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

}  // namespace rightsize::app
