#include "record/quantization_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

QuantizationSlot slot(const char* module, const char* role) {
    return {.module = module, .role = role, .orientation = "columns", .rows = 8, .cols = 16,
            .format = "e4m3", .engine = "emulated", .reason = "no card"};
}

QuantizationRow row(std::int64_t step, std::int32_t place, std::int64_t zeroed) {
    QuantizationRow out;
    out.step = step;
    out.slot = place;
    out.scale = 0.5f;
    out.elements = 128;
    out.nonzero = 100;
    out.zeroed = zeroed;
    out.saturated = 32;
    out.signal2 = 100;
    out.error2 = 1;
    return out;
}

class QuantizationFile : public testing::Test {
protected:
    void write(std::int64_t step, std::int64_t zeroed = 25) {
        QuantizationWriter writer(folder_.path());
        const std::int32_t x = writer.place_of(slot("fc1", "x")), g = writer.place_of(slot("fc1", "g"));
        writer.append(std::vector{row(step, x, zeroed), row(step, g, 2 * zeroed)},
                      std::vector{ScaleCodeCount{step, x, 127, 3}, ScaleCodeCount{step, x, 128, 1}});
    }
    QuantizationReader open() const { return QuantizationReader::open(folder_.path()); }

    test_support::TempFolder folder_;
};

TEST_F(QuantizationFile, HoldsRowsSlotsAndScaleCodes) {
    EXPECT_FALSE(QuantizationReader::exists(folder_.path()));
    write(10);
    write(20, 30);  // a writer of a run that goes on
    const auto reader = open();
    EXPECT_EQ(reader.steps(), (std::vector<std::int64_t>{10, 20}));
    ASSERT_EQ(reader.slots().size(), 2u);
    EXPECT_EQ(reader.slots()[1], slot("fc1", "g"));
    const auto rows = reader.read(14);  // 10 is nearer
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].step, 10);
    EXPECT_EQ(rows[1].zeroed_share(), 0.5);
    EXPECT_EQ(rows[0].saturated_share(), 0.25);
    EXPECT_EQ(rows[0].decibels(), 20);
    EXPECT_TRUE(std::isnan(rows[0].history_max));
    EXPECT_EQ(reader.read_scale_codes(16).at(1), (ScaleCodeCount{20, 0, 128, 1}));
    const Table table = to_table(rows, reader.slots());
    EXPECT_EQ(table.columns.size(), 4u + 17u);
}

TEST_F(QuantizationFile, LaterSampleOfAStepCounts) {
    write(10, 1);
    write(10, 9);  // the step was computed again, right behind
    write(20, 2);
    write(10, 7);
    const auto reader = open();
    EXPECT_EQ(reader.steps(), (std::vector<std::int64_t>{10, 20}));
    ASSERT_EQ(reader.read(10).size(), 2u);
    EXPECT_EQ(reader.read(10)[0].zeroed, 7);
    EXPECT_EQ(reader.read_scale_codes(10).size(), 2u);
}

TEST_F(QuantizationFile, ScaleCodesAreThoseOfTheNearestStepWithSome) {
    write(10);
    QuantizationWriter writer(folder_.path());
    const std::int32_t x = writer.place_of(slot("fc1", "x"));
    for (const std::int64_t step : {20, 30}) writer.append(std::vector{row(step, x, 1)}, {});
    const auto reader = open();
    EXPECT_EQ(reader.read(30).front().step, 30);
    EXPECT_EQ(reader.read_scale_codes(30).size(), 2u);
    EXPECT_EQ(reader.read_scale_codes(30).front().step, 10);
}

TEST_F(QuantizationFile, ReaderFollowsAWriter) {
    write(10);
    auto reader = open();
    EXPECT_FALSE(reader.refresh());
    write(20);
    EXPECT_TRUE(reader.refresh());
    EXPECT_EQ(reader.steps().back(), 20);
}

TEST_F(QuantizationFile, DamageIsRefused) {
    write(10);
    const auto folder = folder_.path() / "quantization";
    const auto put = [&](const char* name, const std::string& text) {
        std::ofstream(folder / name, std::ios::binary) << text;
    };
    put("tensors.json", R"({"tensors":[{"module":"fc1"}]})");
    EXPECT_THROW(open(), Error);
    put("tensors.json", R"({"tensors":[]})");
    EXPECT_THROW(open().read(10), Error);  // rows of slots that are not there
    put("tensors.rec", "HTQUANT\n");
    EXPECT_THROW(open(), Error);
    EXPECT_THROW(QuantizationWriter(folder_.path()).append({}, {}), Error);
}

}  // namespace
}  // namespace engine
