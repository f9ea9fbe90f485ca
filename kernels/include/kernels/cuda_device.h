#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/array.h"

/// Memory, streams and events of NVIDIA devices. Every call to CUDA in this program goes through
/// here or through the kernels' launches, is checked, and throws DeviceError with the call's name.
/// A stream without a handle is the compute stream of the calling thread's device: all work on a
/// device is in order on that one stream, but for copies that name another.
namespace kernels::cuda {

struct DeviceInfo {
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t memory_bytes = 0;
    int multiprocessors = 0;
    int driver = 0;   ///< newest CUDA version that the driver runs, 13000 is 13.0
    int runtime = 0;  ///< of the CUDA run time in this program
    std::string pci_bus_id{};  ///< "00000000:65:00.0"; empty: it is no real card
};
/// Throws DeviceError if there is no such device.
DeviceInfo device_info(int index);

/// The device that the calling thread computes on: 0 until set. Setting `no_device` restores "no
/// device selected": then nothing happens on any device until the thread needs one.
constexpr int no_device = -1;
void set_device(int index);
int current_device();
/// The current device, but `no_device` until the thread has set or needed one: the value with which
/// set_device() restores the present state. Selecting a device that is not needed would create a
/// context there, which takes hundreds of MiB.
int chosen_device();

/// Allocates on the current device, 256-byte aligned. Throws OutOfMemory. May wait for the device.
void* allocate(std::size_t bytes);
/// Waits for all work of the device that owns it.
void release(void* data) noexcept;
/// Host memory that the device copies from and to by itself. Throws OutOfMemory.
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* data) noexcept;

/// Asynchronous if `host` is pinned: then it must stay unchanged until the stream has passed. From
/// other host memory it returns once the bytes are read, for which the driver may wait for the
/// stream: that counts as a synchronisation.
void copy_to_device(void* device, const void* host, std::size_t bytes, Stream stream);
/// Asynchronous if `host` is pinned; otherwise it waits, and counts as a synchronisation.
void copy_to_host(void* host, const void* device, std::size_t bytes, Stream stream);
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
void set_zero(void* device, std::size_t bytes, Stream stream);

/// A stream of its own beside the compute stream, not ordered with it.
Stream make_stream();
void release(Stream stream) noexcept;
/// Waits until all work given to the stream is done. Throws what that work brought about.
void synchronize(Stream stream);

/// A mark in a stream.
class Event {
public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record(Stream stream);
    /// Work given to `stream` from now on starts after the mark.
    void hold(Stream stream) const;
    /// The mark has been passed (or was never set). Never waits.
    bool passed() const;
    void synchronize() const;
    /// Device time from `start`'s mark to this one; both must have been passed.
    float ms_since(const Event& start) const;

private:
    void* handle_;
};

/// Calls of this process so far, by kind.
struct CallCounts {
    std::int64_t launches = 0;          ///< kernels, ours and the libraries'
    std::int64_t synchronizations = 0;  ///< host waits for device: synchronize, unpinned copies,
                                        ///< release of memory
    std::int64_t allocations = 0;       ///< device memory taken from the driver
};
CallCounts call_counts() noexcept;

/// Copies from one device's memory to another's, both numbered as for set_device(), on a stream of
/// the calling thread's device. Asynchronous, with or without peer access.
void copy_between_devices(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, Stream stream);

/// Copies a few bytes of any host memory. They are read at once and passed as kernel arguments,
/// 3,840 a launch. So nothing waits, and a captured graph contains them.
void put_bytes(void* device, const void* host, std::size_t bytes, Stream stream);

}  // namespace kernels::cuda
