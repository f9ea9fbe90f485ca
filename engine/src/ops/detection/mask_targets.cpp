#include "ops/detection/mask_targets.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/mask_targets.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {

Tensor mask_targets(const Tensor& rois0, const Tensor& instances0, const Tensor& places0,
                    const Tensor& bits0, const Tensor& sizes0,
                    const std::array<std::int64_t, 2>& output_size) {
    return mask_targets_op.call(
        rois0, instances0, places0, bits0, sizes0, output_size,
        [&](const Tensor& rois, const Tensor& instances, const Tensor& places, const Tensor& bits,
            const Tensor& sizes) {
            const Op& op = mask_targets_op;
            check_columns(op, rois, 5);
            check_rank(op, places, 3);
            check_rank(op, bits, 2);
            check_rank(op, sizes, 2);
            const std::int64_t images = places.size(0);
            check_shapes(op, instances.rank() == 1 && instances.size(0) == rois.size(0), rois,
                         instances);
            check_shapes(op, bits.size(0) == images && places.size(2) == 5, places, bits);
            check_shapes(op, sizes.size(0) == images && sizes.size(1) >= 2, places, sizes);
            for (const Tensor& each : {instances, places, bits, sizes})
                if (each.dtype() != DType::i64)
                    throw Error(ErrorCode::dtype,
                                "mask_targets: instances, places, bits and sizes are i64");
            if (output_size[0] < 1 || output_size[1] < 1)
                throw Error(ErrorCode::value, "mask_targets: output_size starts at 1");
            const Tensor region = dense_rows(rois, DType::f32),
                         number = dense_rows(instances, DType::i64),
                         place = dense_rows(places, DType::i64),
                         word = dense_rows(bits, DType::i64),
                         size = dense_rows(narrow(sizes.detach(), 1, 0, 2), DType::i64);
            const Tensor y = Tensor::empty({rois.size(0), output_size[0], output_size[1]},
                                           DType::f32, rois.device());
            on(y.device(), kernels::cpu::mask_targets, kernels::cuda::mask_targets)(
                y.data_as<float>(), region.data_as<float>(), number.data_as<std::int64_t>(),
                rois.size(0), output_size[0], output_size[1],
                {place.data_as<std::int64_t>(), word.data_as<std::uint64_t>(),
                 size.data_as<std::int64_t>(), images, places.size(1), bits.size(1)},
                current_stream());
            return record_flat(op, std::vector{rois, instances, places, bits, sizes}, y);
        });
}

}  // namespace engine
