#include "op_samples.h"

#include <algorithm>

#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/norm.h"
#include "ops/linalg/products.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/dropout.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/pool/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using In = const TensorList&;

template <Tensor (*op)(const Tensor&)>
Tensor one(In x) {
    return op(x[0]);
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Tensor two(In x) {
    return op(x[0], x[1]);
}

Tensor mask_like(const Tensor& x) {
    return greater(random_tensor(x.shape(), DType::f32, 77), Tensor::scalar(0, DType::f32));
}

/// A non-leaf with x's values, for in-place forms.
Tensor middle(const Tensor& x) { return mul(x, 1.0); }

Tensor classes(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}

void add_elementwise(std::vector<OpSample>& out) {
    out.insert(out.end(),
               {{"add", "broadcast", two<add>, {{3, 4}, {4}}},
                {"add", "alpha", [](In x) { return add_scaled(x[0], x[1], -0.5); }, {{3, 1}, {4}}},
                {"sub", "both", two<sub>, {{3, 1}, {2, 1, 4}}},
                {"mul", "broadcast", two<mul>, {{3, 1}, {1, 4}}},
                {"mul", "same", [](In x) { return mul(x[0], x[0]); }, {{5}}},
                {"div", "broadcast", two<div>, {{2, 3}, {3}}, 0.5, 2},
                {"maximum", "plain", two<maximum>, {{3, 4}, {3, 4}}},
                {"minimum", "broadcast", two<minimum>, {{3, 4}, {4}}},
                {"pow", "tensors", two<pow>, {{3, 4}, {3, 4}}, 0.3, 2},
                {"pow", "number", [](In x) { return pow(x[0], 3.0); }, {{7}}},
                {"atan2", "plain", two<atan2>, {{3, 4}, {4}}, 0.2, 2},
                {"where",
                 "broadcast",
                 [](In x) { return where(mask_like(x[0]), x[0], x[1]); },
                 {{3, 4}, {4}}},
                {"clamp", "both", [](In x) { return clamp(x[0], -0.7, 0.9); }, {{3, 5}}},
                {"to", "same", [](In x) { return to(mul(x[0], x[0]), DType::f64); }, {{3}}}});
    const auto unary = [&](const char* op, Function f, double low, double high) {
        out.push_back({op, "plain", std::move(f), {{3, 5}}, low, high});
    };
    unary("neg", one<neg>, -2, 2);
    unary("abs", one<abs>, -2, 2);
    unary("exp", one<exp>, -2, 2);
    unary("expm1", one<expm1>, -2, 2);
    unary("log", one<log>, 0.3, 3);
    unary("log1p", one<log1p>, -0.5, 2);
    unary("log2", one<log2>, 0.3, 3);
    unary("log10", one<log10>, 0.3, 3);
    unary("sqrt", one<sqrt>, 0.3, 3);
    unary("rsqrt", one<rsqrt>, 0.3, 3);
    unary("reciprocal", one<reciprocal>, 0.4, 3);
    unary("square", one<square>, -2, 2);
    unary("sin", one<sin>, -2, 2);
    unary("cos", one<cos>, -2, 2);
    unary("erf", one<erf>, -2, 2);
    unary("relu", one<relu>, -2, 2);
    unary("gelu", one<gelu>, -2, 2);
    unary("tanh", one<tanh>, -2, 2);
    unary("sigmoid", one<sigmoid>, -2, 2);
    unary("logsigmoid", one<log_sigmoid>, -2, 2);
}

void add_reductions(std::vector<OpSample>& out) {
    out.insert(
        out.end(),
        {{"sum", "all", [](In x) { return sum(x[0]); }, {{3, 4}}, -2, 2, {}, 12},
         {"sum", "middle", [](In x) { return sum(x[0], {1}); }, {{2, 3, 4}}, -2, 2, {}, 3},
         {"sum",
          "ends",
          [](In x) {
              return sum(x[0], {0, -1}, true);
          },
          {{2, 3, 4}},
          -2,
          2,
          {},
          8},
         {"mean", "last", [](In x) { return mean(x[0], {-1}); }, {{3, 4}}, -2, 2, {}, 4},
         {"norm", "two", [](In x) { return norm(x[0], {1}); }, {{3, 4}}, -2, 2, {}, 4},
         {"norm",
          "one",
          [](In x) { return norm(x[0], {}, false, {}, 1); },
          {{3, 4}},
          -2,
          2,
          {},
          12},
         {"softmax", "last", [](In x) { return softmax(x[0], -1); }, {{3, 5}}, -2, 2, {}, 5},
         {"softmax", "first", [](In x) { return softmax(x[0], 0); }, {{3, 2, 2}}, -2, 2, {}, 3},
         {"softmax", "scalar", [](In x) { return softmax(x[0], 0); }, {{}}},
         {"log_softmax", "last", [](In x) { return log_softmax(x[0], 1); }, {{3, 5}}, -2, 2, {}, 5},
         {"log_softmax",
          "middle",
          [](In x) { return log_softmax(x[0], 1); },
          {{2, 3, 2}},
          -2,
          2,
          {},
          3}});
}

void add_products(std::vector<OpSample>& out) {
    const auto product = [&](const char* op, const char* label, Function f,
                             std::vector<Shape> shapes, double length) {
        out.push_back({op, label, std::move(f), std::move(shapes), -2, 2, {}, length});
    };
    product("mm", "plain", two<mm>, {{3, 4}, {4, 2}}, 4);
    product(
        "mm", "views", [](In x) { return mm(transpose(x[0], 0, 1), transpose(x[1], 0, 1)); },
        {{4, 3}, {2, 4}}, 4);
    product("bmm", "plain", two<bmm>, {{2, 3, 4}, {2, 4, 2}}, 4);
    product(
        "bmm", "views",
        [](In x) {
            return bmm(transpose(x[0], 1, 2), expand(x[1], {2, 4, 2}));
        },
        {{2, 4, 3}, {1, 4, 2}}, 4);
    product("matmul", "vectors", two<matmul>, {{4}, {4}}, 4);
    product("matmul", "rowbymatrix", two<matmul>, {{4}, {4, 3}}, 4);
    product("matmul", "matrixbycolumn", two<matmul>, {{2, 3, 4}, {4}}, 4);
    product("matmul", "folded", two<matmul>, {{2, 3, 4}, {4, 2}}, 4);
    product("matmul", "broadcast", two<matmul>, {{2, 1, 3, 4}, {3, 4, 2}}, 4);
    product(
        "addmm", "factors", [](In x) { return addmm(x[0], x[1], x[2], 0.5, 2); },
        {{2}, {3, 4}, {4, 2}}, 4);
    product("mv", "plain", two<mv>, {{3, 4}, {4}}, 4);
    product("dot", "plain", two<dot>, {{5}, {5}}, 5);
    product(
        "linear", "bias", [](In x) { return linear(x[0], x[1], x[2]); }, {{3, 4}, {2, 4}, {2}}, 5);
    product(
        "linear", "batched", [](In x) { return linear(x[0], x[1], x[2]); },
        {{2, 3, 4}, {2, 4}, {2}}, 5);
    product(
        "linear", "vector", [](In x) { return linear(x[0], x[1]); }, {{4}, {2, 4}}, 4);
}

Tensor strided_conv(In x) {
    return conv2d(x[0], x[1], x[2], {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}});
}

