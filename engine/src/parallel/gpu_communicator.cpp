#include "parallel/gpu_communicator.h"

#include <utility>

#include "parallel/device_ranks.h"

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

std::shared_ptr<Communicator> make_gpu_communicator(std::shared_ptr<Communicator> host,
                                                    const Device& device) {
    auto on_device = std::make_shared<DeviceRanks>(*host, device);
    return std::make_shared<GpuCommunicator>(std::move(host), std::move(on_device));
}

}  // namespace engine
