#include "instruments/xray/peak_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/device.h"

namespace engine {
namespace {

using testing::Gt;
using testing::Pair;
using testing::UnorderedElementsAre;

// On the simulated device too, where one product of the size that a card needs takes minutes.
TEST(PeakSpeeds, AreMeasuredOnceForEachType) {
    const Device device = default_device();
    const auto speeds = peak_speeds(device);
    EXPECT_THAT(speeds,
                UnorderedElementsAre(Pair("f32", Gt(0)), Pair("f16", Gt(0)), Pair("bf16", Gt(0))));
    EXPECT_EQ(peak_speeds(device), speeds);
}

}  // namespace
}  // namespace engine
