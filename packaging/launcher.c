// bin/rightsize of the tarball and the wheel. It starts the program with the C library and the libraries it was built
// with, so the program runs on any Linux. It is linked statically. It does not change the environment, so child
// processes use the libraries of the system.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char* join(const char* folder, const char* rest) {
  char* path = malloc(strlen(folder) + strlen(rest) + 1);
  if (path == NULL) exit(70);
  strcpy(path, folder);
  return strcat(path, rest);
}

int main(int argc, char** argv) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    fputs("error: cannot find the program's folder because /proc is not mounted\nhint: mount it (in a container: -v /proc:/proc)\n", stderr);
    return 3;
  }
  self[length] = '\0';
  *strrchr(self, '/') = '\0';  // bin
  *strrchr(self, '/') = '\0';
  const char* home = join(self, "/lib/rightsize");
  char* libraries = join(join(home, "/lib:"), join(home, "/glibc"));
  char** words = calloc((size_t)argc + 7, sizeof *words);
  if (words == NULL) return 70;
  int count = 0;
  words[count++] = join(home, "/glibc/ld.so");
  words[count++] = "--library-path";
  words[count++] = libraries;
  words[count++] = "--argv0";
  words[count++] = argc > 0 ? argv[0] : "rightsize";
  words[count++] = join(home, "/rightsize");
  for (int i = 1; i < argc; ++i) words[count++] = argv[i];
  execv(words[0], words);
  perror(words[0]);
  return 3;
}
