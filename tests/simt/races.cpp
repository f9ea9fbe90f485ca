#include "simt/races.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <array>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/language.h"

namespace kernels::simt {
namespace {

/// Who accessed a place last, in one word, since every access is compared with two. Fields wrap:
/// what was remembered 2^12 launches ago is forgotten before it could be taken for something new;
/// blocks 2^20 apart are taken for one.
namespace stamp {
constexpr int launch = 52, block = 32, barriers = 16, thread = 6;  // where each begins
constexpr std::uint64_t atomic = 32;
constexpr std::uint64_t others = 16;       // of a read: other threads have read since that barrier
constexpr std::uint64_t other_blocks = 8;  // of a read: other blocks have read in this launch
constexpr std::uint64_t bytes = 3;         // of the place

/// The bits from `begin` to `end`.
constexpr std::uint64_t field(std::uint64_t value, int begin, int end) {
    return value >> begin & ((std::uint64_t{1} << (end - begin)) - 1);
}
constexpr bool same(std::uint64_t a, std::uint64_t b, int from) { return (a ^ b) >> from == 0; }
}  // namespace stamp

/// Two bytes of memory: the narrowest that neighbouring threads write often.
struct Place {
    std::uint64_t write, read;  // 0: nobody yet
};
constexpr std::size_t place_bytes = 2;
constexpr std::uint64_t launches_remembered = (1u << 12) - 1;

/// A stretch of memory with its places, which take no memory before they are touched.
class Shadow {
public:
    Shadow() = default;
    Shadow(const void* start, std::size_t bytes)
        : start_(reinterpret_cast<std::uintptr_t>(start)), bytes_(bytes) {
        void* at = mmap(nullptr, size(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        places_ = static_cast<Place*>(at);
    }
    bool holds(std::uintptr_t address) const { return address - start_ < bytes_; }
    std::uintptr_t offset(std::uintptr_t address) const { return address - start_; }
    Place& of(std::uintptr_t address) const { return places_[offset(address) / place_bytes]; }
    void forget() const {
        if (places_) madvise(places_, size(), MADV_DONTNEED);
    }

private:
    std::size_t size() const { return (bytes_ / place_bytes + 1) * sizeof(Place); }
    std::uintptr_t start_ = 0;
    std::size_t bytes_ = 0;
    Place* places_ = nullptr;
};

/// The program's own variables: shared memory is static to the simulated device.
Shadow shadow_of_variables() {
    struct Range {
        std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
    } range;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& found = *static_cast<Range*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
                const std::uintptr_t start = info->dlpi_addr + part.p_vaddr;
                found.first = std::min(found.first, start);
                found.last = std::max(found.last, start + part.p_memsz);
            }
            return 1;  // the first is the program; no other
        },
        &range);
    range.first -= range.first % place_bytes;
    return {reinterpret_cast<void*>(range.first), range.last - range.first};
}

struct Judge {
    Shadow device;
    Shadow shared = shadow_of_variables();
    bool running = false;
    std::uint64_t launch = 0;
    std::uint64_t now = 0;       // the stamp of what happens, but for its thread
    std::set<const void*> told;  // of this launch: one finding for each place in the code
    std::vector<std::string> findings;
};
Judge& judge() {
    static auto* only = new Judge;
    return *only;
}

/// As addr2line takes it.
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
    const Shadow& shadow;
    bool is_shared;
    std::uintptr_t address;
    AccessKind access;
    const void* where;
    std::uint64_t now;
    bool has_value = false;
};

std::uint64_t thread_of(std::uint64_t s) { return stamp::field(s, stamp::thread, stamp::barriers); }
std::uint64_t block_of(std::uint64_t s) { return stamp::field(s, stamp::block, stamp::launch); }

void tell(const Event& event, const std::string& why) {
    Judge& j = judge();
    if (!j.told.insert(event.where).second) return;
    std::ostringstream text;
    text << "thread " << thread_of(event.now) << " of block " << block_of(event.now) << ' '
         << verb(event.access) << (event.is_shared ? " shared" : " device") << " memory at offset "
         << event.shadow.offset(event.address) << ' ' << why << " (" << code_at(event.where) << ')';
    j.findings.push_back(text.str());
}

void tell(const Event& event, std::uint64_t before, const char* done) {
    std::ostringstream text;
    text << done << " by thread " << thread_of(before);
    if (block_of(before) != block_of(event.now)) text << " of block " << block_of(before);
    text << ", with no barrier between";
    tell(event, text.str());
}

