// The backward pass of batch norm with relu: the mask computed again from x, and two gradients
// added on the way.
#include <gtest/gtest.h>

#include "kernels/batch_norm.h"
#include "kernels/elementwise.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

struct BackwardResults {
    Buffer dx, dweight, dbias;
    bool operator==(const BackwardResults& o) const {
        return dx.bytes() == o.dx.bytes() && dweight.bytes() == o.dweight.bytes() &&
               dbias.bytes() == o.dbias.bytes();
    }
};

/// One batch norm with relu, trained forward. A bias of nearly 0 and a weight of `scale` put many
/// outputs close to 0, where a 16-bit y may be 0 and its f32 value positive.
struct Layer {
    Layer(DType dtype, std::int64_t rows, std::int64_t channels, double scale)
        : shape{rows, channels},
          x(random_buffer(dtype, rows * channels, 1, 0.5, 2)),
          dy(random_buffer(dtype, rows * channels, 2)),
          other(random_buffer(dtype, rows * channels, 3)),
          weight(random_buffer(DType::f32, channels, 4, scale, scale / 5)),
          bias(random_buffer(DType::f32, channels, 5, 0, scale / 5)),
          y(dtype, rows * channels),
          mean(DType::f32, channels),
          invstd(DType::f32, channels) {
        Buffer running_mean(DType::f32, channels), running_var(DType::f32, channels);
        cpu::batch_norm_forward_train(y, mean, invstd, running_mean, running_var, x, weight, bias,
                                      nothing(), true, shape, {});
    }
    ConstArray nothing() const { return {nullptr, x.dtype(), 0}; }

    BackwardResults backward(ConstArray gradient, ConstArray addend, bool recompute) const {
        const std::int64_t n = shape.channels;
        BackwardResults out{{x.dtype(), x.size()}, {DType::f32, n}, {DType::f32, n}};
        cpu::batch_norm_backward(out.dx, {nullptr, x.dtype(), 0}, out.dweight, out.dbias, nullptr,
                                 gradient, addend, x, y, weight,
                                 recompute ? bias.view() : ConstArray{nullptr, DType::f32, 0}, mean,
                                 invstd, true, true, shape, {});
        return out;
    }

    BatchNormShape shape;
    Buffer x, dy, other, weight, bias, y, mean, invstd;
};

template <class F>
void for_each_layer(const F& f) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const std::int64_t channels : {3, 16, 100})
            // Ordinary outputs; about the smallest f16; about the smallest bf16.
            for (const double scale : {1.0, 0x1p-24, 0x1p-132}) {
                SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(dtype) << ", "
                                                << channels << " channels, scale " << scale);
                f(dtype, channels, scale);
            }
}

TEST(BatchNormMask, ComputedAgainHasTheBitsOfTheSavedOne) {
    on_every_target([] {
        for_each_layer([](DType dtype, std::int64_t channels, double scale) {
            const Layer layer(dtype, 700, channels, scale);
            EXPECT_EQ(layer.backward(layer.dy, layer.nothing(), true),
                      layer.backward(layer.dy, layer.nothing(), false));
        });
    });
}

TEST(BatchNormMask, AnOutputThatRoundedToZeroLetsNothingThrough) {
    // Without the rounding the mask would be open: some of these outputs are positive in f32.
    const Layer layer(DType::f16, 700, 16, 0x1p-24);
    std::int64_t zeros = 0, positive = 0;
    for (std::int64_t i = 0; i < layer.y.size(); ++i) {
        zeros += layer.y.get(i) == 0;
        const std::int64_t c = i % 16;
        const double value =
            (layer.x.get(i) - layer.mean.get(c)) * layer.invstd.get(c) * layer.weight.get(c) +
            layer.bias.get(c);
        positive += value > 0x1p-40;
    }
    EXPECT_GT(positive + zeros, layer.y.size() + 100);
}

TEST(BatchNormMask, TwoGradientsHaveTheBitsOfTheirRoundedSum) {
    on_every_target([] {
        for_each_layer([](DType dtype, std::int64_t channels, double scale) {
            const Layer layer(dtype, 700, channels, scale);
            Buffer sum(dtype, layer.dy.size());
            cpu::binary(sum, layer.dy, layer.other, BinaryOp::add, {});
            for (const bool recompute : {false, true})
                EXPECT_EQ(layer.backward(layer.dy, layer.other, recompute),
                          layer.backward(sum, layer.nothing(), recompute));
        });
    });
}

}  // namespace
}  // namespace kernels::test
