#include "ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct AttentionInputs {
    Tensor q, k, v;
};
AttentionInputs heads(DType dtype, std::int64_t queries = 3, std::int64_t keys = 5) {
    return {random_tensor({2, 4, queries, 8}, dtype, 1), random_tensor({2, 4, keys, 8}, dtype, 2),
            random_tensor({2, 4, keys, 6}, dtype, 3)};
}

Tensor truth(const std::vector<double>& seen, const Shape& shape) {
    return greater(Tensor::of(seen, shape), Tensor::scalar(0, DType::f32));
}

TEST(Attention, WeighsTheValuesByTheSoftmaxOfTheScores) {
    const Tensor q = Tensor::of({2, 0}, {1, 2}, DType::f64);
    const Tensor k = Tensor::of({1, 5, 0, 5}, {2, 2}, DType::f64);
    const Tensor v = Tensor::of({10, 20}, {2, 1}, DType::f64);
    const double e = std::exp(2 / std::sqrt(2.0));
    EXPECT_NEAR(scaled_dot_product_attention(q, k, v).values()[0], (10 * e + 20) / (e + 1), 1e-12);
    const double f = std::exp(6.0);
    EXPECT_NEAR(scaled_dot_product_attention(q, k, v, {}, {.scale = 3}).values()[0],
                (10 * f + 20) / (f + 1), 1e-12);
}

TEST(Attention, ABooleanMaskAnAddedOneAndCausalAreTheSameWhereTheyMeanTheSame) {
    const AttentionInputs h = heads(DType::f64);
    const std::vector<double> seen{1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0};
    std::vector<double> added;
    for (const double s : seen) added.push_back(s > 0 ? 0 : -infinite);
    const Tensor causal = scaled_dot_product_attention(h.q, h.k, h.v, {}, {.is_causal = true});
    expect_close(scaled_dot_product_attention(h.q, h.k, h.v, truth(seen, {3, 5})), causal, 1e-14);
    expect_close(scaled_dot_product_attention(h.q, h.k, h.v, Tensor::of(added, {3, 5}, DType::f64)),
                 causal, 1e-14);
}

TEST(Attention, ARowThatSeesNoKeyIsZeroAndSoAreItsGradients) {
    for (const bool added : {false, true}) {
        AttentionInputs h = heads(DType::f32, 2, 3);
        for (auto* t : {&h.q, &h.k, &h.v}) t->set_requires_grad(true);
        const Tensor mask = added ? Tensor::of({0, -infinite, 0, -infinite, -infinite, -infinite},
                                               {2, 3}, DType::f32)
                                  : truth({1, 0, 1, 0, 0, 0}, {2, 3});
        const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v, mask);
        backward(sum(y));
        const auto values = y.values(), dq = h.q.grad().values(), dk = h.k.grad().values();
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_TRUE(std::isfinite(values[i]));
            EXPECT_EQ(values[i] == 0, i / 6 % 2 == 1) << i;
        }
        for (std::size_t i = 0; i < dq.size(); ++i) EXPECT_TRUE(i / 8 % 2 == 0 || dq[i] == 0) << i;
        for (const double d : dk) EXPECT_TRUE(std::isfinite(d));
    }
}

TEST(Attention, ARowOfScoresBelowEveryNumberIsZeroWithoutAMaskToo) {
    // q k is -inf for the first row only.
    const Tensor q = Tensor::of({-infinite, 1}, {2, 1}), k = Tensor::of({2, 3}, {2, 1}),
                 v = Tensor::of({4, 4}, {2, 1});
    EXPECT_EQ(scaled_dot_product_attention(q, k, v).values(), (std::vector<double>{0, 4}));
}

TEST(Attention, ANaNGradientPassesAMaskAsInPyTorch) {
    // The first value is infinite, so the gradient of each row's weights is NaN for that key.
    // Masking does not hide it.
    const Tensor v = Tensor::of({infinite, 1, 1}, {3, 1});
    const Tensor q = Tensor::of({1, 1}, {2, 1});
    for (const bool is_causal : {false, true}) {
        Tensor k = Tensor::of({1, 2, 3}, {3, 1});
        k.set_requires_grad(true);
        const Tensor mask = is_causal ? Tensor() : truth({1, 0, 0, 1, 1, 0}, {2, 3});
        backward(sum(scaled_dot_product_attention(q, k, v, mask, {.is_causal = is_causal})));
        for (const double d : k.grad().values()) EXPECT_TRUE(std::isnan(d));
    }
}

