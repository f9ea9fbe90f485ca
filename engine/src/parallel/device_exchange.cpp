#include "parallel/device_exchange.h"

#include "parallel/device_ranks.h"

namespace engine {
namespace {

template <typename F>
void between(DeviceRanks& ranks, const F& work) {
    const DeviceScope scope(ranks.device());
    ranks.fork();
    work(ranks.group(), ranks.stream());
    ranks.join();
}

}  // namespace

void broadcast_over(Communicator& ranks, kernels::Array data, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.broadcast(data);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.broadcast(data, stream); });
}

void sum_over(Communicator& ranks, kernels::Array data, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.sum(data);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.sum(data, stream); });
}

void gather_over(Communicator& ranks, kernels::Array all, kernels::ConstArray part,
                 std::span<const std::int64_t> counts, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.gather(all, part, counts);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.gather(all, part, counts, stream); });
}

}  // namespace engine
