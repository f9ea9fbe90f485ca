#include "cuda/absence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device.h"

namespace kernels::cuda {
namespace {

using ::testing::HasSubstr;

const Card pascal{0, "GeForce GTX 1080", 6, 1};
const Card volta{1, "Tesla V100", 7, 0};
const Card turing{2, "Tesla T4", 7, 5};
const Card hopper{3, "H100", 9, 0};

TEST(CudaAbsence, NamesAMissingDriver) {
    EXPECT_THAT(why_unusable({0, 13000, "", {}}), HasSubstr("no NVIDIA driver"));
}

TEST(CudaAbsence, NamesBothVersionsOfADriverThatIsTooOld) {
    const std::string text = why_unusable({12080, 13000, "", {hopper}});
    EXPECT_THAT(text, HasSubstr("12.8"));
    EXPECT_THAT(text, HasSubstr("13.0"));
    EXPECT_TRUE(usable({12080, 13000, "", {hopper}}).empty());
}

TEST(CudaAbsence, TakesADriverOfTheSameMajorVersion) {
    EXPECT_EQ(usable({13000, 13010, "", {hopper}}), std::vector<int>{3});
    EXPECT_EQ(why_unusable({13020, 13000, "", {hopper}}), "");
}

TEST(CudaAbsence, NamesCardsWithoutTheComputeCapability) {
    const std::string text = why_unusable({13000, 13000, "", {pascal, volta}});
    for (const char* part : {"7.5", "GeForce GTX 1080", "6.1", "Tesla V100", "7.0"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(CudaAbsence, NumbersOnlyTheCardsThatCanBeUsed) {
    EXPECT_EQ(usable({13000, 13000, "", {pascal, volta, turing, hopper}}),
              (std::vector<int>{2, 3}));
}

TEST(CudaAbsence, TellsADriverThatSeesNothingFromOneThatRefuses) {
    EXPECT_THAT(why_unusable({13000, 13000, "", {}}), HasSubstr("no device"));
    EXPECT_THAT(why_unusable({13000, 13000, "system not yet initialized", {}}),
                HasSubstr("system not yet initialized"));
}

TEST(CudaAbsence, IsExplainedOnThisMachine) {
    EXPECT_TRUE(built());
    EXPECT_EQ(device_count() == 0, !why_absent().empty()) << why_absent();
}

}  // namespace
}  // namespace kernels::cuda
