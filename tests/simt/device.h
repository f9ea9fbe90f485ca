#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// A simulated CUDA device for tests: it runs the kernels' own source on the host. Streams are
/// queues that run only when somebody waits for them, so that what forgets to wait reads old bytes;
/// device memory cannot be touched from outside of them, nor by the other device's, so that what
/// mistakes a device's pointer for another's dies at once. Fresh memory holds no zeros.
namespace kernels::simt {

/// In which order the threads of a block take their turns.
enum class ThreadOrder { forward, backward };

struct DeviceSettings {
    int devices = 2;
    std::int64_t memory_bytes = std::int64_t{2} << 30;
    int multiprocessors = 2;
    ThreadOrder order = ThreadOrder::forward;
};
/// Between tests, when nothing is allocated or queued.
void configure(const DeviceSettings& settings);
DeviceSettings settings();

/// The call number `after` from now (0: the next) whose name contains `call` fails as a device
/// fault does: from then on every call throws, until `repair`, which forgets what was queued on any
/// stream.
void fail_call(const std::string& call, int after = 0);
void repair();

/// The allocation number `after` from now (0: the next) and those up to `times` find no memory.
/// What a recorded graph takes when it is made and when it is uploaded counts as two.
void refuse_memory(int after, int times = 1);
/// The same of pinned memory.
void refuse_pinned_memory(int after, int times = 1);

/// How often a thread has made this device CUDA's current one: at the first time CUDA makes a
/// context there.
std::int64_t device_choices(int device);

/// Device and pinned memory in use.
std::int64_t device_bytes();
std::int64_t pinned_bytes();

}  // namespace kernels::simt
