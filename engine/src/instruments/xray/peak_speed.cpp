#include "instruments/xray/peak_speed.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <tuple>

#include "amp/autocast.h"
#include "kernels/cuda_device.h"
#include "kernels/parallel.h"
#include "ops/linalg/matmul.h"
#include "tensor/tape.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for all work of the device.
void settle(const Tensor& result) {
    if (result.device().kind == Device::Kind::cuda) kernels::cuda::synchronize(current_stream());
}

/// The shortest time of a product of square matrices of this size, over at least `min_runs`
/// products and `min_time`: other work of the machine makes a product slower and never faster.
double product_seconds(DType dtype, const Device& device, std::int64_t size, int min_runs,
                       std::chrono::milliseconds min_time) {
    const Tensor a = Tensor::full({size, size}, 0.5, dtype, device);
    const Tensor b = Tensor::full({size, size}, 0.25, dtype, device);
    settle(mm(a, b));  // plans, threads, caches
    double best = std::numeric_limits<double>::infinity();
    const auto until = Clock::now() + min_time;
    for (int i = 0; i < min_runs || Clock::now() < until; ++i) {
        const auto start = Clock::now();
        settle(mm(a, b));
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

/// Only a large product keeps a card busy, and a simulated one takes minutes for that: so the size
/// doubles until a product takes some milliseconds.
std::int64_t size_for(DType dtype, const Device& device) {
    if (device.kind == Device::Kind::cpu) return 512;
    constexpr std::int64_t most = 4096;
    constexpr double long_enough = 0.005;
    std::int64_t size = 256;
    while (size < most && product_seconds(dtype, device, size, 3, {}) < long_enough) size *= 2;
    return size;
}

/// The speed of a large product in FLOP/s.
double measure_peak_speed(DType dtype, const Device& device) {
    const GradMode off(false);
    const NoAutocast plain(device.kind);
    const std::int64_t size = size_for(dtype, device);
    const double flops = 2.0 * static_cast<double>(size * size) * static_cast<double>(size);
    return flops / product_seconds(dtype, device, size, 8, std::chrono::milliseconds(100));
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
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
            speeds[name(dtype)] = measure_peak_speed(dtype, device);
    }
    return speeds;
}

}  // namespace engine
