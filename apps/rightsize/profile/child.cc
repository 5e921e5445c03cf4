#include "rightsize/profile/child.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rightsize::app {
namespace {

std::atomic<int> interruption = 0;
std::atomic<pid_t> child = 0;

struct sigaction previous[3];
constexpr int kSignals[3] = {SIGINT, SIGTERM, SIGHUP};

// A terminal sends Ctrl-C to the whole foreground group (code SI_KERNEL), so the command already has it.
void on_signal(int number, siginfo_t* info, void*) {
  interruption = number;
  const pid_t to = child;
  if (to > 0 && !(number == SIGINT && info->si_code == SI_KERNEL)) kill(to, number);
}

[[noreturn]] void become(const std::vector<std::string>& words, bool quiet_output, int report_to) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (quiet_output) dup2(STDERR_FILENO, STDOUT_FILENO);
  std::signal(SIGXFSZ, SIG_DFL);  // our program ignores it, see entry.cc
  execvp(arguments[0], arguments.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t told = write(report_to, &why, sizeof why);
  _exit(127);
}

int wait_to_the_end(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interruption = 0;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &action, &previous[i]);
}

InterruptGuard::~InterruptGuard() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &previous[i], nullptr);
}

bool InterruptGuard::interrupted() { return interruption != 0; }

// The pipe closes when the command starts; if it cannot start, the pipe delivers the reason.
Result<int> run_command(const std::vector<std::string>& words, bool quiet_output, std::atomic<unsigned>& pid) {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(unreadable(fmt::format("cannot start a command: {}", std::strerror(errno))));
  const pid_t started = fork();
  if (started < 0) return fail(unreadable(fmt::format("cannot start a command: {}", std::strerror(errno))));
  if (started == 0) become(words, quiet_output, ends[1]);
  child = started;
  pid = static_cast<unsigned>(started);
  close(ends[1]);
  int why = 0;
  ssize_t got = 0;
  do {
    got = read(ends[0], &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  close(ends[0]);
  const int status = wait_to_the_end(started);
  child = 0;
  if (got == sizeof why) {
    return fail(bad_input(fmt::format("cannot run '{}': {}", words[0], std::strerror(why)))
                    .with_hint("put the command after --: rightsize profile -- python train.py"));
  }
  return status;
}

// A zombie process counts as ended.
bool process_exists(unsigned pid) {
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno != EPERM) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t close = line.rfind(')');
  return close == std::string::npos || close + 2 >= line.size() || line[close + 2] != 'Z';
}

void wait_for(unsigned pid, std::optional<Seconds> limit) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (!InterruptGuard::interrupted()) {
    if (pid != 0 && !process_exists(pid)) return;
    if (limit && seconds(std::chrono::duration<double>(Clock::now() - begin).count()) >= *limit) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::set<unsigned> process_tree(unsigned root) {
  std::multimap<unsigned, unsigned> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // "12 (name) S 3 ...": the name may contain anything, even a bracket.
    const std::size_t close = line.rfind(')');
    if (close == std::string::npos) continue;
    std::istringstream rest(line.substr(close + 1));
    char state = 0;
    unsigned parent = 0;
    if (rest >> state >> parent) children.emplace(parent, static_cast<unsigned>(std::stoul(name)));
  }
  std::set<unsigned> tree = {root};
  std::vector<unsigned> open = {root};
  while (!open.empty()) {
    const unsigned parent = open.back();
    open.pop_back();
    auto [first, last] = children.equal_range(parent);
    for (auto it = first; it != last; ++it) {
      if (tree.insert(it->second).second) open.push_back(it->second);
    }
  }
  return tree;
}

}  // namespace rightsize::app
