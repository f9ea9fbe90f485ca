#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "autograd/backward.h"
#include "coded_products.h"
#include "ops/linalg/linear.h"

// Products of all recipes at drawn shapes, across all exponents, and with values that are not
// finite.
namespace engine {
namespace {

using enum ProductOperand;
using coded_products::coded;
using coded_products::drawn;
using coded_products::expect_product;
using coded_products::InAQuantizedLayer;
using coded_products::recipes;
using coded_products::Side;

Side coded_side(const Recipe& recipe, const Tensor& t, ProductOperand operand, Contraction along,
                bool swap) {
    return {coded(recipe, t.detach(), operand, along), t.size(1), swap};
}

/// From 1 to 513; as many in each octave.
std::int64_t drawn_size(std::uint64_t place) {
    const RandomStream stream(56, StreamId::bench);
    return static_cast<std::int64_t>(std::pow(514.0, static_cast<double>(stream.uniform(place))));
}

/// More by hand, from the environment (tests/bench/RESULTS.md).
std::uint64_t shapes_to_try() {
    const char* const asked = std::getenv("HALFTONE_PRODUCT_SHAPES");
    return asked == nullptr ? 3 : std::stoull(asked);
}

TEST(QuantizedProductBounds, HoldForDrawnShapes) {
    const std::uint64_t tries = shapes_to_try();
    for (std::uint64_t place = 0; place < tries; ++place)
        for (const Recipe& recipe : recipes) {
            const std::int64_t rows = drawn_size(3 * place), in = drawn_size(3 * place + 1),
                               out = drawn_size(3 * place + 2);
            SCOPED_TRACE(testing::Message()
                         << rows << ' ' << in << ' ' << out << ", recipe " << &recipe - recipes);
            const auto first = static_cast<std::uint32_t>(3 * place);
            Tensor x = drawn({rows, in}, first), w = drawn({out, in}, first + 1);
            const Tensor dy = drawn({rows, out}, first + 2);
            x.set_requires_grad(true);
            w.set_requires_grad(true);
            const InAQuantizedLayer inside(recipe);
            const Tensor y = linear(x, w);
            expect_product(y, coded_side(recipe, x, input, Contraction::cols, false),
                           coded_side(recipe, w, weight, Contraction::cols, true), in);
            backward({&y, 1}, {&dy, 1});
            expect_product(x.grad(), coded_side(recipe, dy, gradient, Contraction::cols, false),
                           coded_side(recipe, w, weight, Contraction::rows, false), out);
            expect_product(w.grad(), coded_side(recipe, dy, gradient, Contraction::rows, true),
                           coded_side(recipe, x, input, Contraction::rows, false),
                           recipe.rotates_rows ? (rows + 15) / 16 * 16 : rows);
        }
}

/// Two formats, and how far the exponents of both operands' blocks may lie from their largest in
/// all, for every product to be a normal f32.
struct Span {
    kernels::FloatLayout forward, gradient;
    int bound;
};

/// Two blocks of 32 whose scales are 2^top and 2^(top - span). The first holds M at `place`; the
/// other the format's smallest value in front, and M at `place`.
Tensor two_blocks(kernels::FloatLayout layout, int top, int span, int place) {
    const auto largest = static_cast<double>(kernels::largest_value(layout));
    const auto smallest = static_cast<double>(kernels::from_small_float(1, layout));
    std::vector<double> out(64, 0);
    out[static_cast<std::size_t>(place)] = std::ldexp(largest, top);
    out[32] = std::ldexp(smallest, top - span);
    out[static_cast<std::size_t>(32 + place)] = std::ldexp(largest, top - span);
    return Tensor::of(out, {1, 64}, DType::f32, Device{});
}

// The one product that is not 0 is that of both smallest values. On processors that flush subnormal
// products to 0, one exponent more would lose it, unless f32 products took over.
TEST(QuantizedProductBounds, KeepTheSmallestProductUpToTheSpanAndBeyond) {
    using namespace kernels;
    constexpr int top = 30;
    for (const auto& [forward, backward_format, bound] :
         {Span{fp8_e4m3_layout, fp8_e4m3_layout, 108}, Span{fp8_e4m3_layout, fp8_e5m2_layout, 101},
          Span{fp4_e2m1_layout, fp4_e2m1_layout, 124}})
        for (const int more : {0, 1, 8}) {
            const Recipe recipe{.rule = ScaleBasis::mx,
                                .forward = forward,
                                .gradient = backward_format,
                                .block = 32};
            const int of_g = bound / 2, of_w = bound - of_g + more;
            const Tensor g = two_blocks(backward_format, top, of_g, 1);
            const Tensor row = two_blocks(forward, top, of_w, 2);
            Tensor x = Tensor::full({1, 1}, 1, DType::f32, Device{});
            const Tensor w = Tensor::of(row.values(), {64, 1}, DType::f32, Device{});
            x.set_requires_grad(true);
            const InAQuantizedLayer inside(recipe);
            const Tensor y = linear(x, w);
            backward({&y, 1}, {&g, 1});
            const double product = static_cast<double>(from_small_float(1, forward)) *
                                   static_cast<double>(from_small_float(1, backward_format));
            EXPECT_EQ(x.grad().values()[0], std::ldexp(product, 2 * top - of_g - of_w))
                << bound << " + " << more;
        }
}

TEST(QuantizedProductBounds, HoldForOneRowAndForNone) {
    for (const Recipe& recipe : recipes)
        for (const std::int64_t rows : {0, 1}) {
            Tensor x = drawn({rows, 40}, 0), w = drawn({24, 40}, 1);
            const Tensor dy = drawn({rows, 24}, 2);
            x.set_requires_grad(true);
            w.set_requires_grad(true);
            const InAQuantizedLayer inside(recipe);
            const Tensor y = linear(x, w);
            ASSERT_EQ(y.shape(), (Shape{rows, 24}));
            backward({&y, 1}, {&dy, 1});
            ASSERT_EQ(x.grad().shape(), x.shape());
            if (rows == 0) {
                EXPECT_EQ(w.grad().values(), std::vector<double>(24 * 40, 0));
                continue;
            }
            expect_product(y, coded_side(recipe, x, input, Contraction::cols, false),
                           coded_side(recipe, w, weight, Contraction::cols, true), 40);
            expect_product(w.grad(), coded_side(recipe, dy, gradient, Contraction::rows, true),
                           coded_side(recipe, x, input, Contraction::rows, false),
                           recipe.rotates_rows ? 16 : 1);
        }
}

// As a network of the user's own may call it.
TEST(QuantizedLayerTwiceInAStep, CastsItsWeightOnceAndMeasuresBothInputs) {
    Tensor first = Tensor::full({4, 8}, 3, DType::f32, Device{}), w = drawn({6, 8}, 1);
    Tensor second = Tensor::full({5, 8}, 7, DType::f32, Device{});
    for (Tensor* each : {&first, &second, &w}) each->set_requires_grad(true);
    InAQuantizedLayer inside({.rule = ScaleBasis::delayed, .history = 2});
    QuantizedLayers& layers = inside.layers;
    const Tensor y = linear(first, w), z = linear(second, w);
    const Tensor dy = Tensor::full(y.shape(), 0.5, DType::f32, Device{});
    const Tensor dz = Tensor::full(z.shape(), 2, DType::f32, Device{});
    backward({&y, 1}, {&dy, 1});
    backward({&z, 1}, {&dz, 1});
    layers.end_step();
    const auto layer = layers.find("fc");
    EXPECT_EQ(layer->weight_casts(), 1);
    EXPECT_EQ(layer->delayed()[0].history().back(), 7);
    EXPECT_EQ(layer->delayed()[2].history().back(), 2);
}

class NonFinite : public testing::Test {
protected:
    static constexpr std::int64_t rows = 40, in = 70, out = 36;

