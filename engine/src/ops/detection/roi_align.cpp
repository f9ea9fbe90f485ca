#include "ops/detection/roi_align.h"

#include <cmath>
#include <string>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/roi_align.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

constexpr Op roi_align_backward_op(
    "roi_align_backward(dy, rois; output_size, spatial_scale, sampling_ratio, aligned)");
constexpr Op multi_scale_roi_align_backward_op(
    "multi_scale_roi_align_backward(dy, rois; output_size, canonical_size, sampling_ratio)");
/// More samples a bin than any use has; limits the time of a call.
constexpr std::int64_t max_ratio = 1024;

/// A call without its tensors.
struct Aligning {
    const Op* op;
    const Op* backward;
    std::vector<Shape> shapes = {};  // of the maps
    std::vector<double> scales = {};
    kernels::RoiAlignShape shape{};
    DType dtype = DType::f32;
    Device device = {};
};

std::vector<kernels::RoiMap> kernel_maps(const Aligning& call, const TensorList& maps) {
    std::vector<kernels::RoiMap> out;
    for (std::size_t i = 0; i < maps.size(); ++i)
        out.push_back({maps[i].data(), maps[i].size(2), maps[i].size(3), call.scales[i]});
    return out;
}

Tensor aligned_rois(const Aligning& call, const TensorList& maps, const Tensor& rois);

TensorList aligned_backward(const Aligning& call, const Tensor& dy, const Tensor& rois) {
    TensorList gradients;
    for (const Shape& shape : call.shapes)
        gradients.push_back(Tensor::empty(shape, call.dtype, call.device, Layout::channels_last));
    {
        const GradMode off(false);
        const Tensor rows = in_layout(dy, Layout::channels_last);
        kernels::RoiAlignShape shape = call.shape;
        shape.contiguous = false;
        on(call.device, kernels::cpu::roi_align_backward, kernels::cuda::roi_align_backward)(
            kernel_maps(call, gradients), rows.array(), rois.array(), shape, current_stream());
    }
    return record_outputs(*call.backward, {&dy, 1}, gradients, {save(rois)},
                          [call](std::span<const Tensor> grads, const Saved& saved) {
                              TensorList maps(grads.begin(), grads.end());
                              for (std::size_t i = 0; i < maps.size(); ++i)
                                  if (!maps[i].defined())
                                      maps[i] =
                                          Tensor::zeros(call.shapes[i], call.dtype, call.device);
                              return TensorList{aligned_rois(call, maps, saved[0])};
                          });
}

Tensor aligned_rois(const Aligning& call, const TensorList& maps, const Tensor& rois) {
    const kernels::RoiAlignShape& s = call.shape;
    Tensor y = Tensor::empty({s.rois, s.channels, s.out_h, s.out_w}, call.dtype, call.device,
                             s.contiguous ? Layout::contiguous : Layout::channels_last);
    {
        const GradMode off(false);
        TensorList pixels;
        for (const Tensor& map : maps) pixels.push_back(in_layout(map, Layout::channels_last));
        on(call.device, kernels::cpu::roi_align, kernels::cuda::roi_align)(
            y.array(), kernel_maps(call, pixels), rois.array(), s, current_stream());
    }
    TensorList inputs = maps;
    inputs.push_back(rois);
    return record_many(*call.op, inputs, y, {save(rois)},
                       [call](std::span<const Tensor> dy, const Saved& saved) {
                           TensorList grads = aligned_backward(call, dy[0], saved[0]);
                           grads.emplace_back();
                           return grads;
                       });
}

void check_maps(const Op& op, const TensorList& maps) {
    if (maps.empty() || maps.size() > kernels::max_roi_maps)
        throw Error(ErrorCode::value, std::string(op.name) + ": reads 1 to " +
                                          std::to_string(kernels::max_roi_maps) + " maps, not " +
                                          std::to_string(maps.size()));
    for (const Tensor& map : maps) {
        check_rank(op, map, 4);
        one_type(op, {maps.front(), map});
        check_shapes(op,
                     map.size(0) == maps[0].size(0) && map.size(1) == maps[0].size(1) &&
                         map.size(2) > 0 && map.size(3) > 0,
                     map, maps[0]);
    }
}

Tensor align(Aligning call, const TensorList& maps, const Tensor& rois) {
    const Op& op = *call.op;
    check_maps(op, maps);
    check_columns(op, rois, 5);
    check_floating(op, rois);
    kernels::RoiAlignShape& s = call.shape;
    if (s.out_h < 1 || s.out_w < 1 || s.sampling_ratio > max_ratio)
        throw Error(ErrorCode::value, std::string(op.name) +
                                          ": output_size starts at 1, and sampling_ratio is at "
                                          "most " +
                                          std::to_string(max_ratio));
    s.images = maps[0].size(0), s.channels = maps[0].size(1), s.rois = rois.size(0);
    const ValueRule other_picture{std::string(op.name) + ": picture ",
                                  " of a RoI is outside the " + std::to_string(s.images) +
                                      " pictures",
                                  {}, false};
    const Tensor places = rois.detach();
    if (s.rois > 0)
        check_values(other_picture, contiguous(narrow(places, 1, 0, 1)), -1,
                     static_cast<double>(s.images - 1));
    for (const Tensor& map : maps) call.shapes.push_back(map.shape());
    call.dtype = maps[0].dtype();
    call.device = maps[0].device();
    return aligned_rois(call, maps, dense_rows(places, wide_type(call.dtype)));
}

}  // namespace

Tensor roi_align(const Tensor& x0, const Tensor& rois0,
                 const std::array<std::int64_t, 2>& output_size, double spatial_scale,
                 std::int64_t sampling_ratio, bool aligned) {
    return roi_align_op.call(
        x0, rois0, output_size, spatial_scale, sampling_ratio, aligned,
        [&](const Tensor& x, const Tensor& rois) {
            Aligning call{&roi_align_op, &roi_align_backward_op, {}, {spatial_scale}};
            call.shape.out_h = output_size[0], call.shape.out_w = output_size[1];
            call.shape.sampling_ratio = sampling_ratio, call.shape.aligned = aligned;
            return align(std::move(call), {x}, rois);
        });
}

Tensor multi_scale_roi_align(const TensorList& maps0, const Tensor& rois0,
                             const std::array<std::int64_t, 2>& output_size, double canonical_size,
                             std::int64_t sampling_ratio, bool contiguous) {
    return multi_scale_roi_align_op.call(
        maps0, rois0, output_size, canonical_size, sampling_ratio, contiguous,
        [&](const TensorList& maps, const Tensor& rois) {
            if (!(canonical_size > 0) || std::isinf(canonical_size))
                throw Error(ErrorCode::value,
                            "multi_scale_roi_align: canonical_size is above 0");
            Aligning call{&multi_scale_roi_align_op, &multi_scale_roi_align_backward_op};
            call.shape.out_h = output_size[0], call.shape.out_w = output_size[1];
            call.shape.sampling_ratio = sampling_ratio;
            call.shape.canonical_size = canonical_size;
            call.shape.contiguous = contiguous;
            for (std::size_t i = 0; i < maps.size(); ++i)
                call.scales.push_back(std::ldexp(1.0, -2 - static_cast<int>(i)));
            return align(std::move(call), maps, rois);
        });
}

}  // namespace engine
