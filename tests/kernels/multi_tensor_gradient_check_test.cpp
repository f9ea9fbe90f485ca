#include <gtest/gtest.h>

#include <memory>

#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/multi_tensor.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

std::vector<ConstArray> views(const std::vector<Buffer>& buffers) {
    std::vector<ConstArray> result;
    for (const Buffer& b : buffers) result.push_back(b.view());
    return result;
}

GradientStatistics reference_statistics(const std::vector<Buffer>& grads) {
    GradientStatistics j{};
    for (const Buffer& g : grads)
        for (double v : g.values()) {
            const double m = std::fabs(v);
            ++j.total;
            j.nonzero += m != 0 ? 1 : 0;
            j.to_zero += m != 0 && m <= 0x1p-25 ? 1 : 0;
            j.subnormal += m > 0x1p-25 && stored(DType::f16, m) < 0x1p-14 ? 1 : 0;
            j.overflow += !(m < 65520) ? 1 : 0;
            j.sum_squares += v * v;
            if (!std::isfinite(v)) j.found_inf = 1;
            if (std::isnan(m) || m > static_cast<double>(j.abs_max))
                j.abs_max = static_cast<float>(m);
            const bool larger = std::isnan(m) || m > static_cast<double>(j.f16_abs_max);
            if (g.dtype() == DType::f16 && larger) j.f16_abs_max = static_cast<float>(m);
        }
    return j;
}

bool same_or_nan(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_statistics(const std::vector<Buffer>& grads) {
    const GradientStatistics expected = reference_statistics(grads);
    GradientStatistics j{};
    cpu::multi_tensor_gradient_check(&j, views(grads), {});
    EXPECT_EQ(j.found_inf, expected.found_inf);
    EXPECT_EQ(j.total, expected.total);
    EXPECT_EQ(j.nonzero, expected.nonzero);
    EXPECT_EQ(j.to_zero, expected.to_zero);
    EXPECT_EQ(j.subnormal, expected.subnormal);
    EXPECT_EQ(j.overflow, expected.overflow);
    EXPECT_TRUE(same_or_nan(j.f16_abs_max, expected.f16_abs_max));
    if (std::isnan(expected.abs_max)) {
        EXPECT_TRUE(std::isnan(j.abs_max));
        EXPECT_TRUE(std::isnan(j.sum_squares));
    } else {
        EXPECT_EQ(j.abs_max, expected.abs_max);
        // Squares and sums in double: at most one unit per addition.
        if (expected.found_inf == 0) {
            EXPECT_NEAR(j.sum_squares, expected.sum_squares, 1e-9 * expected.sum_squares);
        }
    }
}

/// Values of every class that the gradient check counts, from both sides of every limit.
Buffer bounds(DType dtype) {
    std::vector<double> values = {0, -0.0, 65504, 65520, -65520, 1e5, 0x1p-149};
    for (double v : {0x1p-25, 0x1p-24, 0x1p-14, 0x1p-14 - 0x1p-25, 65520.0})
        for (double f : {1.0, 1 - 0x1p-23, 1 + 0x1p-23, 1 - 0x1p-8, 1 + 0x1p-7})
            values.push_back(v * f);
    return Buffer(dtype, values);
}

TEST(GradientCheck, CountsEveryClassOfValues) {
    on_every_target([] {
        for (DType dtype : floating) {
            expect_statistics({bounds(dtype)});
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                expect_statistics({random_buffer(dtype, size, 1, 0, 1e-5), bounds(dtype)});
        }
    });
}

TEST(GradientCheck, FindsInfinityAndNaNWhereverTheyAre) {
    on_every_target([] {
        for (DType dtype : floating)
            for (float bad : {infinity, -infinity, nan})
                for (std::int64_t place : {0, 16, 32}) {
                    Buffer grad = random_buffer(dtype, 33, 2);
                    grad.set(place, static_cast<double>(bad));
                    expect_statistics({random_buffer(DType::f32, 5, 3), grad});
                }
    });
}

TEST(GradientCheck, MixesTypesAndSumsOverManyPiecesTheSameForEveryThreadCount) {
    std::vector<Buffer> grads;
    for (DType dtype : floating)
        for (std::int64_t size : {100003, 5, 0, 70000})
            grads.push_back(random_buffer(dtype, size, 4));
    GradientStatistics one{};
    cpu::set_threads(1);
    cpu::multi_tensor_gradient_check(&one, views(grads), {});
    with_threads([&](int) {
        expect_statistics(grads);
        GradientStatistics j{};
        cpu::multi_tensor_gradient_check(&j, views(grads), {});
        EXPECT_EQ(j.sum_squares, one.sum_squares);
    });
}

TEST(GradientCheck, SquaresValuesWhoseSquareLeavesF32) {
    const Buffer grad(DType::f32, {1e25, 1e-30});
    GradientStatistics j{};
    cpu::multi_tensor_gradient_check(&j, views({grad}), {});
    EXPECT_NEAR(j.sum_squares / 1e50, 1, 1e-6);
    EXPECT_EQ(j.found_inf, 0);
}

TEST(GradientCheck, GivesZerosForNoGradients) {
    GradientStatistics j{};
    j.total = 7;
    cpu::multi_tensor_gradient_check(&j, {}, {});
    EXPECT_EQ(j.total, 0);
    EXPECT_EQ(j.found_inf, 0);
}

TEST(Unscale, MultipliesInPlaceAndRaisesFoundInf) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {1, 31, 33, 1000}) {
                const Buffer before = random_buffer(dtype, size, 5, 0, 100);
                Buffer grad = before;
                float found = 0;
                const float inv = 1.0f / 3;
                const std::vector<Array> grads = {grad.array()};
                cpu::multi_tensor_unscale(grads, &inv, &found, {});
                EXPECT_EQ(found, 0);
                for (std::int64_t i = 0; i < size; ++i) {
                    const double exact = before.get(i) * static_cast<double>(inv);
                    const double product = dtype == DType::f64
                                               ? exact
                                               : static_cast<double>(static_cast<float>(exact));
                    ASSERT_EQ(grad.get(i), stored(dtype, product));
                }
                grad.set(size - 1, static_cast<double>(infinity));
                cpu::multi_tensor_unscale(grads, &inv, &found, {});
                EXPECT_EQ(found, 1);
            }
    });
}

