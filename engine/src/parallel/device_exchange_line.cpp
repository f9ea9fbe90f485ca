#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "parallel/device_ranks.h"
#include "parallel/exchange_line.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

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

DeviceExchangeLine::DeviceExchangeLine(std::unique_ptr<Communicator> line)
    : line_(std::move(line)), ranks_(*line_->on_device()) {}

/// The buffer and the gradients go back to the compute stream's memory.
DeviceExchangeLine::~DeviceExchangeLine() {
    try {
        ranks_.join();
    } catch (const kernels::DeviceError&) {  // nothing runs on a lost device
    }
}

/// A larger buffer takes the place of the old one, whose memory may be reused once the exchange has
/// finished with it.
void DeviceExchangeLine::reserve(std::size_t bytes) {
    if (buffer_.defined() && buffer_.bytes() >= bytes) return;
    ranks_.join();
    const UseScope use(MemoryUse::workspace);
    buffer_ = Tensor::empty({static_cast<std::int64_t>(bytes)}, DType::u8, ranks_.device());
}

Tensor DeviceExchangeLine::factor(float value) {
    if (value == 1) return {};
    Tensor& known = factors_[value];
    const UseScope use(MemoryUse::workspace);
    if (!known.defined()) known = Tensor::full({}, value, DType::f32, ranks_.device());
    return known;
}

void DeviceExchangeLine::multiply(kernels::Array values, const Tensor& factor) const {
    if (factor.defined())
        kernels::cuda::scale_by(values, values, factor.data_as<float>(), ranks_.stream());
}

void DeviceExchangeLine::send(ExchangeBucket bucket) {
    using kernels::Array;
    const DeviceScope scope(ranks_.device());
    const BucketLayout layout(bucket);
    const Tensor before = factor(bucket.before), after = factor(bucket.after);
    reserve(layout.bytes());
    ranks_.fork();
    const kernels::Stream stream = ranks_.stream();
    Span span{ranks_.mark(), nullptr};
    auto* const data = buffer_.data_as<std::byte>();
    const Array all = layout.all(data);
    layout.each(data,
                [&](Array gradient, Array place) { kernels::cuda::cast(place, gradient, stream); });
    multiply(all, before);
    ranks_.group().sum(all, stream);
    multiply(all, after);
    layout.each(data,
                [&](Array gradient, Array place) { kernels::cuda::cast(gradient, place, stream); });
    span.end = ranks_.mark();
    spans_.push_back(std::move(span));
    sent_.insert(sent_.end(), bucket.gradients.begin(), bucket.gradients.end());
}

void DeviceExchangeLine::end_backward() {
    const DeviceScope scope(ranks_.device());
    ended_ = std::make_shared<kernels::cuda::Event>();
    ended_->record(current_stream());
}

ExchangeTimer DeviceExchangeLine::wait() {
    ranks_.join();
    ranks_.group().check_errors();
    sent_.clear();
    return [spans = std::exchange(spans_, {}), ended = ended_] {
        ExchangeTimes times;
        for (const Span& span : spans) {
            const auto all = static_cast<double>(span.end->ms_since(*span.begin));
            times.total_ms += all;
            times.hidden_ms +=
                std::clamp(static_cast<double>(ended->ms_since(*span.begin)), 0.0, all);
        }
        return times;
    };
}

}  // namespace

std::unique_ptr<ExchangeLine> make_device_exchange_line(std::unique_ptr<Communicator> line) {
    return std::make_unique<DeviceExchangeLine>(std::move(line));
}

}  // namespace engine
