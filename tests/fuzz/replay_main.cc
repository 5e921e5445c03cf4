// Runs a fuzz target over the files of a corpus folder, each also cut short at many places and with bytes changed:
// what every build can do without a fuzzing engine. Usage: fuzz_replay TARGET FOLDER
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>

#include "base/file.h"

// fuzz_targets.inc is made by CMake: one FUZZ_TARGET(name) a file of this folder.
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

void feed_with_damage(Target* target, const std::string& text, std::mt19937& random) {
  const auto feed = [&](const std::string& bytes) {
    target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  };
  feed(text);
  constexpr std::size_t kCuts = 200;
  for (std::size_t i = 0; i < kCuts; ++i) feed(text.substr(0, text.size() * i / kCuts));
  if (text.empty()) return;
  constexpr int kChanges = 300;
  for (int i = 0; i < kChanges; ++i) {
    std::string damaged = text;
    for (int k = 0; k <= i % 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    feed(damaged);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Target* target = argc == 3 ? find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("usage: fuzz_replay TARGET FOLDER\n", stderr);
    return 1;
  }
  std::mt19937 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    rightsize::Result<std::string> text = rightsize::read_file(entry.path().string());
    if (!text) return 1;
    feed_with_damage(target, *text, random);
    ++files;
  }
  std::printf("%d passed, 0 failed\n", files);
  return files == 0 ? 1 : 0;  // an empty corpus tests nothing
}