TEST(Attention, ACausalMaskHidesAnInfiniteScoreAndAnAddedOneDoesNot) {
    const Tensor q = Tensor::of({1, 1}, {2, 1}), k = Tensor::of({1, INFINITY}, {2, 1}),
                 v = Tensor::of({4, 5}, {2, 1});
    const auto causal = scaled_dot_product_attention(q, k, v, {}, {.is_causal = true}).values();
    EXPECT_EQ(causal[0], 4);
    EXPECT_TRUE(std::isnan(causal[1]));
    const auto added = scaled_dot_product_attention(q, k, v, truth({1, 0, 1, 0}, {2, 2})).values();
    EXPECT_TRUE(std::isnan(added[0]));  // inf - inf
}

TEST(Attention, GroupsOfHeadsShareTheirKeysAndValues) {
    const AttentionInputs h = heads(DType::f64);
    const Tensor k = random_tensor({2, 2, 5, 8}, DType::f64, 4);
    const Tensor v = random_tensor({2, 2, 5, 6}, DType::f64, 5);
    const Tensor y = scaled_dot_product_attention(h.q, k, v, {}, {.enable_gqa = true});
    EXPECT_EQ(y.shape(), (Shape{2, 4, 3, 6}));
    // Heads 0 and 1 use the first key head, heads 2 and 3 the second.
    std::vector<double> wide_k, wide_v;
    for (const std::size_t head : {0, 0, 1, 1, 2, 2, 3, 3}) {
        const auto all_k = k.values(), all_v = v.values();
        wide_k.insert(wide_k.end(), all_k.begin() + static_cast<long>(head * 40),
                      all_k.begin() + static_cast<long>(head * 40 + 40));
        wide_v.insert(wide_v.end(), all_v.begin() + static_cast<long>(head * 30),
                      all_v.begin() + static_cast<long>(head * 30 + 30));
    }
    expect_close(y,
                 scaled_dot_product_attention(h.q, Tensor::of(wide_k, {2, 4, 5, 8}, DType::f64),
                                              Tensor::of(wide_v, {2, 4, 5, 6}, DType::f64)),
                 1e-14);
}

TEST(Attention, IsLowInARegionWithItsAddedMaskAndKeepsLargeScoresFinite) {
    AttentionInputs h = heads(DType::f32);
    const Tensor mask = random_tensor({3, 5}, DType::f32, 6);
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    EXPECT_EQ(scaled_dot_product_attention(h.q, h.k, h.v, mask).dtype(), DType::f16);
    // Scores of 8 * 300 * 300 overflow fp16, but not fp32.
    const Tensor big = mul(h.q, 150.0);
    for (const double y : scaled_dot_product_attention(big, mul(h.k, 150.0), h.v).values())
        EXPECT_TRUE(std::isfinite(y));
}

TEST(Attention, DropoutTakesItsMaskFromTheStream) {
    const AttentionInputs h = heads(DType::f32);
    AttentionOptions options{.dropout_p = 0.5};
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.v, {}, options), Error);
    options.random = RandomStream(3, StreamId::dropout);
    const auto first = scaled_dot_product_attention(h.q, h.k, h.v, {}, options).values();
    EXPECT_EQ(scaled_dot_product_attention(h.q, h.k, h.v, {}, options).values(), first);
    EXPECT_NE(scaled_dot_product_attention(h.q, h.k, h.v).values(), first);
    options.dropout_p = 1;
    for (const double y : scaled_dot_product_attention(h.q, h.k, h.v, {}, options).values())
        EXPECT_EQ(y, 0);
}

