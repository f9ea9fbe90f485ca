#include "tensor/profiler_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/profiler_calls.h"
#include "support/device_support.h"
#include "tensor/module_scope.h"

namespace engine {
namespace {

using testing::IsSupersetOf;

/// A profiler: the ranges that were opened, with the ones around them ("backward/conv2").
struct Recorded {
    std::vector<std::string> open, seen;
    int pops = 0;
};
Recorded* recorded = nullptr;

const kernels::ProfilerCalls recorder{
    [](const char* name) {
        const std::string outer = recorded->open.empty() ? "" : recorded->open.back() + "/";
        recorded->open.push_back(outer + name);
        recorded->seen.push_back(recorded->open.back());
    },
    [] {
        ++recorded->pops;
        if (!recorded->open.empty()) recorded->open.pop_back();
    }};

class ProfilerRangeTest : public testing::Test {
protected:
    ProfilerRangeTest() {
        recorded = &all_;
        kernels::set_profiler_calls(&recorder);
    }
    ~ProfilerRangeTest() override { kernels::set_profiler_calls(nullptr); }

    Recorded all_;
};

TEST_F(ProfilerRangeTest, NestAndEndWithTheirScope) {
    {
        const ProfilerRange outer("outer");
        { const ProfilerRange inner("inner"); }
        { const ProfilerRange other("other"); }
        EXPECT_THAT(all_.open, testing::ElementsAre("outer"));
    }
    EXPECT_TRUE(all_.open.empty());
    EXPECT_THAT(all_.seen, testing::ElementsAre("outer", "outer/inner", "outer/other"));
}

TEST_F(ProfilerRangeTest, ThatAreOpenWhenAProfilerIsAttachedEndWithoutAPop) {
    kernels::set_profiler_calls(nullptr);
    {
        const ProfilerRange step("step");
        const ModuleScope model(ModuleName("model"));
        kernels::set_profiler_calls(&recorder);
        const ProfilerRange mark("mark");
        { const ModuleScope layer(ModuleName("layer")); }
        EXPECT_THAT(all_.open, testing::ElementsAre("mark"));
    }
    EXPECT_EQ(all_.pops, 2) << "one for each push";
    EXPECT_TRUE(all_.open.empty());
    { const ModuleScope next(ModuleName("next")); }
    EXPECT_THAT(all_.seen, testing::ElementsAre("mark", "mark/layer", "next"));
    EXPECT_TRUE(all_.open.empty());
}

TEST_F(ProfilerRangeTest, NameThePartsOfAStepAndItsModules) {
    test::TrainerFixture fixture(test::small_run("lenet", "amp-fp16"), default_device());
    fixture.step(0);
    EXPECT_TRUE(all_.open.empty());
    EXPECT_THAT(all_.seen, IsSupersetOf({"forward", "forward/conv1", "forward/conv2", "backward",
                                         "backward/conv2", "gradient check", "update"}));
    const auto place = [this](const std::string& name) {
        return std::ranges::find(all_.seen, name) - all_.seen.begin();
    };
    EXPECT_LT(place("forward"), place("backward"));
    EXPECT_LT(place("backward"), place("gradient check"));
    EXPECT_LT(place("gradient check"), place("update"));
}

TEST(ProfilerRange, DoesNothingWithoutAProfiler) {
    EXPECT_EQ(kernels::profiler_calls(), nullptr);
    const ProfilerRange range("none");
}

}  // namespace
}  // namespace engine
