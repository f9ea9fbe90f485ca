#include "cuda/copy_small.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/device_array.h"

namespace kernels::test {
namespace {

/// Copies from `from` to `to` bytes behind a start that is aligned for packs, and looks at what
/// lies around too.
void expect_copied(std::size_t bytes, std::size_t from, std::size_t to) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes from " << from << " to " << to);
    constexpr std::size_t around = 64;
    const auto size = static_cast<std::int64_t>(bytes + 2 * around);
    Buffer source(DType::u8, size), before(DType::u8, size);
    for (std::int64_t i = 0; i < size; ++i) {
        source.set(i, static_cast<double>((i * 7 + i / 251) % 256));
        before.set(i, 9);
    }
    const DeviceBuffer device_source(source), device(before);
    cuda::copy_on_device(device.as<std::uint8_t>() + to, device_source.as<std::uint8_t>() + from,
                         bytes, {});
    std::vector<unsigned char> expected(before.bytes().begin(), before.bytes().end());
    std::copy_n(source.bytes().begin() + static_cast<std::ptrdiff_t>(from), bytes,
                expected.begin() + static_cast<std::ptrdiff_t>(to));
    const Buffer got = device.host();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.bytes().begin()));
}

TEST(CudaCopySmall, CopiesWhateverTheSizeAndTheAlignment) {
    HALFTONE_NEEDS_CUDA();
    for (const std::size_t bytes : {0, 1, 15, 16, 17, 4099})
        for (const auto& [from, to] :
             {std::pair<std::size_t, std::size_t>{0, 0}, {16, 32}, {3, 16}, {16, 5}, {8, 8}})
            expect_copied(bytes, from, to);
}

TEST(CudaCopySmall, LeavesLargeCopiesToTheRunTime) {
    HALFTONE_NEEDS_CUDA();
    expect_copied(cuda::max_small_copy, 0, 16);
    expect_copied(cuda::max_small_copy + 1, 0, 16);
}

}  // namespace
}  // namespace kernels::test
