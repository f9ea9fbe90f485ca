#include "kernels/dropout.h"

#include "kernels/support.h"

namespace kernels::test {
namespace {

constexpr PhiloxStream stream{{123, 456}, 3, 7};

TEST(DropoutMask, KeepsWhereTheStreamsNumberReachesP) {
    for (const std::int64_t size : sizes) {
        for (const std::uint64_t offset : {0ull, 1ull, 2ull, 3ull, 0xffffffffull}) {
            Buffer mask(DType::boolean, size);
            cpu::dropout_mask(mask, stream, offset, 0.3, {});
            for (std::int64_t i = 0; i < size; ++i) {
                const float value = stream.uniform(offset + static_cast<std::uint64_t>(i));
                ASSERT_EQ(mask.get(i), static_cast<double>(value) >= 0.3 ? 1 : 0) << i;
            }
        }
    }
}

TEST(DropoutMask, KeepsAllAtZeroAndNoneAtOne) {
    Buffer mask(DType::boolean, 1001);
    cpu::dropout_mask(mask, stream, 5, 0, {});
    for (const double kept : mask.values()) ASSERT_EQ(kept, 1);
    cpu::dropout_mask(mask, stream, 5, 1, {});
    for (const double kept : mask.values()) ASSERT_EQ(kept, 0);
}

TEST(DropoutMask, DoesNotDependOnTheThreads) {
    Buffer expected(DType::boolean, 100003);
    cpu::set_threads(1);
    cpu::dropout_mask(expected, stream, 2, 0.5, {});
    with_threads([&](int) {
        Buffer mask(DType::boolean, 100003);
        cpu::dropout_mask(mask, stream, 2, 0.5, {});
        EXPECT_EQ(mask.bytes(), expected.bytes());
    });
}

}  // namespace
}  // namespace kernels::test
