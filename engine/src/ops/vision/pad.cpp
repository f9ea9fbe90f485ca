#include "ops/vision/pad.h"

#include <algorithm>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/index/gather.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

/// Amounts before and after each dimension of x, first dimension first.
struct Amounts {
    std::vector<std::int64_t> before, after;

    Amounts(const Tensor& x, const std::vector<std::int64_t>& padding)
        : before(static_cast<std::size_t>(x.rank())), after(before) {
        if (padding.size() % 2 != 0 || padding.size() / 2 > before.size()) {
            throw Error(ErrorCode::value, "pad: " + std::to_string(padding.size()) +
                                              " amounts do not fit a tensor of shape " +
                                              to_string(x.shape()));
        }
        for (std::size_t k = 0; k < padding.size() / 2; ++k) {
            before[before.size() - 1 - k] = padding[2 * k];
            after[after.size() - 1 - k] = padding[2 * k + 1];
        }
        for (int i = 0; i < x.rank(); ++i) {
            const auto k = static_cast<std::size_t>(i);
            const std::int64_t size = checked_sum(x.size(i), checked_sum(before[k], after[k]));
            const std::int64_t cut = checked_sum(std::min<std::int64_t>(before[k], 0),
                                                 std::min<std::int64_t>(after[k], 0));
            if (size < 0 || checked_sum(x.size(i), cut) < 0)
                throw Error(ErrorCode::value, "pad: more is cut than dimension " +
                                                  std::to_string(i) + " of " +
                                                  to_string(x.shape()) + " has");
        }
    }
};

/// Where a padded place reads, i counted from the first element.
std::int64_t source_of(std::int64_t i, std::int64_t size, PadMode mode) {
    if (mode == PadMode::replicate) return std::clamp<std::int64_t>(i, 0, size - 1);
    if (mode == PadMode::circular) return (i % size + size) % size;
    if (i < 0) return -i;
    return i < size ? i : 2 * (size - 1) - i;
}

void check_reach(const Tensor& x, int dim, std::int64_t reach, PadMode mode) {
    const std::int64_t size = x.size(dim);
    const std::int64_t most = mode == PadMode::reflect    ? size - 1
                              : mode == PadMode::circular ? size
                              : size > 0                  ? reach
                                                          : 0;
    if (reach > std::max<std::int64_t>(most, 0)) {
        throw Error(ErrorCode::value, "pad: " + std::to_string(reach) +
                                          " reaches beyond what dimension " + std::to_string(dim) +
                                          " of " + to_string(x.shape()) + " has inside");
    }
}

Tensor padded_dim(const Tensor& x, int dim, std::int64_t before, std::int64_t after, PadMode mode) {
    const std::int64_t size = x.size(dim), count = size + before + after;
    const Tensor host = Tensor::empty({count}, DType::i64, Device{});
    for (std::int64_t i = 0; i < count; ++i)
        host.data_as<std::int64_t>()[i] = source_of(i - before, size, mode);
    return rows_or_zeros(x, dim, constant_on(x.device(), host));
}

/// x inside a border of `value`, amounts not negative.
Tensor bordered(const Tensor& x, const Amounts& amounts, double value) {
    Shape shape = x.shape();
    for (int i = 0; i < x.rank(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        shape[i] += amounts.before[k] + amounts.after[k];
    }
    if (shape == x.shape()) return x;
    const Tensor y = Tensor::empty(shape, x.dtype(), x.device(), layout_of(x));
    on(y.device(), kernels::cpu::fill, kernels::cuda::fill)(y.array(), value, current_stream());
    std::int64_t offset = 0;
    for (int i = 0; i < x.rank(); ++i)
        offset += amounts.before[static_cast<std::size_t>(i)] * y.strides()[i];
    copy_into(view_of(y, x.shape(), y.strides(), offset), x);
    return record(constant_pad_nd_op, {x}, y, {},
                  [amounts, from = x.shape()](const Tensor& dy, const Saved&) {
                      Tensor dx = dy;
                      for (int i = 0; i < from.rank(); ++i)
                          dx = narrow(dx, i, amounts.before[static_cast<std::size_t>(i)], from[i]);
                      return dx;
                  });
}

/// x without what negative amounts cut, and those amounts set to 0.
Tensor cut(const Tensor& x, Amounts& amounts) {
    Tensor y = x;
    for (int i = 0; i < x.rank(); ++i) {
        auto &before = amounts.before[static_cast<std::size_t>(i)],
             &after = amounts.after[static_cast<std::size_t>(i)];
        const std::int64_t first = std::max<std::int64_t>(-before, 0);
        const std::int64_t last = x.size(i) - std::max<std::int64_t>(-after, 0);
        if (first > 0 || last < x.size(i)) y = narrow(y, i, first, last - first);
        before = std::max<std::int64_t>(before, 0);
        after = std::max<std::int64_t>(after, 0);
    }
    return y;
}

}  // namespace

/// The op's name says how, and along how many dimensions.
TensorList run_pad_inside(const Op& op, const OpArguments& args) {
    const bool mirrors = op.name.starts_with("reflection");
    const auto dims = static_cast<std::size_t>(op.name[op.name.find("pad") + 3] - '0');
    const Tensor& x = args.at(0);
    const auto padding = args.integers("padding", {});
    const auto rank = static_cast<std::size_t>(x.rank());
    if (padding.size() != 2 * dims || rank < dims + 1 || rank > dims + 2) {
        throw Error(ErrorCode::shape, std::string(op.name) + ": " + std::to_string(padding.size()) +
                                          " amounts for a tensor of shape " + to_string(x.shape()));
    }
    return {pad_from_inside(x, padding, mirrors ? PadMode::reflect : PadMode::replicate)};
}

Tensor constant_pad(const Tensor& x0, const std::vector<std::int64_t>& padding, double value) {
    return constant_pad_nd_op.call(x0, padding, value, [&](const Tensor& x) {
        Amounts amounts(x, padding);
        const Tensor inside = cut(x, amounts);
        return bordered(inside, amounts, value);
    });
}

Tensor pad_from_inside(const Tensor& x, const std::vector<std::int64_t>& padding, PadMode mode) {
    Amounts amounts(x, padding);
    for (int i = 0; i < x.rank(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        check_reach(x, i, std::max(amounts.before[k], amounts.after[k]), mode);
    }
    // Where it asks for a gradient the pads_with_copies' are added up: in the wide type, rounded
    // once.
    Tensor y = x.requires_grad() ? widened(x) : x;
    for (int i = 0; i < x.rank(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (amounts.before[k] != 0 || amounts.after[k] != 0)
            y = padded_dim(y, i, amounts.before[k], amounts.after[k], mode);
    }
    return to(y, x.dtype());
}

Tensor pad(const Tensor& x0, const std::vector<std::int64_t>& padding, const std::string& mode,
           double value) {
    return pad_op.call(x0, padding, mode, value, [&](const Tensor& x) {
        if (mode == "constant") return constant_pad(x, padding, value);
        if (mode == "reflect") return pad_from_inside(x, padding, PadMode::reflect);
        if (mode == "replicate") return pad_from_inside(x, padding, PadMode::replicate);
        if (mode == "circular") return pad_from_inside(x, padding, PadMode::circular);
        throw Error(ErrorCode::value,
                    "pad: mode is constant, reflect, replicate or circular, not " + mode);
    });
}

}  // namespace engine