TEST(Attention, RefusesMixedTypesAndShapesThatDoNotFit) {
    const AttentionInputs h = heads(DType::f32);
    const Tensor low = to(h.k, DType::bf16);
    try {
        scaled_dot_product_attention(h.q, low, h.v);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("f32"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("bf16"), std::string::npos) << error.what();
    }
    const Tensor low_mask = Tensor::zeros({3, 5}, DType::bf16);
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.v, low_mask), Error);
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.v, h.v), Error);  // another number of features
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.q), Error);  // another number of keys
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.v, Tensor::zeros({4, 5}, DType::f32)),
                 Error);
    const Tensor mask = Tensor::zeros({3, 5}, DType::f32);
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.v, mask, {.is_causal = true}), Error);
    const Tensor three = random_tensor({2, 3, 5, 8}, DType::f32, 4);
    EXPECT_THROW(scaled_dot_product_attention(h.q, three, three, {}, {.enable_gqa = true}), Error);
    EXPECT_THROW(scaled_dot_product_attention(h.q, h.k, h.v, {}, {.dropout_p = 1.5}), Error);
}

AttentionInputs even_heads(DType dtype, std::int64_t queries, std::int64_t keys) {
    return {random_tensor({2, 3, queries, 4}, dtype, 1), random_tensor({2, 3, keys, 4}, dtype, 2),
            random_tensor({2, 3, keys, 4}, dtype, 3)};
}

TEST(FlashAttention, IsAttentionWithTheLogsumexpOfEachRow) {
    const Tensor q = Tensor::of({2, 0, 0, 3}, {1, 1, 2, 2}, DType::f64);
    const Tensor k = Tensor::of({1, 5, 0, 5}, {1, 1, 2, 2}, DType::f64);
    const Tensor v = Tensor::of({10, 1, 20, 2}, {1, 1, 2, 2}, DType::f64);
    // Scores of 2 and 0 in the first row, 15 and 15 in the second, divided by sqrt(2).
    const double a = 2 / std::sqrt(2.0), b = 15 / std::sqrt(2.0);
    const TensorList all = scaled_dot_product_flash_attention(q, k, v);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].shape(), (Shape{1, 1, 2}));
    EXPECT_NEAR(all[1].values()[0], std::log(std::exp(a) + 1), 1e-12);
    EXPECT_NEAR(all[1].values()[1], b + std::log(2.0), 1e-12);
    EXPECT_NEAR(all[0].values()[2], 15, 1e-12);
    const TensorList causal = scaled_dot_product_flash_attention(q, k, v, {.is_causal = true});
    EXPECT_NEAR(causal[1].values()[0], a, 1e-12);
    EXPECT_NEAR(causal[1].values()[1], b + std::log(2.0), 1e-12);
    EXPECT_NEAR(
        scaled_dot_product_flash_attention(q, k, v, {.is_causal = true, .scale = 3})[1].values()[0],
        6, 1e-12);
    for (const bool is_causal : {false, true}) {
        const AttentionInputs h = even_heads(DType::f16, 3, 3);
        const AttentionOptions options{.is_causal = is_causal};
        EXPECT_EQ(scaled_dot_product_flash_attention(h.q, h.k, h.v, options)[0].values(),
                  scaled_dot_product_attention(h.q, h.k, h.v, {}, options).values());
    }
}

TEST(FlashAttention, ItsLogsumexpIsWideAndHasNoGradient) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        AttentionInputs h = even_heads(dtype, 3, 5);
        for (auto* t : {&h.q, &h.k, &h.v}) t->set_requires_grad(true);
        const TensorList made = scaled_dot_product_flash_attention(h.q, h.k, h.v);
        EXPECT_EQ(made[0].dtype(), dtype);
        EXPECT_TRUE(made[0].requires_grad());
        EXPECT_EQ(made[1].dtype(), dtype == DType::f64 ? DType::f64 : DType::f32);
        EXPECT_FALSE(made[1].requires_grad());
        // Computed from the same numbers in f64, without rounding to 16 bits in between.
        const TensorList exact = scaled_dot_product_flash_attention(
            to(h.q, DType::f64), to(h.k, DType::f64), to(h.v, DType::f64));
        const auto got = made[1].values(), wanted = exact[1].values();
        for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 4e-6) << i;
    }
    const AttentionInputs h = even_heads(DType::f32, 3, 5);
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    const TensorList made = scaled_dot_product_flash_attention(h.q, to(h.k, DType::bf16), h.v);
    EXPECT_EQ(made[0].dtype(), DType::f16);
    EXPECT_EQ(made[1].dtype(), DType::f32);
}

