#pragma once

#include "ops/conv/conv_parts.h"

namespace engine {

// Volumes (N, C, D, H, W) as images, outside the tape. Images are (N depth, C, H, W) in NHWC
// memory. The taps of the kernel's depth lie next to each other: channel c of tap t is c taps + t,
// so that groups stay together.
//
// A volume is computed in parts. Within one part the same taps join each slice to slices of the
// other side. Taps that meet only padding are left out: multiplying them by zeros would turn an
// infinity into a NaN in sums that it has no part in.

/// Slices of one side, `count` of them from `first` on, `step` apart. Tap taps[i] joins the first
/// slice to slice others[i] of the other side, and each following slice to one `other_step` further
/// on.
struct DepthPart {
    std::int64_t first = 0, count = 0, step = 1, other_step = 1;
    std::vector<std::int64_t> taps, others;  // the taps lie evenly
    std::int64_t tap_count() const { return static_cast<std::int64_t>(taps.size()); }
};

/// All output slices that depend on input slices, with the taps that lead there.
std::vector<DepthPart> output_parts(const ConvShape& s);
/// All input slices that output slices depend on.
std::vector<DepthPart> input_parts(const ConvShape& s);
/// The output slices that input slices reach through one tap; count is 0 if there are none.
DepthPart part_of_tap(std::int64_t tap, const ConvShape& s);
/// Slices of all parts.
std::int64_t slice_count(const std::vector<DepthPart>& parts);

/// A part's slices of its own side, (N count, C, H, W), and back into their places.
Tensor slices_of(const Tensor& volume, const DepthPart& part);
void put_slices(const Tensor& volume, const Tensor& images, const DepthPart& part);
/// The other side's slices under the part's taps: (N count, C taps, H, W).
Tensor tap_slices(const Tensor& other, const DepthPart& part);

/// For a part of the outputs: the shape of the convolution of images, with C taps input channels.
/// For a part of the inputs: the shape of the convolution whose input gradient it is, with K taps
/// output channels.
kernels::Conv2dShape shape_of_outputs(const ConvShape& s, const DepthPart& part);
kernels::Conv2dShape shape_of_inputs(const ConvShape& s, const DepthPart& part);
/// The weights for those convolutions, from (K, C / groups, taps, R, S): (K, C / groups taps, R, S)
/// and (K taps, C / groups, R, S).
Tensor weight_of_outputs(const Tensor& weight, const DepthPart& part);
Tensor weight_of_inputs(const Tensor& weight, const DepthPart& part);
/// One tap's weights, a view (K, C / groups, R, S).
Tensor weight_of_tap(const Tensor& weight, std::int64_t tap);

}  // namespace engine
