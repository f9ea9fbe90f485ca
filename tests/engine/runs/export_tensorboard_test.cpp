#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/runs/export.h"
#include "stored_example.h"
#include "support/tensorboard_file.h"
#include "temp_folder.h"

// tests/peer/tensorboard_run.py reads such a file with TensorBoard's own reader.
namespace engine {
namespace {

namespace fs = std::filesystem;
using test_support::TensorboardFile;
using testing::HasSubstr;

TensorboardFile read_folder(const fs::path& folder) {
    return test_support::read_tensorboard(fs::directory_iterator(folder)->path());
}

TEST(ExportTensorboard, HasEveryColumnTheSkippedStepsAndTheParts) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    export_tensorboard(stored_example(store).folder, dir / "board");
    const TensorboardFile read = read_folder(dir / "board");
    EXPECT_EQ(read.version, "brain.Event:2");
    EXPECT_THAT(read.settings, HasSubstr("settings/text_summary: ```json"));
    EXPECT_THAT(read.settings, HasSubstr("\"seed\": 7"));
    using Steps = std::map<std::int64_t, float>;
    EXPECT_EQ(read.scalars.at("train/skipped"), (Steps{{1, 0.F}, {2, 1.F}, {3, 1.F}}));
    EXPECT_EQ(read.scalars.at("train/loss_scale"),
              (Steps{{1, 65536.F}, {2, 65536.F}, {3, 32768.F}}));
    EXPECT_EQ(read.scalars.at("train/accuracy").at(3), 0.75F);
    EXPECT_TRUE(std::isnan(read.scalars.at("train/loss").at(2)));
    EXPECT_TRUE(std::isinf(read.scalars.at("train/grad_norm").at(2)));
    EXPECT_EQ(read.scalars.at("train/found_inf").at(2), 1.F);
    EXPECT_EQ(read.scalars.at("test/accuracy"), (Steps{{3, 0.8F}}));
    EXPECT_EQ(read.scalars.at("test/loss"), (Steps{{3, 0.5F}}));
    EXPECT_EQ(read.scalars.at("epoch/loss"), (Steps{{3, 0.6F}}));
    EXPECT_FALSE(read.scalars.contains("validation/loss"));
    EXPECT_THAT(read.hparams.at("_hparams_/session_start_info"), HasSubstr("optimizer.lr"));
    EXPECT_THAT(read.hparams.at("_hparams_/session_start_info"),
                testing::Not(HasSubstr("checkpoint.keep")));
    EXPECT_THAT(read.hparams.at("_hparams_/experiment"), HasSubstr("test/accuracy"));
    EXPECT_TRUE(read.hparams.contains("_hparams_/session_end_info"));
    EXPECT_EQ(read.restarted_at, 0);
    EXPECT_EQ(read.times.at(3), 1.7e9 + 3) << "the clock of the step";
    EXPECT_FALSE(read.scalars.contains("train/lost_update_share")) << "was not measured";
    EXPECT_FALSE(read.scalars.contains("train/metric_1"));
    std::size_t columns = 0;
    for_each_named_field(classification_metrics(), [&](std::string_view field, auto) {
        const bool listed = read.scalars.contains("train/" + std::string(field));
        const bool of_several_ranks = field.starts_with("exchange_");
        const bool of_meters = field.starts_with("card_") || field == "cpu_joules";
        const bool of_recipe = field.ends_with("_zeroed_share") ||
                               field.ends_with("_saturated_share") || field == "scale_headroom" ||
                               field == "fallback_products";
        const bool of_event = field == "step" || field == "clock_s";
        EXPECT_EQ(listed,
                  !of_event && field != "lost_update_share" && !of_several_ranks && !of_meters &&
                      !of_recipe)
            << field;
        ++columns;
    });
    EXPECT_GT(columns, 25U);
}

TEST(ExportTensorboard, OfALongRunHasEveryStep) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    export_tensorboard(stored_example(store, 5000).folder, dir / "board");
    const TensorboardFile read = read_folder(dir / "board");
    EXPECT_EQ(read.scalars.at("train/samples").size(), 5000U);
    EXPECT_EQ(read.scalars.at("train/samples").at(5000), 640000.F);
}

TEST(ExportTensorboard, WithoutARecordMakesNoFolder) {
    const test_support::TempFolder dir;
    EXPECT_THROW(export_tensorboard(dir.path(), dir / "board"), Error);
    EXPECT_FALSE(fs::exists(dir / "board"));
}

}  // namespace
}  // namespace engine
