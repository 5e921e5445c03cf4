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
    if (std::ranges::find(found, flag.group) == found.end()) found.push_back(flag.group);
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

// One line for a flag: the first clause of its meaning if the whole is too long.
std::string short_line(const FlagInfo& flag, std::size_t width) {
  FlagInfo shown = flag;
  if (is_long_choice(flag)) shown.values = "NAME";
  const auto fits = [&](const std::string& text) { return kMeaningColumn + display_width(text) <= width; };
  std::string text = meaning(shown);
  if (!fits(text)) text = shown.meaning;  // without the default
  for (const std::string_view stop : {"; ", ": ", " (", ", e.g.", ", "}) {
    if (const std::size_t at = text.find(stop); !fits(text) && at != std::string::npos) text.erase(at);
  }
  shown.meaning = text, shown.otherwise.clear(), shown.required = false;
  shown.others.clear();
  if (display_width(spelled(shown)) + kIndent + 2 > kMeaningColumn && shown.values.find('|') == std::string::npos)
    shown.values = "...";
  return flag_lines(shown, width);
}

}  // namespace

CommandInfo of_verb(CommandInfo command, const std::vector<std::string>& words) {
  const std::vector<Verb> verbs = command.verbs;
  const auto verb = std::ranges::find(verbs, words.size() > 1 ? words[1] : "-", &Verb::name);
  if (verb == verbs.end()) return command;
  std::erase_if(command.flags, [&](const FlagInfo& flag) {
    const auto takes = [&](const Verb& one) {
      return std::ranges::any_of(one.flags, [&](const std::string& name) { return flag.is_called(name); });
    };
    return !takes(*verb) && std::ranges::any_of(verbs, takes);
  });
  command.name += " " + verb->name;
  command.verbs.clear();
  std::erase_if(command.examples, [&](const std::string& example) { return !example.starts_with(command.name); });
  return command;
}

std::string help_text(const CommandInfo& command, std::size_t width) {
  std::string all = full_help_text(command, width);
  constexpr auto kScreen = 38;
  if (command.short_help.empty() || std::ranges::count(all, '\n') <= kScreen) return all;
  const bool verbs = !command.verbs.empty();  // the argument names them
  std::string text = all.substr(0, verbs ? all.size() : all.find("\nArguments:"));
  text = text.substr(0, std::min(text.size(), all.find("\n" + headings(command).front() + ":\n")));
  text = text.substr(0, std::min(text.size(), all.find("\nOptions:\n")));
  text += "\nOptions:\n";
  std::size_t shown = 0;
  for (const std::string_view name : split_list(command.short_help, ' ')) {
    for (const FlagInfo& flag : command.flags) {
      if (!flag.is_called("--" + std::string(name))) continue;
      const std::string lines = short_line(flag, width);
      if (std::ranges::count(text, '\n') + std::ranges::count(lines, '\n') > kScreen - 3) break;
      text += lines;
      ++shown;
      break;
    }
  }
  text += fmt::format("\n{} more options: rightsize help {} --all\n", command.flags.size() - shown, command.name);
  return text;
}

std::string full_help_text(const CommandInfo& command, std::size_t width) {
  std::string summary = command.summary + '.';
  summary.front() = to_upper(summary.substr(0, 1)).front();
  std::string text = usage(command) + '\n' + flowed(summary, 0, 0, width);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command.examples)
    text += "  " + flowed("rightsize " + example, kIndent, 2 * kIndent, width - 2);
  const bool arguments =
      std::ranges::any_of(command.flags, [](const FlagInfo& flag) { return !flag.name.starts_with('-'); });
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
      "Try:\n"
      "  rightsize \"can I fine-tune llama 3.1 8b on one 4090?\"\n"
      "  rightsize recommend --model llama-3.1-8b --tokens 1B --deadline 7d\n"
      "  rightsize prices h100\n\n"
      "Commands:\n";
  constexpr std::size_t kNameColumn = 9, kSummaryColumn = 20;
  std::string group;
  for (const CommandInfo& command : commands) {
    text += fmt::format("{:<{}}{:<{}}{}", command.group == group ? "" : command.group, kNameColumn, command.name,
                        kSummaryColumn - kNameColumn, flowed(command.summary, kSummaryColumn, kSummaryColumn, width));
    group = command.group;
  }
  text +=
      "\n'rightsize COMMAND --help' explains a command; 'rightsize schema' lists the JSON documents.\n"
      "Exit codes: 0 done, 1 bad input, 2 no feasible answer, 3 a source could not be read,\n"
      "4 a check did not pass, 70 an internal error. 'rightsize --version' prints the version.\n";
  return text;
}

}  // namespace rightsize::app
