// Runs a fuzz target on the files of a corpus folder, complete, truncated and damaged, without a fuzzing engine.
// Usage: fuzz_replay TARGET FOLDER [INPUTS], with INPUTS damaged inputs in total instead of 300 per file; `make check`
// uses 10,000. An input that crashes the program is left in the file fuzz-found in the current folder.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

// CMake generates fuzz_targets.inc: one FUZZ_TARGET(name) per file of this folder.
using Target = int(const std::uint8_t* data, std::size_t size);
#define FUZZ_TARGET(name) extern "C" Target name;
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

namespace {

Target* find_target(std::string_view wanted) {
#define FUZZ_TARGET(name) \
  if (wanted == #name) return name;
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
  return nullptr;
}

// Text that often breaks parsers: line ends and quotes, numbers at the limits of their types, invalid UTF-8.
constexpr std::string_view kTokens[] = {"\n",
                                        "\r\n",
                                        "\"",
                                        ",",
                                        ":",
                                        "{",
                                        "[",
                                        "]}",
                                        "-",
                                        "0",
                                        "1e999",
                                        "-1e-999",
                                        "NaN",
                                        "inf",
                                        "9223372036854775808",
                                        "18446744073709551616",
                                        "\xff\xfe",
                                        "\xed\xa0\x80",
                                        "%s",
                                        "#",
                                        "null",
                                        "\\u0000",
                                        "\t",
                                        "    ",
                                        "99999999999999999999999999"};

// One change of a text: a byte is changed, a piece is removed, doubled, moved or repeated, or a token is inserted.
void damage(std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return random() % std::max<std::size_t>(bound, 1); };
  const std::size_t at = below(text.size()), length = 1 + below(std::min<std::size_t>(text.size() - at, 64));
  switch (random() % 7) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(text.size()), text.substr(at, length));
      break;
    case 3:
      text.insert(at, kTokens[below(std::size(kTokens))]);
      break;
    case 4:
      text.replace(at, length, kTokens[below(std::size(kTokens))]);
      break;
    case 5: {
      const std::string piece = text.substr(at, length);
      for (std::size_t n = below(200); n > 0; --n) text.insert(at, piece);
      break;
    }
    default:
      text.resize(at);
  }
}

const std::string* given_now = nullptr;

void keep_input(int signal) {
  const int file = open("fuzz-found", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const bool kept = file >= 0 && write(file, given_now->data(), given_now->size()) >= 0;
  if (kept && write(STDERR_FILENO, "the input is in ./fuzz-found\n", 29) < 0) close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Feeder {
 public:
  Feeder(Target* target, std::size_t damaged, bool hard) : target_(target), damaged_(damaged), hard_(hard) {}

  void feed(const std::string& text) {
    give(text);
    constexpr std::size_t kCuts = 200;
    for (std::size_t i = 0; i < kCuts; ++i) give(text.substr(0, text.size() * i / kCuts));
    for (std::size_t i = 0; i < damaged_ && !text.empty(); ++i) {
      std::string copy = text;
      for (std::size_t k = 0; k <= i % 4 && !copy.empty(); ++k) {
        if (hard_)
          damage(copy, random_);
        else
          copy[random_() % copy.size()] = static_cast<char>(random_());
      }
      give(copy);
    }
  }
  std::size_t given() const { return given_; }

 private:
  void give(const std::string& bytes) {
    given_now = &bytes;
    target_(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++given_;
  }

  Target* target_;
  std::size_t damaged_, given_ = 0;
  bool hard_;
  std::mt19937 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  Target* target = argc == 3 || argc == 4 ? find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("usage: fuzz_replay TARGET FOLDER [INPUTS]\n", stderr);
    return 1;
  }
  for (int signal : {SIGABRT, SIGSEGV}) std::signal(signal, keep_input);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  constexpr std::size_t kUsual = 300;
  const std::size_t wanted = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : kUsual * files.size();
  Feeder feeder(target, files.empty() ? 0 : (wanted + files.size() - 1) / files.size(), argc == 4);
  for (const std::filesystem::path& file : files) {
    rightsize::Result<std::string> text = rightsize::read_file(file.string());
    if (!text) return 1;
    feeder.feed(*text);
  }
  std::printf("%zu files, %zu inputs: passed\n", files.size(), feeder.given());
  return files.empty() ? 1 : 0;  // an empty corpus tests nothing
}
