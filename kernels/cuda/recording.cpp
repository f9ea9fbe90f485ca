#include "cuda/recording.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"

namespace kernels::cuda {
namespace {

struct Recordings {
    std::atomic<int> open{0};  // spares the lock to those who do not record
    std::mutex mutex;
    std::map<std::pair<int, void*>, Kept> kept;  // by device and stream
};
Recordings& recordings() {
    static auto* only = new Recordings;  // graphs may be destroyed until the process ends
    return *only;
}

}  // namespace

bool recording(int device) noexcept {
    Recordings& r = recordings();
    if (r.open == 0) return false;
    const std::lock_guard lock(r.mutex);
    return std::any_of(r.kept.begin(), r.kept.end(),
                       [&](const auto& each) { return each.first.first == device; });
}

void keep_if_recorded(const std::shared_ptr<const void>& used, Stream stream) {
    Recordings& r = recordings();
    if (r.open == 0) return;
    const std::lock_guard lock(r.mutex);
    const auto found = r.kept.find({current_device(), stream.handle});
    if (found != r.kept.end()) found->second.insert(used);
}

void start_keeping(Stream stream) {
    Recordings& r = recordings();
    const std::lock_guard lock(r.mutex);
    r.kept[{current_device(), stream.handle}].clear();
    r.open = static_cast<int>(r.kept.size());
}

Kept end_keeping(Stream stream) {
    Recordings& r = recordings();
    const std::lock_guard lock(r.mutex);
    auto found = r.kept.extract({current_device(), stream.handle});
    r.open = static_cast<int>(r.kept.size());
    return found ? std::move(found.mapped()) : Kept{};
}

}  // namespace kernels::cuda
