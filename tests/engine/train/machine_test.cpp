#include "engine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/catalog.h"
#include "kernels/device.h"

namespace engine {
namespace {

const MachineReport::Pay& pay(const MachineReport& report, const std::string& precision) {
    const auto found =
        std::find_if(report.precisions.begin(), report.precisions.end(),
                     [&](const MachineReport::Pay& entry) { return entry.precision == precision; });
    if (found == report.precisions.end()) throw std::out_of_range(precision);
    return *found;
}

TEST(Machine, ReportsTheProcessorThatTheKernelsSee) {
    const auto cpu = kernels::cpu::info();
    const MachineReport report = inspect_machine();
    EXPECT_EQ(report.cpu, cpu.model);
    EXPECT_EQ(report.cores, cpu.cores);
    EXPECT_EQ(report.memory_bytes, cpu.memory_bytes);
    EXPECT_EQ(report.onednn, cpu.onednn_version);
    EXPECT_EQ(report.bf16_native, cpu.avx512_bf16 || cpu.amx_bf16);
    EXPECT_EQ(testing::Matches(testing::Contains("avx2"))(report.features), cpu.avx2);
    EXPECT_EQ(testing::Matches(testing::Contains("avx512_bf16"))(report.features), cpu.avx512_bf16);
}

TEST(Machine, SaysForEveryPrecisionWhetherItPaysAndWhy) {
    const MachineReport report = inspect_machine();
    for (const auto& precision : precisions()) {
        EXPECT_FALSE(pay(report, precision.preset).why.empty()) << precision.preset;
    }
    EXPECT_TRUE(pay(report, "fp32").pays);
    EXPECT_EQ(pay(report, "amp-bf16").pays, report.bf16_native);
    EXPECT_FALSE(pay(report, "tf32").pays);
}

TEST(Machine, NamesWhyThereIsNoCuda) {
    const MachineReport report = inspect_machine();
    EXPECT_EQ(report.cuda_built, kernels::cuda::built());
    EXPECT_EQ(report.cuda_present, kernels::cuda::device_count() > 0);
    EXPECT_THAT(report.cuda_note.str(), testing::HasSubstr("CUDA"));
}

}  // namespace
}  // namespace engine
