#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

/// A race detector for the simulated device, like compute-sanitizer's racecheck and stricter. The
/// kernels' source is compiled with the calls of a thread sanitizer before each access, which
/// check it:
///
/// - Two accesses of one place by two threads of a block need a barrier of the block between them.
/// - Two accesses of one place in device memory by threads of two blocks are an error, unless the
///   one has handed over to the other: its threads have passed a fence and a barrier after their
///   accesses, then one of them an atomic operation; a thread of the other has changed the same
///   word later, and a fence and a barrier have followed.
/// - Both are allowed if both read or both are atomic.
/// - Shared memory must be written, by its block, before it is read.
namespace kernels::simt {

enum class AccessKind : std::uint8_t { read, write, atomic };

/// Sets the memory that is shared by all blocks. Call once, before the first launch.
void watch_device_memory(const void* start, std::size_t bytes);

void begin_launch();
void begin_block(std::int64_t index);

/// State of a block, shared memory too, while others take their turns.
class PausedBlock {
public:
    PausedBlock();
    ~PausedBlock();
    PausedBlock(PausedBlock&&) noexcept;
    PausedBlock& operator=(PausedBlock&&) noexcept;

private:
    friend PausedBlock pause_block();
    friend void resume_block(PausedBlock&&);
    struct State;
    std::unique_ptr<State> state_;
};
/// Only in launches whose blocks are interleaved, since the bytes written are noted for it.
PausedBlock pause_block();
void resume_block(PausedBlock&& paused);
/// Throws std::logic_error if it is on where the kernels' accesses are not watched.
void note_shared_bytes(bool on);

/// All threads of the block have reached a barrier of the block. Warp operations order nothing. On
/// a GPU a shuffle orders nothing either, but __syncwarp() does, so this is stricter.
void pass_barrier();
/// Call after an error: discards the findings.
void abandon_launch() noexcept;
/// Throws std::logic_error with the findings in `kernel`.
void end_launch(const char* kernel);

/// Bytes of device memory that a launch read before it wrote them, and that it wrote; each once.
struct Traffic {
    std::int64_t read = 0, written = 0;
};
/// Traffic of the last launch.
Traffic traffic_of_launch() noexcept;

/// An access by the thread at kernels::simt::position. `where`: the code that makes it.
void note_access(const void* at, std::size_t bytes, AccessKind access, const void* where) noexcept;

}  // namespace kernels::simt
