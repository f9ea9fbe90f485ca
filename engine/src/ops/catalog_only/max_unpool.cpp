#include "ops/catalog_only/max_unpool.h"

#include "engine/base/error.h"
#include "ops/index/scatter.h"
#include "ops/pool/pool_parts.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/check.h"

namespace engine {
namespace {

using Integers = std::vector<std::int64_t>;

/// output_size, or the size that a pool with these options made x from.
Integers size_of(const Op& info, int dims, const OpArguments& args) {
    if (args.has("output_size")) return args.integers("output_size", {});
    const Dims kernel = one_each(info, "kernel_size", args.integers("kernel_size", {2}), dims);
    const Dims stride =
        args.has("stride") ? one_each(info, "stride", args.integers("stride", {}), dims) : kernel;
    const Dims padding = one_each(info, "padding", args.integers("padding", {0}), dims);
    const Tensor& x = args.at(0);
    Integers size;
    for (int i = 0; i < dims && x.rank() >= dims; ++i)
        size.push_back(checked_sum(checked_product(x.size(x.rank() - dims + i) - 1, stride[i]),
                                   checked_sum(checked_product(-2, padding[i]), kernel[i])));
    return size;
}
Tensor unpool_inside(const Op& info, int dims, const Tensor& x, const Tensor& indices,
                     const Integers& asked) {
    check_shapes(info, x.shape() == indices.shape(), x, indices);
    if (indices.dtype() != DType::i64) {
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": indices are i64, not " + name(indices.dtype()));
    }
    const Tensor batch = pool_batch(info, x, dims);
    const std::int64_t n = batch.size(0), c = batch.size(1);
    const Dims size = one_each(info, "output_size", asked, dims);
    Shape full{n, c};
    std::int64_t pixels = 1, from = 1;
    for (int i = 0; i < dims; ++i) {
        if (size[i] < 1)
            throw Error(ErrorCode::value, std::string(info.name) + ": output_size starts at 1");
        full.push_back(size[i]);
        pixels = checked_product(pixels, size[i]);
        from *= batch.size(i + 2);
    }
    const Tensor zeros = Tensor::zeros({n, c, pixels}, x.dtype(), x.device());
    const Tensor y =
        scatter(zeros, 2, reshape(indices, {n, c, from}), reshape(batch, {n, c, from}));
    return without_batch(reshape(y, full), x, dims);
}
Tensor unpool(const Op& op, int dims, const Tensor& x, const Tensor& indices,
              const Integers& size) {
    return op.call(x, indices, size, [&](const Tensor& values, const Tensor& places) {
        return unpool_inside(op, dims, values, places, size);
    });
}

}  // namespace

Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Integers& size) {
    return unpool(max_unpool2d_op, 2, x, indices, size);
}
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Integers& size) {
    return unpool(max_unpool3d_op, 3, x, indices, size);
}

TensorList max_unpool_by_name(const Op& op, const OpArguments& args) {
    const int dims = op.name == max_unpool2d_op.name ? 2 : 3;
    return {
        (dims == 2 ? max_unpool2d : max_unpool3d)(args.at(0), args.at(1), size_of(op, dims, args))};
}

}  // namespace engine
