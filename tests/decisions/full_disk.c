// Preloaded before the C library: simulates a disk that is full after RIGHTSIZE_DISK_BYTES more bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

static long left = -1;

static int take(size_t size) {
  if (left < 0) {
    const char* set = getenv("RIGHTSIZE_DISK_BYTES");
    left = set ? atol(set) : 0;
  }
  if ((long)size > left) {
    errno = ENOSPC;
    return 0;
  }
  left -= (long)size;
  return 1;
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static ssize_t (*real)(int, const void*, size_t, off64_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  return take(size) ? real(fd, data, size, at) : -1;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
