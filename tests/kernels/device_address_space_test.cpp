#include "kernels/device.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/device_error.h"

namespace kernels {
namespace {

constexpr std::size_t page = 4096, mib = std::size_t{1} << 20;

/// Pages of [data, data + bytes) that have memory.
std::size_t resident_pages(void* data, std::size_t bytes) {
    std::vector<unsigned char> each(bytes / page);
    EXPECT_EQ(mincore(data, bytes, each.data()), 0);
    std::size_t count = 0;
    for (const unsigned char flags : each) count += flags & 1u;
    return count;
}

TEST(AddressSpace, IsMemoryOnceItIsWritten) {
    void* const data = cpu::reserve(8 * mib);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % (2 * mib), 0u);
    EXPECT_EQ(resident_pages(data, 8 * mib), 0u);
    std::memset(data, 1, 2 * mib);
    EXPECT_EQ(resident_pages(data, 8 * mib), 2 * mib / page);
    cpu::unreserve(data, 8 * mib);
}

TEST(AddressSpace, GivesBackTheWholePagesOnly) {
    auto* const data = static_cast<char*>(cpu::reserve(8 * page));
    std::memset(data, 1, 8 * page);
    cpu::give_pages_back(data + page + 1, 3 * page);
    EXPECT_EQ(data[2 * page - 1], 1) << "of a page that is not given back whole";
    EXPECT_EQ(data[2 * page], 0);
    EXPECT_EQ(data[4 * page - 1], 0);
    EXPECT_EQ(data[4 * page], 1);
    cpu::unreserve(data, 8 * page);
}

TEST(AddressSpace, ThrowsOutOfMemoryWithTheSize) {
    for (const std::size_t bytes :
         {std::size_t{1} << 60, std::numeric_limits<std::size_t>::max()}) {
        try {
            cpu::reserve(bytes);
            FAIL() << "no address space is that large";
        } catch (const OutOfMemory& error) {
            EXPECT_EQ(error.bytes, bytes);
        }
    }
}

TEST(AddressSpace, IsCountedAgainstTheLimitOfTheProcess) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "this process has a limit already";
    EXPECT_EQ(cpu::address_space_left(), std::numeric_limits<std::int64_t>::max());
    rlimit limited = before;
    limited.rlim_cur = rlim_t{1} << 46;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
    const std::int64_t left = cpu::address_space_left();
    if (left == 0) {  // a thread sanitizer takes more
        ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
        GTEST_SKIP() << "this process has more addresses than the limit";
    }
    void* const data = cpu::reserve(64 * mib);
    const std::int64_t less = cpu::address_space_left();
    cpu::unreserve(data, 64 * mib);
    const std::int64_t again = cpu::address_space_left();
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_LT(left, std::int64_t{1} << 46);
    EXPECT_GE(left - less, static_cast<std::int64_t>(64 * mib));
    EXPECT_LT(left - less, static_cast<std::int64_t>(70 * mib));
    EXPECT_GE(again - less, static_cast<std::int64_t>(64 * mib));
}

}  // namespace
}  // namespace kernels