void add_images(std::vector<OpSample>& out) {
    const auto image = [&](const char* op, const char* label, Function f, std::vector<Shape> shapes,
                           double length) {
        out.push_back({op, label, std::move(f), std::move(shapes), -2, 2, {}, length});
    };
    image(
        "conv2d", "plain", [](In x) { return conv2d(x[0], x[1]); }, {{2, 2, 4, 4}, {3, 2, 3, 3}},
        18);
    image("conv2d", "strided", strided_conv, {{1, 2, 5, 6}, {2, 2, 3, 2}, {2}}, 13);
    image(
        "conv2d", "groups",
        [](In x) {
            return conv2d(x[0], x[1], x[2], {.padding = {1, 1}, .groups = 2});
        },
        {{2, 4, 3, 3}, {4, 2, 3, 3}, {4}}, 19);
    image(
        "max_pool2d", "overlapping",
        [](In x) {
            return max_pool2d(x[0], {.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}});
        },
        {{2, 3, 5, 5}}, 1);
    image(
        "max_pool2d", "ceil",
        [](In x) {
            return max_pool2d(x[0], {.kernel = {2, 2}, .ceil_mode = true});
        },
        {{1, 2, 5, 3}}, 1);
    image(
        "avg_pool2d", "padded",
        [](In x) {
            return avg_pool2d(x[0], {.kernel = {3, 2},
                                     .stride = {{2, 1}},
                                     .padding = {1, 1},
                                     .count_include_pad = false});
        },
        {{2, 3, 5, 4}}, 6);
    image(
        "avg_pool2d", "unbatched",
        [](In x) {
            return avg_pool2d(x[0], {.kernel = {2, 2}});
        },
        {{3, 4, 4}}, 4);
    image(
        "adaptive_avg_pool2d", "uneven",
        [](In x) {
            return adaptive_avg_pool2d(x[0], {2, 3});
        },
        {{2, 3, 5, 7}}, 9);
}

