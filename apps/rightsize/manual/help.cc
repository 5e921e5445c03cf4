#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "rightsize/manual/manual.h"

namespace rightsize::app {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMeaningColumn = 28;

// Wraps `text` at `width`; the first line starts at `column`, the others at `begin`.
std::string flowed(std::string_view text, std::size_t column, std::size_t begin, std::size_t width) {
  std::string out;
  bool first = true;
  for (std::string_view word : split_list(text, ' ')) {
    const std::size_t size = display_width(word);
    if (!first && column + 1 + size > width) {
      out += '\n' + std::string(begin, ' ');
      column = begin;
      first = true;
    }
    if (!first) out += ' ', ++column;
    out += word;
    column += size;
    first = false;
  }
  return out + '\n';
}

std::string to_upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string spelled(const FlagInfo& flag) {
  std::string text = flag.name;
  for (const std::string& other : flag.others) text += ", " + other;
  if (flag.name.starts_with('-') && !flag.values.empty()) text += ' ' + flag.values;
  return text;
}

// Whether the choices are too long to show next to the flag.
bool is_long_choice(const FlagInfo& flag) {
  constexpr std::size_t kShort = 24;
  return flag.values.size() > kShort && flag.values.find('|') != std::string::npos;
}

std::string meaning(const FlagInfo& flag) {
  std::string text = flag.meaning;
  if (is_long_choice(flag)) {
    text += text.empty() ? "one of " : "; one of ";
    for (char c : flag.values) text += c == '|' ? std::string(", ") : std::string(1, c);
  }
  if (!flag.otherwise.empty()) text += fmt::format(" (default {})", flag.otherwise);
  if (flag.required) text += " (required)";
  return std::string(trim(text));
}

std::string flag_lines(FlagInfo flag, std::size_t width) {
  const std::string said = meaning(flag);
  if (is_long_choice(flag)) flag.values = "NAME";
  std::string line = std::string(kIndent, ' ') + spelled(flag);
  const bool fits = display_width(line) + 2 <= kMeaningColumn;
  line += fits ? std::string(kMeaningColumn - display_width(line), ' ') : '\n' + std::string(kMeaningColumn, ' ');
  return line + flowed(said, kMeaningColumn, kMeaningColumn, width);
}

std::vector<std::string> headings(const CommandInfo& command) {
  std::vector<std::string> found;
  for (const FlagInfo& flag : command.flags) {
    if (!flag.name.starts_with('-')) continue;
    if (std::find(found.begin(), found.end(), flag.group) == found.end()) found.push_back(flag.group);
  }
  return found;
}

std::string usage(const CommandInfo& command) {
  std::string text = "Usage: rightsize " + command.name;
  for (const FlagInfo& flag : command.flags) {
    const std::string word = flag.name.starts_with('-') ? flag.argument : flag.name;
    if (!word.empty()) text += flag.required ? ' ' + to_upper(word) : " [" + to_upper(word) + "]";
  }
  return text + " [OPTIONS]\n";
}

}  // namespace

std::string help_text(const CommandInfo& command, std::size_t width) {
  std::string summary = command.summary + '.';
  summary.front() = to_upper(summary.substr(0, 1)).front();
  std::string text = usage(command) + '\n' + flowed(summary, 0, 0, width);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command.examples)
    text += "  " + flowed("rightsize " + example, kIndent, 2 * kIndent, width - 2);
  const bool arguments = std::any_of(command.flags.begin(), command.flags.end(),
                                     [](const FlagInfo& flag) { return !flag.name.starts_with('-'); });
  if (arguments) text += "\nArguments:\n";
  for (const FlagInfo& flag : command.flags) {
    FlagInfo shown = flag;
    shown.name = to_upper(flag.name);
    if (!flag.name.starts_with('-')) text += flag_lines(shown, width);
  }
  for (const std::string& heading : headings(command)) {
    text += fmt::format("\n{}:\n", heading.empty() ? "Options" : heading);
    for (const FlagInfo& flag : command.flags) {
      if (flag.group == heading && flag.name.starts_with('-')) text += flag_lines(flag, width);
    }
  }
  return text;
}

std::string overview_text(std::span<const CommandInfo> commands, std::size_t width) {
  std::string text =
      "rightsize: the cheapest GPUs for a workload, with provider, purchase terms and settings.\n\n"
      "Usage: rightsize COMMAND [OPTIONS]\n\nCommands:\n";
  constexpr std::size_t kSummaryColumn = 14;
  for (const CommandInfo& command : commands) {
    text += fmt::format("  {:<{}}{}", command.name, kSummaryColumn - kIndent,
                        flowed(command.summary, kSummaryColumn, kSummaryColumn, width));
  }
  text +=
      "\nOptions:\n  -h, --help  show this help, or that of a command\n  -V, --version\n\n"
      "Exit codes: 0 done, 1 bad input, 2 no feasible answer, 3 a source could not be read,\n"
      "4 a check did not pass, 70 an internal error.\n"
      "'rightsize COMMAND --help' or 'rightsize help COMMAND' explains a command.\n"
      "'rightsize schema' lists the JSON documents; 'rightsize schema NAME' prints the schema of one.\n";
  return text;
}

}  // namespace rightsize::app
