#include "simt/races.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "simt/handover.h"
#include "simt/language.h"
#include "simt/shadow.h"

namespace kernels::simt {
namespace {

/// A place of shared memory that the block has written, while it is paused.
struct SavedPlace {
    std::uint16_t bytes = 0;
    Place place{};
    std::uint64_t atomic = 0;
};

/// The state that every access reads.
struct Watch {
    Shadow device, shared;
    bool note_shared = false;
    bool running = false;
    std::uint64_t launch = 0;
    std::uint64_t now = 0;     // the stamp of an access now, without its thread
    bool has_atomics = false;  // in this launch, so far
    std::int64_t read_places = 0, written_places = 0;  // of device memory, in this launch
};
constinit Watch watch;

/// The places that the block which runs has written, by offset; if blocks are interleaved.
std::map<std::uintptr_t, SavedPlace>& shared_written() {
    static auto* only = new std::map<std::uintptr_t, SavedPlace>;
    return *only;
}

/// The findings of this launch.
struct Findings {
    std::set<const void*> told;  // one finding for each place in the code
    std::vector<std::string> texts;
};
Findings& findings() {
    static auto* only = new Findings;
    return *only;
}

/// The address in the form that addr2line expects.
std::string code_at(const void* where) {
    Dl_info info;
    std::ostringstream text;
    if (dladdr(where, &info) == 0) return "unknown code";
    text << "addr2line -Cife " << info.dli_fname << " 0x" << std::hex
         << reinterpret_cast<std::uintptr_t>(where) -
                reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    return text.str();
}

const char* verb(AccessKind access) {
    return access == AccessKind::read    ? "reads"
           : access == AccessKind::write ? "writes"
                                         : "changes atomically";
}

/// One access.
struct Event {
    bool is_shared;
    std::uintptr_t offset;  // offset in device memory or among the variables
    AccessKind access;
    const void* where;
    std::uint64_t now;
};

std::uint64_t thread_of(std::uint64_t s) { return stamp::field(s, stamp::thread, stamp::barriers); }
std::uint64_t block_of(std::uint64_t s) { return stamp::field(s, stamp::block, stamp::launch); }

[[gnu::cold]] void tell(const Event& event, const std::string& why) {
    if (!findings().told.insert(event.where).second) return;
    std::ostringstream text;
    text << "thread " << thread_of(event.now) << " of block " << block_of(event.now) << ' '
         << verb(event.access) << (event.is_shared ? " shared" : " device") << " memory at offset "
         << event.offset << ' ' << why << " (" << code_at(event.where) << ')';
    findings().texts.push_back(text.str());
}

[[gnu::cold]] void tell(const Event& event, std::uint64_t before, const char* done) {
    std::ostringstream text;
    text << done << " by thread " << thread_of(before);
    if (block_of(before) != block_of(event.now)) text << " of block " << block_of(before);
    text << ", with no barrier between";
    tell(event, text.str());
}

/// Whether another block has handed over an access to the one that runs.
[[gnu::noinline]] bool was_taken(std::uint64_t before) {
    return (before & stamp::other_blocks) == 0 &&
           handovers().taken(block_of(before), stamp::field(before, stamp::barriers, stamp::block));
}

/// Whether an access clashes with an earlier one of the same launch.
[[gnu::always_inline]] inline bool clashes(std::uint64_t before, std::uint64_t now) {
    if ((before & now & stamp::bytes) == 0) return false;
    if (!stamp::same(before, now, stamp::block) || (before & stamp::other_blocks) != 0)
        return !was_taken(before);
    if (!stamp::same(before, now, stamp::barriers)) return false;
    return !stamp::same(before, now, stamp::thread) || (before & stamp::others) != 0;
}

/// The stamp of a read or an atomic operation after another one in the same launch. Bytes of one
/// place that several threads read are tracked only as far as all of them read the same bytes:
/// every reported race is real, but one of single bytes may be missed.
[[gnu::always_inline]] inline std::uint64_t joined(std::uint64_t last, std::uint64_t now) {
    if ((last & now & stamp::bytes) == 0) return now;
    const bool same_block = stamp::same(last, now, stamp::block);
    const bool same_barriers = stamp::same(last, now, stamp::barriers);
    const bool same_thread = same_barriers && stamp::same(last, now, stamp::thread);
    std::uint64_t next = now | (last & stamp::other_blocks);
    if (!same_block) next |= stamp::other_blocks;
    if (same_barriers) next |= (last & stamp::others) | (same_thread ? 0 : stamp::others);
    const bool alone = same_thread && (last & (stamp::others | stamp::other_blocks)) == 0;
    return alone ? next | (last & stamp::bytes) : next & (last | ~stamp::bytes);
}

}  // namespace

void watch_device_memory(const void* start, std::size_t bytes) { watch.device = {start, bytes}; }

void begin_launch() {
    static const Shadow shared = shadow_of_variables();
    watch.shared = shared;
    if (++watch.launch > launches_remembered) {
        watch.device.forget();
        watch.shared.forget();
        watch.launch = 1;
    }
    watch.now = watch.launch << stamp::launch;
    watch.running = true;
    watch.has_atomics = false;
    watch.read_places = watch.written_places = 0;
    handovers().begin_launch();
    findings().told.clear();
    findings().texts.clear();
}

void begin_block(std::int64_t index) {
    watch.now = watch.launch << stamp::launch | (static_cast<std::uint64_t>(index) & 0xfffff)
                                                    << stamp::block;
    handovers().begin_block();
    if (watch.note_shared) shared_written().clear();
}
void pass_barrier() {
    const std::uint64_t passed = (watch.now >> stamp::barriers & 0xffff) + 1;
    watch.now = watch.now >> stamp::block << stamp::block | (passed & 0xffff) << stamp::barriers;
    handovers().pass_barrier(passed);
}

void note_fence() noexcept { handovers().fence(position.thread_index.x); }

struct PausedBlock::State {
    std::uint64_t now = 0;
    BlockHandover handover;
    std::map<std::uintptr_t, SavedPlace> shared;
};
PausedBlock::PausedBlock() = default;
PausedBlock::~PausedBlock() = default;
PausedBlock::PausedBlock(PausedBlock&&) noexcept = default;
PausedBlock& PausedBlock::operator=(PausedBlock&&) noexcept = default;

void note_shared_bytes(bool on) {
#ifndef HALFTONE_SIMT_WATCHED
    if (on) throw std::logic_error("blocks cannot be interleaved: no access is watched");
#endif
    watch.note_shared = on;
}

PausedBlock pause_block() {
    for (auto& [offset, saved] : shared_written()) {
        std::memcpy(&saved.bytes, reinterpret_cast<void*>(watch.shared.address(offset)),
                    place_bytes);
        saved.place = watch.shared.at(offset);
        saved.atomic = watch.shared.atomic(offset);
    }
    PausedBlock paused;
    paused.state_ = std::make_unique<PausedBlock::State>(
        PausedBlock::State{watch.now, handovers().pause(), std::exchange(shared_written(), {})});
    return paused;
}

void resume_block(PausedBlock&& paused) {
    PausedBlock::State& state = *paused.state_;
    watch.now = state.now;
    handovers().resume(std::move(state.handover));
    shared_written() = std::move(state.shared);
    for (const auto& [offset, saved] : shared_written()) {
        std::memcpy(reinterpret_cast<void*>(watch.shared.address(offset)), &saved.bytes,
                    place_bytes);
        watch.shared.at(offset) = saved.place;
        watch.shared.atomic(offset) = saved.atomic;
    }
}

void abandon_launch() noexcept { watch.running = false; }

Traffic traffic_of_launch() noexcept {
    constexpr auto bytes = static_cast<std::int64_t>(place_bytes);
    return {watch.read_places * bytes, watch.written_places * bytes};
}

void end_launch(const char* kernel) {
    watch.running = false;
    if (findings().texts.empty()) return;
    std::string text = std::string(kernel) + ": ";
    for (const std::string& finding : findings().texts) text += finding + "\n";
    throw std::logic_error(text);
}

namespace {

/// Checks one access. Findings are reported out of line.
template <AccessKind access>
class Access {
public:
    Access(const Shadow& shadow, bool is_shared, std::uintptr_t first, const void* where)
        : shadow_(shadow),
          is_shared_(is_shared),
          first_(first),
          where_(where),
          now_(watch.now | std::uint64_t{position.thread_index.x & 0x3ff} << stamp::thread) {}

