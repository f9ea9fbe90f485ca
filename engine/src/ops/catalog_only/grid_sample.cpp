#include "ops/catalog_only/grid_sample.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/catalog_only/sampling_grid.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

void check_grid(const Tensor& x, const Tensor& grid, GridMode mode) {
    const int dims = x.rank() - 2;
    bool fits = (dims == 2 || dims == 3) && grid.rank() == x.rank() && grid.size(0) == x.size(0) &&
                grid.size(dims + 1) == dims;
    for (int i = 0; fits && i < dims; ++i) fits = x.size(i + 2) > 0;
    check_shapes(grid_sample_op, fits, x, grid);
    if (dims == 3 && mode == GridMode::bicubic)
        throw Error(ErrorCode::value,
                    "grid_sample: bicubic is for (N, C, H, W), not for " + to_string(x.shape()));
}

/// The elements that one axis reads for each place, and how much of each.
struct AxisTap {
    Tensor at;      // whole numbers, in the computing type, outside the tape
    Tensor weight;  // undefined: 1
};

std::vector<AxisTap> linear_taps(const Tensor& c) {
    const Tensor below = floored(c), above = add(below, 1.0);
    return {{below, sub(above, c)}, {above, sub(c, below)}};
}

std::vector<AxisTap> cubic_taps(const Tensor& c, const AxisRule& rule) {
    const Tensor below = floored(c), t = sub(c, below);
    std::vector<AxisTap> taps;
    for (int i = 0; i < 4; ++i)
        taps.push_back({brought_inside(add(below, i - 1.0), rule).at, cubic_weight(t, i)});
    return taps;
}

/// The taps of each axis, the grid's last coordinate first, and the places that are lost.
struct GridTaps {
    std::vector<std::vector<AxisTap>> axes;
    Tensor lost;  // bool (places); undefined: none
};

GridTaps make_taps(const Tensor& grid, GridMode mode, const std::vector<AxisRule>& rules) {
    GridTaps taps;
    std::vector<Tensor> places;
    std::vector<Inside> inside;
    const auto dims = static_cast<int>(rules.size());
    for (int d = 0; d < dims; ++d) {
        // The grid's first coordinate is the last dimension's.
        const Tensor along = reshape(select(grid, grid.rank() - 1, dims - 1 - d), {-1});
        const AxisRule& rule = rules[static_cast<std::size_t>(d)];
        places.push_back(from_ends(along, rule));
        if (mode == GridMode::bicubic) {
            taps.axes.push_back(cubic_taps(places.back(), rule));
            continue;
        }
        inside.push_back(brought_inside(places.back(), rule));
        const Tensor& lost = inside.back().lost;
        if (lost.defined()) taps.lost = taps.lost.defined() ? logical_or(taps.lost, lost) : lost;
    }
    for (std::size_t d = 0; d < inside.size(); ++d) {
        if (mode == GridMode::nearest)
            taps.axes.push_back({{nearest_whole(inside[d].at), Tensor()}});
        else
            taps.axes.push_back(linear_taps(moved(places[d], inside[d], taps.lost)));
    }
    return taps;
}

/// Row of x's (N, spatial..., C) for each place, -1 outside. One tap of each axis.
Tensor row_index(const std::vector<AxisTap>& tap, const Shape& spatial, const Tensor& first) {
    const GradMode off(false);
    const Strides strides = contiguous_strides(spatial);
    Tensor index = first;
    for (int d = 0; d < spatial.rank(); ++d) {
        const Tensor at = to(tap[static_cast<std::size_t>(d)].at, DType::i64);
        index = add(index, mul(at, whole_number(strides[d], at)));
    }
    for (int d = 0; d < spatial.rank(); ++d) {
        const Tensor& at = tap[static_cast<std::size_t>(d)].at;
        const Tensor none = whole_number(-1, at);
        index = where(less(at, number_like(0, at)), none, index);
        index = where(less_equal(at, number_like(static_cast<double>(spatial[d] - 1), at)), index,
                      none);
    }
    return index;
}

