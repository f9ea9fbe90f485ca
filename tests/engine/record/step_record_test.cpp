#include "record/step_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "engine/base/error.h"
#include "step_record_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::append_steps;
using test::expect_equal;
using test::message_of;
using test::row_of;
using testing::HasSubstr;

TEST(StepRecord, ReadsBackWhatWasAppended) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 3);
    const auto reader = StepRecordReader::open(dir.path());
    ASSERT_EQ(reader.size(), 3);
    EXPECT_EQ(writer.published(), 3);
    for (std::int64_t i = 0; i < 3; ++i) expect_equal(reader.row(i), row_of(i + 1));
}

TEST(StepRecord, KeepsRowsOverAllChunkSizes) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    constexpr std::int64_t count = 60'000;  // exceeds the growing chunks by three full ones
    append_steps(writer, count);
    const auto reader = writer.reader();
    std::vector<StepRecord> rows(count);
    reader.rows(0, rows);
    for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(rows[static_cast<std::size_t>(i)].step, i + 1);
        if (i % 97 == 0) expect_equal(rows[static_cast<std::size_t>(i)], row_of(i + 1));
    }
}

TEST(StepRecord, ALongRecordDoesNotStayInMemory) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    constexpr std::int64_t count = 400'000;  // about two dozen full chunks
    StepRecord row = row_of(1);
    for (row.step = 1; row.step <= count; ++row.step) writer.append(row);
    const auto reader = StepRecordReader::open(dir.path());
    std::vector<double> steps(count);
    reader.column(&StepRecord::step, 0, steps);
    EXPECT_EQ(steps.back(), count);
    EXPECT_EQ(reader.row(0).step, 1) << "what was let go is mapped again";
    int mapped = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        mapped += line.find(dir.path().string()) != std::string::npos ? 1 : 0;
    EXPECT_GT(mapped, 0);
    EXPECT_LE(mapped, 12) << "the reader's header and chunks, and the writer's";
}

TEST(StepRecord, ColumnsComeAsDoublesAcrossChunks) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 3000);
    const auto reader = writer.reader();
    std::vector<double> out(2000);
    for_each_field([&](const char* name, auto member) {
        reader.column(member, 400, out);
        for (std::size_t i = 0; i < out.size(); i += 53) {
            EXPECT_EQ(out[i],
                      static_cast<double>(row_of(static_cast<std::int64_t>(401 + i)).*member))
                << name;
        }
    });
}

TEST(StepRecord, KeepsNonFiniteNumbersAsTheyAre) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    StepRecord record = row_of(1);
    record.loss = -std::numeric_limits<float>::infinity();
    record.accuracy = std::numeric_limits<float>::quiet_NaN();
    writer.append(record);
    const auto read = writer.reader().row(0);
    EXPECT_EQ(read.loss, record.loss);
    EXPECT_TRUE(std::isnan(read.accuracy));
}

TEST(StepRecord, AnOpenReaderSeesTheRecordGrow) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    const auto reader = StepRecordReader::open(dir.path());
    const StepRecordReader copy = reader;
    EXPECT_EQ(reader.size(), 0);
    append_steps(writer, 5000);
    EXPECT_EQ(reader.size(), 5000);
    expect_equal(reader.row(4999), row_of(5000));
    expect_equal(copy.row(0), row_of(1));
}

TEST(StepRecord, AnEmptyReaderHoldsNothing) {
    const StepRecordReader reader;
    EXPECT_EQ(reader.size(), 0);
    EXPECT_NO_THROW(reader.rows(0, {}));
    message_of([&] { (void)reader.row(0); }, ErrorCode::value);
}

TEST(StepRecord, RefusesRowsThatAreNotPublished) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 2);
    const auto reader = writer.reader();
    for (const std::int64_t index :
         {std::int64_t{2}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        message_of([&] { (void)reader.row(index); }, ErrorCode::value);
    }
    std::vector<double> out(3);
    message_of([&] { reader.column(&StepRecord::loss, 0, out); }, ErrorCode::value);
}

TEST(StepRecord, AShortRunTakesLittleRoom) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics);
    append_steps(writer, 500);
    EXPECT_LT(std::filesystem::file_size(dir / "steps.rec"), 110'000u);
}

TEST(StepRecord, IsNotMadeTwiceInOneFolder) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    EXPECT_THAT(
        message_of([&] { StepRecordWriter::create(dir.path(), max_metrics, test::every_column); },
                   ErrorCode::io),
        HasSubstr("steps.rec"));
    message_of([&] { StepRecordWriter::create(dir / "absent"); }, ErrorCode::io);
}