    [[gnu::always_inline]] void note(std::size_t size) {
        const std::uintptr_t begin = shadow_.offset(first_), end = begin + size;
        if (access == AccessKind::write && !is_shared_) handovers().wrote(position.thread_index.x);
        if (access != AccessKind::read && is_shared_ && watch.note_shared)
            note_shared_places(begin, end);
        if ((begin | end) % place_bytes == 0) {
            note_places(begin, &shadow_.at(begin), size / place_bytes);
        } else {
            for (std::uintptr_t at = begin; at < end;) {
                const std::uintptr_t from = at % place_bytes;
                const std::uintptr_t count = std::min(place_bytes - from, end - at);
                note_place(at, shadow_.at(at), ((1u << count) - 1) << from);
                at += count;
            }
        }
        // Padding may be copied unwritten; a value may not be.
        if (is_shared_ && access != AccessKind::write && !has_value_)
            tell(event(begin), "that nobody in the block has written");
    }

private:
    static void note_shared_places(std::uintptr_t begin, std::uintptr_t end) {
        for (std::uintptr_t at = begin - begin % place_bytes; at < end; at += place_bytes)
            shared_written().try_emplace(at);
    }

    /// Whole places. Those of one value mostly have the same history and are then checked together.
    [[gnu::always_inline]] void note_places(std::uintptr_t at, Place* places, std::size_t count) {
        std::uint64_t differs = watch.has_atomics || access == AccessKind::atomic ? 1 : 0;
        for (std::size_t i = 1; i < count; ++i)
            differs |= (places[i].write ^ places[0].write) | (places[i].read ^ places[0].read);
        const std::int64_t read_before = watch.read_places, written_before = watch.written_places;
        note_place(at, places[0], stamp::bytes);
        if (differs == 0) {  // the others of the value count as the first does
            const auto others = static_cast<std::int64_t>(count) - 1;
            watch.read_places += (watch.read_places - read_before) * others;
            watch.written_places += (watch.written_places - written_before) * others;
        }
        for (std::size_t i = 1; i < count; ++i) {
            if (differs == 0)
                places[i] = places[0];
            else
                note_place(at + i * place_bytes, places[i], stamp::bytes);
        }
    }

