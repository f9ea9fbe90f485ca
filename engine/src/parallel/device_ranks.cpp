#include "parallel/device_ranks.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

class GpuCommunicator final : public Communicator {
public:
    GpuCommunicator(std::shared_ptr<Communicator> host, std::shared_ptr<DeviceRanks> device)
        : host_(std::move(host)), device_(std::move(device)) {}

    int rank() const override { return host_->rank(); }
    int size() const override { return host_->size(); }
    int local_rank() const override { return host_->local_rank(); }
    void broadcast(kernels::Array data) override { host_->broadcast(data); }
    void sum(kernels::Array data) override { host_->sum(data); }
    void gather(kernels::Array all, kernels::ConstArray part,
                std::span<const std::int64_t> counts) override {
        host_->gather(all, part, counts);
    }
    void barrier() override { host_->barrier(); }
    std::unique_ptr<Communicator> line() override {
        return std::make_unique<GpuCommunicator>(host_->line(), device_);
    }
    void abort(const std::string& sentence) noexcept override { host_->abort(sentence); }
    void when_lost(std::function<void(const Message&)> act) override {
        host_->when_lost(std::move(act));
    }
    DeviceRanks* on_device() noexcept override { return device_.get(); }

private:
    std::shared_ptr<Communicator> host_;
    std::shared_ptr<DeviceRanks> device_;
};

}  // namespace

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

std::shared_ptr<Communicator> make_gpu_communicator(std::shared_ptr<Communicator> host,
                                                    const Device& device) {
    auto on_device = std::make_shared<DeviceRanks>(*host, device);
    return std::make_shared<GpuCommunicator>(std::move(host), std::move(on_device));
}

}  // namespace engine
