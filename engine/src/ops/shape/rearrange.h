#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* moves_elements = "Moves elements: the type does not change.";

inline constexpr const char* rearranges_values =
    "Copies values: nothing is lost in its input's type.";

// Copies with elements elsewhere; any type.

/// Reverses the order of these dimensions.
Tensor flip(const Tensor& x, const std::vector<std::int64_t>& dims);
inline constexpr Op flip_op(CastPolicy::none, "flip(x; dims=[])", rearranges_values, by_name<flip>,
                            not_forced);
/// Element i of dimension dims[k] goes to i + shifts[k], those beyond the end to the start. Without
/// dims the tensor is rolled as one row.
Tensor roll(const Tensor& x, const std::vector<std::int64_t>& shifts,
            const std::vector<std::int64_t>& dims = {});
inline constexpr Op roll_op(CastPolicy::none, "roll(x; shifts, dims=[])", rearranges_values,
                            by_name<roll>, not_forced);
/// repeats[k] copies along dimension k; with more repeats than dimensions those of x stand last.
Tensor repeat(const Tensor& x, const std::vector<std::int64_t>& repeats);
inline constexpr Op repeat_op(CastPolicy::none, "repeat(x; repeats)", rearranges_values,
                              by_name<repeat>, not_forced);
/// Each element of a dimension (none: of the whole as one row) `repeats` times in a row.
Tensor repeat_interleave(const Tensor& x, std::int64_t repeats,
                         std::optional<std::int64_t> dim = {});
inline constexpr Op repeat_interleave_op(CastPolicy::none,
                                         "repeat_interleave(x; repeats, dim=None)",
                                         rearranges_values, by_name<repeat_interleave>, not_forced);

/// (..., C r^2, H, W) to (..., C, H r, W r). Any type.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
inline constexpr Op pixel_shuffle_op(CastPolicy::none, "pixel_shuffle(x; upscale_factor)",
                                     moves_elements, by_name<pixel_shuffle>, not_forced);
/// (..., C, H r, W r) to (..., C r^2, H, W).
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);
inline constexpr Op pixel_unshuffle_op(CastPolicy::none, "pixel_unshuffle(x; downscale_factor)",
                                       moves_elements, by_name<pixel_unshuffle>, not_forced);
/// (N, C, ...): channel g n + k goes to k groups + g, with n = C / groups.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);
inline constexpr Op channel_shuffle_op(CastPolicy::none, "channel_shuffle(x; groups)",
                                       moves_elements, by_name<channel_shuffle>, not_forced);

}  // namespace engine
