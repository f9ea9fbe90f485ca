#include "kernels/layer_norm.h"

#include "kernels/layer_norm_problem.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

ConstArray given(bool there, const Buffer& array) {
    return there ? array.view() : ConstArray{nullptr, array.dtype(), 0};
}

struct Forward {
    Buffer y, mean, rstd;
};
Forward forward(const LayerNormProblem& p, DType to) {
    Forward out{Buffer(to, p.n), Buffer(p.wide, p.shape.rows), Buffer(p.wide, p.shape.rows)};
    cpu::layer_norm_forward(out.y, out.mean, out.rstd, p.x, given(p.affine, p.weight),
                            given(p.affine, p.bias), p.shape, {});
    return out;
}

TEST(LayerNorm, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for_each_layer_norm([](DType x, DType y, const LayerNormShape& shape, bool affine) {
            const LayerNormProblem p(x, y, shape, affine);
            const Forward out = forward(p, y);
            expect_forward(p, out.y, out.mean, out.rstd);
        });
    });
}

TEST(LayerNorm, LosesNothingToALargeMean) {
    on_every_target([] {
        const LayerNormProblem p(DType::f32, DType::f32, {3, 5000, 0, false}, false, 100, 0.01);
        const Forward out = forward(p, DType::f32);
        for (std::int64_t row = 0; row < 3; ++row) {
            const RowMoments exact = exact_moments(p, row);
            EXPECT_NEAR(out.mean.get(row), exact.mean, 8e-6);  // one rounding at 100
            EXPECT_NEAR(out.rstd.get(row) / exact.rstd, 1, 1e-5);
        }
    });
}

TEST(LayerNorm, KeepsANaNOrAnInfinityToItsRow) {
    on_every_target([] {
        for (const bool rms : {false, true}) {
            LayerNormProblem p(DType::f32, DType::f32, {3, 40, 1e-5, rms}, false);
            p.x.set(3, static_cast<double>(nan));
            p.x.set(41, static_cast<double>(infinity));
            const Forward out = forward(p, DType::f32);
            EXPECT_TRUE(std::isnan(out.y.get(0)));
            EXPECT_TRUE(std::isnan(out.y.get(41)));  // inf / inf
            if (!rms) {
                EXPECT_EQ(out.mean.get(1), static_cast<double>(infinity));
            }
            EXPECT_TRUE(std::isfinite(out.y.get(80)));
        }
    });
}

TEST(LayerNormBackward, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for_each_layer_norm([](DType x, DType y, const LayerNormShape& shape, bool affine) {
            const LayerNormProblem p(x, y, shape, affine);
            const Forward out = forward(p, y);
            Buffer dx(x, p.n), dweight(p.wide, shape.cols), dbias(p.wide, shape.cols);
            cpu::layer_norm_backward(dx, dweight, dbias, p.dy, p.x, given(affine, p.weight),
                                     out.mean, out.rstd, shape, {});
            expect_backward(p, out.mean, out.rstd, dx, dweight, dbias);
            Buffer alone(x, p.n);
            const Array none{nullptr, p.wide, 0};
            cpu::layer_norm_backward(alone, none, none, p.dy, p.x, given(affine, p.weight),
                                     out.mean, out.rstd, shape, {});
            EXPECT_EQ(alone.bytes(), dx.bytes());
        });
    });
}

TEST(LayerNormBackward, GivesZeroWeightGradientsForNoRows) {
    const LayerNormProblem p(DType::f16, DType::f16, {0, 3}, false);
    const Buffer none(DType::f32, 0);
    Buffer dx(DType::f16, 0), dweight(DType::f32, {5, 5, 5}), dbias(DType::f32, {5, 5, 5});
    cpu::layer_norm_backward(dx, dweight, dbias, p.dy, p.x, given(false, p.weight), none, none,
                             p.shape, {});
    EXPECT_EQ(dweight.values(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(dbias.values(), (std::vector<double>{0, 0, 0}));
}

TEST(LayerNorm, GivesTheSameBitsForEveryThreadCount) {
    const LayerNormProblem p(DType::bf16, DType::f32, {3000, 100}, true);
    const Forward expected = forward(p, DType::f32);
    const auto gradients = [&] {
        Buffer dx(DType::bf16, p.n), all(DType::f32, 200);
        cpu::layer_norm_backward(dx, {all.as<float>(), DType::f32, 100},
                                 {all.as<float>() + 100, DType::f32, 100}, p.dy, p.x, p.weight,
                                 expected.mean, expected.rstd, p.shape, {});
        return std::pair(dx.bytes(), all.bytes());
    };
    const auto before = gradients();
    with_threads([&](int) {
        EXPECT_EQ(forward(p, DType::f32).y.bytes(), expected.y.bytes());
        EXPECT_EQ(gradients(), before);
    });
}

}  // namespace
}  // namespace kernels::test
