#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "parallel/communicator.h"
#include "tensor/tensor.h"

namespace engine {

/// Gradients that are exchanged together, and the factors before and after the sum.
struct ExchangeBucket {
    TensorList gradients{};  ///< dense, of one type
    bool in_f32 = false;     ///< 16-bit gradients are added up as f32
    float before = 1;
    float after = 1;
};

struct ExchangeTimes {
    double total_ms = 0;   ///< in which gradients were exchanged
    double hidden_ms = 0;  ///< the part of it during the backward pass
};
/// Returns the times of an exchange. On a GPU it must not be called before the device has passed
/// the exchange.
using ExchangeTimer = std::function<ExchangeTimes()>;
/// The sum of the times of all of them.
ExchangeTimer sum_of(std::vector<ExchangeTimer> timers);

/// Sums buckets over the ranks while the caller computes: one bucket after the other, in the order
/// of send(). Only one thread may call it.
class ExchangeLine {
public:
    ExchangeLine() = default;
    virtual ~ExchangeLine() = default;
    ExchangeLine(const ExchangeLine&) = delete;
    ExchangeLine& operator=(const ExchangeLine&) = delete;

    /// Replaces the gradients by their sums. Nothing else may touch them until wait().
    virtual void send(ExchangeBucket bucket) = 0;
    /// Marks what is exchanged from now on as not hidden by the backward pass.
    virtual void end_backward() = 0;
    /// Returns when the caller may use the sums of all buckets: on a GPU, in work given to the
    /// compute stream from now on. The times are those of all buckets since the last call. Rethrows
    /// the error of the line.
    virtual ExchangeTimer wait() = 0;
};

/// How the gradients of a bucket lie in the buffer that is exchanged: dense, one after the other.
class BucketLayout {
public:
    explicit BucketLayout(const ExchangeBucket& bucket);

    std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_of(type_); }
    /// The whole buffer that begins at `data`.
    kernels::Array all(std::byte* data) const { return {data, type_, count_}; }
    /// Calls f(gradient, place) for each gradient and its place in the buffer.
    template <typename F>
    void each(std::byte* data, const F& f) const {
        for (const Tensor& gradient : gradients_) {
            f(gradient.array(), kernels::Array{data, type_, gradient.numel()});
            data += static_cast<std::size_t>(gradient.numel()) * size_of(type_);
        }
    }

private:
    const TensorList& gradients_;
    DType type_;
    std::int64_t count_ = 0;
};

/// Makes a line for gradients in host memory, or on the GPU that `line` connects.
std::unique_ptr<ExchangeLine> make_exchange_line(std::unique_ptr<Communicator> line);

/// Exchanges gradients on a GPU, on the stream of its DeviceRanks: packs each bucket into a buffer,
/// sums it, and unpacks it, all without the host. Lines of one rank share that stream.
std::unique_ptr<ExchangeLine> make_device_exchange_line(std::unique_ptr<Communicator> line);

}  // namespace engine
