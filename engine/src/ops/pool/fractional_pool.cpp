#include <array>
#include <string>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using FractionalPair = std::array<std::int64_t, 2>;

/// Where the windows along one dimension start: (N, C, out), i64. sample (N, C, 1), widened.
Tensor fractional_starts(const Tensor& sample, std::int64_t in, std::int64_t out,
                         std::int64_t kernel) {
    Tensor last =
        Tensor::full({1, 1, 1}, static_cast<double>(in - kernel), DType::i64, sample.device());
    last = expand(last, {sample.size(0), sample.size(1), 1});
    if (out == 1) return last;
    const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    const Tensor steps = to(counting({out - 1}, sample.device()), sample.dtype());
    // Casts to integers cut off, which is the floor of what is not negative.
    const Tensor from =
        sub(to(mul(add(sample, steps), step), DType::i64), to(mul(sample, step), DType::i64));
    return cat({from, last}, 2);
}

void check_fractional(const Tensor& x, const Tensor& samples, const FractionalPair& kernel,
                      const FractionalPair& size) {
    const Op& info = fractional_max_pool2d_op;
    check_shapes(info,
                 samples.rank() == 3 && samples.size(0) == x.size(0) &&
                     samples.size(1) == x.size(1) && samples.size(2) == 2,
                 x, samples);
    for (int i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (kernel[at] < 1 || size[at] < 1 || kernel[at] > x.size(i + 2) ||
            size[at] - 1 > x.size(i + 2) - kernel[at]) {
            throw Error(ErrorCode::shape, std::string(info.name) + ": " + std::to_string(size[at]) +
                                              " windows of " + std::to_string(kernel[at]) +
                                              " do not fit a size of " +
                                              std::to_string(x.size(i + 2)));
        }
    }
}

/// Places in the plane that each window sees: (N, C, OH OW, kernel), i64.
Tensor fractional_places(const Tensor& x, const Tensor& samples, const FractionalPair& kernel,
                         const FractionalPair& size) {
    const std::int64_t n = x.size(0), c = x.size(1);
    const GradMode off(false);
    const Tensor wide = widened(samples);
    const Tensor top = fractional_starts(narrow(wide, 2, 1, 1), x.size(2), size[0], kernel[0]);
    const Tensor left = fractional_starts(narrow(wide, 2, 0, 1), x.size(3), size[1], kernel[1]);
    const Tensor rows =
        add(reshape(top, {n, c, size[0], 1, 1, 1}), counting({kernel[0], 1}, x.device()));
    const Tensor cols =
        add(reshape(left, {n, c, 1, size[1], 1, 1}), counting({kernel[1]}, x.device()));
    const Tensor line = Tensor::full({1}, static_cast<double>(x.size(3)), DType::i64, x.device());
    return reshape(add(mul(rows, line), cols), {n, c, size[0] * size[1], kernel[0] * kernel[1]});
}

}  // namespace

WithIndices fractional_max_pool2d(const Tensor& x00, const Tensor& samples00,
                                  const FractionalPair& kernel, const FractionalPair& size,
                                  bool indices) {
    return fractional_max_pool2d_op.call(
        x00, samples00, kernel, size, indices,
        [&](const Tensor& x0, const Tensor& samples0) -> WithIndices {
            const Op& info = fractional_max_pool2d_op;
            one_type(info, {x0, samples0});
            const Tensor x = pool_batch(info, x0, 2);
            const Tensor samples = samples0.rank() == 2
                                       ? reshape(samples0, {1, samples0.size(0), samples0.size(1)})
                                       : samples0;
            check_fractional(x, samples, kernel, size);
            const NoAutocast inside(x.device().kind);
            const std::int64_t n = x.size(0), c = x.size(1), windows = size[0] * size[1],
                               taps = kernel[0] * kernel[1];
            check_shape({n, c, windows, taps});
            const Tensor places = fractional_places(x, samples, kernel, size);
            const Tensor seen = reshape(gather(reshape(x, {n, c, x.size(2) * x.size(3)}), 2,
                                               reshape(places, {n, c, windows * taps})),
                                        {n, c, windows, taps});
            const MaxPooled found = max_pool_planes(
                info, seen, pool_shape(seen, {windows, windows}, {taps, 1, taps, taps}));
            const auto plane = [&](const Tensor& y) {
                return without_batch(reshape(y, {n, c, size[0], size[1]}), x0, 2);
            };
            if (!indices) return {plane(found.y), {}};
            const Tensor winners = reshape(to(found.index, DType::i64), {n, c, windows});
            return {plane(found.y),
                    plane(gather(reshape(places, {n, c, windows * taps}), 2, winners))};
        });
}

}  // namespace engine
