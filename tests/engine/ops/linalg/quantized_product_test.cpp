#include "ops/linalg/quantized_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "autograd/backward.h"
#include "coded_products.h"
#include "ops/linalg/linear_chain.h"
#include "ops/linalg/products.h"
#include "ops/pointwise/activation.h"
#include "tensor/cast.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/memory_cache.h"

namespace engine {
namespace {

using enum ProductOperand;
using coded_products::coded;
using coded_products::drawn;
using coded_products::expect_product;
using coded_products::InAQuantizedLayer;
using coded_products::recipes;
using coded_products::Side;

TEST(QuantizedProduct, OfALayerMultipliesTheValuesOfItsCodes) {
    constexpr std::int64_t rows = 70, in = 150, out = 40;
    for (const Recipe& recipe : recipes) {
        Tensor x = drawn({rows, in}, 0, DType::bf16), w = drawn({out, in}, 1, DType::bf16),
               bias = drawn({out}, 2, DType::bf16);
        const Tensor dy = drawn({rows, out}, 3, DType::bf16);
        for (Tensor* each : {&x, &w, &bias}) each->set_requires_grad(true);
        const InAQuantizedLayer inside(recipe);
        const Tensor y = linear(x, w, bias);
        const auto cols_of = [&](const Tensor& t, ProductOperand operand, Contraction along,
                                 bool swap) {
            return Side{coded(recipe, t.detach(), operand, along), t.size(1), swap};
        };
        expect_product(y, cols_of(x, input, Contraction::cols, false),
                       cols_of(w, weight, Contraction::cols, true), in, bias);
        backward({&y, 1}, {&dy, 1});
        expect_product(x.grad(), cols_of(dy, gradient, Contraction::cols, false),
                       cols_of(w, weight, Contraction::rows, false), out);
        expect_product(w.grad(), cols_of(dy, gradient, Contraction::rows, true),
                       cols_of(x, input, Contraction::rows, false),
                       recipe.rotates_rows ? (rows + 15) / 16 * 16 : rows);
        EXPECT_EQ(bias.grad().dtype(), DType::bf16);
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i)
            sum += dy.values()[static_cast<std::size_t>(i * out)];
        EXPECT_NEAR(bias.grad().values()[0], sum, std::abs(sum) * 0x1p-8 + 1e-4);
    }
}

TEST(QuantizedProduct, IsTheSameForBothShapesOfWeightsAndAFusedRelu) {
    for (const Recipe& recipe : recipes) {
        if (recipe.random_gradients) continue;  // each cast draws its own numbers
        // Two f32 scales multiply a sum in the order of its operands.
        if (!recipe.has_tensor_scales() && recipe.rule != ScaleBasis::mx && !recipe.powers_of_two)
            continue;
        Tensor x = drawn({2, 16, 64}, 0), w = drawn({48, 64}, 1), bias = drawn({48}, 2);
        Tensor rows = drawn({32, 64}, 0), turned = Tensor::empty({64, 48}, DType::f32, Device{});
        const std::vector<double> values = w.values();
        for (std::size_t i = 0; i < values.size(); ++i)
            turned.data_as<float>()[i % 64 * 48 + i / 64] = static_cast<float>(values[i]);
        for (Tensor* each : {&x, &w, &bias, &rows, &turned}) each->set_requires_grad(true);
        const InAQuantizedLayer inside(recipe);
        const Tensor y = linear(x, w, bias);
        ASSERT_EQ(y.shape(), (Shape{2, 16, 48}));
        EXPECT_EQ(relu(y).values(), linear_relu(x, w, bias).values());
        const Tensor other = addmm(bias, rows, turned);
        EXPECT_EQ(other.values(), y.values());
        const Tensor dy = Tensor::full(y.shape(), 0.5, DType::f32, Device{});
        const Tensor dother = Tensor::full(other.shape(), 0.5, DType::f32, Device{});
        backward({&y, 1}, {&dy, 1});
        backward({&other, 1}, {&dother, 1});
        EXPECT_EQ(x.grad().values(), rows.grad().values());
        const std::vector<double> dw = w.grad().values(), dturned = turned.grad().values();
        for (std::size_t i = 0; i < dw.size(); ++i) ASSERT_EQ(dw[i], dturned[i % 64 * 48 + i / 64]);
    }
}

TEST(QuantizedProduct, IsNotOneInsideAnOperationOrWithoutARecipe) {
    const Tensor x = drawn({8, 32}, 0), w = drawn({16, 32}, 1);
    const std::vector<double> plain = linear(x, w).values();
    const InAQuantizedLayer inside(recipes[0]);
    EXPECT_NE(linear(x, w).values(), plain);
    const NoAutocast kept(Device::Kind::cpu);
    EXPECT_EQ(linear(x, w).values(), plain);
}

TEST(QuantizedProduct, IsNotOneWithoutOutputs) {
    for (const Recipe& recipe : recipes) {
        const InAQuantizedLayer in(recipe);
        const Tensor x = drawn({4, 16}, 1);
        EXPECT_EQ(linear(x, Tensor::of({}, {0, 16}, DType::f32, Device{}), {}).shape(),
                  Shape({4, 0}));
        EXPECT_EQ(addmm(Tensor::of({}, {0}, DType::f32, Device{}), x,
                        Tensor::of({}, {16, 0}, DType::f32, Device{}))
                      .shape(),
                  Shape({4, 0}));
    }
}

TEST(QuantizedProduct, CastsFromTheWeightBeforeAutocast) {
    const Tensor x = drawn({8, 32}, 0, DType::bf16);
    Tensor w = drawn({16, 32}, 1);
    w.set_requires_grad(true);
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    const InAQuantizedLayer inside(recipes[0]);
    const Tensor y = linear(x, w);
    EXPECT_EQ(y.dtype(), DType::bf16);
    expect_product(y, {coded(recipes[0], x, input, Contraction::cols), 32, false},
                   {coded(recipes[0], w.detach(), weight, Contraction::cols), 32, true}, 32);
    EXPECT_NE(coded(recipes[0], w.detach(), weight, Contraction::cols),
              coded(recipes[0], to(w.detach(), DType::bf16), weight, Contraction::cols));
}

// The sum of both spans at the bound of bf16, and beyond it, where f32 operands take over.
TEST(QuantizedProduct, HoldsAcrossAllExponentsOfBlocks) {
    for (const int low : {-40, -54, -55, -100}) {
        std::vector<double> a(64, 0), b(64, 0);
        for (int i = 0; i < 32; ++i) {
            a[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(i)] = std::ldexp(448, low);
            a[static_cast<std::size_t>(32 + i)] = i == 0 ? 448 : 0;
        }
        b[32] = 0x1p-9;
        const Tensor x = Tensor::of(a, {1, 64}, DType::f32, Device{});
        const Tensor w = Tensor::of(b, {1, 64}, DType::f32, Device{});
        const InAQuantizedLayer inside(recipes[4]);
        const double expected = 448 * 0x1p-9 + 32 * std::ldexp(448.0 * 448.0, 2 * low);
        EXPECT_NEAR(linear(x, w).values()[0], expected, expected * 0x1p-22) << low;
    }
}

// The factors of both operands multiply to less, or more, than f32 holds; the products do not.
TEST(QuantizedProduct, HoldsWhereTheFactorDoesNot) {
    // A value of 448 x 2^k makes the scale 2^-k; it meets a 0 of the other operand.
    for (const auto& [k, code] : {std::pair{-64, 64.0}, {65, 0x1p-6}}) {
        std::vector<double> a(32, std::ldexp(code, k)), b = a;
        a[0] = b[1] = std::ldexp(448, k);
        a[1] = b[0] = 0;
        const Tensor x = Tensor::of(a, {1, 32}, DType::f32, Device{});
        const Tensor w = Tensor::of(b, {1, 32}, DType::f32, Device{});
        const InAQuantizedLayer inside(recipes[0]);
        EXPECT_EQ(linear(x, w).values()[0], std::ldexp(30 * code * code, 2 * k)) << k;
    }
}

TEST(QuantizedProduct, LetsInfinitiesAndNanThrough) {
    for (const Recipe& recipe : recipes) {
        Tensor x = drawn({32, 32}, 0);
        x.data_as<float>()[5 * 32 + 3] = std::numeric_limits<float>::infinity();
        const InAQuantizedLayer inside(recipe);
        const std::vector<double> y = linear(x, drawn({16, 32}, 1)).values();
        for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isfinite(y[i]), i / 16 != 5) << i;
    }
}

