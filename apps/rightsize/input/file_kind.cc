#include "rightsize/input/file_kind.h"

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "rightsize/typed/aliases.h"

namespace rightsize::app {
std::vector<std::string> command_for_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  constexpr std::size_t kBeginning = 4096;
  std::string begins(kBeginning, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  begins.resize(static_cast<std::size_t>(file.gcount()));
  for (const NameRow& kind : names_of("file")) {
    if (begins.find(kind.names) == std::string::npos) continue;
    const std::vector<std::string_view> words = split_list(kind.meant, ' ');
    std::vector<std::string> command(words.begin(), words.end());
    command.push_back(path);
    return command;
  }
  return {};
}

}  // namespace rightsize::app