    [[gnu::always_inline]] void note_place(std::uintptr_t at, Place& place, std::uint64_t bytes) {
        const std::uint64_t now = now_ | bytes;
        const bool written = is_current(place.write), read = is_current(place.read);
        has_value_ |= written;
        if (!is_shared_) count_traffic(at, written, read);
        if (written && clashes(place.write, now)) tell(event(at), place.write, "written");
        if (access != AccessKind::read && read && clashes(place.read, now))
            tell(event(at), place.read, "read");
        if constexpr (access == AccessKind::read)
            place.read = read ? joined(place.read, now) : now;
        else if constexpr (access == AccessKind::write)
            place.write = now;
        if (watch.has_atomics || access == AccessKind::atomic) note_atomics(at, now);
    }
    /// A place that this launch has not read, nor written, before.
    void count_traffic(std::uintptr_t at, bool written, bool read) const {
        if constexpr (access == AccessKind::read) {
            if (!read && !written) ++watch.read_places;
        } else if constexpr (access == AccessKind::write) {
            if (!written) ++watch.written_places;
        } else {
            if (is_current(shadow_.atomic(at))) return;
            if (!read && !written) ++watch.read_places;
            if (!written) ++watch.written_places;
        }
    }
    void note_atomics(std::uintptr_t at, std::uint64_t now) {
        std::uint64_t& atomic = shadow_.atomic(at);
        const bool changed = is_current(atomic);
        has_value_ |= changed;
        if constexpr (access == AccessKind::atomic) {
            watch.has_atomics = true;
            atomic = changed ? joined(atomic, now) : now;
        } else if (changed && clashes(atomic, now)) {
            tell(event(at), atomic, "changed atomically");
        }
    }
    /// Shared memory of another block is different memory.
    bool is_current(std::uint64_t before) const {
        return stamp::same(before, now_, is_shared_ ? stamp::block : stamp::launch);
    }
    Event event(std::uintptr_t at) const { return {is_shared_, at, access, where_, now_}; }

    const Shadow& shadow_;
    const bool is_shared_;
    const std::uintptr_t first_;
    const void* const where_;
    const std::uint64_t now_;
    bool has_value_ = false;
};

template <AccessKind access>
[[gnu::always_inline]] inline void note(const void* at, std::size_t bytes, const void* where) {
    if (!watch.running) return;
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    if (first - reinterpret_cast<std::uintptr_t>(&position) < sizeof(position)) return;
    if (watch.device.holds(first))
        Access<access>(watch.device, false, first, where).note(bytes);
    else if (watch.shared.holds(first))
        Access<access>(watch.shared, true, first, where).note(bytes);
}

}  // namespace

void note_access(const void* at, std::size_t bytes, AccessKind access, const void* where) noexcept {
    switch (access) {
        case AccessKind::read:
            return note<AccessKind::read>(at, bytes, where);
        case AccessKind::write:
            return note<AccessKind::write>(at, bytes, where);
        case AccessKind::atomic:
            return note<AccessKind::atomic>(at, bytes, where);
    }
}

void note_atomic(const void* at, std::size_t bytes) {
    note<AccessKind::atomic>(at, bytes, __builtin_return_address(0));
    if (watch.running)
        handovers().changed(reinterpret_cast<std::uintptr_t>(at), block_of(watch.now));
}

}  // namespace kernels::simt

// The functions that a compiler calls before each memory access for its thread sanitizer. Here they
// check the kernels' accesses. In this file, so that the check is inlined for each size.

using kernels::simt::AccessKind;
using kernels::simt::note;

// NOLINTBEGIN: the compiler defines these names
#define HALFTONE_ACCESS(name, bytes, access) \
    void name(void* at);                     \
    void name(void* at) { note<access>(at, bytes, __builtin_return_address(0)); }
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
    note<AccessKind::read>(at, bytes, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t bytes);
void __tsan_write_range(void* at, std::size_t bytes) {
    note<AccessKind::write>(at, bytes, __builtin_return_address(0));
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