/// Shared memory of another block is other memory.
bool is_current(const Event& event, std::uint64_t before) {
    return stamp::same(before, event.now, event.is_shared ? stamp::block : stamp::launch);
}

/// For what is current.
bool clashes(std::uint64_t before, std::uint64_t now) {
    if ((before & now & stamp::bytes) == 0 || (before & now & stamp::atomic) != 0) return false;
    if (!stamp::same(before, now, stamp::block) || (before & stamp::other_blocks) != 0) return true;
    if (!stamp::same(before, now, stamp::barriers)) return false;
    return !stamp::same(before, now, stamp::thread) || (before & stamp::others) != 0;
}

/// What is remembered of a read after another of the same launch. Bytes of one place that several
/// threads read are followed only as far as all of them read the same: what is told is true, and
/// single bytes may be missed.
std::uint64_t joined_read(std::uint64_t last, std::uint64_t now) {
    if ((last & now & stamp::bytes) == 0) return now;
    const bool same_block = stamp::same(last, now, stamp::block);
    const bool same_barriers = stamp::same(last, now, stamp::barriers);
    const bool same_thread = same_barriers && stamp::same(last, now, stamp::thread);
    std::uint64_t next = now | (last & stamp::other_blocks);
    if (!same_block) next |= stamp::other_blocks;
    if (same_barriers) next |= (last & stamp::others) | (same_thread ? 0 : stamp::others);
    const bool alone = same_thread && (last & stamp::others) == 0;
    return alone ? next | (last & stamp::bytes) : next & (last | ~stamp::bytes);
}

void note_place(Event& event, Place& place, std::uint64_t bytes) {
    const std::uint64_t now = event.now | bytes;
    if (is_current(event, place.write)) {
        event.has_value = true;
        if (clashes(place.write, now)) tell(event, place.write, "written");
    }
    const bool read_before = is_current(event, place.read);
    if (event.access == AccessKind::read) {
        place.read = read_before ? joined_read(place.read, now) : now;
    } else {
        if (read_before && clashes(place.read, now)) tell(event, place.read, "read");
        place.write = now;
    }
}

}  // namespace

void watch_device_memory(const void* start, std::size_t bytes) { judge().device = {start, bytes}; }

void begin_launch() {
    Judge& j = judge();
    if (++j.launch > launches_remembered) {
        j.device.forget();
        j.shared.forget();
        j.launch = 1;
    }
    j.now = j.launch << stamp::launch;
    j.running = true;
    j.told.clear();
    j.findings.clear();
}

void begin_block(std::int64_t index) {
    judge().now = judge().launch << stamp::launch | (static_cast<std::uint64_t>(index) & 0xfffff)
                                                        << stamp::block;
}
void pass_barrier() {
    std::uint64_t& now = judge().now;
    const std::uint64_t passed = (now >> stamp::barriers & 0xffff) + 1;
    now = now >> stamp::block << stamp::block | (passed & 0xffff) << stamp::barriers;
}

void end_launch(const char* kernel) {
    Judge& j = judge();
    j.running = false;
    if (j.findings.empty()) return;
    std::string text = std::string(kernel) + ": ";
    for (const std::string& finding : j.findings) text += finding + "\n";
    throw std::logic_error(text);
}

void note_access(const void* at, std::size_t bytes, AccessKind access, const void* where) noexcept {
    Judge& j = judge();
    if (!j.running) return;
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    if (first - reinterpret_cast<std::uintptr_t>(&position) < sizeof(position)) return;
    const Shadow& shadow = j.device.holds(first) ? j.device : j.shared;
    if (!shadow.holds(first)) return;
    std::uint64_t now = j.now | std::uint64_t{position.thread_index.x & 0x3ff} << stamp::thread;
    if (access == AccessKind::atomic) now |= stamp::atomic;
    Event event{shadow, &shadow == &j.shared, first, access, where, now};
    for (std::uintptr_t address = first; address < first + bytes;) {
        const std::uintptr_t from = shadow.offset(address) % place_bytes;
        const std::uintptr_t count = std::min(place_bytes - from, first + bytes - address);
        note_place(event, shadow.of(address), ((1u << count) - 1) << from);
        address += count;
    }
    // Padding may be copied unwritten, a whole read may not.
    if (event.is_shared && access != AccessKind::write && !event.has_value)
        tell(event, "that nobody in the block has written");
}

void note_atomic(const void* at, std::size_t bytes) {
    note_access(at, bytes, AccessKind::atomic, __builtin_return_address(0));
}

}  // namespace kernels::simt