/// Running statistics, which have no gradient.
Tensor statistic(const Tensor& x, double low, double high) {
    return random_tensor({x.size(1)}, x.dtype(), 55, low, high);
}

void add_norms(std::vector<OpSample>& out) {
    const auto norm_of = [&](const char* op, const char* label, Function f,
                             std::vector<Shape> shapes) {
        out.push_back({op, label, std::move(f), std::move(shapes), -2, 2, {}, 40});
    };
    norm_of("batch_norm", "training",
            [](In x) { return batch_norm(x[0], x[1], x[2], {}, {}, true); },
            {{2, 3, 2, 3}, {3}, {3}});
    norm_of("batch_norm", "rows", [](In x) { return batch_norm(x[0], {}, {}, {}, {}, true); },
            {{5, 3}});
    norm_of("batch_norm", "running",
            [](In x) {
                return batch_norm(x[0], x[1], x[2], statistic(x[0], -1, 1), statistic(x[0], 0.5, 2),
                                  false);
            },
            {{2, 3, 2, 2}, {3}, {3}});
    norm_of("batch_norm_relu", "residual",
            [](In x) { return batch_norm_relu(x[0], x[3], x[1], x[2], {}, {}, true); },
            {{2, 3, 2, 3}, {3}, {3}, {2, 3, 2, 3}});
    norm_of("batch_norm_relu", "running",
            [](In x) {
                return batch_norm_relu(x[0], {}, x[1], x[2], statistic(x[0], -1, 1),
                                       statistic(x[0], 0.5, 2), false);
            },
            {{4, 3}, {3}, {3}});
}

void add_losses(std::vector<OpSample>& out) {
    const auto loss = [&](const char* op, const char* label, Function f, std::vector<Shape> shapes,
                          double low = -2, double high = 2) {
        out.push_back({op, label, std::move(f), std::move(shapes), low, high, {}, 30});
    };
    static const auto target = [] { return classes({0, 3, 1}); };
    loss("nll_loss", "mean", [](In x) { return nll_loss(x[0], target()); }, {{3, 4}});
    loss(
        "nll_loss", "weighted",
        [](In x) { return nll_loss(x[0], target(), x[1], {.ignore_index = 3}); }, {{3, 4}, {4}},
        0.5, 2);
    loss("cross_entropy", "mean", [](In x) { return cross_entropy(x[0], target()); }, {{3, 4}});
    loss("cross_entropy", "none",
         [](In x) {
             return cross_entropy(x[0], target(), {},
                                  {.reduction = Reduction::none, .ignore_index = 1});
         },
         {{3, 4}});
    loss("cross_entropy", "sum",
         [](In x) { return cross_entropy(x[0], target(), {}, {.reduction = Reduction::sum}); },
         {{3, 4}});
    loss(
        "cross_entropy", "images",
        [](In x) {
            return cross_entropy(x[0], Tensor::of({0, 2, 1, 1, 0, 2, 2, 0}, {2, 2, 2}, DType::i64));
        },
        {{2, 3, 2, 2}});
    loss(
        "cross_entropy", "smoothed",
        [](In x) {
            return cross_entropy(x[0], target(), x[1], {.ignore_index = 0, .label_smoothing = 0.1});
        },
        {{3, 4}, {4}}, 0.5, 2);
    loss("mse_loss", "mean", [](In x) { return mse_loss(x[0], x[1]); }, {{3, 4}, {3, 4}});
    loss("l1_loss", "sum", [](In x) { return l1_loss(x[0], x[1], Reduction::sum); },
         {{3, 4}, {3, 4}});
    loss("binary_cross_entropy_with_logits", "weights",
         [](In x) {
             return binary_cross_entropy_with_logits(x[0], x[1], x[2], x[3], Reduction::none);
         },
         {{3, 4}, {3, 4}, {3, 4}, {4}});
    loss(
        "binary_cross_entropy", "weight",
        [](In x) { return binary_cross_entropy(x[0], x[1], x[2]); }, {{3, 4}, {3, 4}, {3, 4}}, 0.1,
        0.9);
    loss("dropout", "mask", [](In x) { return dropout(x[0], mask_like(x[0]), 0.25); }, {{3, 4}});
}

