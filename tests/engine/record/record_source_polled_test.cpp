// A record that is read by pread, as on a network file system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "engine/base/error.h"
#include "step_record_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using namespace std::chrono_literals;
using test::append_steps;
using test::expect_equal;
using test::message_of;
using test::row_of;
using testing::HasSubstr;

constexpr auto longer_than_a_poll = 300ms;

StepRecordReader polled(const test_support::TempFolder& dir) {
    return StepRecordReader::open(dir.path(), RecordAccess::polled);
}

TEST(PolledRecord, ReadsTheRowsAndColumnsThatAMappingShows) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    constexpr std::int64_t count = 5000;  // covers three sizes of chunks
    append_steps(writer, count);
    const auto reader = polled(dir);
    ASSERT_EQ(reader.size(), count);
    std::vector<StepRecord> rows(count);
    reader.rows(0, rows);
    for (std::int64_t i = 0; i < count; i += 7)
        expect_equal(rows[static_cast<std::size_t>(i)], row_of(i + 1));
    std::vector<double> by_polling(3000), by_mapping(3000);
    reader.column(&StepRecord::grad_norm, 400, by_polling);
    writer.reader().column(&StepRecord::grad_norm, 400, by_mapping);
    EXPECT_EQ(by_polling, by_mapping);
}

TEST(PolledRecord, SeesNewRowsAfterAWhile) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 500);
    const auto start = std::chrono::steady_clock::now();
    const auto reader = polled(dir);
    append_steps(writer, 100);
    const std::int64_t at_once = reader.size();
    if (std::chrono::steady_clock::now() - start < 200ms) {
        EXPECT_EQ(at_once, 500) << "it is not asked for at every call";
    }
    std::this_thread::sleep_for(longer_than_a_poll);
    ASSERT_EQ(reader.size(), 600);
    expect_equal(reader.row(599), row_of(600));
    EXPECT_NO_THROW(reader.check());
}

TEST(PolledRecord, AnotherFileInItsPlaceIsAClearError) {
    test_support::TempFolder dir, other;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 10);
    auto second = StepRecordWriter::create(other.path(), max_metrics, test::every_column);
    append_steps(second, 20);
    const auto reader = polled(dir);
    std::filesystem::rename(other / "steps.rec", dir / "steps.rec");
    std::this_thread::sleep_for(longer_than_a_poll);
    EXPECT_EQ(reader.size(), 10);
    const auto message = message_of([&] { (void)reader.row(0); }, ErrorCode::data);
    EXPECT_THAT(message, HasSubstr("replaced, removed or cut short"));
    EXPECT_THROW(reader.check(), Error);
}

TEST(PolledRecord, ACountAboveTheFileIsNeverShown) {
    for (const auto access : {RecordAccess::polled, RecordAccess::mapped}) {
        test_support::TempFolder dir;
        auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
        append_steps(writer, 10);
        const auto reader = StepRecordReader::open(dir.path(), access);
        for (const std::int64_t lie :
             {std::int64_t{1} << 62, std::int64_t{100'000}, std::int64_t{-1}}) {
            std::fstream file(dir / "steps.rec", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(offsetof(record_layout::Header, published));
            file.write(reinterpret_cast<const char*>(&lie), sizeof lie);
            file.close();
            std::this_thread::sleep_for(longer_than_a_poll);
            EXPECT_EQ(reader.size(), 10);
        }
        EXPECT_THROW(reader.check(), Error);
        EXPECT_THROW((void)reader.row(0), Error);
    }
}

}  // namespace
}  // namespace engine
