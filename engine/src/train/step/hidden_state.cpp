#include "train/step/hidden_state.h"

#include <numeric>

#include "engine/base/error.h"
#include "kernels/carry_state.h"
#include "ops/shape/view.h"
#include "tensor/layout.h"
#include "tensor/restore.h"
#include "tensor/transfer.h"

namespace engine {

HiddenState::HiddenState(const Model& model, const Device& device, Communicator* ranks)
    : model_(model), device_(device), ranks_(ranks) {
    if (model.state_shapes(1).empty()) return;
    const UseScope use(MemoryUse::workspace);
    resets_ = Tensor::zeros({}, DType::i64, device_);
}

void HiddenState::reset() {
    for (const Tensor& buffer : buffers_) set_zero(buffer.data(), buffer.bytes(), device_);
}

const TensorList& HiddenState::in(std::int64_t streams) {
    if (streams == streams_) return buffers_;
    const UseScope use(MemoryUse::workspace);
    buffers_.clear();
    for (const Shape& shape : model_.state_shapes(streams))
        buffers_.push_back(Tensor::zeros(shape, DType::f32, device_));
    streams_ = streams;
    return buffers_;
}

TensorMap HiddenState::saved_state() const {
    TensorMap out;
    for (const Tensor& buffer : buffers_) {
        const Tensor own = snapshot(buffer);
        out[std::to_string(out.size())] = ranks_ ? gathered(own) : own;
    }
    return out;
}

/// The streams (layers, streams, width) of all ranks, in the order of the ranks.
Tensor HiddenState::gathered(const Tensor& own) const {
    const std::vector<std::int64_t> streams = gather_counts(*ranks_, own.size(1));
    const std::int64_t layers = own.size(0), width = own.size(2);
    const auto all = std::accumulate(streams.begin(), streams.end(), std::int64_t{0});
    const Tensor out = Tensor::empty({layers, all, width}, own.dtype());
    std::vector<std::int64_t> counts;
    for (const std::int64_t each : streams) counts.push_back(each * width);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        ranks_->gather(
            {out.data_as<float>() + layer * all * width, DType::f32, all * width},
            {own.data_as<float>() + layer * own.size(1) * width, DType::f32, own.size(1) * width},
            counts);
    }
    return out;
}

/// This rank's streams.
TensorMap HiddenState::own_part(const TensorMap& saved) const {
    TensorMap out;
    for (const auto& [name, state] : saved) {
        const BatchShare share = share_of(state.size(1), ranks_->rank(), ranks_->size());
        out[name] = snapshot(narrow(state, 1, share.idle() ? 0 : share.first, share.computed()));
    }
    return out;
}

void HiddenState::load_state(const TensorMap& saved) {
    if (saved.empty()) return reset();
    const Tensor& first = saved.begin()->second;
    if (first.rank() != 3) throw Error(ErrorCode::data, "carried state: not of three dimensions");
    const TensorMap own = ranks_ ? own_part(saved) : saved;
    std::vector<Place> places;
    for (const Tensor& buffer : in(own.begin()->second.size(1)))
        places.push_back({std::to_string(places.size()), buffer, /*exact=*/true});
    const std::string wrong = misfits(places, own);
    if (!wrong.empty())
        throw Error(ErrorCode::data, "the carried state does not fit the model: " + wrong);
    fill(places, own);
}

void HiddenState::carry(const TensorList& out) {
    if (out.empty()) return;
    std::vector<kernels::CarriedTensor> tensors;
    TensorList held;
    for (std::size_t i = 0; i < out.size(); ++i) {
        held.push_back(in_layout(out[i].detach(), Layout::contiguous));
        tensors.push_back(
            {buffers_[i].data_as<float>(), held.back().array(), out[i].size(0), out[i].size(2)});
        buffers_[i].bump_version();
    }
    on(device_, kernels::cpu::carry_state, kernels::cuda::carry_state)(
        tensors, streams_, resets_.data_as<std::int64_t>(), current_stream());
}

}  // namespace engine
