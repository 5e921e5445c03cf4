// Functions of C libraries newer than 2.28 that the libraries of a wheel use, for systems that do not have them. A function
// of the system's C library takes precedence; packaging/old_glibc.py removes the version from references.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// 2.32. 0 is always correct: reference counters are then changed atomically.
char __libc_single_threaded = 0;

// 2.33. On 64-bit machines the kernel and the C library use the same structure.
static int stat_at(int folder, const char* path, void* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}
int stat(const char* path, struct stat* result) { return stat_at(AT_FDCWD, path, result, 0); }
int lstat(const char* path, struct stat* result) { return stat_at(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat* result) { return stat_at(file, "", result, AT_EMPTY_PATH); }
int stat64(const char* path, struct stat64* result) { return stat_at(AT_FDCWD, path, result, 0); }
int lstat64(const char* path, struct stat64* result) { return stat_at(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW); }
int fstat64(int file, struct stat64* result) { return stat_at(file, "", result, AT_EMPTY_PATH); }

// 2.30.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  struct timespec there, here;
  if (clock_gettime(clock, &there) != 0 || clock_gettime(CLOCK_REALTIME, &here) != 0) return EINVAL;
  struct timespec end = {here.tv_sec + until->tv_sec - there.tv_sec, here.tv_nsec + until->tv_nsec - there.tv_nsec};
  for (; end.tv_nsec < 0; end.tv_nsec += 1000000000) --end.tv_sec;
  for (; end.tv_nsec >= 1000000000; end.tv_nsec -= 1000000000) ++end.tv_sec;
  if (end.tv_sec < 0) return ETIMEDOUT;
  return pthread_cond_timedwait(condition, mutex, &end);
}

// 2.36.
void arc4random_buf(void* bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t got = getrandom((char*)bytes + done, count - done, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) done += (size_t)got;
  }
}
uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}

// 2.35: finds the unwind information for the code at an address.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};
static int look_at(struct dl_phdr_info* object, size_t size, void* wanted) {
  (void)size;
  struct search* search = wanted;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  void* unwind = NULL;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t at = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) unwind = (void*)at;
    if (part->p_type != PT_LOAD) continue;
    if (at < begin) begin = at;
    if (at + part->p_memsz > end) end = at + part->p_memsz;
    inside |= search->address >= at && search->address < at + part->p_memsz;
  }
  if (!inside) return 0;
  search->found->dlfo_flags = 0;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_link_map = NULL;
  search->found->dlfo_eh_frame = unwind;
  return unwind != NULL ? 1 : -1;
}
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

// 2.34: before, these were in libresolv under other names.
typedef int Expand(const unsigned char*, const unsigned char*, const unsigned char*, char*, int);
typedef int Search(void*, const char*, int, int, unsigned char*, int);
typedef int Query(const char*, int, int, unsigned char*, int);
int dn_expand(const unsigned char* message, const unsigned char* end, const unsigned char* from, char* to, int size) {
  Expand* old = (Expand*)dlsym(RTLD_DEFAULT, "__dn_expand");
  return old == NULL ? -1 : old(message, end, from, to, size);
}
int res_nsearch(void* state, const char* name, int class, int type, unsigned char* answer, int size) {
  Search* old = (Search*)dlsym(RTLD_DEFAULT, "__res_nsearch");
  return old == NULL ? -1 : old(state, name, class, type, answer, size);
}
int res_query(const char* name, int class, int type, unsigned char* answer, int size) {
  Query* old = (Query*)dlsym(RTLD_DEFAULT, "__res_query");
  return old == NULL ? -1 : old(name, class, type, answer, size);
}
