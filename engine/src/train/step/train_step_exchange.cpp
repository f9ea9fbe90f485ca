// The exchanges of a step that several ranks compute together.
#include <cmath>

#include "kernels/elementwise.h"
#include "parallel/communicator.h"
#include "train/step/train_step.h"

namespace engine {
namespace {

/// In host memory a bucket costs few microseconds by itself. Short ones are exchanged while they
/// are in the cache, and little is left to exchange after the backward pass.
constexpr std::int64_t host_message_size = 250'000;

ExchangeOptions exchange_options(const Device& device) {
    ExchangeOptions options{.in_f32 = true, .average = false};
    if (device.kind == Device::Kind::cpu) options.message_size = host_message_size;
    return options;
}

}  // namespace

/// Losses are weighted by rows, so the sum of the ranks' gradients is already their average. 16-bit
/// gradients are summed in f32, since a partial sum may overflow f16 although the sum does not.
void TrainStep::make_exchanges() {
    for (const Phase& phase : phases_) {
        exchanges_.push_back(std::make_unique<GradientExchange>(*ranks_, parameters_of(phase),
                                                                exchange_options(device_)));
    }
    const UseScope use(MemoryUse::workspace);
    unseen_sums_ = DeviceRecord<MetricSums>(device_);
    unseen_sums_.clear();
}

ExchangeTimer TrainStep::exchange_timer() const {
    std::vector<ExchangeTimer> timers;
    for (const auto& exchange : exchanges_) timers.push_back(exchange->timer());
    return sum_of(std::move(timers));
}

/// Replaces the sums and counts of a step by those over all ranks. The gradients are already the
/// same on all of them, so the gradient check has the same result: all ranks skip the step or none.
void TrainStep::share_figures() {
    if (device_.kind == Device::Kind::cuda) return share_figures_on_device();
    struct Figures {
        MetricSums sums;
        std::int64_t resets;
        float f16_max;
    };
    Figures own{sums_.host(), state_.resets() ? *state_.resets() : 0, *f16_max_.data_as<float>()};
    const auto size = static_cast<std::size_t>(ranks_->size());
    std::vector<Figures> all(size);
    constexpr std::int64_t bytes = sizeof(Figures);
    const std::vector<std::int64_t> counts(size, bytes);
    ranks_->gather({all.data(), DType::u8, bytes * ranks_->size()}, {&own, DType::u8, bytes},
                   counts);
    own = all.front();
    for (std::size_t rank = 1; rank < size; ++rank) {
        const Figures& other = all[rank];
        own.sums.loss += other.sums.loss;
        own.sums.weight += other.sums.weight;
        for (int i = 0; i < MetricSums::value_count; ++i)
            own.sums.values[i] += other.sums.values[i];
        own.resets += other.resets;
        if (std::isnan(other.f16_max) || other.f16_max > own.f16_max) own.f16_max = other.f16_max;
    }
    sums_.set(own.sums);
    if (state_.resets()) state_.set_resets(own.resets);
    *f16_max_.data_as<float>() = own.f16_max;
}

/// Shares the figures without waiting for the device.
void TrainStep::share_figures_on_device() {
    static_assert(sizeof(MetricSums) == sizeof(double) * (2 + MetricSums::value_count));
    constexpr auto numbers = static_cast<std::int64_t>(sizeof(MetricSums) / sizeof(double));
    sum_over(*ranks_, {sums_.data(), DType::f64, numbers}, device_);
    if (state_.resets()) sum_over(*ranks_, state_.resets_array(), device_);
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks_->size()), 1);
    const Tensor all = Tensor::empty({ranks_->size()}, DType::f32, device_);
    gather_over(*ranks_, all.array(), f16_max_.array(), counts, device_);
    // Not NCCL's maximum, which does not say what it does with NaN.
    kernels::cuda::abs_max(f16_max_.data_as<float>(), all.array(), current_stream());
}

}  // namespace engine
