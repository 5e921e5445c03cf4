"""Lets shared libraries built with a new C library load with an old one (`lower`), for wheels.

A reference names the version of the C library that introduced a function: `pthread_create` of 2.34 is the old function in
another file, `pow` of 2.29 sets errno differently. References newer than LEAST lose their version and then resolve to any
version of the system. old_glibc.c has the functions that old systems lack. `missing` lists those that neither has."""
import re
import struct
import subprocess

LEAST = (2, 28)
WEAK = 2    # VER_FLG_WEAK: the loader accepts a missing version
GLOBAL = 1  # VER_NDX_GLOBAL: a symbol without a version


def sections(data):
    """{type: (offset, size, number of entries or 0, linked section's offset)} of a 64-bit little-endian file."""
    assert data[:6] == b'\x7fELF\x02\x01', 'not a 64-bit little-endian ELF file'
    start, = struct.unpack_from('<Q', data, 0x28)
    size, count = struct.unpack_from('<HH', data, 0x3a)
    rows = [struct.unpack_from('<IIQQQQIIQQ', data, start + i * size) for i in range(count)]
    return {row[1]: (row[4], row[5], row[7], rows[row[6]][4]) for row in rows}


def text_at(data, offset):
    return data[offset:data.index(b'\0', offset)].decode()


def is_newer(version):
    found = re.fullmatch(r'GLIBC_(\d+)\.(\d+)(\.\d+)?', version)
    return found is not None and (int(found[1]), int(found[2])) > LEAST


def lower(path):
    """Removes versions newer than LEAST from a library's references; returns the names of the symbols."""
    data = bytearray(path.read_bytes())
    table = sections(data)
    if 0x6ffffffe not in table:  # .gnu.version_r
        return set()
    need, _, count, strings = table[0x6ffffffe]
    indices = set()
    for _ in range(count):
        _, entries, _, first, after = struct.unpack_from('<HHIII', data, need)
        entry = need + first
        for _ in range(entries):
            _, flags, index, name, following = struct.unpack_from('<IHHII', data, entry)
            if is_newer(text_at(data, strings + name)):
                indices.add(index & 0x7fff)
                struct.pack_into('<H', data, entry + 4, flags | WEAK)
            entry += following
        need += after
    versions, size, _, _ = table[0x6fffffff]  # .gnu.version
    symbols, _, _, names = table[11]          # .dynsym
    lowered = set()
    for i in range(size // 2):
        if struct.unpack_from('<H', data, versions + 2 * i)[0] & 0x7fff in indices:
            struct.pack_into('<H', data, versions + 2 * i, GLOBAL)
            lowered.add(text_at(data, names + struct.unpack_from('<I', data, symbols + 24 * i)[0]))
    path.write_bytes(data)
    return lowered


def defined(path):
    """The names of the symbols that a library exports."""
    listed = subprocess.run(['readelf', '-W', '--dyn-syms', str(path)], capture_output=True, text=True, check=True).stdout
    return {name.split('@')[0] for name in re.findall(r'(?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)', listed)}


# Every C library since LEAST has these in some file, so removing the version is enough.
ALWAYS_THERE = set('''exp exp2 log log2 pow hypot dladdr dlclose dlerror dlopen dlsym ns_name_uncompress thrd_exit __pthread_key_create
pthread_attr_setguardsize pthread_attr_setstacksize pthread_condattr_setclock pthread_create pthread_detach pthread_getconcurrency
pthread_getspecific pthread_join pthread_key_create pthread_key_delete pthread_kill pthread_mutex_trylock pthread_mutexattr_destroy
pthread_mutexattr_gettype pthread_mutexattr_init pthread_mutexattr_settype pthread_once pthread_rwlock_destroy pthread_rwlock_init
pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock
pthread_rwlockattr_destroy pthread_rwlockattr_init pthread_rwlockattr_setkind_np pthread_setconcurrency pthread_setspecific
pthread_sigmask'''.split())


def missing(lowered, shim):
    """Symbols that an old C library may lack and the shim does not provide; must be empty."""
    return sorted(lowered - ALWAYS_THERE - defined(shim))