/// The first row of each place's image, i64 (places).
Tensor first_rows(std::int64_t images, std::int64_t rows, std::int64_t places,
                  const Device& device) {
    const Tensor host = Tensor::empty({images, 1}, DType::i64, Device{});
    for (std::int64_t i = 0; i < images; ++i) host.data_as<std::int64_t>()[i] = i * rows;
    return reshape(expand(constant_on(device, host), {images, places}), {images * places});
}

/// Channels last: rows of C.
Tensor as_rows(const Tensor& x) {
    Dims order{0};
    for (int i = 2; i < x.rank(); ++i) order.push_back(i);
    order.push_back(1);
    return reshape(permute(x, order), {-1, x.size(1)});
}

/// x and grid in the type that is computed in; y (places, C).
Tensor sampled(const Tensor& x, const Tensor& grid, GridMode mode, GridPadding padding,
               bool align_corners) {
    const int dims = x.rank() - 2;
    Shape spatial;
    std::vector<AxisRule> rules;
    std::int64_t rows = 1;
    for (int i = 0; i < dims; ++i) {
        spatial.push_back(x.size(i + 2));
        rules.push_back({x.size(i + 2), padding, align_corners});
        rows *= x.size(i + 2);
    }
    const std::int64_t places = grid.numel() / dims;
    const auto [axes, lost] = make_taps(grid, mode, rules);
    const std::int64_t images = x.size(0);
    const Tensor first = first_rows(images, rows, images > 0 ? places / images : 0, x.device());
    const Tensor table = as_rows(x);
    const std::size_t taps = axes[0].size();
    std::size_t combinations = 1;
    for (int d = 0; d < dims; ++d) combinations *= taps;
    Tensor sum;
    for (std::size_t k = 0; k < combinations; ++k) {
        std::vector<AxisTap> tap;
        Tensor weight;
        std::size_t rest = k;
        for (const auto& axis : axes) {
            tap.push_back(axis[rest % taps]);
            rest /= taps;
            const Tensor& one = tap.back().weight;
            if (one.defined()) weight = weight.defined() ? mul(weight, one) : one;
        }
        Tensor part = rows_or_zeros(table, 0, row_index(tap, spatial, first));
        if (weight.defined()) part = mul(part, reshape(weight, {places, 1}));
        sum = sum.defined() ? add(sum, part) : part;
    }
    // A place without a number is read at 0 there, but the gradient's kernel leaves it out.
    if (lost.defined() && sum.requires_grad())
        sum = where(reshape(lost, {places, 1}), sum.detach(), sum);
    return sum;
}

}  // namespace

TensorList run_grid_sampler(const Op&, const OpArguments& args) {
    const auto number = [&](const char* name) {
        const std::int64_t value = args.integer(name, 0);
        if (value < 0 || value > 2)
            throw Error(ErrorCode::value, std::string("grid_sampler: ") + name +
                                              " is 0, 1 or 2, not " + std::to_string(value));
        return value;
    };
    return {grid_sample(args.at(0), args.at(1), static_cast<GridMode>(number("interpolation_mode")),
                        static_cast<GridPadding>(number("padding_mode")),
                        args.flag("align_corners", false))};
}

Tensor grid_sample(const Tensor& x0, const Tensor& grid0, GridMode mode, GridPadding padding,
                   bool align_corners) {
    return grid_sample_op.call(
        x0, grid0, mode, padding, align_corners, [&](const Tensor& x, const Tensor& grid) {
            const NoAutocast inside(x.device().kind);
            one_type(grid_sampler_op, {x, grid});
            check_grid(x, grid, mode);
            const Tensor rows = sampled(widened(x), widened(grid), mode, padding, align_corners);
            Shape shape{x.size(0)};
            Dims order{0, x.rank() - 1};
            for (int i = 1; i < x.rank() - 1; ++i) {
                shape.push_back(grid.size(i));
                order.push_back(i);
            }
            shape.push_back(x.size(1));
            return to(permute(reshape(rows, shape), order), x.dtype());
        });
}

}  // namespace engine
