#include "kernels/cuda_device.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

DeviceInfo device_info(int) { absent("device_info"); }
void set_device(int) { absent("set_device"); }
int current_device() { return 0; }
int chosen_device() { return no_device; }
void* allocate(std::size_t) { absent("allocate"); }
void release(void*) noexcept {}
void* allocate_pinned(std::size_t) { absent("allocate_pinned"); }
void release_pinned(void*) noexcept {}
void copy_to_device(void*, const void*, std::size_t, Stream) { absent("copy_to_device"); }
void copy_to_host(void*, const void*, std::size_t, Stream) { absent("copy_to_host"); }
void copy_on_device(void*, const void*, std::size_t, Stream) { absent("copy_on_device"); }
void set_zero(void*, std::size_t, Stream) { absent("set_zero"); }
Stream make_stream() { absent("make_stream"); }
void release(Stream) noexcept {}
void synchronize(Stream) { absent("synchronize"); }
Event::Event() : handle_(nullptr) { absent("Event"); }
Event::~Event() = default;
void Event::record(Stream) { absent("Event::record"); }
void Event::hold(Stream) const { absent("Event::hold"); }
bool Event::passed() const { absent("Event::passed"); }
void Event::synchronize() const { absent("Event::synchronize"); }
float Event::ms_since(const Event&) const { absent("Event::ms_since"); }
CallCounts call_counts() noexcept { return {}; }

}  // namespace kernels::cuda
