#include "kernels/dropout.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

constexpr PhiloxStream dropout_stream{{123, 456}, 3, 7};

/// With the last offset, the lower half of the block number overflows within a vector.
TEST(DropoutMask, KeepsWhereTheStreamsNumberReachesP) {
    on_every_target([] {
        for (const std::int64_t size : sizes) {
            for (const std::uint64_t offset :
                 {0ull, 1ull, 2ull, 3ull, 0xffffffffull, 4 * 0xfffffff0ull}) {
                Buffer mask(DType::boolean, size);
                cpu::dropout_mask(mask, {dropout_stream, nullptr, offset}, 0.3, {});
                for (std::int64_t i = 0; i < size; ++i) {
                    const float value =
                        dropout_stream.uniform(offset + static_cast<std::uint64_t>(i));
                    ASSERT_EQ(mask.get(i), static_cast<double>(value) >= 0.3 ? 1 : 0) << i;
                }
            }
        }
    });
}

TEST(DropoutMask, KeepsAllAtZeroAndNoneAtOne) {
    Buffer mask(DType::boolean, 1001);
    cpu::dropout_mask(mask, {dropout_stream, nullptr, 5}, 0, {});
    for (const double kept : mask.values()) ASSERT_EQ(kept, 1);
    cpu::dropout_mask(mask, {dropout_stream, nullptr, 5}, 1, {});
    for (const double kept : mask.values()) ASSERT_EQ(kept, 0);
}

TEST(DropoutMask, HoldsForEveryProbability) {
    for (const double p : {1e-9, 0x1p-24, 1 - 0x1p-24, 1 - 0x1p-25, -1.0, 2.0, std::nan("")}) {
        Buffer mask(DType::boolean, 1001);
        cpu::dropout_mask(mask, {dropout_stream, nullptr, 5}, p, {});
        for (std::int64_t i = 0; i < mask.size(); ++i) {
            const float value = dropout_stream.uniform(5 + static_cast<std::uint64_t>(i));
            ASSERT_EQ(mask.get(i), static_cast<double>(value) >= p ? 1 : 0) << p;
        }
    }
}

TEST(DropoutApply, MultipliesByMaskAndScaleAndRoundsOnce) {
    constexpr double scale = 1 / 0.9;
    on_every_target([] {
        for (const DType dtype : floating)
            for (const std::int64_t size : {0, 1, 15, 16, 17, 33, 1000}) {
                const Buffer x = random_buffer(dtype, size, 1);
                Buffer mask(DType::boolean, size), y(dtype, size);
                for (std::int64_t i = 0; i < size; ++i)
                    mask.set(i, static_cast<double>(i % 3 * 100));
                cpu::dropout_apply(y, x, mask, scale, {});
                for (std::int64_t i = 0; i < size; ++i) {
                    const double factor = dtype == DType::f64 ? scale : static_cast<float>(scale);
                    const double exact = i % 3 == 0 ? 0 : x.get(i) * factor;
                    ASSERT_TRUE(near(y.get(i), exact, dtype,
                                     dtype == DType::f32 ? 0 : half_ulp(DType::f32, exact)))
                        << i;
                }
            }
    });
}

TEST(DropoutApply, ADroppedNaNOrInfinityIsNaN) {
    const Buffer x(DType::f16, {inf, std::nan(""), inf, 2});
    const Buffer mask(DType::boolean, {0, 0, 1, 0});
    Buffer y(DType::f16, 4);
    cpu::dropout_apply(y, x, mask, 2, {});
    EXPECT_TRUE(std::isnan(y.get(0)) && std::isnan(y.get(1)));
    EXPECT_EQ(y.get(2), inf);
    EXPECT_EQ(y.get(3), 0);
}

