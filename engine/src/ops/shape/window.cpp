#include "ops/shape/window.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {
namespace {

bool outside(const Dims& values, std::int64_t least) {
    return std::any_of(values.begin(), values.end(),
                       [least](std::int64_t value) { return value < least || value > max_step; });
}

}  // namespace

Dims one_each(const Op& info, const char* option, const std::vector<std::int64_t>& values,
              int dims) {
    const auto wanted = static_cast<std::size_t>(dims);
    if (values.size() != 1 && values.size() != wanted) {
        throw Error(ErrorCode::value, std::string(info.name) + ": " + option + ": one or " +
                                          std::to_string(dims) + " whole numbers, not " +
                                          std::to_string(values.size()));
    }
    Dims out;
    for (std::size_t i = 0; i < wanted; ++i)
        out.push_back(values.size() == 1 ? values[0] : values[i]);
    return out;
}

Steps steps_of(const Op& info, int dims, const std::vector<std::int64_t>& stride,
               const std::vector<std::int64_t>& padding, const std::vector<std::int64_t>& dilation,
               std::int64_t groups) {
    const Steps by{one_each(info, "stride", stride, dims), one_each(info, "padding", padding, dims),
                   one_each(info, "dilation", dilation, dims)};
    if (outside(by.stride, 1) || outside(by.dilation, 1) || outside(by.padding, 0) || groups < 1) {
        throw Error(ErrorCode::value,
                    std::string(info.name) +
                        ": stride, dilation and groups start at 1, padding at 0; stride, dilation "
                        "and padding are at most " +
                        std::to_string(max_step));
    }
    return by;
}

std::int64_t padded_size(std::int64_t size, std::int64_t padding) {
    return checked_sum(size, checked_product(2, padding));
}

std::int64_t window_span(std::int64_t taps, std::int64_t dilation) {
    return checked_sum(checked_product(dilation, taps - 1), 1);
}

Tensor with_batch(const Op& info, const Tensor& x, int dims) {
    if (x.rank() != dims + 1) {
        check_rank(info, x, dims + 2);
        return x;
    }
    Shape shape{1};
    for (const auto size : x.shape()) shape.push_back(size);
    return reshape(x, shape);
}

Tensor without_batch(const Tensor& y, const Tensor& x, int dims) {
    if (x.rank() == dims + 2) return y;
    Shape shape;
    for (int i = 1; i < y.rank(); ++i) shape.push_back(y.size(i));
    return reshape(y, shape);
}

}  // namespace engine
