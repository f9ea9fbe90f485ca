#include "network/network_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ui {
namespace {

struct NetworkMemoryTest : testing::Test {
    const std::string text = engine::network_template("lenet");
    const engine::NetworkData data{{{"image", {1, 28, 28}, {}}}, 10, {}};
    const engine::CheckedNetwork network = engine::check_network(text, data);
    engine::RunConfig fp32, amp;

    NetworkMemoryTest() {
        fp32.precision.preset = "fp32";
        amp.precision.preset = "amp-fp16";
    }
    NetworkMemory predicted(double limit) const { return predictMemory(text, network, data, {fp32, amp}, amp, limit); }
    double peakAt(std::int64_t batch) const {
        engine::RunConfig config = fp32;
        config.batch_size = batch;
        return engine::predict_step_memory(text, data, config).peak;
    }
};

TEST_F(NetworkMemoryTest, HasAStepOfEachPrecisionAndTheBytesOfTheShownOne) {
    const NetworkMemory memory = predicted(0);
    ASSERT_EQ(memory.steps.size(), 2u);
    EXPECT_EQ(memory.saved, memory.steps[1].memory.saved);
    EXPECT_NE(memory.saved, memory.steps[0].memory.saved);
    EXPECT_EQ(memory.most(), std::max(memory.steps[0].memory.peak, memory.steps[1].memory.peak));
    EXPECT_EQ(memory.steps[0].fitting, 0);
    EXPECT_EQ(predictMemory(text, network, data, {fp32}, amp, 0).saved, memory.saved) << "not one of the compared";
}

TEST_F(NetworkMemoryTest, AStepThatIsTooLargeHasTheLargestBatchThatFits) {
    const double peak = peakAt(fp32.batch_size), limit = (peak + peakAt(1)) / 2;
    const std::int64_t fitting = predicted(limit).steps[0].fitting;
    ASSERT_GT(fitting, 0);
    ASSERT_LT(fitting, fp32.batch_size);
    EXPECT_LE(peakAt(fitting), limit);
    EXPECT_GT(peakAt(fitting + 1), limit);
    EXPECT_EQ(predicted(1).steps[0].fitting, 0) << "not even one sample";
    EXPECT_EQ(predicted(2 * peak).steps[0].fitting, 0) << "this one fits";
}

TEST_F(NetworkMemoryTest, ATextWithAFaultHasNone) {
    const std::string faulty = "network(image):\n  Dense(3)\n";
    const NetworkMemory memory = predictMemory(faulty, engine::check_network(faulty, data), data, {fp32}, fp32, 0);
    EXPECT_TRUE(memory.steps.empty());
    EXPECT_TRUE(memory.saved.empty());
}

}  // namespace
}  // namespace ui
