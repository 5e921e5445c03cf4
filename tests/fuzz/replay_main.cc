// Runs a fuzz target over the files of a corpus folder, each also cut short at many places and with bytes changed:
// what every build can do without a fuzzing engine.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

void feed_with_damage(const std::string& text, std::mt19937& random) {
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
  std::mt19937 random(1);
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      rightsize::Result<std::string> text = rightsize::read_file(entry.path().string());
      if (!text) return 1;
      feed_with_damage(*text, random);
      ++files;
    }
  }
  std::printf("%d passed, 0 failed\n", files);
  return files == 0 ? 1 : 0;  // an empty corpus tests nothing
}
