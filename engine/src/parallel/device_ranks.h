#pragma once

#include <memory>

#include "kernels/cuda_device.h"
#include "kernels/rank_group.h"
#include "parallel/communicator.h"
#include "tensor/device.h"

namespace engine {

/// Connects the GPU of one rank with those of the other ranks: one group, used on a stream of its
/// own beside the compute stream.
///
/// - Every rank submits the same work in the same order, from one thread at a time. There is one
///   group only, because two groups at once could wait for each other.
/// - Ranks on one machine have different devices.
class DeviceRanks {
public:
    /// All ranks construct it together; `host` connects them. Throws DeviceError.
    DeviceRanks(Communicator& host, const Device& device);
    /// Waits a short time for work under way, then aborts it: other ranks may have failed.
    ~DeviceRanks();
    DeviceRanks(const DeviceRanks&) = delete;
    DeviceRanks& operator=(const DeviceRanks&) = delete;

    const Device& device() const { return device_; }
    /// Throws Error(training) if a rank was lost.
    kernels::cuda::RankGroup& group();
    /// Throws Error(training) if the exchange was aborted because a rank was lost: results computed
    /// since are invalid. Call it after waiting for the device.
    void check_intact() const;
    kernels::Stream stream() const { return stream_; }

    /// Work given to stream() from now on starts after what the compute stream has now.
    void fork();
    /// Work given to the compute stream from now on starts after what stream() has now.
    void join();
    /// A new event at the present end of stream().
    std::shared_ptr<kernels::cuda::Event> mark() const;

private:
    class LossWatch;

    bool settled() noexcept;

    Device device_;
    std::unique_ptr<kernels::cuda::RankGroup> group_;
    kernels::Stream stream_{};
    std::unique_ptr<kernels::cuda::Event> forked_, joined_;
    std::unique_ptr<LossWatch> watch_;
};

/// `host` with on_device(), for ranks that compute on GPUs. All ranks call it together, each with a
/// device of its own. All lines made from it share one DeviceRanks. Throws DeviceError.
std::shared_ptr<Communicator> make_gpu_communicator(std::shared_ptr<Communicator> host,
                                                    const Device& device);

}  // namespace engine
