#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/runs/export.h"
#include "stored_example.h"
#include "support/long_run.h"
#include "support/peak_memory.h"
#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::json;
using testing::SizeIs;

json exported(const std::filesystem::path& run, const std::filesystem::path& file) {
    export_json(run, file);
    std::ifstream in(file);
    return json::parse(in);
}

TEST(ExportJson, HoldsSettingsFiguresEpochsEventsAndColumns) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const json run = exported(stored_example(store).folder, dir / "run.json");
    EXPECT_EQ(run.at("title"), "first try");
    EXPECT_EQ(run.at("notes"), "line\nline");
    EXPECT_EQ(run.at("state"), "done");
    EXPECT_EQ(run.at("config").at("seed"), 7);
    EXPECT_EQ(run.at("test_accuracy"), 0.8);
    EXPECT_EQ(run.at("metrics").at(0).at("key"), "accuracy");
    ASSERT_THAT(run.at("epochs"), SizeIs(1));
    EXPECT_EQ(run.at("epochs").at(0).at("test_loss"), 0.5);
    EXPECT_EQ(run.at("epochs").at(0).at("step"), 3);
    ASSERT_THAT(run.at("events"), SizeIs(3));
    EXPECT_EQ(run.at("events").at(0).at("event"), "start");
    EXPECT_EQ(run.at("events").at(1).at("message"), "careful");
    const json& record = run.at("record");
    EXPECT_EQ(record.at("step"), json({1, 2, 3}));
    EXPECT_EQ(record.at("updates"), json({1, 1, 2}));
    EXPECT_EQ(record.at("loss").at(0), 1.0);
    EXPECT_EQ(record.at("loss").at(1), "nan") << "a result";
    EXPECT_EQ(record.at("grad_norm").at(1), "inf");
    EXPECT_EQ(record.at("lost_update_share"), json({nullptr, nullptr, nullptr})) << "not measured";
    EXPECT_EQ(record.at("found_inf"), json({false, true, false}));
    EXPECT_EQ(record.at("loss_scale").at(2), 32768);
    EXPECT_FLOAT_EQ(record.at("loss").at(2).get<float>(), 1.F / 3);
    for (const auto& [name, column] : record.items()) EXPECT_THAT(column, SizeIs(3)) << name;
}

TEST(ExportJson, OfALongRecordIsWholeAndOfAnEmptyOneToo) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const json run = exported(stored_example(store, 20000).folder, dir / "run.json");
    const json& steps = run.at("record").at("step");
    ASSERT_THAT(steps, SizeIs(20000));
    for (std::size_t i = 0; i < steps.size(); i += 999) EXPECT_EQ(steps[i], i + 1);
    const json empty = exported(stored_example(store, 0).folder, dir / "empty.json");
    EXPECT_THAT(empty.at("record").at("step"), SizeIs(0));
}

TEST(ExportJson, AndTensorBoardWriteTheEventsOfALongRunOneByOne) {
    constexpr std::size_t skips = 8'000;
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const auto run = test::long_run(store, skips);
    const test::PeakMemory memory;
    export_json(run.folder, dir / "run.json");
    export_tensorboard(run.folder, dir / "board");
    if (memory.known()) {
        EXPECT_LT(memory.grown(), 5 << 20) << "the events alone take about 9 MiB";
    }
    std::ifstream in(dir / "run.json");
    const json found = json::parse(in);
    EXPECT_THAT(found.at("events"), SizeIs(1 + 300 + skips + 1));
    EXPECT_EQ(found.at("events").at(300 + skips).at("event"), "scale");
    EXPECT_EQ(found.at("events").back().at("event"), "done");
    EXPECT_THAT(found.at("epochs"), SizeIs(300));
    EXPECT_EQ(found.at("epochs").back().at("step"), 300);
}

TEST(ExportJson, WithoutARecordIsAnError) {
    const test_support::TempFolder dir;
    EXPECT_THROW(export_json(dir.path(), dir / "run.json"), Error);
    EXPECT_FALSE(std::filesystem::exists(dir / "run.json"));
}

}  // namespace
}  // namespace engine
