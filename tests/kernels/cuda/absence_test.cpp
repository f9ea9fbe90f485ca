#include "cuda/absence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/code_probe.h"
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

TEST(CudaAbsence, NamesThePackageThatLetsADataCentreCardRunWithItsDriver) {
    EXPECT_EQ(why_unusable({12080, 13010, "CUDA driver version is insufficient", {}}),
              "the NVIDIA driver is too old: it runs CUDA 12.8, this program needs 13.0; install a "
              "newer driver, or on a data-centre card NVIDIA's package cuda-compat-13-0");
}

TEST(CudaAbsence, LeavesOutCardsThatTheProgramHasNoCodeFor) {
    const Card ampere{0, "NVIDIA A100-SXM4-40GB", 8, 0, false}, ada{1, "L4", 8, 9, false};
    EXPECT_TRUE(usable({13000, 13000, "", {ampere, ada}}).empty());
    EXPECT_EQ(why_unusable({13000, 13000, "", {ampere}}),
              "this program has no code for compute capability 8.0 (NVIDIA A100-SXM4-40GB)");
    EXPECT_EQ(why_unusable({13000, 13000, "", {pascal, ampere, ada}}),
              "this program has no code for compute capability 8.0 (NVIDIA A100-SXM4-40GB), 8.9 "
              "(L4)")
        << "the older card is not what a user would look at first";
    EXPECT_EQ(usable({13000, 13000, "", {ampere, hopper}}), std::vector<int>{3});
}

TEST(CudaAbsence, FindsMachineCodeOfTheSameMajorAndNoNewerMinorVersion) {
    const Card a100{0, "", 8, 0}, l4{0, "", 8, 9}, h100{0, "", 9, 0}, gb10{0, "", 12, 1};
    EXPECT_TRUE(has_machine_code(h100, {900}));
    EXPECT_TRUE(has_machine_code(l4, {800}));
    EXPECT_TRUE(has_machine_code(gb10, {900, 1000, 1200}));
    EXPECT_FALSE(has_machine_code(a100, {860}));
    EXPECT_FALSE(has_machine_code(a100, {750, 900}));
    EXPECT_FALSE(has_machine_code(gb10, {1000})) << "PTX alone";
    EXPECT_FALSE(has_machine_code(h100, {}));
}

TEST(CudaAbsence, KnowsWhatTheProgramIsCompiledFor) {
    EXPECT_FALSE(compiled_architectures().empty());
    for (const int architecture : compiled_architectures())
        EXPECT_GE(architecture, 100 * min_major + 10 * min_minor);
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