// 20,000 ones: a sum that cuts below 14 bits stays at 2^14, where one more is half a unit.
TEST(QuantizedProduct, SumsKeepFewBitsWhereTheRecipeSaysSo) {
    const Tensor x = Tensor::full({1, 20000}, 1, DType::f32, Device{});
    const auto sum_of = [&](int bits, std::int64_t promote) {
        const InAQuantizedLayer inside({.rule = ScaleBasis::tensor,
                                        .fixed_scale = 1,
                                        .sum_bits = bits,
                                        .promote_every = promote});
        return linear(x, x).values()[0];
    };
    EXPECT_EQ(sum_of(0, 128), 20000);
    EXPECT_EQ(sum_of(14, 1 << 20), 16384);
    EXPECT_EQ(sum_of(14, 128), 20000);
    EXPECT_EQ(sum_of(24, 1 << 20), 20000);
}

/// Bytes that the node of a layer's call keeps for the gradient of its weight, an input's value.
double kept_bytes(const Recipe& recipe, DType type) {
    Tensor x = drawn({128, 256}, 0, type), w = drawn({64, 256}, 1, type);
    w.set_requires_grad(true);
    const InAQuantizedLayer inside(recipe);
    const Tensor y = linear(x, w);
    double bytes = 0;
    for (const Save& each : y.impl()->node->saves)
        if (each.tensor.defined())
            bytes += static_cast<double>(each.tensor.numel() * size_of(each.tensor.dtype()));
    return bytes / static_cast<double>(x.numel());
}

