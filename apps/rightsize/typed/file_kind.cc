#include "rightsize/typed/file_kind.h"

#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/text.h"

namespace rightsize::app {
namespace {

// A text near the beginning of a file, and the words before and after the file's name in the command that reads it.
struct FileKind {
  std::string_view text;
  std::vector<std::string> command;
};

const std::vector<FileKind>& kinds() {
  static const std::vector<FileKind> kAll = {
      {"#SBATCH", {"diff", "/dev/null"}},
      {"apiVersion:", {"diff", "/dev/null"}},
      {"accelerators:", {"diff", "/dev/null"}},
      {"resource \"", {"diff", "/dev/null"}},
      {"JobID|", {"fleet", "--from"}},
      {"JobIDRaw|", {"fleet", "--from"}},
      {"DCGM_FI_", {"fleet", "--from"}},
      {"vllm:", {"service", "--from"}},
      {"sglang:", {"service", "--from"}},
      {"utilization.gpu", {"profile", "--replay"}},
      {"BilledCost", {"bill"}},
      {"\"model_type\"", {"models"}},
  };
  return kAll;
}

}  // namespace

std::vector<std::string> command_for_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  constexpr std::size_t kBeginning = 4096;
  std::string begins(kBeginning, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  begins.resize(static_cast<std::size_t>(file.gcount()));
  for (const FileKind& kind : kinds()) {
    if (begins.find(kind.text) == std::string::npos) continue;
    std::vector<std::string> command = kind.command;
    command.push_back(path);
    return command;
  }
  return {};
}

}  // namespace rightsize::app
