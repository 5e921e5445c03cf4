#include "rightsize/diff/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/copy_json.h"
#include "base/text.h"
#include "manifests/read.h"

extern char** environ;  // NOLINT: no POSIX header declares it

namespace rightsize::app {

namespace fs = std::filesystem;

constexpr std::size_t kLargest = 32U << 20;

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

namespace {

// "b/k8s/chat.yaml\t2026-11-01" -> "k8s/chat.yaml"; empty for /dev/null.
std::string patched_name(std::string_view name) {
  name = trim(name.substr(0, name.find('\t')));
  if (name == "/dev/null") return {};
  if (name.starts_with("a/") || name.starts_with("b/")) name.remove_prefix(2);
  return std::string(name);
}

std::optional<TwoVersions> versions_in_patch(const std::string& text) {
  TwoVersions found;
  std::string old_name, new_name;
  bool in_hunk = false;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);  // indentation matters
    if (line.starts_with("--- ") && !(in_hunk && text.compare(end, 5, "\n+++ ") != 0)) {
      old_name = patched_name(line.substr(4)), in_hunk = false;
    } else if (line.starts_with("+++ ") && !in_hunk) {
      new_name = patched_name(line.substr(4));
    } else if (line.starts_with("@@ ")) {
      in_hunk = !old_name.empty() || !new_name.empty();
    } else if (line.starts_with("diff ")) {
      in_hunk = false;
    } else if (in_hunk) {
      const char kind = line.empty() ? ' ' : line.front();
      const std::string content = std::string(line.substr(line.empty() ? 0 : 1)) + '\n';
      // Both under the new name, as versions of one file.
      const std::string& name = new_name.empty() ? old_name : new_name;
      if (kind != '+' && kind != '\\' && !old_name.empty()) found.before[name] += content;
      if (kind != '-' && kind != '\\' && !new_name.empty()) found.after[name] += content;
    }
  }
  if (found.before.empty() && found.after.empty()) return std::nullopt;
  return found;
}

std::optional<TwoVersions> versions_in_plan(const std::string& file, const std::string& text) {
  const Checked<LocatedJson> plan = LocatedJson::parse(file, text);
  const JsonMember* changes = plan ? plan->root().find("resource_changes") : nullptr;
  if (changes == nullptr) return std::nullopt;
  TwoVersions found;
  for (const auto& [side, texts] : {std::pair("before", &found.before), std::pair("after", &found.after)}) {
    Json resources = Json::array();
    for (const JsonValue& each : changes->value.items) {
      const JsonMember* change = each.find("change");
      const JsonMember* values = change == nullptr ? nullptr : change->value.find(side);
      if (values == nullptr || values->value.type != JsonType::kObject) continue;  // created or destroyed
      Json resource = Json::object();
      for (const char* name : {"address", "mode", "type", "name"}) {
        if (const JsonMember* member = each.find(name)) resource[name] = copy_of(member->value);
      }
      resource["values"] = copy_of(values->value);
      resources.push_back(std::move(resource));
    }
    Json document = Json::object();
    document["format_version"] = "1.0";
    document["values"]["root_module"]["resources"] = std::move(resources);
    for (const char* name : {"configuration", "variables"}) {
      if (const JsonMember* member = plan->root().find(name)) document[name] = copy_of(member->value);
    }
    texts->emplace(file, document.dump());
  }
  return found;
}

}  // namespace

std::optional<TwoVersions> versions_in(const std::string& file, const std::string& text) {
  if (file.ends_with(".json")) return versions_in_plan(file, text);
  const bool patch = text.starts_with("diff ") || text.starts_with("--- ") || text.starts_with("Index: ") ||
                     (text.starts_with("From ") && text.find("\ndiff --git ") != std::string::npos);
  return patch ? versions_in_patch(text) : std::nullopt;
}

Result<FileTexts> files_in_revision(const std::string& path, const std::string& revision, const std::string& alias) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path parent = is_folder ? fs::path(path) : fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  // Checked first, and never an option of git: an unknown revision is not an empty one.
  const std::optional<std::string> commit =
      revision.starts_with('-')
          ? std::nullopt
          : output_of({"git", "-C", folder, "rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  if (!commit) {
    return fail(bad_input(fmt::format("git has no revision '{}' of '{}'", revision, path))
                    .with_hint("name a branch, a tag or a commit of the files' repository, e.g. --against HEAD"));
  }
  const std::string id(trim(*commit));
  std::vector<std::string> names = {fs::path(path).filename().string()};
  if (is_folder) {
    const std::optional<std::string> listed =
        output_of({"git", "-C", folder, "ls-tree", "-r", "-z", "--name-only", id});
    if (!listed) return fail(unreadable(fmt::format("git cannot list '{}' in {}", path, revision)));
    names.clear();
    for (const std::string_view name : split_list(*listed, '\0')) {
      if (!name.empty() && manifests::may_hold_requests(std::string(name))) names.emplace_back(name);
    }
  }
  FileTexts texts;
  for (const std::string& name : names) {
    if (auto text = output_of({"git", "-C", folder, "cat-file", "blob", id + ":./" + name}))
      texts.emplace(is_folder ? name : alias, *std::move(text));
  }
  return texts;
}

}  // namespace rightsize::app