    struct Results {
        std::vector<double> y, dx, dw;
    };

    static Results with(const Recipe& recipe, ProductOperand operand, std::int64_t place,
                        float value) {
        Tensor x = drawn({rows, in}, 0), w = drawn({out, in}, 1), dy = drawn({rows, out}, 2);
        Tensor& spoiled = operand == input ? x : operand == weight ? w : dy;
        spoiled.data_as<float>()[place] = value;
        x.set_requires_grad(true);
        w.set_requires_grad(true);
        const InAQuantizedLayer inside(recipe);
        const Tensor y = linear(x, w);
        backward({&y, 1}, {&dy, 1});
        return {y.values(), x.grad().values(), w.grad().values()};
    }

    /// Expects that of the result (?, cols) exactly the rows, or the columns, in a block of `size` with `place`
    /// are not finite; negative: none is.
    static void expect_line(const std::vector<double>& found, std::int64_t cols, bool is_row,
                            std::int64_t place, std::int64_t size = 1) {
        for (std::int64_t i = 0; i < std::ssize(found); ++i) {
            const std::int64_t own = is_row ? i / cols : i % cols;
            ASSERT_EQ(std::isfinite(found[static_cast<std::size_t>(i)]),
                      place < 0 || own / size != place / size)
                << (is_row ? "row " : "column ") << own;
        }
    }
};

TEST_F(NonFinite, ReachesAllThatItIsMultipliedWithAndNothingElse) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float values[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    int turn = 0;
    for (const Recipe& recipe : recipes) {
        SCOPED_TRACE(&recipe - recipes);
        const std::int64_t square = recipe.square_weights ? recipe.block : 1;
        for (const double share : {0.0, 0.3, 0.77, 1.0}) {
            const auto at = [&](std::int64_t size) {
                return static_cast<std::int64_t>(share * static_cast<double>(size - 1));
            };
            const float value = values[turn++ % 3];
            const Results x = with(recipe, input, at(rows) * in + at(in), value);
            expect_line(x.y, out, true, at(rows));
            expect_line(x.dx, in, true, -1);
            expect_line(x.dw, in, false, at(in));
            const Results w = with(recipe, weight, at(out) * in + at(in), value);
            expect_line(w.y, out, false, at(out), square);
            expect_line(w.dx, in, false, at(in), square);
            expect_line(w.dw, in, true, -1);
            const Results g = with(recipe, gradient, at(rows) * out + at(out), value);
            expect_line(g.y, out, true, -1);
            expect_line(g.dx, in, true, at(rows));
            expect_line(g.dw, in, true, at(out));
        }
    }
}

// As CUDA's saturating casts have it: what was infinite is a large number, and no product is
// spoiled.
TEST_F(NonFinite, StopsAtACastThatSaturates) {
    for (Recipe recipe : recipes) {
        SCOPED_TRACE(static_cast<int>(recipe.rule));
        recipe.saturates = true;
        for (const ProductOperand operand : {input, weight, gradient}) {
            const Results found = with(recipe, operand, 0, std::numeric_limits<float>::infinity());
            for (const auto* const values : {&found.y, &found.dx, &found.dw})
                for (const double each : *values) ASSERT_TRUE(std::isfinite(each));
        }
    }
}

}  // namespace
}  // namespace engine
