#include "kernels/elementwise.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

void expect_same_cast(DType to, const Buffer& x, std::int64_t skip_x = 0, std::int64_t skip_y = 0) {
    SCOPED_TRACE(::testing::Message()
                 << static_cast<int>(x.dtype()) << " to " << static_cast<int>(to) << ", "
                 << x.size() << " elements, starts " << skip_x << " " << skip_y);
    const std::int64_t size = std::max<std::int64_t>(0, x.size() - skip_x);
    Buffer expected = poisoned(to, size + skip_y);
    Buffer copy = x;
    Array out = expected;
    cpu::cast(size > 0 ? from(out, skip_y) : Array{out.data, to, 0}, from(copy, skip_x), {});
    const DeviceBuffer in(x), result(to, size + skip_y);
    out = result;
    cuda::cast(size > 0 ? from(out, skip_y) : Array{out.data, to, 0}, from(in, skip_x), {});
    EXPECT_TRUE(same(result.host(), expected));
}

TEST(CudaCast, GivesTheCpusBitsForEveryPairOfTypesAtEverySize) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (DType to : every_dtype)
            for (std::int64_t size : awkward_sizes)
                expect_same_cast(to, awkward_buffer(dtype, size, 1));
}

TEST(CudaCast, GoesOnBeyondOneGrid) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f32, DType::u8})
        for (DType to : {DType::bf16, DType::boolean})
            expect_same_cast(to, awkward_buffer(dtype, beyond_a_grid, 2));
}

TEST(CudaCast, ReadsAndWritesMisalignedStarts) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (DType to : every_dtype)
            for (std::int64_t skip : {1, 3}) {
                expect_same_cast(to, awkward_buffer(dtype, 101, 3), skip, 0);
                expect_same_cast(to, awkward_buffer(dtype, 101, 4), 0, skip);
            }
}

TEST(CudaCast, RoundsEvery16BitTieOnce) {
    HALFTONE_NEEDS_CUDA();
    Buffer x(DType::f64, 8 * 0x800);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double tie = 1 + (static_cast<double>(i / 8) + 0.5) * 0x1p-10;
        const double away[] = {0, 0x1p-40, -0x1p-40, 0x1p-12, -0x1p-12, 0x1p-52, -0x1p-52, 0x1p-20};
        x.set(i, std::ldexp((tie + away[i % 8]) * (i % 3 == 0 ? -1 : 1),
                            static_cast<int>(i / 8 % 50) - 30));
    }
    expect_same_cast(DType::f16, x);
    expect_same_cast(DType::bf16, x);
}

TEST(CudaCast, ReadsEvery16BitPattern) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f16, DType::bf16}) {
        Buffer x(dtype, 0x10000);
        for (int i = 0; i < 0x10000; ++i) x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
        for (DType to : every_dtype) expect_same_cast(to, x);
    }
}

TEST(CudaCast, RoundsLargeIntegersOnce) {
    HALFTONE_NEEDS_CUDA();
    Buffer x(DType::i64, 4 * 62);
    for (int k = 0; k < 62; ++k) {
        const std::int64_t power = std::int64_t{1} << k;
        const std::int64_t tie = power + (power >> 8) + (power >> 11);
        std::int64_t* at = x.as<std::int64_t>() + 4 * static_cast<std::ptrdiff_t>(k);
        at[0] = tie;
        at[1] = tie + 1;
        at[2] = -tie + 1;
        at[3] = -tie - 1;
    }
    for (DType to : floating) expect_same_cast(to, x);
}

}  // namespace
}  // namespace kernels::test
