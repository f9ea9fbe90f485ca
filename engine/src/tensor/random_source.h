#pragma once

#include "tensor/batch_share.h"
#include "tensor/philox.h"
#include "tensor/tensor.h"

namespace engine {

/// Where an op's random numbers come from. Inside a captured step the substream must lie on the
/// device, so that each replay draws other numbers.
struct RandomSource {
    RandomSource(const RandomStream& stream_,
                 Tensor substream_ = {})  // NOLINT(google-explicit-constructor)
        : stream(stream_), substream(std::move(substream_)) {}

    RandomStream stream;
    Tensor substream;  ///< 0-d i64, in place of the stream's own; undefined: none
    /// The part of the batch that the numbers are for. A sample gets the numbers of its place in
    /// the whole batch, so they do not depend on the rank that computes it
    /// (decisions.md#randomness, D7).
    BatchShare share{};

    const std::int64_t* substream_data() const {
        return substream.defined() ? substream.data_as<std::int64_t>() : nullptr;
    }
};

/// The random numbers of one training step (decisions.md#randomness, D7). Dropout masks take
/// consecutive offsets in the order of the calls; the substream is the number of the step.
class StepRandom {
public:
    StepRandom(std::int64_t seed, Tensor step)
        : source_(RandomStream(seed, StreamId::dropout), std::move(step)) {}

    const RandomSource& source() const { return source_; }
    /// The first of the next numbers of the whole batch, of which this rank's part uses `count`.
    std::uint64_t take(std::int64_t count) {
        const std::uint64_t first = offset_;
        offset_ += static_cast<std::uint64_t>(source_.share.of_all(count));
        used_ = true;
        return first;
    }
    /// Begins micro-batch `index` of a step, of which `share` is computed here. Its numbers do not
    /// depend on earlier micro-batches.
    void begin(std::size_t index, const BatchShare& share = {}) {
        offset_ = static_cast<std::uint64_t>(index) << 40;
        source_.share = share;
    }
    /// Some numbers were taken.
    bool used() const { return used_; }

private:
    RandomSource source_;
    std::uint64_t offset_ = 0;
    bool used_ = false;
};

}  // namespace engine
