#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/// How the race detector knows that one block of a launch may read what another has written: see
/// races.h for the rule.
namespace kernels::simt {

/// Accesses of a block before its barrier number `barriers`.
struct Handover {
    std::uint64_t block, barriers;
};

/// One block's part.
struct BlockHandover {
    std::array<std::uint8_t, 1024> unfenced{};  // by thread: it has written since its last fence
    bool fences = false;                        // there has been one
    std::uint64_t through = 0;     // its accesses before this barrier are there for others
    std::vector<Handover> learnt;  // by an atomic operation, and counts after
    bool learnt_fenced = false;    // a fence
    std::map<std::uint64_t, std::uint64_t> taken;  // and a barrier: the barriers, by block
};

class Handovers {
public:
    void begin_launch() { by_word_.clear(); }
    void begin_block() { now_ = {}; }
    /// Device memory, not atomically.
    void wrote(unsigned thread) { now_.unfenced[thread % now_.unfenced.size()] = 1; }
    void fence(unsigned thread) noexcept;
    void pass_barrier(std::uint64_t passed);
    /// An atomic operation on a word.
    void changed(std::uintptr_t word, std::uint64_t block);
    /// Whether the running block may see what `block` did after its barrier number `barriers`.
    bool taken(std::uint64_t block, std::uint64_t barriers) const;

    BlockHandover pause() { return std::exchange(now_, {}); }
    void resume(BlockHandover&& paused) { now_ = std::move(paused); }

private:
    BlockHandover now_;
    std::map<std::uintptr_t, std::vector<Handover>> by_word_;
};

/// Never destroyed, as the device is not.
inline Handovers* const only_handovers = new Handovers;
inline Handovers& handovers() { return *only_handovers; }

}  // namespace kernels::simt
