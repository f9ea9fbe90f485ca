#include "op_samples.h"
#include "ops/pool/lp_pool.h"
#include "ops/pool/max_unpool.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_space.h"

namespace engine {
namespace {

using In = const TensorList&;

Function max_of(WithIndices (*op)(const Tensor&, const PoolOptions&, bool), PoolOptions options) {
    return [op, options](In x) { return op(x[0], options, false).values; };
}
Function mean_of(Tensor (*op)(const Tensor&, const PoolOptions&), PoolOptions options) {
    return [op, options](In x) { return op(x[0], options); };
}
Function lp_of(Tensor (*op)(const Tensor&, double, const PoolOptions&), double p,
               PoolOptions options) {
    return [op, p, options](In x) { return op(x[0], p, options); };
}

}  // namespace

void add_pooling_samples(std::vector<OpSample>& out) {
    const auto pool = [&](const char* op, const char* label, Function f, const Shape& shape,
                          double length) {
        out.push_back({op, label, std::move(f), {shape}, -2, 2, {}, length});
    };
    pool("max_pool1d", "overlapping",
         max_of(max_pool1d, {.kernel = {3}, .stride = {2}, .padding = {1}}), {2, 3, 7}, 1);
    pool(
        "max_pool3d", "overlapping",
        max_of(max_pool3d,
               {.kernel = {2, 3, 2}, .stride = {1, 2, 1}, .padding = {1, 1, 0}, .ceil_mode = true}),
        {2, 2, 3, 4, 3}, 1);
    pool("max_pool3d", "dilated", max_of(max_pool3d, {.stride = {1}, .dilation = {2}}),
         {1, 3, 3, 4}, 1);
    pool("avg_pool1d", "padded",
         mean_of(avg_pool1d, {.kernel = {3},
                              .stride = {2},
                              .padding = {1},
                              .count_include_pad = false,
                              .ceil_mode = true}),
         {2, 3, 6}, 3);
    pool("avg_pool3d", "padded",
         mean_of(avg_pool3d, {.kernel = {3, 2, 2},
                              .stride = {2, 1, 2},
                              .padding = {1, 0, 1},
                              .count_include_pad = false}),
         {1, 2, 3, 3, 3}, 12);
    pool("avg_pool3d", "divisor",
         mean_of(avg_pool3d, {.padding = {1}, .ceil_mode = true, .divisor_override = -3}),
         {2, 3, 2, 3}, 8);
    pool(
        "avg_pool2d", "divisor",
        [](In x) {
            return avg_pool2d(x[0], {.kernel = {2, 3}, .padding = {1, 1}, .divisor_override = 5});
        },
        {2, 3, 3, 4}, 6);
    pool(
        "max_pool2d", "withindices",
        [](In x) {
            return max_pool2d_with_indices(x[0], {.kernel = {2, 2}, .stride = {{1, 1}}}).values;
        },
        {2, 3, 4}, 1);
    pool(
        "adaptive_avg_pool1d", "uneven", [](In x) { return adaptive_avg_pool1d(x[0], 3); },
        {2, 2, 7}, 4);
    pool(
        "adaptive_avg_pool3d", "uneven",
        [](In x) {
            return adaptive_avg_pool3d(x[0], {2, 3, 1});
        },
        {1, 2, 3, 4, 2}, 8);
    pool(
        "adaptive_max_pool1d", "uneven", [](In x) { return adaptive_max_pool1d(x[0], 3).values; },
        {2, 2, 7}, 1);
    pool(
        "adaptive_max_pool2d", "uneven",
        [](In x) {
            return adaptive_max_pool2d(x[0], {2, 3}).values;
        },
        {2, 2, 5, 4}, 1);
    pool(
        "adaptive_max_pool3d", "uneven",
        [](In x) {
            return adaptive_max_pool3d(x[0], {2, 3, 1}).values;
        },
        {1, 2, 3, 4, 2}, 1);
    pool("lp_pool1d", "square", lp_of(lp_pool1d, 2, {.kernel = {3}, .stride = {2}}), {2, 7}, 6);
    pool("lp_pool2d", "ceil", lp_of(lp_pool2d, 2, {.kernel = {2, 3}, .ceil_mode = true}),
         {1, 2, 3, 4}, 12);
    pool("lp_pool3d", "square", lp_of(lp_pool3d, 2, {}), {1, 2, 2, 2, 3}, 16);
    pool(
        "max_unpool2d", "plain",
        [](In x) {
            return max_unpool2d(x[0], Tensor::of({1, 4, 7, 2, 8, 5}, {1, 2, 1, 3}, DType::i64),
                                {3, 3});
        },
        {1, 2, 1, 3}, 1);
    pool(
        "max_unpool3d", "plain",
        [](In x) {
            return max_unpool3d(x[0], Tensor::of({7, 1, 4}, {1, 1, 1, 3}, DType::i64), {2, 2, 2});
        },
        {1, 1, 1, 3}, 1);
    out.push_back(
        {"fractional_max_pool2d",
         "plain",
         [](In x) {
             const Tensor samples = Tensor::of({0.25, 0.75, 0.5, 0.125}, {1, 2, 2}, x[0].dtype());
             return fractional_max_pool2d(x[0], samples, {2, 2}, {3, 2}).values;
         },
         {{1, 2, 6, 5}}});
}

}  // namespace engine
