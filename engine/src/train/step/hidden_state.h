#pragma once

#include "models/model.h"
#include "parallel/communicator.h"
#include "tensor/tensor.h"

namespace engine {

/// The state that a recurrent model carries from step to step, in buffers with fixed addresses, so
/// that a step can be captured. Empty for models without one.
class HiddenState {
public:
    /// `ranks` connects the ranks among which the streams are divided. Null: all are here.
    HiddenState(const Model& model, const Device& device, Communicator* ranks = nullptr);

    /// A pass over the data begins: all zeros.
    void reset();
    /// The state for the first micro-batch of the step, for a batch of `streams` streams; zeros if
    /// the number of streams changed.
    const TensorList& in(std::int64_t streams);
    /// Sets the state at the end of the step. Streams that are not finite are zeroed whole and
    /// counted, whether or not the step is skipped.
    void carry(const TensorList& out);

    /// A copy of the streams of all ranks on the host, named by number: "0", "1". All ranks call
    /// it. Empty before the first batch.
    TensorMap saved_state() const;
    /// The tensors that it copies, where they lie.
    const TensorList& buffers() const { return buffers_; }
    /// Loads this rank's slice of a saved state and adopts its stream count. Throws Error(data) if
    /// it belongs to another model.
    void load_state(const TensorMap& saved);

    /// Streams that were zeroed in the step, on the device; null without a state.
    const std::int64_t* resets() const {
        return resets_.defined() ? resets_.data_as<std::int64_t>() : nullptr;
    }
    std::int64_t* resets() { return resets_.defined() ? resets_.data_as<std::int64_t>() : nullptr; }
    kernels::Array resets_array() const { return resets_.array(); }
    /// Replaces this rank's streams by those of all ranks.
    void set_resets(std::int64_t count) const { *resets_.data_as<std::int64_t>() = count; }

private:
    TensorMap own_part(const TensorMap& saved) const;
    Tensor gathered(const Tensor& own) const;

    const Model& model_;
    Device device_;
    Communicator* ranks_;
    TensorList buffers_;  // f32, which holds every 16-bit value exactly
    std::int64_t streams_ = 0;
    Tensor resets_;  // 0-d i64
};

}  // namespace engine
