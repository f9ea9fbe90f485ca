#pragma once

#include <map>
#include <mutex>

namespace kernels::cuda {

/// The process's only T for this device, made at the first call and never destroyed: a library that
/// it has handles of may be unloaded before our exit. Any thread may call it.
template <class T>
T& one_per_device(int device) {
    struct All {
        std::mutex mutex;
        std::map<int, T> by_device;
    };
    static auto* const all = new All;
    const std::lock_guard lock(all->mutex);
    return all->by_device[device];
}

}  // namespace kernels::cuda
