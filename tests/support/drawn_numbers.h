#pragma once

#include <cstdint>

#include "kernels/philox.h"

namespace support {

/// Numbers of a Philox stream one after another, as the class Draw of tests/peer/coco_metric.py
/// draws them: inputs that need no golden file.
class DrawnNumbers {
public:
    DrawnNumbers(std::uint32_t stream, std::uint32_t substream)
        : stream_{{54, 0}, stream, substream} {}

    /// Uniform in [0, bound).
    int below(int bound) {
        return static_cast<int>(stream_.bounded(next_++, static_cast<std::uint32_t>(bound)));
    }
    bool one_in(int chances) { return below(chances) == 0; }
    /// Uniform in [0, 1), 32 bits.
    double fraction() { return stream_.at(next_++) * 0x1p-32; }

private:
    kernels::PhiloxStream stream_;
    std::uint64_t next_ = 0;
};

}  // namespace support
