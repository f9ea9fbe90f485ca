#include "engine/train/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/settings/catalog.h"
#include "kernels/device.h"
#include "train/run/run_needs.h"

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
    EXPECT_EQ(report.cpu_level, cpu.level);
    EXPECT_EQ(report.bf16_native, cpu.avx512_bf16 || cpu.amx_bf16);
    EXPECT_EQ(testing::Matches(testing::Contains("avx2"))(report.features), cpu.avx2);
    EXPECT_EQ(testing::Matches(testing::Contains("avx512_bf16"))(report.features), cpu.avx512_bf16);
}

TEST(Machine, SaysForEveryPrecisionWhetherItPaysAndWhy) {
    const MachineReport report = inspect_machine();
    for (const auto& precision : precisions()) {
        EXPECT_FALSE(pay(report, precision.kind).why.empty()) << precision.kind;
    }
    EXPECT_TRUE(pay(report, "fp32").pays);
    if (report.cuda_present) return;  // otherwise the texts are about the GPU
    EXPECT_EQ(pay(report, "amp-bf16").pays, report.bf16_native);
    EXPECT_FALSE(pay(report, "tf32").pays);
}

TEST(Machine, KnowsWhatEachGenerationOfCardsGains) {
    EXPECT_STREQ(gpu_generation(6, 1).name, "Pascal");
    EXPECT_STREQ(gpu_generation(7, 5).name, "Turing");
    EXPECT_STREQ(gpu_generation(8, 6).name, "Ampere");
    EXPECT_STREQ(gpu_generation(8, 9).name, "Ada");
    EXPECT_STREQ(gpu_generation(9, 0).name, "Hopper");
    EXPECT_STREQ(gpu_generation(12, 0).name, "Blackwell");
    const auto of = [](const GpuGeneration& generation, const std::string& precision) {
        MachineReport report;
        report.precisions = payoffs(generation);
        return pay(report, precision).pays;
    };
    EXPECT_TRUE(of(gpu_generation(7, 5), "amp-fp16"));
    EXPECT_FALSE(of(gpu_generation(7, 5), "amp-bf16"));
    EXPECT_FALSE(of(gpu_generation(7, 5), "tf32"));
    EXPECT_TRUE(of(gpu_generation(8, 0), "tf32"));
    EXPECT_FALSE(gpu_generation(7, 0).runs);
}

bool trains(const GpuGeneration& generation, const std::string& preset, ForcedTypes force = {}) {
    PrecisionConfig precision;
    precision.preset = preset;
    precision.force = std::move(force);
    return !find_lack(generation, resolve(precision));
}

TEST(Machine, RefusesOnACardWhatItsLibrariesLack) {
    const GpuGeneration &turing = gpu_generation(7, 5), &ampere = gpu_generation(8, 0);
    for (const auto& each : precisions()) {
        const bool on_cpu = each.settings.recipe != RecipeKind::none;
        EXPECT_EQ(trains(ampere, each.kind), !on_cpu) << each.kind;
        if (on_cpu) continue;
        const std::string preset = each.kind;
        const bool lacks = preset == "tf32" || preset == "amp-bf16";
        EXPECT_EQ(trains(turing, each.kind), !lacks) << each.kind;
    }
    EXPECT_FALSE(trains(turing, "amp-fp16", {{"linear", ForcedType::bf16}}));
    EXPECT_TRUE(trains(turing, "amp-fp16", {{"linear", ForcedType::fp32}}));
    PrecisionConfig precision;
    precision.preset = "amp-bf16";
    EXPECT_THAT(find_lack(turing, resolve(precision))->what.str(),
                testing::HasSubstr("Ampere or newer GPU: on a Turing card"));
}

TEST(Machine, NamesWhyThereIsNoCuda) {
    const MachineReport report = inspect_machine();
    EXPECT_EQ(report.cuda_built, kernels::cuda::built());
    EXPECT_EQ(report.cuda_present, kernels::cuda::device_count() > 0);
    EXPECT_THAT(report.cuda_note.str(), testing::HasSubstr("CUDA"));
}

}  // namespace
}  // namespace engine
