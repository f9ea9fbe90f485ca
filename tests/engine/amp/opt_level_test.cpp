#include "support/opt_level.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

// Opt levels and scaler settings of optimizers.md#opt-levels (4.1) and 4.2.

namespace engine {
namespace {

OptProperties of(const std::string& level, const OptOverrides& overrides = {}) {
    return resolve_opt_level(level, overrides).properties;
}

TEST(OptLevel, HasThePropertiesOfTheTable) {
    const OptProperties o0 = of("O0"), o1 = of("O1"), o2 = of("O2"), o3 = of("O3");
    EXPECT_EQ(o0.cast_model_type, DType::f32);
    EXPECT_EQ(o1.cast_model_type, std::nullopt);
    EXPECT_EQ(o2.cast_model_type, DType::f16);
    EXPECT_EQ(o3.cast_model_type, DType::f16);
    EXPECT_FALSE(o0.patch_functions);
    EXPECT_TRUE(o1.patch_functions);
    EXPECT_FALSE(o2.patch_functions);
    EXPECT_FALSE(o3.patch_functions);
    EXPECT_EQ(o0.keep_batchnorm_fp32, std::nullopt);
    EXPECT_EQ(o1.keep_batchnorm_fp32, std::nullopt);
    EXPECT_EQ(o2.keep_batchnorm_fp32, true);
    EXPECT_EQ(o3.keep_batchnorm_fp32, false);
    EXPECT_EQ(o0.master_weights, false);
    EXPECT_EQ(o1.master_weights, std::nullopt);
    EXPECT_EQ(o2.master_weights, true);
    EXPECT_EQ(o3.master_weights, false);
    EXPECT_EQ(o0.loss_scale, 1.0);
    EXPECT_EQ(o1.loss_scale, std::nullopt);
    EXPECT_EQ(o2.loss_scale, std::nullopt);
    EXPECT_EQ(o3.loss_scale, 1.0);
}

TEST(OptLevel, TakesOverrides) {
    EXPECT_EQ(of("O2", {.loss_scale = 128.0}).loss_scale, 128.0);
    EXPECT_EQ(of("O2", {.loss_scale = "512"}).loss_scale, 512.0);
    EXPECT_EQ(of("O3", {.loss_scale = "dynamic"}).loss_scale, std::nullopt);
    EXPECT_EQ(of("O3", {.keep_batchnorm_fp32 = "True"}).keep_batchnorm_fp32, true);
    EXPECT_EQ(of("O2", {.keep_batchnorm_fp32 = false}).keep_batchnorm_fp32, false);
    EXPECT_EQ(of("O3", {.master_weights = true}).master_weights, true);
    EXPECT_EQ(of("O2", {.cast_model_type = std::optional(DType::f32)}).cast_model_type, DType::f32);
    EXPECT_EQ(of("O1", {.cast_model_type = std::optional(DType::f32)}).cast_model_type, DType::f32);
    EXPECT_EQ(of("O1", {.cast_model_type = std::optional<DType>()}).cast_model_type, std::nullopt);
}

TEST(OptLevel, RefusesWhatTheLevelCannotHave) {
    const OptOverrides refused[] = {{.cast_model_type = std::optional(DType::f16)},
                                    {.keep_batchnorm_fp32 = true},
                                    {.keep_batchnorm_fp32 = "False"},
                                    {.master_weights = false}};
    for (OptOverrides overrides : refused) {
        EXPECT_THROW(of("O1", overrides), Error);
        overrides.hard_override = true;
        EXPECT_EQ(resolve_opt_level("O1", overrides).warnings.size(), 1u);
    }
    for (const char* level : {"O0", "O2", "O3"}) {
        EXPECT_THROW(of(level, {.patch_functions = true}), Error);
        const auto forced =
            resolve_opt_level(level, {.patch_functions = true, .hard_override = true});
        EXPECT_EQ(forced.warnings.size(), 1u);
        EXPECT_TRUE(forced.properties.patch_functions);
    }
    EXPECT_TRUE(of("O1", {.patch_functions = true}).patch_functions);
}

TEST(OptLevel, RefusesUnknownLevelsAndValues) {
    EXPECT_THROW(of("O4"), Error);
    EXPECT_THROW(of("02"), Error);
    EXPECT_THROW(of("O2", {.loss_scale = "big"}), Error);
    EXPECT_THROW(of("O2", {.loss_scale = -1.0}), Error);
    EXPECT_THROW(of("O2", {.keep_batchnorm_fp32 = "yes"}), Error);
}

TEST(OptLevel, SwitchedOffTakesNothingAndRefusesNothing) {
    const OptProperties off = of("O1", {.master_weights = true, .enabled = false});
    EXPECT_FALSE(off.enabled);
}

TEST(OptLevel, ScalersStartAndMoveByTheirNumbers) {
    EXPECT_EQ(apex_scaler({}).init_scale, 65536);
    EXPECT_EQ(apex_scaler({}, 0, 1024).init_scale, 1024);
    EXPECT_THROW(apex_scaler(128.0), Error);
    ScaleRule apex(apex_scaler({}, 32768, 0x1p17));
    for (int i = 0; i < 3; ++i) apex.update(true);
    EXPECT_EQ(apex.loss_scale(), 32768) << "the floor";
    for (int i = 0; i < 6000; ++i) apex.update(false);
    EXPECT_EQ(apex.loss_scale(), 0x1p17) << "the ceiling";
    EXPECT_EQ(apex.growth_tracker(), 0);

    ScaleRule older(apex_fp16_scaler());
    EXPECT_EQ(older.loss_scale(), 0x1p32f);
    for (int i = 0; i < 40; ++i) older.update(true);
    EXPECT_EQ(older.loss_scale(), 1);

    ScaleRule one(fastai1_scaler()), two(fastai2_scaler());
    EXPECT_EQ(two.loss_scale(), 0x1p24f);
    for (ScaleRule* rule : {&one, &two}) {
        for (int i = 0; i < 499; ++i) rule->update(false);
        rule->update(true);
        rule->update(false);
    }
    EXPECT_EQ(one.loss_scale(), 0x1p31f);
    EXPECT_EQ(one.growth_tracker(), 1) << "an overflow starts the count again";
    EXPECT_EQ(two.loss_scale(), 0x1p24f) << "halved, and doubled by the 500th good step";
    EXPECT_EQ(two.growth_tracker(), 0);
}

}  // namespace
}  // namespace engine