TEST(CudaDropoutApply, GivesTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t size : {0, 1, 33, 5003}) {
            Buffer mask(DType::boolean, size);
            for (std::int64_t i = 0; i < size; ++i) mask.set(i, i % 3 == 0 ? 0 : 1);
            const Results results =
                run_twins(cpu::dropout_apply, cuda::dropout_apply, dtype, size,
                          {random_buffer(dtype, size, 2), mask}, 0,
                          [](DropoutApply f, Array y, const std::vector<ConstArray>& in) {
                              f(y, in[0], in[1], 1 / 0.7, {});
                          });
            EXPECT_TRUE(same(results.cuda, results.cpu)) << size;
        }
}

TEST(DropoutMask, DoesNotDependOnTheThreads) {
    Buffer expected(DType::boolean, 100003);
    cpu::set_threads(1);
    cpu::dropout_mask(expected, {dropout_stream, nullptr, 2}, 0.5, {});
    with_threads([&](int) {
        Buffer mask(DType::boolean, 100003);
        cpu::dropout_mask(mask, {dropout_stream, nullptr, 2}, 0.5, {});
        EXPECT_EQ(mask.bytes(), expected.bytes());
    });
}

TEST(DropoutMask, TakesTheSubstreamFromMemory) {
    const std::int64_t substream = 99;
    PhiloxStream other = dropout_stream;
    other.substream = 99;
    Buffer expected(DType::boolean, 1001), mask(DType::boolean, 1001), own(DType::boolean, 1001);
    cpu::dropout_mask(expected, {other, nullptr, 6}, 0.5, {});
    cpu::dropout_mask(mask, {dropout_stream, &substream, 6}, 0.5, {});
    cpu::dropout_mask(own, {dropout_stream, nullptr, 6}, 0.5, {});
    EXPECT_EQ(mask.bytes(), expected.bytes());
    EXPECT_NE(mask.bytes(), own.bytes());
}

void expect_same_mask(std::int64_t size, std::int64_t start, std::uint64_t offset, double p) {
    Buffer expected(DType::boolean, size);
    cpu::dropout_mask(expected, {dropout_stream, nullptr, offset}, p, {});
    const DeviceBuffer memory(DType::boolean, size + start + 1);
    cuda::dropout_mask({memory.as<std::uint8_t>() + start, DType::boolean, size},
                       {dropout_stream, nullptr, offset}, p, {});
    const Buffer actual = memory.host();
    for (std::int64_t i = 0; i < start; ++i) ASSERT_EQ(actual.get(i), 255);
    for (std::int64_t i = 0; i < size; ++i)
        ASSERT_EQ(actual.get(start + i), expected.get(i)) << i << " of " << size;
    ASSERT_EQ(actual.get(start + size), 255);
}

TEST(CudaDropoutMask, DrawsTheCpusNumbers) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t size : {0, 1, 3, 4, 5, 31, 33, 1000, 30001})
        for (const std::uint64_t offset : {0ull, 1ull, 2ull, 3ull, 0x3ffffffffull})
            for (const std::int64_t start : {0, 1}) expect_same_mask(size, start, offset, 0.3);
}

TEST(CudaDropoutMask, TakesTheSubstreamFromItsMemory) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer mask(DType::boolean, 1001);
    for (const std::int64_t substream : {std::int64_t{0}, std::int64_t{7}, std::int64_t{8},
                                         (std::int64_t{5} << 32) + 1, std::int64_t{-1}}) {
        Buffer expected(DType::boolean, 1001);
        cpu::dropout_mask(expected, {dropout_stream, &substream, 3}, 0.3, {});
        const DeviceValue<std::int64_t> on_device(substream);
        cuda::dropout_mask(mask, {dropout_stream, on_device.get(), 3}, 0.3, {});
        EXPECT_EQ(mask.host().bytes(), expected.bytes()) << substream;
    }
}

TEST(CudaDropoutMask, HoldsForEveryProbability) {
    HALFTONE_NEEDS_CUDA();
    for (const double p : {0.0, 1.0, 0.5, 1e-9, 0x1p-24, 1 - 0x1p-24, 1 - 0x1p-25, 0.1, 0.9, -1.0,
                           2.0, std::nan("")})
        expect_same_mask(1001, 0, 5, p);
}

}  // namespace
}  // namespace kernels::test
