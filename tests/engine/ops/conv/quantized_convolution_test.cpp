#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/recipe.h"
#include "autograd/backward.h"
#include "ops/conv/convolution.h"
#include "tensor/philox.h"

namespace engine {
namespace {

using enum ProductOperand;

Tensor drawn_normals(const Shape& shape, std::uint32_t substream, DType type = DType::bf16) {
    const RandomStream stream(2, StreamId::init, substream);
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); i += 2) {
        const auto words = stream.block(static_cast<std::uint64_t>(i));
        for (const double each : RandomStream::to_normals(words[0], words[1]))
            values.push_back(each);
    }
    values.resize(static_cast<std::size_t>(shape.numel()));
    return Tensor::of(values, shape, type, Device{});
}

const Recipe tensor_recipes[] = {{.rule = ScaleBasis::tensor, .convolutions = true},
                          {.rule = ScaleBasis::delayed, .history = 2, .convolutions = true}};

/// The values of a tensor's codes in its shape, exact in f64.
std::vector<double> coded_values(const Recipe& recipe, const Tensor& x, ProductOperand operand) {
    const Tensor rows = Tensor::of(x.values(), {1, x.numel()}, x.dtype(), Device{});
    QuantizedLayer layer(recipe);
    const QuantizedMatrix codes = layer.quantize(rows, operand, Contraction::cols);
    std::vector<double> out = codes.values(DType::f32, 0).values();
    for (double& each : out) each *= codes.factor();
    return out;
}

class InAConvolution {
public:
    explicit InAConvolution(const Recipe& recipe) : layers(recipe, {}), scope_(&layers) {}
    QuantizedLayers layers;

private:
    const ModuleName name_{"conv"};
    const ModuleScope module_{name_};
    RecipeScope scope_;
};

/// A sum in f64 with the sum of its magnitudes.
struct Sum {
    double value = 0, size = 0;
    void add(double a, double b) {
        value += a * b;
        size += std::abs(a * b);
    }
};