TEST(Unscale, NeverLowersFoundInfAndJudgesTheIncomingValue) {
    Buffer grad(DType::f16, {65504, 1});
    const std::vector<Array> grads = {grad.array()};
    float found = 0;
    const float two = 2, half = 0.5f;
    cpu::multi_tensor_unscale(grads, &two, &found, {});  // overflows only in the product
    EXPECT_EQ(found, 0);
    EXPECT_EQ(grad.get(0), static_cast<double>(infinity));
    found = 1;
    Buffer fine(DType::f32, {1});
    cpu::multi_tensor_unscale(std::vector<Array>{fine.array()}, &half, &found, {});
    EXPECT_EQ(found, 1);
}

TEST(Unscale, LeavesEveryBitWhenTheFactorIsOne) {
    Buffer grad(DType::f32, {1, 2});
    grad.as<std::uint32_t>()[1] = 0x7f812345;  // a signalling NaN, which a product would make quiet
    float found = 0;
    const float one = 1;
    cpu::multi_tensor_unscale(std::vector<Array>{grad.array()}, &one, &found, {});
    EXPECT_EQ(grad.as<std::uint32_t>()[1], 0x7f812345u);
    EXPECT_EQ(found, 1);
}

/// A list of tensors on the device. Every second one starts inside its memory, aligned only for its
/// elements.
class DeviceList {
public:
    explicit DeviceList(const std::vector<Buffer>& host) {
        for (std::size_t i = 0; i < host.size(); ++i) {
            const std::int64_t start = i % 2 == 0 ? 0 : 1;
            Buffer padded(host[i].dtype(), host[i].size() + start);
            std::copy(host[i].bytes().begin(), host[i].bytes().end(),
                      padded.as<unsigned char>() + offset(padded, start));
            memory_.push_back(std::make_unique<DeviceBuffer>(padded));
            starts_.push_back(start);
        }
    }
    Array array(std::size_t i) const {
        const Array all = memory_[i]->array();
        return {static_cast<unsigned char*>(all.data) +
                    static_cast<std::size_t>(starts_[i]) * size_of(all.dtype),
                all.dtype, all.size - starts_[i]};
    }
    std::vector<Array> arrays() const {
        std::vector<Array> result;
        for (std::size_t i = 0; i < memory_.size(); ++i) result.push_back(array(i));
        return result;
    }
    std::vector<ConstArray> views() const {
        const auto all = arrays();
        return {all.begin(), all.end()};
    }
    Buffer host(std::size_t i) const {
        Buffer all = memory_[i]->host();
        Buffer result(all.dtype(), all.size() - starts_[i]);
        std::copy_n(all.as<unsigned char>() + offset(all, starts_[i]), result.bytes().size(),
                    result.as<unsigned char>());
        return result;
    }

private:
    static std::size_t offset(const Buffer& buffer, std::int64_t start) {
        return static_cast<std::size_t>(start) * size_of(buffer.dtype());
    }
    std::vector<std::unique_ptr<DeviceBuffer>> memory_;
    std::vector<std::int64_t> starts_;
};

