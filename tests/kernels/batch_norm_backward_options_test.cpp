#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/batch_norm.h"
#include "kernels/batch_norm_problem.h"
#include "kernels/device_array.h"
#include "kernels/elementwise.h"
#include "kernels/support.h"

// Options of batch norm's backward pass: the largest magnitude of f16 gradients, the sum of two
// gradients, a mask that is recomputed.
namespace kernels::test::batch_norm {
namespace {

float abs_max_of_both(const Buffer& dy, const Buffer& dx, float start) {
    cpu::abs_max(&start, dy, {});
    cpu::abs_max(&start, dx, {});
    return start;
}

/// backward(dy, dx, start, shape) gives what the backward pass takes along, from `start` on: what
/// AbsMax finds.
template <typename Backward>
void expect_magnitudes(const Backward& backward) {
    for (const std::int64_t channels : {3, 8, 64})
        for (const float start : {0.0f, 1e4f})
            for (const float bad : {0.0f, infinity, nan}) {
                const std::int64_t rows = 300, n = rows * channels;
                Buffer dy = random_buffer(DType::f16, n, 8);
                if (bad != 0) dy.set(n - 1, static_cast<double>(bad));
                Buffer dx(DType::f16, n);
                const float found = backward(dy, dx, start, BatchNormShape{rows, channels});
                const float expected = abs_max_of_both(dy, dx, start);
                EXPECT_EQ(std::isnan(found), std::isnan(expected));
                if (!std::isnan(expected)) {
                    EXPECT_EQ(found, expected) << channels;
                }
            }
}

TEST(BatchNormBackward, TakesTheMagnitudesOfF16GradientsAlong) {
    expect_magnitudes([](const Buffer& dy, Buffer& dx, float start, const BatchNormShape& shape) {
        Case t(DType::f16, shape.rows, shape.channels);
        t.forward(true, true);
        Buffer dweight(t.wide, shape.channels), dbias(t.wide, shape.channels);
        cpu::batch_norm_backward(dx, no_array, dweight, dbias, &start, dy, no_array, t.x, t.y,
                                 t.weight, no_array, t.mean, t.invstd, true, true, t.shape, {});
        return start;
    });
}

TEST(CudaBatchNorm, TakesTheMagnitudesOfF16GradientsAlong) {
    HALFTONE_NEEDS_CUDA();
    for (const bool training : {false, true})
        expect_magnitudes(
            [training](const Buffer& dy, Buffer& dx, float start, const BatchNormShape& shape) {
                Case t(DType::f16, shape.rows, shape.channels);
                t.forward(true, true);
                const DeviceBuffer to(DType::f16, dx.size()), from(dy), x(t.x), y(t.y);
                const DeviceBuffer weight(t.weight), mean(t.mean), invstd(t.invstd);
                const DeviceValue<float> largest(start);
                cuda::batch_norm_backward(to, no_array, no_array, no_array, largest.get(), from,
                                          no_array, x, y, weight, no_array, mean, invstd, true,
                                          training, t.shape, {});
                dx = to.host();
                return largest.host();
            });
}

/// Gradients that a backward pass writes, as bytes.
struct Gradients {
    std::vector<unsigned char> dx, dresidual, dweight, dbias;
    bool operator==(const Gradients&) const = default;
};

/// How a backward pass is asked for the gradients of one case.
struct AskedBackward {
    bool relu = true, with_residual = true, training = true, recompute = false;
    bool in_place = false;  ///< dx takes x's memory, dresidual dy's; on the CPU
};

Gradients gradients_on_cpu(Case& t, const Buffer& dy, ConstArray addend, const AskedBackward& how,
                           float* largest = nullptr) {
    const bool over_dy = how.in_place && how.with_residual;
    Buffer dx = t.x, dresidual = over_dy ? dy : Buffer(dy.dtype(), dy.size());
    Buffer dweight(t.wide, t.shape.channels), dbias(t.wide, t.shape.channels);
    cpu::batch_norm_backward(dx, how.with_residual ? dresidual.array() : no_array, dweight, dbias,
                             largest, over_dy ? dresidual : dy, addend, how.in_place ? dx : t.x,
                             t.y, t.weight, given(how.recompute, t.bias), t.mean, t.invstd,
                             how.relu, how.training, t.shape, {});
    return {dx.bytes(), dresidual.bytes(), dweight.bytes(), dbias.bytes()};
}

/// Fixed statistics have fixed weights here, so that nobody asks for the sums.
Gradients gradients_on_device(Case& t, const Buffer& dy, const Buffer* addend,
                              const AskedBackward& how, float* largest = nullptr) {
    const DeviceBuffer dx(Buffer(dy.dtype(), dy.size())), dresidual(Buffer(dy.dtype(), dy.size()));
    const DeviceBuffer dweight(t.wide, t.shape.channels), dbias(t.wide, t.shape.channels);
    const DeviceBuffer from(dy), more(addend ? *addend : dy), x(t.x), y(t.y);
    const DeviceBuffer weight(t.weight), bias(t.bias), mean(t.mean), invstd(t.invstd);
    const DeviceValue<float> most(largest ? *largest : 0);
    cuda::batch_norm_backward(
        dx, how.with_residual ? dresidual.array() : no_array,
        how.training ? dweight.array() : no_array, how.training ? dbias.array() : no_array,
        largest ? most.get() : nullptr, from, given(addend != nullptr, more), x, y, weight,
        given(how.recompute, bias), mean, invstd, how.relu, how.training, t.shape, {});
    if (largest) *largest = most.host();
    return {dx.host().bytes(), dresidual.host().bytes(), dweight.host().bytes(),
            dbias.host().bytes()};
}

/// Gradients of which some round when they are added, and some overflow f16.
std::pair<Buffer, Buffer> two_gradients(DType dtype, std::int64_t n) {
    Buffer first = random_buffer(dtype, n, 8, 0, 1000), second = random_buffer(dtype, n, 9);
    first.set(1, 60000);
    second.set(1, 60000);
    return {first, second};
}

Buffer sum_of(const Buffer& a, const Buffer& b) {
    Buffer sum(a.dtype(), a.size());
    cpu::binary(sum, a, b, BinaryOp::add, {});
    return sum;
}

/// f(case, asked) for types, shapes with and without packs, and what a caller may ask for.
template <typename F>
void for_each_asked(const F& f) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {3, 16, 40})
            for (const bool relu : {true, false})
                for (const bool with_residual : {true, false})
                    for (const bool training : {true, false}) {
                        SCOPED_TRACE(::testing::Message()
                                     << "dtype " << static_cast<int>(dtype) << " channels "
                                     << channels << " relu " << relu << " residual "
                                     << with_residual << " training " << training);
                        Case t(dtype, 300, channels);
                        t.forward(with_residual, relu);
                        f(t, AskedBackward{relu, with_residual, training});
                    }
}

