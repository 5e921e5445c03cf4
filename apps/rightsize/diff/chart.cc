#include "rightsize/diff/chart.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: no POSIX header declares it

namespace rightsize::app {
namespace {

constexpr std::size_t kLargest = 32U << 20;

// The output of a program without a shell; empty if it is not installed or fails.
std::optional<std::string> output_of(std::vector<std::string> words) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string text;
  std::array<char, 65536> block{};
  for (ssize_t size = 0; problem == 0 && (size = read(pipe_ends[0], block.data(), block.size())) > 0;) {
    if (text.size() < kLargest) text.append(block.data(), static_cast<std::size_t>(size));
  }
  close(pipe_ends[0]);
  int status = -1;
  if (problem != 0 || waitpid(child, &status, 0) != child) return std::nullopt;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && text.size() < kLargest ? std::optional(text) : std::nullopt;
}

}  // namespace

void render_charts(const std::string& folder, std::map<std::string, std::string>& texts) {
  namespace fs = std::filesystem;
  std::vector<std::string> charts;
  for (const auto& [file, text] : texts) {
    if (file == "Chart.yaml") charts.emplace_back();
    if (file.ends_with("/Chart.yaml")) charts.push_back(file.substr(0, file.size() - 10));
  }
  for (const std::string& chart : charts) {
    std::optional<std::string> rendered =
        output_of({"helm", "template", "rendered", (fs::path(folder) / chart).string()});
    if (!rendered) continue;
    std::erase_if(texts, [&](const auto& entry) {
      const std::string& file = entry.first;
      return file.starts_with(chart) &&
             (file.substr(chart.size()).starts_with("templates/") || file.substr(chart.size()) == "values.yaml");
    });
    texts[chart + "rendered by helm.yaml"] = *std::move(rendered);
  }
}

}  // namespace rightsize::app
