#include <fmt/format.h>

#include "rightsize/manual/manual.h"

namespace rightsize::app {
namespace {

// Escapes what troff would interpret: a dot or quote at the start of a line, backslashes, and hyphens, which it may
// replace by another character.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && out.empty()) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string header(std::string_view name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"rightsize {}\"\n.SH NAME\n{} \\- {}\n", escaped(name), RIGHTSIZE_VERSION,
                     escaped(name), escaped(summary));
}

std::string flag_paragraph(const FlagInfo& flag) {
  std::string text = fmt::format(".TP\n\\fB{}\\fR", escaped(flag.name));
  for (const std::string& other : flag.others) text += fmt::format(", \\fB{}\\fR", escaped(other));
  if (flag.name.starts_with('-') && !flag.values.empty()) text += fmt::format(" \\fI{}\\fR", escaped(flag.values));
  text += '\n' + escaped(flag.meaning.empty() ? flag.group : flag.meaning);
  if (!flag.otherwise.empty()) text += escaped(fmt::format(" (default {})", flag.otherwise));
  return text + '\n';
}

}  // namespace

std::string manual_page(const CommandInfo& command) {
  std::string page = header("rightsize-" + command.name, command.summary);
  page += fmt::format(".SH SYNOPSIS\n.B rightsize {}\n[OPTIONS]\n", escaped(command.name));
  if (!command.examples.empty()) page += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : command.examples) page += escaped("rightsize " + example) + '\n';
  if (!command.examples.empty()) page += ".fi\n";
  std::string heading = "-";
  for (const FlagInfo& flag : command.flags) {
    if (flag.group != heading)
      page += fmt::format(".SH {}\n", flag.group.empty() ? std::string("OPTIONS") : escaped(flag.group));
    heading = flag.group;
    page += flag_paragraph(flag);
  }
  return page + ".SH SEE ALSO\n.BR rightsize (1)\n";
}

std::string overview_page(std::span<const CommandInfo> commands) {
  std::string page = header("rightsize", "the cheapest GPUs for a workload");
  page += ".SH SYNOPSIS\n.B rightsize\nCOMMAND [OPTIONS]\n.SH COMMANDS\n";
  for (const CommandInfo& command : commands)
    page += fmt::format(".TP\n\\fBrightsize\\-{}\\fR(1)\n{}\n", escaped(command.name), escaped(command.summary));
  page += ".SH EXIT STATUS\n0 done, 1 bad input, 2 no feasible answer, 3 a source could not be read, 70 a bug.\n";
  return page;
}

}  // namespace rightsize::app
