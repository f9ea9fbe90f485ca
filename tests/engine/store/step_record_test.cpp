#include "store/step_record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "engine/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// A row in which every field differs and tells its step.
StepRecord row_of(std::int64_t step) {
    StepRecord record{};
    double field = 1;
    for_each_field([&](const char*, auto member) {
        using T = std::remove_reference_t<decltype(record.*member)>;
        record.*member = static_cast<T>(std::fmod(static_cast<double>(step) * 7 + field * 13, 251));
        ++field;
    });
    record.step = step;
    return record;
}

void expect_equal(const StepRecord& a, const StepRecord& b) {
    for_each_field([&](const char* name, auto member) {
        EXPECT_EQ(a.*member, b.*member) << name << " of step " << b.step;
    });
}

void append_steps(StepRecordWriter& writer, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) writer.append(row_of(writer.published() + 1));
}

std::string message_of(const std::function<void()>& act, ErrorCode code) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

std::string open_error(const test_support::TempFolder& dir) {
    return message_of([&] { StepRecordReader::open(dir.path()); }, ErrorCode::data);
}

void patch(const std::filesystem::path& file, std::streamoff at, const void* bytes,
           std::size_t count) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
}

TEST(StepRecord, ReadsBackWhatWasAppended) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 3);
    const auto reader = StepRecordReader::open(dir.path());
    ASSERT_EQ(reader.size(), 3);
    EXPECT_EQ(writer.published(), 3);
    for (std::int64_t i = 0; i < 3; ++i) expect_equal(reader.row(i), row_of(i + 1));
}

TEST(StepRecord, KeepsRowsOverAllChunkSizes) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    constexpr std::int64_t count = 60'000;  // past the growing chunks and three full ones
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
    auto writer = StepRecordWriter::create(dir.path());
    constexpr std::int64_t count = 400'000;  // some two dozen full chunks
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
    auto writer = StepRecordWriter::create(dir.path());
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
    auto writer = StepRecordWriter::create(dir.path());
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
    auto writer = StepRecordWriter::create(dir.path());
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
    auto writer = StepRecordWriter::create(dir.path());
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
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 500);
    EXPECT_LT(std::filesystem::file_size(dir / "steps.rec"), 100'000u);
}

TEST(StepRecord, IsNotMadeTwiceInOneFolder) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    EXPECT_THAT(message_of([&] { StepRecordWriter::create(dir.path()); }, ErrorCode::io),
                HasSubstr("steps.rec"));
    message_of([&] { StepRecordWriter::create(dir / "absent"); }, ErrorCode::io);
}

TEST(StepRecord, AMissingOrForeignFileIsAClearError) {
    test_support::TempFolder dir;
    EXPECT_THAT(open_error(dir), HasSubstr("cannot open the step record"));
    std::ofstream(dir / "steps.rec") << "step,loss\n";
    EXPECT_THAT(open_error(dir), HasSubstr("the file ends after 10 bytes"));
    std::ofstream(dir / "steps.rec") << std::string(8192, 'x');
    EXPECT_THAT(open_error(dir), HasSubstr("not a step record"));
}

TEST(StepRecord, AnotherVersionIsNamed) {
    test_support::TempFolder dir;
    { auto writer = StepRecordWriter::create(dir.path()); }
    const std::uint32_t version = 7;
    patch(dir / "steps.rec", offsetof(record_layout::Header, version), &version, sizeof version);
    EXPECT_THAT(open_error(dir), HasSubstr("version 7; this program reads version 1"));
}

TEST(StepRecord, EveryDamagedByteOfTheHeaderIsFound) {
    test_support::TempFolder dir;
    {
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 10);
    }
    for (std::size_t at = 0; at < sizeof(record_layout::Header); at += 1 + at / 64) {
        const bool in_published = at >= offsetof(record_layout::Header, published) &&
                                  at < offsetof(record_layout::Header, first_chunk_rows);
        if (in_published) continue;
        std::ifstream in(dir / "steps.rec", std::ios::binary);
        in.seekg(static_cast<std::streamoff>(at));
        const char kept = static_cast<char>(in.get());
        const char damaged = static_cast<char>(kept ^ 0x10);
        patch(dir / "steps.rec", static_cast<std::streamoff>(at), &damaged, 1);
        EXPECT_THROW(StepRecordReader::open(dir.path()), Error) << "byte " << at;
        patch(dir / "steps.rec", static_cast<std::streamoff>(at), &kept, 1);
    }
    EXPECT_EQ(StepRecordReader::open(dir.path()).size(), 10);
}

