#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo flip_info, roll_info, repeat_info, repeat_interleave_info;

// Copies with elements elsewhere; any type.

/// Reverses the order of these dimensions.
Tensor flip(const Tensor& x, const std::vector<std::int64_t>& dims);
/// Element i of dimension dims[k] goes to i + shifts[k], those beyond the end to the start. Without
/// dims the tensor is rolled as one row.
Tensor roll(const Tensor& x, const std::vector<std::int64_t>& shifts,
            const std::vector<std::int64_t>& dims = {});
/// repeats[k] copies along dimension k; with more repeats than dimensions those of x stand last.
Tensor repeat(const Tensor& x, const std::vector<std::int64_t>& repeats);
/// Each element of a dimension (none: of the whole as one row) `repeats` times in a row.
Tensor repeat_interleave(const Tensor& x, std::int64_t repeats,
                         std::optional<std::int64_t> dim = {});

extern const OpInfo pixel_shuffle_info, pixel_unshuffle_info, channel_shuffle_info;

/// (..., C r^2, H, W) to (..., C, H r, W r). Any type.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
/// (..., C, H r, W r) to (..., C r^2, H, W).
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);
/// (N, C, ...): channel g n + k goes to k groups + g, with n = C / groups.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

}  // namespace engine
