#include "ops/catalog_only/columns.h"

#include <algorithm>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pool/pool_parts.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using Pair = std::array<std::int64_t, 2>;

/// Windows along one side.
std::int64_t window_count(const Op& info, std::int64_t size, const ColumnOptions& o,
                          std::size_t i) {
    if (std::min({o.kernel[i], o.dilation[i], o.stride[i]}) < 1 || o.padding[i] < 0 || size < 1 ||
        std::max({o.kernel[i], o.dilation[i], o.stride[i], o.padding[i]}) > max_step) {
        throw Error(ErrorCode::value,
                    std::string(info.name) +
                        ": sizes, kernel, dilation and stride start at 1, padding at 0; all but "
                        "sizes are at most " +
                        std::to_string(max_step));
    }
    const std::int64_t room =
        padded_size(size, o.padding[i]) - window_span(o.kernel[i], o.dilation[i]);
    if (room < 0) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a window of " +
                                          std::to_string(o.kernel[i]) + " does not fit a size of " +
                                          std::to_string(size));
    }
    return room / o.stride[i] + 1;
}

/// Where in the plane each tap of each window lies, taps first: (kernel_h kernel_w L). `hole` marks
/// the padding.
struct Places {
    Tensor index;  // i64
    std::int64_t taps, windows;
};

Places places_of(const Op& info, const Pair& size, const ColumnOptions& o, std::int64_t hole,
                 const Device& device) {
    const std::int64_t rows = window_count(info, size[0], o, 0),
                       cols = window_count(info, size[1], o, 1);
    const std::int64_t taps = o.kernel[0] * o.kernel[1], windows = checked_product(rows, cols);
    const Tensor host = Tensor::empty({checked_product(taps, windows)}, DType::i64, Device{});
    auto* place = host.data_as<std::int64_t>();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t down = tap / o.kernel[1] * o.dilation[0] - o.padding[0],
                           right = tap % o.kernel[1] * o.dilation[1] - o.padding[1];
        for (std::int64_t window = 0; window < windows; ++window) {
            const std::int64_t h = window / cols * o.stride[0] + down,
                               w = window % cols * o.stride[1] + right;
            const bool inside = h >= 0 && h < size[0] && w >= 0 && w < size[1];
            *place++ = inside ? h * size[1] + w : hole;
        }
    }
    return {constant_on(device, host), taps, windows};
}

}  // namespace

Tensor im2col(const Tensor& given, const ColumnOptions& options) {
    return im2col_op.call(given, options, [&](const Tensor& x0) {
        const Tensor x = pool_batch(im2col_op, x0, 2);
        const std::int64_t n = x.size(0), c = x.size(1);
        const Places places = places_of(im2col_op, {x.size(2), x.size(3)}, options, -1, x.device());
        const Tensor planes = reshape(x, {n, c, x.size(2) * x.size(3)});
        return without_batch(reshape(rows_or_zeros(planes, 2, places.index),
                                     {n, checked_product(c, places.taps), places.windows}),
                             x0, 2);
    });
}

Tensor col2im(const Tensor& given, const Pair& size, const ColumnOptions& options) {
    return col2im_op.call(given, size, options, [&](const Tensor& columns0) {
        const Tensor columns = pool_batch(col2im_op, columns0, 1);
        const std::int64_t pixels = checked_product(size[0], size[1]);
        // Elements in the padding go to an extra place behind the plane.
        const Places places = places_of(col2im_op, size, options, pixels, columns.device());
        const std::int64_t n = columns.size(0), c = columns.size(1) / places.taps;
        if (columns.size(1) != c * places.taps || columns.size(2) != places.windows) {
            throw Error(ErrorCode::shape, "col2im: " + to_string(columns0.shape()) + " is no " +
                                              std::to_string(places.windows) + " windows of " +
                                              std::to_string(places.taps) + " elements");
        }
        const Tensor zeros =
            Tensor::zeros({n, c, checked_sum(pixels, 1)}, columns.dtype(), columns.device());
        const Tensor sums = index_add(zeros, 2, places.index,
                                      reshape(columns, {n, c, places.taps * places.windows}));
        return without_batch(reshape(narrow(sums, 2, 0, pixels), {n, c, size[0], size[1]}),
                             columns0, 1);
    });
}

}  // namespace engine