TEST(FlashAttention, ItsLogsumexpIsInfiniteWhereARowHasNoSum) {
    const Tensor q = Tensor::of({-infinite, 1, NAN}, {1, 1, 3, 1});
    const Tensor k = Tensor::of({2, 2}, {1, 1, 2, 1}), v = Tensor::of({4, 4}, {1, 1, 2, 1});
    const TensorList made = scaled_dot_product_flash_attention(q, k, v);
    const auto sums = made[1].values(), y = made[0].values();
    EXPECT_EQ(sums[0], infinite);
    EXPECT_NEAR(sums[1], 2 + std::log(2.0), 1e-6);
    EXPECT_EQ(sums[2], infinite);
    EXPECT_EQ(y[0], 0);
    EXPECT_TRUE(std::isnan(y[2]));
    const AttentionInputs none = even_heads(DType::f16, 3, 0);
    const TensorList empty = scaled_dot_product_flash_attention(none.q, none.k, none.v);
    for (const double x : empty[0].values()) EXPECT_EQ(x, 0);
    EXPECT_EQ(empty[1].shape(), (Shape{2, 3, 3}));
    EXPECT_EQ(empty[1].dtype(), DType::f32);
    for (const double x : empty[1].values()) EXPECT_EQ(x, infinite);
    const AttentionInputs nobody = even_heads(DType::f32, 0, 5);
    EXPECT_EQ(scaled_dot_product_flash_attention(nobody.q, nobody.k, nobody.v)[1].shape(),
              (Shape{2, 3, 0}));
}

TEST(FlashAttention, RefusesMixedTypesAndWhatItsKernelsDoNotTake) {
    const AttentionInputs h = even_heads(DType::f32, 3, 5);
    try {
        scaled_dot_product_flash_attention(h.q, to(h.k, DType::bf16), h.v);
        FAIL() << "no error";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), ErrorCode::dtype);
        EXPECT_EQ(text.find("_scaled_dot_product_flash_attention:"), 0u) << text;
        EXPECT_NE(text.find("f32"), std::string::npos) << text;
        EXPECT_NE(text.find("bf16"), std::string::npos) << text;
    }
    const auto refused = [](const AttentionInputs& a, const AttentionOptions& options) {
        EXPECT_THROW(scaled_dot_product_flash_attention(a.q, a.k, a.v, options), Error);
    };
    refused(h, {.is_causal = true});  // more keys than queries
    refused(h, {.enable_gqa = true});
    refused(h, {.dropout_p = 0.5});  // no random stream
    refused(h, {.dropout_p = -1});
    refused({reshape(h.q, {6, 3, 4}), h.k, h.v}, {});
    refused({h.q, narrow(h.k, 1, 0, 1), narrow(h.v, 1, 0, 1)}, {});  // fewer key heads
    refused({h.q, narrow(h.k, 3, 0, 2), narrow(h.v, 3, 0, 2)}, {});
    refused({h.q, h.k, narrow(h.v, 3, 0, 2)}, {});
    refused({h.q, h.k, narrow(h.v, 2, 0, 2)}, {});
    EXPECT_NO_THROW(scaled_dot_product_flash_attention(
        h.q, h.k, h.v, {.dropout_p = 0.5, .random = RandomStream(3, StreamId::dropout)}));
}

TEST(Attention, NoKeysGiveZerosAndNoQueriesNothing) {
    const AttentionInputs none = heads(DType::f32, 3, 0);
    for (const double y : scaled_dot_product_attention(none.q, none.k, none.v).values())
        EXPECT_EQ(y, 0);
    const AttentionInputs empty = heads(DType::f32, 0, 5);
    EXPECT_EQ(scaled_dot_product_attention(empty.q, empty.k, empty.v).shape(), (Shape{2, 4, 0, 6}));
}

}  // namespace
}  // namespace engine
