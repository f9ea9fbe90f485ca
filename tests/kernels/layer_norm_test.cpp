#include "kernels/layer_norm.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/layer_norm_problem.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

ConstArray given(bool there, const Buffer& array) {
    return there ? array.view() : ConstArray{nullptr, array.dtype(), 0};
}

struct LayerNormForward {
    Buffer y, mean, rstd;
};
LayerNormForward forward(const LayerNormProblem& p, DType to) {
    LayerNormForward out{Buffer(to, p.n), Buffer(p.wide, p.shape.rows),
                         Buffer(p.wide, p.shape.rows)};
    cpu::layer_norm_forward(out.y, out.mean, out.rstd, p.x, given(p.affine, p.weight),
                            given(p.affine, p.bias), p.shape, {});
    return out;
}

TEST(LayerNorm, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for_each_layer_norm([](DType x, DType y, const LayerNormShape& shape, bool affine) {
            const LayerNormProblem p(x, y, shape, affine);
            const LayerNormForward out = forward(p, y);
            expect_forward(p, out.y, out.mean, out.rstd);
        });
    });
}

TEST(LayerNorm, LosesNothingToALargeMean) {
    on_every_target([] {
        const LayerNormProblem p(DType::f32, DType::f32, {3, 5000, 0, false}, false, 100, 0.01);
        const LayerNormForward out = forward(p, DType::f32);
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
            const LayerNormForward out = forward(p, DType::f32);
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
            const LayerNormForward out = forward(p, y);
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
    const LayerNormForward expected = forward(p, DType::f32);
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

/// The arrays of one problem on the device. x and dy begin `skip` elements into their memory.
struct LayerNormOnDevice {
    LayerNormOnDevice(const LayerNormProblem& p, DType to, std::int64_t skip)
        : x(shifted(p.x, skip)),
          dy(shifted(p.dy, skip)),
          weight(p.weight),
          bias(p.bias),
          y(to, p.n),
          mean(p.wide, p.shape.rows),
          rstd(p.wide, p.shape.rows),
          dx(p.x.dtype(), p.n),
          dweight(p.wide, p.shape.cols),
          dbias(p.wide, p.shape.cols) {}
    DeviceBuffer x, dy, weight, bias, y, mean, rstd, dx, dweight, dbias;

    static Buffer shifted(const Buffer& values, std::int64_t skip) {
        Buffer out(values.dtype(), values.size() + skip);
        for (std::int64_t i = 0; i < values.size(); ++i) out.set(i + skip, values.get(i));
        return out;
    }
    static ConstArray from(const Array& whole, std::int64_t skip) {
        return {
            static_cast<char*>(whole.data) + static_cast<std::size_t>(skip) * size_of(whole.dtype),
            whole.dtype, whole.size - skip};
    }
};

void expect_both(const LayerNormProblem& p, DType to, std::int64_t skip = 0) {
    const LayerNormOnDevice d(p, to, skip);
    const auto given = [&](const DeviceBuffer& array) {
        return p.affine ? ConstArray(array.array()) : ConstArray{nullptr, p.wide, 0};
    };
    const ConstArray x = LayerNormOnDevice::from(d.x, skip),
                     dy = LayerNormOnDevice::from(d.dy, skip);
    cuda::layer_norm_forward(d.y, d.mean, d.rstd, x, given(d.weight), given(d.bias), p.shape, {});
    const Buffer mean = d.mean.host(), rstd = d.rstd.host();
    expect_forward(p, d.y.host(), mean, rstd);
    cuda::layer_norm_backward(d.dx, d.dweight, d.dbias, dy, x, given(d.weight), d.mean, d.rstd,
                              p.shape, {});
    expect_backward(p, mean, rstd, d.dx.host(), d.dweight.host(), d.dbias.host());
}

TEST(CudaLayerNorm, MeetsTheReferenceForEveryTypeAndWidth) {
    HALFTONE_NEEDS_CUDA();
    for_each_layer_norm([](DType x, DType y, const LayerNormShape& shape, bool affine) {
        expect_both(LayerNormProblem(x, y, shape, affine), y);
    });
}

TEST(CudaLayerNorm, TakesLongRowsAndManyShortOnes) {
    HALFTONE_NEEDS_CUDA();
    for (const bool rms : {false, true}) {
        expect_both({DType::f32, DType::f32, {1, 20'001, 1e-5, rms}, true}, DType::f32);
        expect_both({DType::bf16, DType::f32, {2001, 3, 1e-5, rms}, true}, DType::f32);
    }
}

TEST(CudaLayerNorm, TakesMisalignedStarts) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t cols : {40, 1064})
            expect_both({dtype, dtype, {3, cols}, true}, dtype, 1);
}

TEST(CudaLayerNorm, LosesNothingToALargeMean) {
    HALFTONE_NEEDS_CUDA();
    const LayerNormProblem p(DType::f32, DType::f32, {2, 5000, 0, false}, false, 100, 0.01);
    const LayerNormOnDevice d(p, DType::f32, 0);
    const ConstArray none{nullptr, DType::f32, 0};
    cuda::layer_norm_forward(d.y, d.mean, d.rstd, d.x, none, none, p.shape, {});
    for (std::int64_t row = 0; row < 2; ++row) {
        const RowMoments exact = exact_moments(p, row);
        EXPECT_NEAR(d.mean.host().get(row), exact.mean, 8e-6);
        EXPECT_NEAR(d.rstd.host().get(row) / exact.rstd, 1, 1e-5);
    }
}

TEST(CudaLayerNorm, AnInfinityIsTheMeanOfItsRowAlone) {
    HALFTONE_NEEDS_CUDA();
    LayerNormProblem p(DType::f32, DType::f32, {2, 40, 1e-5, false}, false);
    p.x.set(41, -static_cast<double>(infinity));
    const LayerNormOnDevice d(p, DType::f32, 0);
    const ConstArray none{nullptr, DType::f32, 0};
    cuda::layer_norm_forward(d.y, d.mean, d.rstd, d.x, none, none, p.shape, {});
    EXPECT_TRUE(std::isfinite(d.mean.host().get(0)));
    EXPECT_EQ(d.mean.host().get(1), -static_cast<double>(infinity));
    EXPECT_TRUE(std::isnan(d.y.host().get(41)));
}

TEST(CudaLayerNorm, GivesZeroWeightGradientsForNoRowsAndStartsNothingForNoColumns) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0), dweight(DType::f32, 3), dbias(DType::f32, 3);
    cuda::layer_norm_backward(none, dweight, dbias, none, none, none, none, none, {0, 3}, {});
    EXPECT_EQ(dweight.host().values(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(dbias.host().values(), (std::vector<double>{0, 0, 0}));
    const auto before = cuda::call_counts().launches;
    cuda::layer_norm_backward(none, none, none, none, none, none, none, none, {0, 0}, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
