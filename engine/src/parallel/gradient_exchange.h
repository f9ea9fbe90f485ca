#pragma once

#include <memory>
#include <vector>

#include "parallel/exchange_line.h"

namespace engine {

/// Bucketed data parallel (4.6). That gradients become views of the exchanged buffer is not
/// offered.
struct ExchangeOptions {
    std::int64_t message_size = 10'000'000;  ///< smallest number of elements that closes a bucket
    bool delay = false;  ///< one exchange for each type, at the end of the backward pass
    /// A bucket closes when one of these parameters gets its gradient; message_size is then
    /// ignored. By index.
    std::vector<std::size_t> trigger_parameters{};
    int lines = 1;           ///< buckets go round-robin over so many
    bool in_f32 = false;     ///< 16-bit gradients are cast for the exchange, and back
    bool average = true;     ///< divide by the number of ranks
    double predivide = 1.0;  ///< before the exchange divide by this; after it, by the rest
};

struct ExchangeTimes {
    double total_ms = 0;   ///< gradients were under way
    double hidden_ms = 0;  ///< of it: while the backward pass went on
};

/// Averages the gradients of some leaves over the ranks, while the backward pass that makes them
/// goes on. The first pass only shows in which order they become ready: rank 0's order makes the
/// buckets of all ranks. From then on a bucket is sent as soon as all its gradients are ready and
/// all earlier buckets were sent. Sparse gradients are gathered at the end. One thread; the
/// gradients lie in the host's memory.
class GradientExchange {
public:
    /// All ranks make it, at the same time. Throws Error(value) for options that 4.6 refuses.
    GradientExchange(Communicator& ranks, TensorList parameters, const ExchangeOptions& options);
    ~GradientExchange();
    GradientExchange(const GradientExchange&) = delete;
    GradientExchange& operator=(const GradientExchange&) = delete;

    /// The backward pass that completes the gradients begins: what becomes ready is sent. Passes
    /// before it add up on their rank alone.
    void begin();
    /// It has ended: sends what is left, and returns when all ranks' averages are in their places.
    /// Throws Error(state) where other parameters have gradients than in the first pass, or one got
    /// its gradient again after it was sent.
    void finish();
    /// Of the last finish().
    const ExchangeTimes& times() const { return times_; }
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
    void wait(ExchangeLine::Clock::time_point ended);
    void gather_sparse();
    Tensor gathered(const Tensor& gradient) const;
    bool has_dense(std::size_t parameter) const;

    Communicator& ranks_;
    TensorList parameters_;
    ExchangeOptions options_;
    std::vector<std::unique_ptr<ExchangeLine>> lines_;
    std::shared_ptr<Hooks> hooks_;  // what the leaves' hooks reach; gone with this

    std::vector<std::vector<std::size_t>> buckets_;
    std::vector<std::size_t> bucket_of_;  // by parameter
    std::vector<int> expected_;           // gradients that a pass gives to each parameter

    // Of the pass in progress.
    bool active_ = false;
    std::vector<std::size_t> order_;  // of the last gradient of each parameter
    std::vector<int> calls_;          // by parameter
    std::vector<std::size_t> left_;   // by bucket: gradients that are not ready
    std::size_t next_ = 0;            // bucket to be sent
    ExchangeTimes times_;
};

}  // namespace engine
