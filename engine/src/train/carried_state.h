#pragma once

#include "core/tensor_map.h"
#include "models/model.h"
#include "parallel/communicator.h"

namespace engine {

/// The state that a recurrent model carries from step to step, in buffers that keep their addresses
/// so that a step can be captured. Nothing for models without one.
class CarriedState {
public:
    /// `ranks`: those that the streams are shared out to; null: all are here.
    CarriedState(const Model& model, const Device& device, Communicator* ranks = nullptr);

    /// A pass over the data begins: all zeros.
    void reset();
    /// What the first micro-batch of the step reads, for a batch of so many streams; zeros after
    /// another number of streams.
    const TensorList& in(std::int64_t streams);
    /// The step ends with this state. Streams that are not finite are zeroed whole and counted,
    /// whether the step is skipped or not.
    void carry(const TensorList& out);

    /// A copy on the host, by number: "0", "1", of the streams of all ranks, which all ask for it.
    /// Empty before the first batch.
    TensorMap saved_state() const;
    /// What it copies, where it lies.
    const TensorList& buffers() const { return buffers_; }
    /// Takes a saved state, or this rank's streams of it, whose number it has from then on. Throws
    /// Error(data) if it is that of another model.
    void load_state(const TensorMap& saved);

    /// Streams that were zeroed in the step, on the device; null without a state.
    const std::int64_t* resets() const {
        return resets_.defined() ? resets_.data_as<std::int64_t>() : nullptr;
    }
    void clear_resets() const;
    /// Of all ranks, in place of this one's own.
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
