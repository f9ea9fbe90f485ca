#include "instruments/peak_speed.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <tuple>

#include "amp/autocast.h"
#include "core/tape.h"
#include "kernels/parallel.h"
#include "linalg/matmul.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for all work of the device.
void settle(const Tensor& result) { (void)result.detach().copy_to(Device{}); }

/// The best of several products of square matrices of this size, in FLOP/s.
double speed_of(DType dtype, const Device& device, std::int64_t size) {
    const GradMode off(false);
    const NoAutocast plain(device.kind);
    const Tensor a = Tensor::full({size, size}, 0.5, dtype, device);
    const Tensor b = Tensor::full({size, size}, 0.25, dtype, device);
    settle(mm(a, b));  // plans, threads, caches
    const double flops = 2.0 * static_cast<double>(size * size) * static_cast<double>(size);
    double best = 0;
    const auto until = Clock::now() + std::chrono::milliseconds(60);
    do {
        constexpr int at_once = 4;
        const auto start = Clock::now();
        Tensor y;
        for (int i = 0; i < at_once; ++i) y = mm(a, b);
        settle(y);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::max(best, at_once * flops / seconds);
    } while (Clock::now() < until);
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
