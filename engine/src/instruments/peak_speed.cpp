#include "instruments/peak_speed.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <tuple>

#include "amp/autocast.h"
#include "core/tape.h"
#include "kernels/cuda_device.h"
#include "kernels/parallel.h"
#include "linalg/matmul.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for all work of the device.
void settle(const Tensor& result) {
    if (result.device().kind == Device::Kind::cuda) kernels::cuda::synchronize(current_stream());
}

/// The best of several products of square matrices of this size, in FLOP/s.
double speed_of(DType dtype, const Device& device, std::int64_t size) {
    const GradMode off(false);
    const NoAutocast plain(device.kind);
    const Tensor a = Tensor::full({size, size}, 0.5, dtype, device);
    const Tensor b = Tensor::full({size, size}, 0.25, dtype, device);
    settle(mm(a, b));  // plans, threads, caches
    const double flops = 2.0 * static_cast<double>(size * size) * static_cast<double>(size);
    // The best of many: whatever else the machine does makes a product slower and never faster.
    constexpr int least = 8;
    double best = 0;
    const auto until = Clock::now() + std::chrono::milliseconds(100);
    for (int i = 0; i < least || Clock::now() < until; ++i) {
        const auto start = Clock::now();
        settle(mm(a, b));
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::max(best, flops / seconds);
    }
    return best;
}

}  // namespace

std::map<std::string, double> peak_speeds(const Device& device) {
    using Key = std::tuple<Device::Kind, int, int>;
    static std::mutex mutex;
    static std::map<Key, std::map<std::string, double>> measured;
    const std::lock_guard lock(mutex);
    const Key key{device.kind, device.index, kernels::cpu::threads()};
    auto& speeds = measured[key];
    if (speeds.empty()) {
        const std::int64_t size = device.kind == Device::Kind::cpu ? 512 : 4096;
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
            speeds[name(dtype)] = speed_of(dtype, device, size);
    }
    return speeds;
}

}  // namespace engine
