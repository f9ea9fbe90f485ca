#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "op_samples.h"
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
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/pool/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/result_type.h"

// M9: the rows of autocast.md#result-types (1.10) and 1.11, with the ops called as a program calls
// them.
namespace engine {
namespace {

AutocastRegion plain_f16_region() { return AutocastRegion(here, true, DType::f16); }

TEST(Autocast, M9RowsOf110HoldWithLowInputsInAnF16Region) {
    const auto entered = plain_f16_region().enter();
    const Tensor x = Tensor::full({2, 3}, 0.5, DType::f16);
    const Tensor image = Tensor::full({1, 2, 4, 4}, 0.5, DType::f16);
    const Tensor channels = Tensor::full({2}, 1, DType::f32);
    const auto type = [](const Tensor& y) { return y.dtype(); };
    for (const auto op : {relu, gelu, tanh, sigmoid, log_sigmoid, sqrt, erf, sin, cos, neg, abs})
        EXPECT_EQ(type(op(x)), DType::f16);
    EXPECT_EQ(type(dropout(x, Tensor::full({2, 3}, 1, DType::boolean), 0.5)), DType::f16);
    EXPECT_EQ(type(mean(x)), DType::f16);
    EXPECT_EQ(type(div(x, scalar_like(x, 2))), DType::f16);
    for (const auto op : {exp, log, rsqrt, reciprocal, square, expm1, log1p, log2, log10})
        EXPECT_EQ(type(op(x)), DType::f32);
    EXPECT_EQ(type(pow(x, 0.5)), DType::f32);
    EXPECT_EQ(type(sum(x)), DType::f32);
    EXPECT_EQ(type(norm(x)), DType::f32);
    EXPECT_EQ(type(softmax(x, 1)), DType::f32);
    EXPECT_EQ(type(log_softmax(x, 1)), DType::f32);
    EXPECT_EQ(type(sum(x, {}, false, DType::f16)), DType::f16);
    EXPECT_EQ(type(softmax(x, 1, DType::f16)), DType::f16);
    Tensor mean_of = Tensor::full({2}, 0, DType::f32), var_of = Tensor::full({2}, 1, DType::f32);
    EXPECT_EQ(type(batch_norm(image, channels, channels, mean_of, var_of, true)), DType::f16);
    EXPECT_EQ(mean_of.dtype(), DType::f32);
    EXPECT_EQ(type(max_pool2d(image, {})), DType::f16);
    EXPECT_EQ(type(avg_pool2d(image, {})), DType::f16);
    EXPECT_EQ(type(adaptive_avg_pool2d(image, {1, 1})), DType::f16);
    EXPECT_EQ(type(mse_loss(x, x)), DType::f32);
    EXPECT_EQ(type(l1_loss(x, x)), DType::f32);
    const Tensor target = Tensor::of({0, 2}, {2}, DType::i64);
    EXPECT_EQ(type(cross_entropy(x, target)), DType::f32);
    EXPECT_EQ(type(nll_loss(x, target)), DType::f32);
    const Tensor wide = Tensor::full({2, 3}, 1, DType::f32);
    EXPECT_EQ(type(add(wide, linear(wide, Tensor::full({3, 3}, 1, DType::f32)))), DType::f32);
    // In-place forms are not on any list.
    EXPECT_EQ(type(exp_(Tensor::full({2}, 1, DType::f16))), DType::f16);
    EXPECT_EQ(type(pow_(Tensor::full({2}, 1, DType::f16), scalar_like(x, 2))), DType::f16);
}

TEST(Autocast, M9RowsOf111PromoteTheSameInsideAndOutside) {
    const auto t = [](DType dtype, const Shape& shape = {2}) {
        return Tensor::full(shape, 1, dtype);
    };
    const auto check = [&] {
        EXPECT_EQ(add(t(DType::f16), t(DType::f32)).dtype(), DType::f32);
        EXPECT_EQ(add(t(DType::bf16), t(DType::f32)).dtype(), DType::f32);
        EXPECT_EQ(add(t(DType::f16), t(DType::bf16)).dtype(), DType::f32);
        EXPECT_EQ(add(t(DType::f16), t(DType::f64)).dtype(), DType::f64);
        EXPECT_EQ(add(t(DType::f16), t(DType::i64)).dtype(), DType::f16);
        EXPECT_EQ(mul(t(DType::bf16), t(DType::boolean)).dtype(), DType::bf16);
        EXPECT_EQ(add(t(DType::f16), t(DType::f32, {})).dtype(), DType::f16);
        EXPECT_EQ(add(t(DType::f16), t(DType::f64, {})).dtype(), DType::f16);
        EXPECT_EQ(mul(t(DType::f16), 2.0).dtype(), DType::f16);
        EXPECT_EQ(mul(t(DType::f16, {}), 2.0).dtype(), DType::f16);
        EXPECT_EQ(add(t(DType::f16, {}), t(DType::f32)).dtype(), DType::f32);
        EXPECT_EQ(add(t(DType::f16, {}), t(DType::f32, {})).dtype(), DType::f32);
        using Binary = Tensor (*)(const Tensor&, const Tensor&);
        for (const Binary op :
             std::initializer_list<Binary>{sub, mul, div, maximum, minimum, atan2}) {
            EXPECT_EQ(op(t(DType::f16), t(DType::f32)).dtype(), DType::f32);
            EXPECT_EQ(op(t(DType::f32), t(DType::f16)).dtype(), DType::f32);
        }
        EXPECT_EQ(cat({t(DType::f16), t(DType::f32)}, 0).dtype(), DType::f32);
        EXPECT_EQ(less(t(DType::f16), t(DType::f32)).dtype(), DType::boolean);
        EXPECT_EQ(where(t(DType::boolean), t(DType::f16), t(DType::f32)).dtype(), DType::f32);
        EXPECT_EQ(add_(t(DType::f16), t(DType::f32)).dtype(), DType::f16);
        EXPECT_EQ(add_(t(DType::f32), t(DType::f16)).dtype(), DType::f32);
        EXPECT_EQ(copy_(t(DType::f16), t(DType::f32)).dtype(), DType::f16);
    };
    check();
    const auto entered = plain_f16_region().enter();
    check();
}

TEST(Autocast, M9RowsOf111OpsThatNeedEqualTypesAreErrorsOutsideNamingBothTypesAndTheWayOut) {
    const Tensor a = Tensor::full({2, 2}, 1, DType::f16), b = Tensor::full({2, 2}, 1, DType::f32);
    const Tensor v = Tensor::full({2}, 1, DType::f32);
    const Tensor image = Tensor::full({1, 2, 2, 2}, 1, DType::f16),
                 filter = Tensor::full({1, 2, 1, 1}, 1, DType::f32);
    const std::vector<std::pair<std::string, std::function<Tensor()>>> calls{
        {"mm", [&] { return mm(a, b); }},
        {"bmm",
         [&] {
             return bmm(reshape(a, {1, 2, 2}), reshape(b, {1, 2, 2}));
         }},
        {"matmul", [&] { return matmul(a, b); }},
        {"addmm", [&] { return addmm(a, a, b); }},
        {"mv", [&] { return mv(a, v); }},
        {"dot", [&] { return dot(Tensor::full({2}, 1, DType::f16), v); }},
        {"linear", [&] { return linear(a, b); }},
        {"conv2d", [&] { return conv2d(image, filter); }}};
    for (const auto& [op, call] : calls) {
        try {
            call();
            FAIL() << op;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::dtype);
            const std::string text = error.what();
            for (const char* part : {op.c_str(), "f16", "f32"})
                EXPECT_NE(text.find(part), std::string::npos) << text;
            EXPECT_NE(error.hint().str().find("autocast"), std::string::npos);
        }
        const auto entered = plain_f16_region().enter();
        EXPECT_EQ(call().dtype(), op == "dot" ? DType::f32 : DType::f16) << op;
    }
}

TEST(Autocast, M9RowsOf111BatchNormTakesALowInputWithF32ParametersAndNotTheOtherWayRound) {
    const Tensor low = random_tensor({4, 2}, DType::f16, 1),
                 wide = random_tensor({4, 2}, DType::f32, 1);
    const Tensor p16 = Tensor::full({2}, 1, DType::f16), p32 = Tensor::full({2}, 1, DType::f32);
    EXPECT_EQ(batch_norm(low, p32, p32, {}, {}, true).dtype(), DType::f16);
    EXPECT_EQ(batch_norm(low, p16, p16, {}, {}, true).dtype(), DType::f16);
    EXPECT_THROW(batch_norm(wide, p16, p16, {}, {}, true), Error);
}

}  // namespace
}  // namespace engine