TEST(BatchNormBackward, AddsASecondGradientAsAnAdditionBeforeItWould) {
    for_each_asked([](Case& t, const AskedBackward& how) {
        const auto [first, second] = two_gradients(t.x.dtype(), t.x.size());
        EXPECT_EQ(gradients_on_cpu(t, first, second, how),
                  gradients_on_cpu(t, sum_of(first, second), no_array, how));
    });
}

TEST(BatchNormBackward, HasTheSameBitsInTheMemoryOfItsOperands) {
    for_each_asked([](Case& t, AskedBackward how) {
        const auto [first, second] = two_gradients(t.x.dtype(), t.x.size());
        for (const bool recompute : {false, true}) {
            how.recompute = recompute && how.training && !how.with_residual;
            AskedBackward in_place = how;
            in_place.in_place = true;
            EXPECT_EQ(gradients_on_cpu(t, first, no_array, in_place),
                      gradients_on_cpu(t, first, no_array, how));
            if (how.with_residual) {
                EXPECT_EQ(gradients_on_cpu(t, first, second, in_place),
                          gradients_on_cpu(t, first, second, how));
            }
        }
    });
}

TEST(CudaBatchNorm, AddsASecondGradientAsAnAdditionBeforeItWould) {
    HALFTONE_NEEDS_CUDA();
    for_each_asked([](Case& t, const AskedBackward& how) {
        const auto [first, second] = two_gradients(t.x.dtype(), t.x.size());
        const Buffer sum = sum_of(first, second);
        EXPECT_EQ(gradients_on_device(t, first, &second, how),
                  gradients_on_device(t, sum, nullptr, how));
    });
}

/// run(case, first, second, asked, largest) is a backward pass. The largest sum lies where y is 0:
/// it does not pass, and counts all the same.
template <typename Run>
void expect_magnitudes_of_sum(const Run& run) {
    for (const bool with_residual : {false, true}) {
        Case t(DType::f16, 300, 16);
        t.forward(with_residual, true);
        std::int64_t closed = 0;
        while (t.y.get(closed) > 0) ++closed;
        for (const double large : {2e4, 6e4}) {
            Buffer first = random_buffer(DType::f16, t.x.size(), 8);
            Buffer second = random_buffer(DType::f16, t.x.size(), 9);
            first.set(closed, large);
            second.set(closed, large);
            float found = 0;
            run(t, first, second, AskedBackward{.with_residual = with_residual}, &found);
            EXPECT_EQ(found, large == 2e4 ? 4e4f : infinity) << with_residual;
        }
    }
}

TEST(BatchNormBackward, TakesTheMagnitudesOfASumAlong) {
    expect_magnitudes_of_sum(
        [](Case& t, const Buffer& first, const Buffer& second, const AskedBackward& how,
           float* largest) { gradients_on_cpu(t, first, second, how, largest); });
}

TEST(CudaBatchNorm, TakesTheMagnitudesOfASumAlong) {
    HALFTONE_NEEDS_CUDA();
    expect_magnitudes_of_sum(
        [](Case& t, const Buffer& first, const Buffer& second, const AskedBackward& how,
           float* largest) { gradients_on_device(t, first, &second, how, largest); });
}

TEST(CudaBatchNorm, RecomputesTheMaskThatTheForwardPassRoundedTo) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t channels : {3, 16})
            for (const bool with_residual : {false, true}) {
                Case t(dtype, 300, channels);
                // Results so small that they are 0 in f16: the gradient does not pass there.
                for (std::int64_t c = 0; c < channels; c += 2) {
                    t.weight.set(c, 1e-8);
                    t.bias.set(c, 1e-9);
                }
                t.x.set(4, std::nan(""));
                const DeviceBuffer x(t.x), y(dtype, t.x.size()), mean(t.wide, channels),
                    invstd(t.wide, channels), weight(t.weight), bias(t.bias);
                cuda::batch_norm_forward_train(y, mean, invstd, no_array, no_array, x, weight, bias,
                                               no_array, true, t.shape, {});
                t.y = y.host();
                t.mean = mean.host();
                t.invstd = invstd.host();
                const Buffer dy = random_buffer(dtype, t.x.size(), 8);
                AskedBackward how{.with_residual = with_residual};
                const Gradients read = gradients_on_device(t, dy, nullptr, how);
                how.recompute = true;
                EXPECT_EQ(gradients_on_device(t, dy, nullptr, how), read);
                // y is not read any more, so it may hold anything.
                t.y = Buffer(dtype, t.x.size());
                EXPECT_EQ(gradients_on_device(t, dy, nullptr, how), read);
            }
}

}  // namespace
}  // namespace kernels::test::batch_norm