/// Values on both sides of every limit of the gradient check.
Buffer twin_bounds(DType dtype) {
    std::vector<double> values = {0, -0.0, 65504, 65520, -65520, 1e5, 0x1p-149, 0x1p-200, 1e300};
    for (double v : {0x1p-25, 0x1p-24, 0x1p-14, 0x1p-14 - 0x1p-25, 65520.0})
        for (double f : {1.0, 1 - 0x1p-23, 1 + 0x1p-23, 1 - 0x1p-8, 1 + 0x1p-7, 1 + 0x1p-40})
            values.push_back(v * f);
    if (dtype != DType::f64) std::erase(values, 1e300);
    return Buffer(dtype, values);
}

void expect_same_statistics(const std::vector<Buffer>& grads) {
    GradientStatistics expected;
    cpu::multi_tensor_gradient_check(&expected, views(grads), {});
    const DeviceList list(grads);
    const DeviceValue<GradientStatistics> gradient_statistics({7, 7, 7, 7, 7, 7, 7, 7, 7});
    cuda::multi_tensor_gradient_check(gradient_statistics.get(), list.views(), {});
    const GradientStatistics actual = gradient_statistics.host();
    EXPECT_EQ(actual.found_inf, expected.found_inf);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(actual.abs_max) & 0x7fc00000u,
              std::bit_cast<std::uint32_t>(expected.abs_max) & 0x7fc00000u);
    if (!std::isnan(expected.abs_max)) {
        EXPECT_EQ(actual.abs_max, expected.abs_max);
    }
    EXPECT_EQ(actual.nonzero, expected.nonzero);
    EXPECT_EQ(actual.to_zero, expected.to_zero);
    EXPECT_EQ(actual.subnormal, expected.subnormal);
    EXPECT_EQ(actual.overflow, expected.overflow);
    EXPECT_EQ(actual.total, expected.total);
    EXPECT_TRUE(same_or_nan(actual.f16_abs_max, expected.f16_abs_max));
    if (std::isfinite(expected.sum_squares)) {
        // Squares are positive, so each addition errs by at most one unit of the sum. Except for
        // f64, groups of eight neighbours are first summed in f32, which adds eight roundings.
        const bool narrow = std::any_of(grads.begin(), grads.end(), [](const Buffer& grad) {
            return grad.dtype() != DType::f64;
        });
        const double slack =
            static_cast<double>(expected.total + 1) * 0x1p-52 + (narrow ? 8 * 0x1p-24 : 0);
        EXPECT_NEAR(actual.sum_squares, expected.sum_squares, slack * expected.sum_squares);
    } else {
        EXPECT_FALSE(std::isfinite(actual.sum_squares));
    }
    cuda::multi_tensor_gradient_check(gradient_statistics.get(), list.views(), {});
    const GradientStatistics again = gradient_statistics.host();
    EXPECT_EQ(std::memcmp(&again, &actual, sizeof again), 0);
}

// Groups of eight whose squares, or whose sum, overflow or underflow f32; from both sides of the
// limits beyond which they are not summed in f32.
TEST(CudaGradientCheck, SquaresValuesWhoseSquaresLeaveF32) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f32, DType::bf16})
        for (const double largest : {0x1p-149, 0x1p-126, 0x1p-75, 0x1p-51, 0x1.fep-51, 0x1p-50,
                                     0x1p60, 0x1.02p60, 0x1.fep63, 0x1p64, 0x1p100, 0x1.fep127}) {
            SCOPED_TRACE(largest);
            expect_same_statistics({Buffer(dtype, std::vector<double>(8, largest))});
            expect_same_statistics(
                {Buffer(dtype, {largest, -0x1p-149, largest / 2, 0, 0, 0, 0, -largest / 4})});
        }
    expect_same_statistics({Buffer(DType::f32, std::vector<double>(64, 0)),
                            Buffer(DType::f16, std::vector<double>(64, 65504))});
}

