#include "record/copy_observations.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "engine/record/histogram_record.h"
#include "histogram_support.h"
#include "record/histogram_file.h"
#include "temp_folder.h"
#include "write_text.h"

namespace engine {
namespace {

using test_support::TempFolder;

HistogramSample sample_of(std::int64_t step, bool shadow = false) {
    const auto value = static_cast<float>(step);
    return {step,
            shadow,
            1024,
            {{"conv1", HistogramKind::gradients, test::histogram_of({value, 2 * value}),
              ValueType::f16, false}}};
}

std::string read(const std::filesystem::path& file) {
    std::stringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
}

TEST(CopyObservations, TakesHistogramsUpToTheStepAndGoesOnAfterThem) {
    const TempFolder parent, child;
    HistogramWriter writer(parent.path());
    for (const std::int64_t step : {10, 20, 30}) writer.append(sample_of(step));
    writer.append(sample_of(20, true));
    copy_observations(parent.path(), child.path(), "7", 20);
    HistogramWriter(child.path()).append(sample_of(25));
    const auto reader = HistogramRecordReader::open(child.path());
    ASSERT_EQ(reader.samples().size(), 4u);
    EXPECT_EQ(reader.read(0), sample_of(10));
    EXPECT_EQ(reader.read(1), sample_of(20));
    EXPECT_EQ(reader.read(2), sample_of(20, true));
    EXPECT_EQ(reader.read(3), sample_of(25));
}

TEST(CopyObservations, TakesExaminedSkipsUnderTheNewRunsId) {
    const TempFolder parent, child;
    write_text(parent / "skips/3.json", R"({"run":"1","step":3})");
    write_text(parent / "skips/40.json", R"({"run":"1","step":40})");
    write_text(parent / "skips/2.json", "damaged");
    write_text(parent / "skips/5.json.tmp", "{}");
    copy_observations(parent.path(), child.path(), "7", 20);
    EXPECT_EQ(read(child / "skips/3.json"), "{\"run\":\"7\",\"step\":3}\n");
    for (const char* none : {"skips/40.json", "skips/2.json", "skips/5.json.tmp"})
        EXPECT_FALSE(std::filesystem::exists(child / none)) << none;
}

TEST(CopyObservations, OfARunWithoutAnyMakesNothing) {
    const TempFolder parent, child;
    copy_observations(parent.path(), child.path(), "7", 20);
    EXPECT_TRUE(std::filesystem::is_empty(child.path()));
}

TEST(CopyObservations, ThrowsForDamagedHistograms) {
    const TempFolder parent, child;
    write_text(parent / "histograms/exponents.rec", "no record");
    EXPECT_THROW(copy_observations(parent.path(), child.path(), "7", 20), Error);
}

}  // namespace
}  // namespace engine
