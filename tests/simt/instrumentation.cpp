// The functions that a compiler calls before each memory access for its thread sanitizer. Here they
// pass the kernels' accesses to the simulated device's race detector (races.h).

#include <cstddef>

#include "simt/races.h"

using kernels::simt::AccessKind;
using kernels::simt::note_access;

// NOLINTBEGIN: the compiler defines these names
#define HALFTONE_ACCESS(name, bytes, access) \
    void name(void* at);                     \
    void name(void* at) { note_access(at, bytes, access, __builtin_return_address(0)); }
#define HALFTONE_ACCESSES(bytes)                                             \
    HALFTONE_ACCESS(__tsan_read##bytes, bytes, AccessKind::read)             \
    HALFTONE_ACCESS(__tsan_write##bytes, bytes, AccessKind::write)           \
    HALFTONE_ACCESS(__tsan_unaligned_read##bytes, bytes, AccessKind::read)   \
    HALFTONE_ACCESS(__tsan_unaligned_write##bytes, bytes, AccessKind::write) \
    HALFTONE_ACCESS(__tsan_volatile_read##bytes, bytes, AccessKind::read)    \
    HALFTONE_ACCESS(__tsan_volatile_write##bytes, bytes, AccessKind::write)

extern "C" {
HALFTONE_ACCESSES(1)
HALFTONE_ACCESSES(2)
HALFTONE_ACCESSES(4)
HALFTONE_ACCESSES(8)
HALFTONE_ACCESSES(16)

void __tsan_read_range(void* at, std::size_t bytes);
void __tsan_read_range(void* at, std::size_t bytes) {
    note_access(at, bytes, AccessKind::read, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t bytes);
void __tsan_write_range(void* at, std::size_t bytes) {
    note_access(at, bytes, AccessKind::write, __builtin_return_address(0));
}
void __tsan_init();
void __tsan_init() {}
void __tsan_func_entry(void* caller);
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*);
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void* at, void* value);
void __tsan_vptr_update(void*, void*) {}
}
// NOLINTEND