TEST(CudaGradientCheck, CountsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t size : {0, 1, 7, 8, 9, 4095, 4096, 4097, 10001})
            expect_same_statistics({random_buffer(dtype, size, 1, 0, 1e-4), twin_bounds(dtype)});
        for (const float bad : {infinity, -infinity, nan}) {
            Buffer grad = random_buffer(dtype, 5000, 2);
            grad.set(4999, static_cast<double>(bad));
            expect_same_statistics({random_buffer(DType::f32, 5, 3), grad});
        }
    }
}

TEST(CudaGradientCheck, MixesTypesInListsLongerThanALaunchTakes) {
    HALFTONE_NEEDS_CUDA();
    std::vector<Buffer> grads;
    for (int i = 0; i < 300; ++i)
        grads.push_back(random_buffer(floating[static_cast<std::size_t>(i % 4)], i * 37 % 61,
                                      static_cast<unsigned>(i)));
    expect_same_statistics(grads);
}

TEST(CudaGradientCheck, SharesManyChunksOutToItsBlocks) {
    HALFTONE_NEEDS_CUDA();
    expect_same_statistics({random_buffer(DType::f32, 100003, 1), random_buffer(DType::f16, 5, 2),
                            random_buffer(DType::bf16, 70001, 3)});
}

TEST(CudaGradientCheck, SquaresValuesWhoseSquareLeavesF32) {
    HALFTONE_NEEDS_CUDA();
    expect_same_statistics({Buffer(DType::f32, {1e25, 1e-30})});
}

TEST(CudaGradientCheck, GivesZerosForNoGradients) {
    HALFTONE_NEEDS_CUDA();
    expect_same_statistics({});
}

void expect_same_unscaled(const std::vector<Buffer>& before, float factor, float found_before) {
    std::vector<Buffer> expected = before;
    std::vector<Array> arrays;
    for (Buffer& b : expected) arrays.push_back(b.array());
    float found = found_before;
    cpu::multi_tensor_unscale(arrays, &factor, &found, {});
    const DeviceList list(before);
    const DeviceValue<float> device_factor(factor), device_found(found_before);
    cuda::multi_tensor_unscale(list.arrays(), device_factor.get(), device_found.get(), {});
    EXPECT_EQ(device_found.host(), found) << factor;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const Buffer actual = list.host(i);
        for (std::int64_t k = 0; k < actual.size(); ++k) {
            const double e = expected[i].get(k), a = actual.get(k);
            ASSERT_TRUE(std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(e) ||
                        (std::isnan(a) && std::isnan(e)))
                << a << " for " << e << " at " << k << " of tensor " << i;
        }
    }
}

TEST(CudaUnscale, MultipliesAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const float factor : {1.0f / 3, 0x1p-16f, 1.0f, 2.0f}) {
            for (const std::int64_t size : {0, 1, 7, 8, 9, 5000}) {
                const Buffer grad = random_buffer(dtype, size, 4, 0, 100);
                expect_same_unscaled({grad, grad, twin_bounds(DType::f32)}, factor, 0);
                expect_same_unscaled({grad, grad}, factor, 1);
            }
            for (const float bad : {infinity, nan}) {
                Buffer grad = random_buffer(dtype, 33, 5);
                grad.set(32, static_cast<double>(bad));
                expect_same_unscaled({grad, grad}, factor, 0);
            }
        }
    }
}

TEST(CudaUnscale, LeavesEveryBitWhenTheFactorIsOne) {
    HALFTONE_NEEDS_CUDA();
    Buffer grad(DType::f32, {1, 2});
    grad.as<std::uint32_t>()[1] = 0x7f812345;  // a signalling NaN, which a product would make quiet
    const DeviceBuffer device(grad);
    const DeviceValue<float> one(1), found(0);
    cuda::multi_tensor_unscale(std::vector<Array>{device.array()}, one.get(), found.get(), {});
    EXPECT_EQ(device.host().bytes(), grad.bytes());
    EXPECT_EQ(found.host(), 1);
}

}  // namespace
}  // namespace kernels::test
