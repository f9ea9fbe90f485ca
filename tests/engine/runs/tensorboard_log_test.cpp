#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string_view>

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

/// A file of PyTorch 2.15's SummaryWriter: Loss/train of steps 0 and 1, val/acc of step 1.
constexpr std::string_view pytorch_file =
    "4800000000000000fe92489d091098690830c3da411a0d627261696e2e4576656e743a32522e0a2c74656e73"
    "6f72626f6172642e73756d6d6172792e7772697465722e6576656e745f66696c655f7772697465720277c0b5"
    "1e00000000000000d9dc12320900000000000059402a130a110a0a4c6f73732f747261696e150000803f003f"
    "4d57200000000000000029eda95009000000000040594010012a130a110a0a4c6f73732f747261696e150000"
    "003fee804dca1d00000000000000602fdf2309000000000060594010012a100a0e0a0776616c2f6163631500"
    "00803e6e1b383b";
/// As TensorFlow 2 writes scalars, by TensorBoard 2.21's messages: epoch_loss of steps 0 and 1 as
/// tensors, one with its content and one with its value.
constexpr std::string_view tensorflow_file =
    "1800000000000000a37f4b22090000000000e068401a0d627261696e2e4576656e743a32a8343e2e32000000"
    "00000000241956ec0900000000000069402a270a250a0a65706f63685f6c6f7373420a080112002204000040"
    "404a0b0a090a077363616c617273e38609a52700000000000000bbe1b14609000000000020694010012a1a0a"
    "180a0a65706f63685f6c6f7373420a080112002a040000c03f2bff6a43";

std::string unhexed(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 2)
        out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
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

TEST_F(TensorboardLogTest, FilesOfOtherProgramsAreRead) {
    write_events(dir_ / "torch" / "events.out.tfevents.1.x", unhexed(pytorch_file));
    write_events(dir_ / "keras" / "events.out.tfevents.1.x", unhexed(tensorflow_file));
    const RunSummary torch = imported(dir_ / "torch");
    EXPECT_EQ(torch.steps, 2);
    EXPECT_EQ(StepRecordReader::open(torch.folder).row(1).loss, 0.5F);
    EXPECT_EQ(StepRecordReader::open(torch.folder).row(1).clock_s, 101);
    const auto epochs = store_.events(
        torch.run, [](const Event& event) { return std::holds_alternative<EpochDone>(event); });
    ASSERT_THAT(epochs, SizeIs(1));
    EXPECT_EQ(std::get<EpochDone>(epochs.front()).validation.of("accuracy"), 0.25);
    const RunSummary keras = imported(dir_ / "keras");
    EXPECT_EQ(keras.steps, 2);
    EXPECT_EQ(StepRecordReader::open(keras.folder).row(0).loss, 3.F);
    EXPECT_EQ(StepRecordReader::open(keras.folder).row(1).loss, 1.5F);
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