void add_views(std::vector<OpSample>& out) {
    // Squares the input and the output, so that the second derivative is not zero.
    const auto view = [&](const char* op, Tensor (*f)(const Tensor&), const Shape& shape) {
        out.push_back({op, "view", [f](In x) { return mul(f(x[0]), f(x[0])); }, {shape}});
    };
    view("reshape", [](const Tensor& x) { return reshape(x, {2, -1}); }, {3, 4});
    view("flatten", [](const Tensor& x) { return flatten(x, 1); }, {2, 3, 2});
    view("permute", [](const Tensor& x) { return permute(x, {2, 0, 1}); }, {2, 3, 2});
    view("transpose", [](const Tensor& x) { return transpose(x, 0, -1); }, {2, 3, 2});
    view("expand", [](const Tensor& x) { return expand(x, {2, 3, 4}); }, {3, 1});
    view("narrow", [](const Tensor& x) { return narrow(x, 1, 1, 2); }, {2, 4});
    view("contiguous", [](const Tensor& x) { return contiguous(transpose(x, 0, 1)); }, {2, 4});
    out.push_back({"cat",
                   "pair",
                   [](In x) {
                       return mul(cat(x, 1), cat({x[1], x[0]}, 1));
                   },
                   {{2, 2}, {2, 3}}});
}

void add_inplace(std::vector<OpSample>& out) {
    const auto form = [&](const char* op, Function f, std::vector<Shape> shapes, double low,
                          double high) {
        out.push_back({op, "middle", std::move(f), std::move(shapes), low, high});
    };
    form(
        "add_", [](In x) { return mul(add_(middle(x[0]), x[1]), x[1]); }, {{3, 4}, {4}}, -2, 2);
    form(
        "mul_", [](In x) { return mul_(middle(x[0]), x[1]); }, {{3, 4}, {4}}, -2, 2);
    form(
        "exp_", [](In x) { return exp_(middle(x[0])); }, {{5}}, -2, 2);
    form(
        "pow_", [](In x) { return pow_(middle(x[0]), x[1]); }, {{5}, {5}}, 0.5, 2);
    form(
        "copy_", [](In x) { return mul(copy_(middle(x[0]), x[1]), x[1]); }, {{3, 4}, {4}}, -2, 2);
    form(
        "zero_", [](In x) { return add(zero_(middle(x[0])), mul(x[1], x[1])); }, {{4}, {4}}, -2, 2);
}

}  // namespace

std::vector<OpSample> op_samples() {
    std::vector<OpSample> out;
    add_elementwise(out);
    add_reductions(out);
    add_products(out);
    add_images(out);
    add_norms(out);
    add_losses(out);
    add_views(out);
    add_inplace(out);
    add_indexing_samples(out);
    add_sampling_samples(out);
    add_norms_samples(out);
    add_convolutions_samples(out);
    add_pooling_samples(out);
    add_products_samples(out);
    add_reductions_samples(out);
    add_distances_samples(out);
    add_recurrent_samples(out);
    add_attention_samples(out);
    add_pointwise_samples(out);
    add_losses_samples(out);
    return out;
}

TensorList arguments(const OpSample& sample, DType dtype, bool requires_grad) {
    TensorList out;
    for (std::size_t i = 0; i < sample.shapes.size(); ++i) {
        const auto seed = static_cast<std::uint32_t>(100 + i);
        Tensor x = random_tensor(sample.shapes[i], dtype, seed, sample.low, sample.high);
        const bool fixed =
            std::find(sample.fixed.begin(), sample.fixed.end(), i) != sample.fixed.end();
        x.set_requires_grad(requires_grad && !fixed);
        out.push_back(x);
    }
    return out;
}

}  // namespace engine
