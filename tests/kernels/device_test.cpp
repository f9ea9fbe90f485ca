#include "kernels/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/device_error.h"

namespace kernels {
namespace {

TEST(CpuInfo, SaysWhatTheMachineHas) {
    const CpuInfo info = cpu::info();
    EXPECT_FALSE(info.model.empty());
    EXPECT_GE(info.cores, 1);
    EXPECT_GT(info.memory_bytes, std::int64_t{1} << 26);
    EXPECT_FALSE(info.simd_target.empty());
    EXPECT_NE(info.onednn_version.find('.'), std::string::npos);
    if (info.avx512f) {
        EXPECT_TRUE(info.avx2);
    }
}

/// Limited by HALFTONE_CPU, the features above the level are absent, for our loops as well.
TEST(CpuInfo, HasWhatItsLevelHasAndNoMore) {
    const CpuInfo info = cpu::info();
    if (const char* asked = std::getenv("HALFTONE_CPU")) {
        EXPECT_EQ(info.level, asked);
    }
    const std::vector<std::string> levels = {"sse2", "avx2", "avx512", "avx512_bf16", "amx"};
    const auto level = std::find(levels.begin(), levels.end(), info.level) - levels.begin();
    EXPECT_EQ(info.avx2 && info.f16c, level >= 1);
    EXPECT_EQ(info.avx512f, level >= 2);
    EXPECT_EQ(info.avx512_bf16, level >= 3);
    EXPECT_EQ(info.amx_bf16, level >= 4);
    EXPECT_EQ(info.simd_target.starts_with("AVX3"), level >= 2) << info.simd_target;
    EXPECT_EQ(info.simd_target == "AVX2", level == 1) << info.simd_target;
}

TEST(CpuMemory, IsAlignedAndCanBeWritten) {
    for (std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{9} << 20}) {
        void* data = cpu::allocate(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u);
        std::memset(data, 1, bytes);
        cpu::release(data);
    }
    cpu::release(nullptr);
}

TEST(CpuMemory, ThrowsOutOfMemoryWithTheSize) {
    const std::size_t bytes = std::numeric_limits<std::size_t>::max() / 2;
    try {
        cpu::release(cpu::allocate(bytes));
        FAIL() << "that much memory does not exist";
    } catch (const OutOfMemory& error) {
        EXPECT_EQ(error.bytes, bytes);
    }
}

}  // namespace
}  // namespace kernels
