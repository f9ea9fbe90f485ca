#include "parallel/device_ranks.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "kernels/device_error.h"

namespace engine {

using kernels::cuda::Event;
using kernels::cuda::RankGroup;

/// Ends the exchange that waits for a lost rank. Without it this rank would wait for its device for
/// ever, and could neither write its last rows nor say why the run failed.
class DeviceRanks::LossWatch {
public:
    LossWatch(Communicator& host, RankGroup& group) : thread_([this, &group] { work(group); }) {
        host.when_lost([fate = fate_](const Message& reason) {
            {
                const std::lock_guard lock(fate->mutex);
                fate->reason = reason;
            }
            fate->changed.notify_all();
        });
    }
    ~LossWatch() {
        {
            const std::lock_guard lock(fate_->mutex);
            fate_->over = true;
        }
        fate_->changed.notify_all();
        thread_.join();
    }
    LossWatch(const LossWatch&) = delete;
    LossWatch& operator=(const LossWatch&) = delete;

    void check_reason() const {
        const std::lock_guard lock(fate_->mutex);
        if (fate_->reason) throw Error(ErrorCode::training, *fate_->reason);
    }
    void check_intact() const {
        const std::lock_guard lock(fate_->mutex);
        if (fate_->aborted) throw Error(ErrorCode::training, *fate_->reason);
    }

private:
    /// Shared with the communicator, which may outlive the watch.
    struct Fate {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<Message> reason;
        bool aborted = false;
        bool over = false;
    };

    void work(RankGroup& group) {
        // Steps that all ranks have finished can still be read. mpirun ends this rank a second
        // after another one has died.
        constexpr std::chrono::milliseconds time_to_read{300};
        Fate& fate = *fate_;
        std::unique_lock lock(fate.mutex);
        fate.changed.wait(lock, [&] { return fate.reason || fate.over; });
        if (fate.changed.wait_for(lock, time_to_read, [&] { return fate.over; })) return;
        fate.aborted = true;
        lock.unlock();
        group.abort();
    }

    std::shared_ptr<Fate> fate_ = std::make_shared<Fate>();
    std::thread thread_;
};

DeviceRanks::DeviceRanks(Communicator& host, const Device& device) : device_(device) {
    const DeviceScope scope(device_);
    kernels::cuda::RankGroupId id;
    if (host.rank() == 0) id = kernels::cuda::make_rank_group_id();
    host.broadcast({&id, kernels::DType::u8, sizeof id});
    group_ = std::make_unique<RankGroup>(id, host.rank(), host.size());
    forked_ = std::make_unique<Event>();
    joined_ = std::make_unique<Event>();
    stream_ = kernels::cuda::make_stream();
    watch_ = std::make_unique<LossWatch>(host, *group_);
}

DeviceRanks::~DeviceRanks() {
    watch_.reset();
    // NCCL's end waits for the other ranks of the machine, for which a rank that failed must not
    // wait.
    if (std::uncaught_exceptions() > 0 || !settled()) group_->abort();
    group_.reset();
    kernels::cuda::release(stream_);
}

RankGroup& DeviceRanks::group() {
    watch_->check_reason();
    return *group_;
}

void DeviceRanks::check_intact() const { watch_->check_intact(); }

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
