#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "engine/runs/export.h"
#include "engine/runs/run_store.h"
#include "runs/tensorboard_events.h"
#include "stored_example.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

void write_events(const fs::path& file, const std::string& bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
}

/// Rows 1 to `rows` with a loss of 1 / step.
std::string event_rows(std::int64_t first, std::int64_t rows, float scale = 1) {
    std::string out = tensorboard_version(100);
    for (std::int64_t step = first; step < first + rows; ++step) {
        StepRecord row{};
        row.step = row.updates = step;
        row.loss = scale / static_cast<float>(step);
        row.loss_scale = 8;
        out += tensorboard_row(row, {}, 100 + static_cast<double>(step));
    }
    return out;
}

class TensorboardLogTest : public testing::Test {
protected:
    RunSummary imported(const fs::path& path) {
        const auto made = store_.import_runs(path);
        EXPECT_THAT(made, SizeIs(1));
        return *store_.find(made.front().run);
    }

    test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
};

TEST_F(TensorboardLogTest, AnExportedRunComesBackWithEveryFigure) {
    const RunSummary run = *store_.find(stored_example(store_).run);
    export_tensorboard(run.folder, dir_ / "board");
    const RunSummary back = imported(dir_ / "board");
    EXPECT_EQ(back.state, "done");
    EXPECT_EQ(back.steps, 3);
    EXPECT_EQ(back.skipped, 1);
    ASSERT_TRUE(back.origin);
    EXPECT_EQ(back.origin->program, "TensorBoard");
    EXPECT_EQ(back.config.precision.preset, run.config.precision.preset);
    EXPECT_EQ(model_name(back), run.config.model.kind);
    EXPECT_EQ(back.title, "board");
    EXPECT_EQ(back.test.of("accuracy"), static_cast<double>(static_cast<float>(0.8)));
    const StepRecordReader was = StepRecordReader::open(run.folder);
    const StepRecordReader is = StepRecordReader::open(back.folder);
    ASSERT_EQ(is.size(), was.size());
    for (std::int64_t i = 0; i < was.size(); ++i) {
        const StepRecord a = was.row(i), b = is.row(i);
        for_each_field([&](std::string_view name, auto member) {
            const auto x = static_cast<float>(a.*member), y = static_cast<float>(b.*member);
            EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << name << " of " << i;
        });
    }
}

TEST_F(TensorboardLogTest, AFileThatIsCutOffAnywhereCountsUpToThere) {
    const std::string whole = event_rows(1, 3);
    const std::string two = event_rows(1, 2);
    for (std::size_t size = two.size(); size < whole.size(); size += 97) {
        write_events(dir_ / "board" / "events.out.tfevents.1.x", whole.substr(0, size));
        EXPECT_EQ(imported(dir_ / "board").steps, 2) << size;
    }
}

TEST_F(TensorboardLogTest, FiguresBehindDamageAreLeftOutWithAWarning) {
    std::string bytes = event_rows(1, 5);
    bytes[event_rows(1, 2).size() + 20] ^= 1;
    write_events(dir_ / "board" / "events.out.tfevents.1.x", bytes);
    const RunSummary run = imported(dir_ / "board");
    EXPECT_EQ(run.steps, 2);
    const auto warnings = store_.events(
        run.run, [](const Event& event) { return std::holds_alternative<RunWarning>(event); });
    ASSERT_THAT(warnings, SizeIs(1));
    EXPECT_THAT(std::get<RunWarning>(warnings.front()).message.str(), HasSubstr("damaged"));
}

TEST_F(TensorboardLogTest, ARestartTakesStepsBack) {
    write_events(dir_ / "board" / "events.out.tfevents.1.x", event_rows(1, 6));
    write_events(dir_ / "board" / "events.out.tfevents.2.x",
                 tensorboard_restart(4, 200) + event_rows(4, 2, 10));
    const RunSummary run = imported(dir_ / "board");
    EXPECT_EQ(run.steps, 5);
    EXPECT_EQ(StepRecordReader::open(run.folder).row(3).loss, 10.F / 4);
}

TEST_F(TensorboardLogTest, EachFolderWithEventsIsARun) {
    write_events(dir_ / "logs" / "a" / "events.out.tfevents.1.x", event_rows(1, 2));
    write_events(dir_ / "logs" / "b" / "deep" / "events.out.tfevents.1.x", event_rows(1, 3));
    write_events(dir_ / "logs" / "c" / "notes.txt", "nothing");
    std::vector<std::string> titles;
    for (const auto& made : store_.import_runs(dir_ / "logs"))
        titles.push_back(store_.find(made.run)->title);
    EXPECT_THAT(titles, ElementsAre("a", "b/deep"));
}

TEST_F(TensorboardLogTest, AFolderWithoutEventsIsRefusedAndNothingStays) {
    fs::create_directories(dir_ / "empty");
    EXPECT_THROW(store_.import_runs(dir_ / "empty"), Error);
    write_events(dir_ / "board" / "events.out.tfevents.1.x", "no records at all, but long enough");
    EXPECT_THROW(store_.import_runs(dir_ / "board"), Error);
    EXPECT_TRUE(store_.list().empty());
}

}  // namespace
}  // namespace engine
