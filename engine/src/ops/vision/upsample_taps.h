#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

enum class UpsampleMode { nearest, nearest_exact, linear, cubic, linear_aa, cubic_aa };

/// One axis of a resampling, in to out: output o is the sum over the taps t of weight[t][o] times
/// element index[t][o]; an index of -1 adds nothing. (taps, out), on the host.
struct AxisTaps {
    Tensor index;   // i64
    Tensor weight;  // f64; undefined: all 1
};

/// Taps of what PyTorch computes in `mode`. `scale`: out / in as the caller gave it, if by factors.
/// Coordinates are f64, but for the nearest modes, whose choice is PyTorch's in f32.
AxisTaps axis_taps(UpsampleMode mode, std::int64_t in, std::int64_t out, bool align_corners,
                   std::optional<double> scale);

/// The weights of the four neighbours of a place t in [0, 1) between the second and the third, by
/// Keys' cubic with slope a.
std::vector<double> cubic_weights(double t, double a);

}  // namespace engine