/// Within the rounding of f32 sums of `terms`, of the factor and of bf16.
void expect_sums(const Tensor& found, const std::vector<Sum>& sums, double terms) {
    const std::vector<double> values = found.values();
    ASSERT_EQ(values.size(), sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(values[i], sums[i].value,
                    (terms + 4) * 0x1p-24 * sums[i].size + 0x1p-8 * std::abs(sums[i].value) + 1e-30)
            << i;
}

struct Case {
    static constexpr std::int64_t n = 2, c = 4, side = 9, k = 6, kernel = 3, pad = 1, groups = 2;
    std::int64_t stride;
    std::int64_t out() const { return (side + 2 * pad - kernel) / stride + 1; }

    /// f(place in x, in the weight, in y) of each product.
    template <class F>
    void for_each(const F& f) const {
        const std::int64_t of_group = c / groups, o = out();
        for (std::int64_t b = 0; b < n; ++b)
            for (std::int64_t j = 0; j < k; ++j)
                for (std::int64_t y = 0; y < o * o; ++y)
                    for (std::int64_t w = 0; w < of_group * kernel * kernel; ++w) {
                        const std::int64_t row = y / o * stride + w / kernel % kernel - pad;
                        const std::int64_t col = y % o * stride + w % kernel - pad;
                        if (row < 0 || row >= side || col < 0 || col >= side) continue;
                        const std::int64_t in = j / (k / groups) * of_group + w / kernel / kernel;
                        f(static_cast<std::size_t>(((b * c + in) * side + row) * side + col),
                          static_cast<std::size_t>(j * of_group * kernel * kernel + w),
                          static_cast<std::size_t>((b * k + j) * o * o + y));
                    }
    }
};

TEST(QuantizedConvolution, ConvolvesTheValuesOfItsCodes) {
    for (const Recipe& recipe : tensor_recipes)
        for (const Case each : {Case{1}, Case{2}}) {
            Tensor x = drawn_normals({Case::n, Case::c, Case::side, Case::side}, 0);
            Tensor w = drawn_normals({Case::k, Case::c / Case::groups, Case::kernel, Case::kernel}, 1);
            Tensor bias = drawn_normals({Case::k}, 2);
            const Tensor dy = drawn_normals({Case::n, Case::k, each.out(), each.out()}, 3);
            for (Tensor* leaf : {&x, &w, &bias}) leaf->set_requires_grad(true);
            const InAConvolution inside(recipe);
            const Tensor y = conv2d(x, w, bias,
                                    {.stride = {each.stride, each.stride},
                                     .padding = {Case::pad, Case::pad},
                                     .groups = Case::groups});
            backward({&y, 1}, {&dy, 1});
            const auto xs = coded_values(recipe, x.detach(), input);
            const auto ws = coded_values(recipe, w.detach(), weight);
            const auto gs = coded_values(recipe, dy, gradient);
            std::vector<Sum> ys(gs.size()), dxs(xs.size()), dws(ws.size());
            const std::int64_t area = each.out() * each.out();
            for (std::size_t i = 0; i < ys.size(); ++i)
                ys[i].add(bias.values()[i / static_cast<std::size_t>(area) % Case::k], 1);
            each.for_each([&](std::size_t i, std::size_t j, std::size_t o) {
                ys[o].add(xs[i], ws[j]);
                dxs[i].add(gs[o], ws[j]);
                dws[j].add(gs[o], xs[i]);
            });
            const double taps = Case::kernel * Case::kernel;
            expect_sums(y, ys, taps * Case::c);
            expect_sums(x.grad(), dxs, taps * Case::k);
            expect_sums(w.grad(), dws, static_cast<double>(Case::n * area));
            EXPECT_EQ(y.dtype(), DType::bf16);
        }
}

TEST(QuantizedConvolution, KeepsProductsAsAutocastHasThem) {
    Recipe recipe = tensor_recipes[0];
    const Tensor x = drawn_normals({2, 4, 5, 5}, 0), w = drawn_normals({6, 4, 3, 3}, 1);
    const auto gradients_of = [&](const Recipe* by) {
        Tensor a = x.detach(), b = w.detach();
        a = Tensor::of(x.values(), x.shape(), x.dtype(), Device{});
        b = Tensor::of(w.values(), w.shape(), w.dtype(), Device{});
        a.set_requires_grad(true);
        b.set_requires_grad(true);
        std::optional<InAConvolution> inside;
        if (by != nullptr) inside.emplace(*by);
        const Tensor y = conv2d(a, b);
        const Tensor dy = drawn_normals(y.shape(), 3);
        backward({&y, 1}, {&dy, 1});
        return std::vector{y.values(), a.grad().values(), b.grad().values()};
    };
    const auto plain = gradients_of(nullptr), coded = gradients_of(&recipe);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NE(plain[i], coded[i]);
        recipe.kept = {};
        recipe.kept[i] = true;
        const auto mixed = gradients_of(&recipe);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(mixed[k], k == i ? plain[k] : coded[k]) << i;
    }
}

TEST(QuantizedConvolution, IsNotOneInOtherRecipes) {
    const Tensor x = drawn_normals({1, 4, 5, 5}, 0), w = drawn_normals({6, 4, 3, 3}, 1);
    const std::vector<double> plain = conv2d(x, w).values();
    for (const Recipe& each : {Recipe{.rule = ScaleBasis::mx, .block = 32, .convolutions = true},
                               Recipe{.rule = ScaleBasis::tensor}}) {
        const InAConvolution inside(each);
        EXPECT_EQ(conv2d(x, w).values(), plain);
    }
    const InAConvolution inside(tensor_recipes[0]);
    EXPECT_EQ(conv2d(Tensor::of({}, {0, 4, 5, 5}, DType::bf16, Device{}), w).shape(),
              (Shape{0, 6, 3, 3}));
    Tensor bad = drawn_normals({1, 4, 5, 5}, 0);
    bad.data_as<std::uint16_t>()[0] = 0x7f80;
    EXPECT_TRUE(std::isnan(conv2d(bad, w).values()[0]));
}

}  // namespace
}  // namespace engine