TEST(StepRecord, ACountBeyondTheFileIsRefusedAndNotRead) {
    test_support::TempFolder dir;
    {
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 10);
    }
    for (const std::int64_t count : {std::int64_t{513}, std::int64_t{1} << 35, std::int64_t{-1},
                                     std::numeric_limits<std::int64_t>::max()}) {
        patch(dir / "steps.rec", offsetof(record_layout::Header, published), &count, sizeof count);
        open_error(dir);
    }
}

TEST(StepRecord, ATruncatedFileIsRefused) {
    test_support::TempFolder dir;
    {
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 2000);
    }
    std::filesystem::resize_file(dir / "steps.rec", 100'000);
    EXPECT_THAT(open_error(dir), HasSubstr("too short for its 2000 steps"));
}

TEST(StepRecord, AFileCutOffAfterOpeningIsAnErrorAtTheNextChunk) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 2000);
    const auto reader = writer.reader();
    std::filesystem::resize_file(dir / "steps.rec", 100'000);
    message_of([&] { (void)reader.row(1999); }, ErrorCode::data);
}

TEST(StepRecord, AFileOfAnEarlierProgramReadsItsMissingFieldsAsUnknown) {
    test_support::TempFolder dir;
    {
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 10);
    }
    record_layout::Header header;
    std::ifstream(dir / "steps.rec", std::ios::binary)
        .read(reinterpret_cast<char*>(&header), sizeof header);
    header.columns[header.column_count - 1] = {};  // samples_per_s, the last column
    --header.column_count;
    std::strcpy(header.columns[1].name.data(), "phase");  // epoch: a column that we do not know
    header.checksum = record_layout::checksum(header);
    patch(dir / "steps.rec", 0, &header, sizeof header);
    const auto reader = StepRecordReader::open(dir.path());
    const auto row = reader.row(4);
    EXPECT_TRUE(std::isnan(row.samples_per_s));
    EXPECT_EQ(row.epoch, 0);
    EXPECT_EQ(row.loss, row_of(5).loss);
    std::vector<double> out(10);
    reader.column(&StepRecord::samples_per_s, 0, out);
    EXPECT_TRUE(std::isnan(out[9]));
}

TEST(StepRecord, AFieldOfAnotherTypeIsRefused) {
    test_support::TempFolder dir;
    { auto writer = StepRecordWriter::create(dir.path()); }
    record_layout::Header header = record_layout::make_header();
    header.columns[0].type = record_layout::ColumnType::f64;
    header.checksum = record_layout::checksum(header);
    patch(dir / "steps.rec", 0, &header, sizeof header);
    EXPECT_THAT(open_error(dir), HasSubstr("column step"));
}

TEST(StepRecord, EveryPublishedRowSurvivesKill9) {
    test_support::TempFolder dir;
    const pid_t child = ::fork();
    if (child == 0) {
        auto writer = StepRecordWriter::create(dir.path());
        for (std::int64_t step = 1;; ++step) writer.append(row_of(step));
    }
    ASSERT_GT(child, 0);
    const auto published = [&dir]() -> std::int64_t {
        try {
            return StepRecordReader::open(dir.path()).size();
        } catch (const Error&) {
            return 0;  // not made yet
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

/// Runs in a child process, whose limits end with it; true if it ended well.
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
            StepRecordWriter::create(dir.path());
            return false;
        } catch (const Error& error) {
            return error.code() == ErrorCode::io;
        }
    }));
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(StepRecord, AFullDiskIsAnErrorAndKeepsWhatWasWritten) {
    test_support::TempFolder dir;
    EXPECT_TRUE(in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);  // a limit on the file's size stands in for a full disk
        auto writer = StepRecordWriter::create(dir.path());
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
    auto writer = StepRecordWriter::create(dir.path());
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
