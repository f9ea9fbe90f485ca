#include "kernels/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

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
