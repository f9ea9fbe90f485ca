#pragma once

#include <memory>
#include <vector>

#include "parallel/exchange_line.h"

namespace engine {

/// Bucketed data parallel (optimizers.md#bucketed-data-parallel, 4.6), without its option that
/// gradients are views of the buffer.
struct ExchangeOptions {
    std::int64_t message_size = 10'000'000;  ///< smallest number of elements that closes a bucket
    bool delay = false;  ///< one exchange for each type, at the end of the backward pass
    /// Indices of parameters: a bucket closes when one of them gets its gradient, and message_size
    /// is ignored.
    std::vector<std::size_t> trigger_parameters{};
    int lines = 1;           ///< lines that buckets are spread over, round-robin
    bool in_f32 = false;     ///< 16-bit gradients are cast for the exchange, and back
    bool average = true;     ///< divide by the number of ranks
    double predivide = 1.0;  ///< before the exchange divide by this; after it, by the rest
};

/// Averages the gradients of some leaves over the ranks during the backward pass.
///
/// The first pass exchanges at its end and records the order in which the gradients become ready:
/// rank 0's order determines the buckets of all ranks. In later passes a bucket is sent as soon as
/// all of its gradients are ready and all earlier buckets were sent. Sparse gradients are gathered
/// at the end. Only one thread may use it. The gradients are in host memory, or on the GPU of
/// `ranks` (on_device()), where all lines share a stream and nothing waits for the device.
class GradientExchange {
public:
    /// All ranks construct it together. Throws Error(value) for options that 4.6 refuses.
    GradientExchange(Communicator& ranks, TensorList parameters, const ExchangeOptions& options);
    ~GradientExchange();
    GradientExchange(const GradientExchange&) = delete;
    GradientExchange& operator=(const GradientExchange&) = delete;

    /// To be called before the last backward pass of a step: gradients are sent as they become
    /// ready. Earlier passes of the step accumulate without any exchange.
    void begin();
    /// To be called after that pass: sends the rest, and returns when the gradients are averages
    /// (on a GPU, for work given to the compute stream from then on). Throws Error(state) if other
    /// parameters have gradients than in the first pass, or if a gradient changed after it was
    /// sent.
    void finish();
    /// Times of the last finish(); see ExchangeTimer.
    ExchangeTimes times() const { return timer_(); }
    const ExchangeTimer& timer() const { return timer_; }
    /// Parameters of each bucket, in the order in which they are sent; empty before the first
    /// finish().
    const std::vector<std::vector<std::size_t>>& buckets() const { return buckets_; }

private:
    class Hooks;

    void on_gradient(std::size_t parameter);
    void send_ready();
    void send(std::size_t bucket);
    void make_buckets();
    std::vector<std::vector<std::size_t>> own_buckets() const;
    void share_buckets(std::vector<std::vector<std::size_t>> own);
    void check_gradients() const;
    void own_gradient(std::size_t parameter) const;
    ExchangeTimer wait();
    ExchangeTimer gather_sparse();
    Tensor gathered(const Tensor& gradient) const;
    bool has_dense(std::size_t parameter) const;

    Communicator& ranks_;
    TensorList parameters_;
    ExchangeOptions options_;
    std::vector<std::unique_ptr<ExchangeLine>> lines_;
    std::shared_ptr<Hooks> hooks_;  // the leaves' hooks have weak pointers to it

    std::vector<std::vector<std::size_t>> buckets_;
    std::vector<std::size_t> bucket_of_;  // by parameter
    std::vector<int> expected_;           // gradients that a pass gives to each parameter

    // State of the pass in progress.
    bool active_ = false;
    std::vector<std::size_t> order_;  // of the last gradient of each parameter
    std::vector<int> calls_;          // by parameter
    std::vector<std::size_t> left_;   // by bucket: gradients that are not ready
    std::size_t next_ = 0;            // bucket to be sent
    ExchangeTimer timer_ = [] { return ExchangeTimes(); };
};

}  // namespace engine