TEST(QuantizedProduct, KeepsCodesAndScalesInPlaceOfTheInput) {
    const double expected[] = {
        1, 1, 1 + 1.0 / 128, 1 + 1.0 / 128, 1 + 1.0 / 32, 0.5 + 1.0 / 32, 0.5 + 1.0 / 16};
    for (std::size_t i = 0; i < std::size(expected); ++i)
        EXPECT_EQ(kept_bytes(recipes[i], DType::bf16), expected[i]) << i;
    Recipe high = recipes[0];
    high.kept = {false, false, true};
    EXPECT_EQ(kept_bytes(high, DType::bf16), 2);
}

// Memory is accounted by blocks, whose sizes are rounded up.
TEST(QuantizedProduct, AccountsCodesAndScalesByThemselves) {
    for (const Recipe& recipe : recipes) {
        SCOPED_TRACE(&recipe - recipes);
        const Tensor x = drawn({128, 256}, 0, DType::bf16);
        Tensor w = drawn({64, 256}, 1, DType::bf16);
        w.set_requires_grad(true);
        const auto accounting = std::make_shared<MemoryAccounting>();
        const AccountingScope scope(accounting);
        const InAQuantizedLayer inside(recipe);
        const Tensor bias = drawn({64}, 2, DType::bf16);
        linear(x, w, bias);
        const std::int64_t of_weight = accounting->bytes(MemoryUse::codes);
        EXPECT_GE(of_weight, w.numel());
        EXPECT_LT(of_weight, w.numel() * 5 / 4) << "codes of one orientation alone";
        const Tensor y = linear(x, w, bias);
        std::size_t kept = 0;
        for (const Save& each : y.impl()->node->saves)
            if (each.tensor.defined()) kept += block_size(each.tensor.bytes(), Device{});
        EXPECT_EQ(accounting->bytes(MemoryUse::codes) - of_weight, static_cast<std::int64_t>(kept));
        EXPECT_EQ(accounting->bytes(MemoryUse::cast_cache), 0);
        EXPECT_EQ(accounting->bytes(MemoryUse::workspace), 0);
    }
}

// Kept products have autocast's bits, and the others those of the codes.
TEST(QuantizedProduct, OfEachKindIsKeptByItself) {
    for (const Recipe& recipe : {recipes[0], recipes[3], recipes[4], recipes[7]}) {
        const auto results = [](const Recipe* by) {
            Tensor x = drawn({32, 64}, 0), w = drawn({48, 64}, 1);
            x.set_requires_grad(true);
            w.set_requires_grad(true);
            std::optional<InAQuantizedLayer> inside;
            if (by != nullptr) inside.emplace(*by);
            const Tensor y = linear(x, w);
            const Tensor dy = drawn(y.shape(), 3);
            backward({&y, 1}, {&dy, 1});
            return std::vector{y.values(), x.grad().values(), w.grad().values()};
        };
        const auto plain = results(nullptr), coded_ones = results(&recipe);
        for (std::size_t i = 0; i < 3; ++i) {
            Recipe mixed = recipe;
            mixed.kept[i] = true;
            const auto found = results(&mixed);
            for (std::size_t k = 0; k < 3; ++k)
                EXPECT_EQ(found[k], k == i ? plain[k] : coded_ones[k]) << i << ' ' << k;
            EXPECT_NE(plain[i], coded_ones[i]);
        }
    }
}

}  // namespace
}  // namespace engine
