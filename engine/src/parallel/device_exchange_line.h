#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/cuda_device.h"
#include "parallel/device_ranks.h"
#include "parallel/exchange_line.h"

namespace engine {

/// Exchanges gradients on a GPU, on the stream of its DeviceRanks: packs each bucket into a buffer,
/// sums it, and unpacks it, all without the host. Lines of one rank share that stream.
class DeviceExchangeLine final : public ExchangeLine {
public:
    explicit DeviceExchangeLine(std::unique_ptr<Communicator> line);
    ~DeviceExchangeLine() override;

    void send(ExchangeBucket bucket) override;
    void end_backward() override;
    ExchangeTimer wait() override;

private:
    using Mark = std::shared_ptr<kernels::cuda::Event>;
    struct Span {
        Mark begin, end;
    };

    void reserve(std::size_t bytes);
    /// The factor on the device; undefined for 1.
    Tensor factor(float value);
    void multiply(kernels::Array values, const Tensor& factor) const;

    std::unique_ptr<Communicator> line_;
    DeviceRanks& ranks_;
    Tensor buffer_;
    std::map<float, Tensor> factors_;
    TensorList sent_;  // since the last wait(): their memory must not be reused before that
    std::vector<Span> spans_;
    Mark ended_;  // the backward pass
};

}  // namespace engine
