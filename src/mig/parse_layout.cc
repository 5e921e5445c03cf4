// Reads layouts as people write them.
#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "mig/geometry.h"

namespace rightsize::mig {
namespace {

constexpr std::int64_t kMostInstances = 64;

// One word between commas: "2x1g.10gb", "1g.10gb*2", "1g.10gb: 2", "1g.10gb@4".
struct Word {
  std::string_view name;
  std::string_view count, start;
};

Word take_apart(std::string_view text) {
  Word word{text, {}, {}};
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    word.name = trim(text.substr(0, at));
    word.start = trim(text.substr(at + 1));
    return word;
  }
  if (const std::size_t at = text.find_first_of("*:"); at != std::string_view::npos) {
    word.name = trim(text.substr(0, at));
    word.count = trim(text.substr(at + 1));
    return word;
  }
  const std::size_t x = text.find('x');
  const bool number = x != std::string_view::npos && x > 0 &&
                      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(x),
                                  [](char c) { return (c >= '0' && c <= '9') || c == ' '; });
  if (number) {
    word.count = trim(text.substr(0, x));
    word.name = trim(text.substr(x + 1));
  }
  return word;
}

Result<std::vector<Instance>> read_word(std::string_view text, const Geometry& geometry) {
  const Word word = take_apart(text);
  RIGHTSIZE_TRY(const int profile, geometry.find_profile(word.name));
  Instance instance{profile, -1};
  std::int64_t count = 1;
  if (!word.start.empty()) {
    const Result<std::int64_t> start = parse_integer(word.start);
    const std::vector<int>& legal = geometry.profile(profile).placements;
    if (!start || std::ranges::find(legal, *start) == legal.end())
      return fail(bad_input(fmt::format("{} cannot start at slice '{}'", geometry.profile(profile).profile, word.start))
                      .with_hint(fmt::format("it may start at {}", fmt::join(legal, ", "))));
    instance.start = static_cast<int>(*start);
  }
  if (!word.count.empty()) {
    const Result<std::int64_t> given = parse_integer(word.count);
    if (!given || *given < 1 || *given > kMostInstances)
      return fail(bad_input(fmt::format("'{}' is not a number of instances", word.count))
                      .with_hint(fmt::format("write a whole number from 1 to {}", kMostInstances)));
    count = *given;
  }
  return std::vector<Instance>(static_cast<std::size_t>(count), instance);
}

}  // namespace

Checked<Layout> parse_layout(std::string_view text, const Geometry& geometry) {
  Layout layout;
  Errors errors;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t end = std::min(text.find_first_of(",+\n", begin), text.size());
    // A space after a profile ends it, too: "3g.20gb 2g.10gb". Not in "2 x 1g.10gb" or "1g.10gb : 2".
    for (std::size_t at = text.find("gb ", begin); at < end; at = text.find("gb ", at + 1)) {
      const std::size_t next = text.find_first_not_of(' ', at + 2);
      if (next < end && text[next] >= '0' && text[next] <= '9') end = at + 2;
    }
    // '+' also begins a media suffix: "1g.10gb+me".
    while (end < text.size() && text[end] == '+' &&
           (text.substr(end).starts_with("+me") || text.substr(end).starts_with("+gfx"))) {
      end = std::min(text.find_first_of(",+\n", end + 1), text.size());
    }
    const std::string_view part = text.substr(begin, end - begin);
    if (const std::string_view word = trim(part); !word.empty()) {
      Result<std::vector<Instance>> read = read_word(word, geometry);
      if (read) {
        layout.insert(layout.end(), read->begin(), read->end());
      } else {
        const std::size_t offset = static_cast<std::size_t>(word.data() - text.data());
        errors.push_back(std::move(read).error().at(place_in("layout", text, offset, word.size())));
      }
    }
    begin = end + 1;
  }
  if (errors.empty() && layout.empty())
    errors.push_back(bad_input("the layout has no profile").with_hint("for example 3g.40gb,2g.20gb,1g.10gb"));
  if (errors.empty() && layout.size() > static_cast<std::size_t>(kMostInstances))
    errors.push_back(bad_input("more instances than fit any GPU"));
  if (!errors.empty()) return fail(std::move(errors));
  return layout;
}

}  // namespace rightsize::mig
