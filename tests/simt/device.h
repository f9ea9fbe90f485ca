#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// A simulated CUDA device for tests: it runs the kernels' own source on the host.
///
/// - Streams are queues that run only when somebody waits for them, so a missing wait reads old
///   bytes.
/// - Device memory cannot be accessed from outside of the kernels, nor by the other device's, so a
///   wrong device pointer crashes at once.
/// - Fresh memory is not zero.
namespace kernels::simt {

/// The order in which the threads of a block take their turns.
enum class ThreadOrder { forward, backward };

struct DeviceSettings {
    int devices = 2;
    std::int64_t memory_bytes = std::int64_t{2} << 30;
    int multiprocessors = 2;
    ThreadOrder order = ThreadOrder::forward;
    bool has_code = true;  ///< false: as if the program were compiled for other cards
};
/// Call between tests, when nothing is allocated or queued.
void configure(const DeviceSettings& settings);
DeviceSettings settings();

/// Makes call number `after` from now (0: the next) whose name contains `call` fail like a device
/// fault: from then on every call throws, until `repair`, which discards all queued work.
void fail_call(const std::string& call, int after = 0);
void repair();

/// Makes `times` allocations fail, beginning with number `after` from now (0: the next). The
/// allocations of a captured graph count twice: when it is created and when it is uploaded.
void refuse_memory(int after, int times = 1);
/// Makes allocations of pinned memory fail, as refuse_memory().
void refuse_pinned_memory(int after, int times = 1);

/// How often threads have made this device CUDA's current one. The first time, CUDA creates a
/// context there.
std::int64_t device_choices(int device);

/// Device and pinned memory in use.
std::int64_t device_bytes();
std::int64_t pinned_bytes();

}  // namespace kernels::simt
