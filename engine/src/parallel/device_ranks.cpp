#include "parallel/device_ranks.h"

#include <chrono>
#include <exception>
#include <thread>

#include "kernels/device_error.h"

namespace engine {

using kernels::cuda::Event;
using kernels::cuda::RankGroup;

DeviceRanks::DeviceRanks(Communicator& host, const Device& device) : device_(device) {
    const DeviceScope scope(device_);
    kernels::cuda::RankGroupId id;
    if (host.rank() == 0) id = kernels::cuda::make_rank_group_id();
    host.broadcast({&id, kernels::DType::u8, sizeof id});
    group_ = std::make_unique<RankGroup>(id, host.rank(), host.size());
    forked_ = std::make_unique<Event>();
    joined_ = std::make_unique<Event>();
    stream_ = kernels::cuda::make_stream();
}

DeviceRanks::~DeviceRanks() {
    // NCCL's end waits for the other ranks of the machine, for which a rank that failed must not
    // wait.
    if (std::uncaught_exceptions() > 0 || !settled()) group_->abort();
    group_.reset();
    kernels::cuda::release(stream_);
}

bool DeviceRanks::settled() noexcept {
    constexpr std::chrono::seconds patience{2};
    try {
        const DeviceScope scope(device_);
        const auto until = std::chrono::steady_clock::now() + patience;
        joined_->record(stream_);
        while (!joined_->passed()) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    } catch (const kernels::DeviceError&) {
        return false;
    }
}

void DeviceRanks::fork() {
    const DeviceScope scope(device_);
    forked_->record(current_stream());
    forked_->hold(stream_);
}

void DeviceRanks::join() {
    const DeviceScope scope(device_);
    joined_->record(stream_);
    joined_->hold(current_stream());
}

std::shared_ptr<Event> DeviceRanks::mark() const {
    const DeviceScope scope(device_);
    auto event = std::make_shared<Event>();
    event->record(stream_);
    return event;
}

}  // namespace engine