TEST(StepRecord, EveryPublishedRowSurvivesKill9) {
    test_support::TempFolder dir;
    const pid_t child = ::fork();
    if (child == 0) {
        auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
        for (std::int64_t step = 1;; ++step) writer.append(row_of(step));
    }
    ASSERT_GT(child, 0);
    const auto published = [&dir]() -> std::int64_t {
        try {
            return StepRecordReader::open(dir.path()).size();
        } catch (const Error&) {
            return 0;  // not created yet
        }
    };
    while (published() < 20'000) std::this_thread::yield();
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto reader = StepRecordReader::open(dir.path());
    ASSERT_GE(reader.size(), 20'000);
    std::vector<StepRecord> rows(static_cast<std::size_t>(reader.size()));
    reader.rows(0, rows);
    for (std::size_t i = 0; i < rows.size(); i += 101) {
        expect_equal(rows[i], row_of(static_cast<std::int64_t>(i + 1)));
    }
    expect_equal(rows.back(), row_of(reader.size()));
}

/// Runs in a child process, whose limits end with it. Returns true if it ended normally.
bool in_child(const std::function<bool()>& act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(act() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StepRecord, AHeaderThatDoesNotFitLeavesNoFile) {
    test_support::TempFolder dir;
    EXPECT_TRUE(in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
        try {
            StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
            return false;
        } catch (const Error& error) {
            return error.code() == ErrorCode::io;
        }
    }));
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(StepRecord, AFileWhoseHeaderIsNotWholeIsNotYetTheRecord) {
    test_support::TempFolder dir;
    std::ofstream(dir / "steps.rec.part") << "what a killed process left";
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    append_steps(writer, 2);
    EXPECT_EQ(StepRecordReader::open(dir.path()).size(), 2);
    EXPECT_FALSE(std::filesystem::exists(dir / "steps.rec.part"));
}

TEST(StepRecord, AFullDiskIsAnErrorAndKeepsWhatWasWritten) {
    test_support::TempFolder dir;
    EXPECT_TRUE(in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);  // a limit on the file's size simulates a full disk
        auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
        const rlimit limit{200'000, 200'000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
        for (int attempt = 0; attempt < 2; ++attempt) {
            try {
                append_steps(writer, 5000);
                return false;
            } catch (const Error& error) {
                const std::string text = error.what();
                if (error.code() != ErrorCode::io) return false;
                if (text.find("the disk is full") == std::string::npos) return false;
            }
        }
        return true;
    }));
    const auto reader = StepRecordReader::open(dir.path());
    EXPECT_EQ(reader.size(), 512);  // the first chunk; the second did not fit
    expect_equal(reader.row(511), row_of(512));
}

TEST(StepRecord, AReaderThreadSeesOnlyWholeRowsWhileAWriterAppends) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path(), max_metrics, test::every_column);
    const auto reader = writer.reader();
    constexpr std::int64_t count = 40'000;
    std::thread reading([copy = reader] {
        std::int64_t seen = 0;
        while (seen < count) {
            const std::int64_t size = copy.size();
            if (size == seen) continue;
            expect_equal(copy.row(size - 1), row_of(size));
            expect_equal(copy.row(seen), row_of(seen + 1));
            seen = size;
        }
    });
    std::thread plotting([copy = reader] {
        std::vector<double> steps;
        while (steps.size() < count) {
            const auto from = static_cast<std::int64_t>(steps.size());
            const auto size = copy.size();
            steps.resize(static_cast<std::size_t>(size));
            copy.column(&StepRecord::step, from,
                        std::span(steps).subspan(static_cast<std::size_t>(from)));
        }
        for (std::size_t i = 0; i < steps.size(); ++i)
            ASSERT_EQ(steps[i], static_cast<double>(i + 1));
    });
    append_steps(writer, count);
    reading.join();
    plotting.join();
}

TEST(RecordLayout, ChunksFollowOneAnotherAndHoldTheirRows) {
    const record_layout::Layout layout(record_layout::make_header());
    std::int64_t row = 0;
    std::int64_t offset = record_layout::page_bytes;
    for (std::int64_t i = 0; i < 700; ++i) {  // more than 10 million rows
        const auto chunk = layout.chunk(i);
        ASSERT_EQ(chunk.first_row, row);
        ASSERT_EQ(chunk.offset, offset);
        ASSERT_EQ(chunk.offset % static_cast<std::int64_t>(record_layout::page_bytes), 0);
        ASSERT_EQ(layout.chunk_of(row), i);
        row += chunk.rows;
        offset += chunk.bytes;
        ASSERT_EQ(layout.chunk_of(row - 1), i);
        ASSERT_EQ(layout.file_bytes(row), offset);
    }
    EXPECT_GT(row, 10'000'000);
}

}  // namespace
}  // namespace engine
