#include "base/confine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace rightsize {
namespace {

namespace fs = std::filesystem;

// A single test, because confine_files() cannot be undone.
TEST(Confine, ReadsOnlyFilesInTheNamedFolders) {
  const fs::path folder = fs::temp_directory_path() / ("confine_" + std::to_string(::getpid()));
  fs::create_directories(folder / "inside");
  std::ofstream(folder / "inside" / "a.txt") << "in";
  std::ofstream(folder / "b.txt") << "out";
  fs::create_symlink(folder / "b.txt", folder / "inside" / "link.txt");
  EXPECT_TRUE(read_file((folder / "b.txt").string()));
  EXPECT_EXIT(
      {
        confine_files({(folder / "inside").string()});
        const bool good = read_file((folder / "inside" / "a.txt").string()) &&
                          !read_file((folder / "b.txt").string()) &&
                          !read_file((folder / "inside" / ".." / "b.txt").string()) &&
                          !read_file((folder / "inside" / "link.txt").string()) && !read_file("-") &&
                          !read_file("/etc/passwd") && !may_read((folder / "inside-too").string());
        std::exit(good ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  fs::remove_all(folder);
}

TEST(NoWrites, NothingIsWrittenWhileOneExists) {
  const std::string path = (fs::temp_directory_path() / ("no_writes_" + std::to_string(::getpid()))).string();
  {
    const NoWrites unchanged;
    EXPECT_FALSE(write_file(path, "new"));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(write_file(path, "new"));
  fs::remove(path);
}

// A relative path in the variable is ignored, as the XDG specification demands.
TEST(UserPath, IsInTheFolderOfTheVariableOrTheHomeFolder) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  const auto path = [](const char* value, const char* home_folder) {
    ::setenv("HOME", home_folder, 1);
    ::setenv("RIGHTSIZE_TEST_HOME", value, 1);
    return user_path("RIGHTSIZE_TEST_HOME", ".cache", "x");
  };
  EXPECT_EQ(path("/var/cache", "/home/ada"), "/var/cache/rightsize/x");
  for (const char* ignored : {"", "cache", "./cache"}) {
    EXPECT_EQ(path(ignored, "/home/ada"), "/home/ada/.cache/rightsize/x");
    EXPECT_EQ(path(ignored, ""), "");
  }
  ::unsetenv("RIGHTSIZE_TEST_HOME");
  ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace rightsize
