#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include "io/file/mapped_access.h"
#include "step_record_support.h"
#include "temp_folder.h"

// Files that are incomplete, not step records, or of another version.
namespace engine {
namespace {

using test::append_steps;
using test::message_of;
using test::row_of;
using testing::HasSubstr;

std::string open_error(const test_support::TempFolder& dir) {
    return message_of([&] { StepRecordReader::open(dir.path()); }, ErrorCode::data);
}

void patch(const std::filesystem::path& file, std::streamoff at, const void* bytes,
           std::size_t count) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
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
    EXPECT_THAT(open_error(dir), HasSubstr("too short for its 2000 rows"));
}

TEST(StepRecord, AFileCutOffAfterOpeningIsAnErrorAtTheNextChunk) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 2000);
    const auto reader = writer.reader();
    std::filesystem::resize_file(dir / "steps.rec", 100'000);
    message_of([&] { (void)reader.row(1999); }, ErrorCode::data);
}

/// Lengths to which another program may truncate a record of 2000 rows: 0, a part of the header,
/// the header, within the first chunk, and within the last.
constexpr std::array<std::uintmax_t, 6> cut_lengths = {0, 10, 100, 4096, 50'000, 200'000};

TEST(StepRecord, AWriterWhoseFileIsCutShortFailsAndItsProcessLivesOn) {
    for (const auto length : cut_lengths) {
        test_support::TempFolder dir;
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 2000);
        writer.check();
        std::filesystem::resize_file(dir / "steps.rec", length);
        EXPECT_THAT(message_of([&] { writer.check(); }, ErrorCode::data), HasSubstr("steps.rec"));
        // Detected at the next chunk at the latest, which would extend the file to its old length
        // with zeros.
        message_of([&] { append_steps(writer, 5000); }, ErrorCode::data);
        message_of([&] { append_steps(writer, 1); }, ErrorCode::data);
        EXPECT_LT(writer.published(), 3585);
    }
}

TEST(StepRecord, AReaderWhoseFileIsCutShortFailsAndItsProcessLivesOn) {
    for (const auto length : cut_lengths) {
        test_support::TempFolder dir;
        auto writer = StepRecordWriter::create(dir.path());
        append_steps(writer, 2000);
        const auto reader = writer.reader();
        std::vector<StepRecord> rows(2000);
        reader.rows(0, rows);  // every chunk is mapped
        std::filesystem::resize_file(dir / "steps.rec", length);
        EXPECT_EQ(reader.size(), 2000) << "what was published was published";
        std::vector<double> losses(2000);
        message_of([&] { reader.column(&StepRecord::loss, 0, losses); }, ErrorCode::data);
        message_of([&] { reader.rows(0, rows); }, ErrorCode::data);
        message_of([&] { (void)reader.row(1999); }, ErrorCode::data);
    }
}

TEST(StepRecord, AReaderSeesThatARecordWasCutAndGrewAgain) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 2000);
    const auto reader = writer.reader();
    EXPECT_EQ(reader.size(), 2000);
    const auto length = std::filesystem::file_size(dir / "steps.rec");
    std::filesystem::resize_file(dir / "steps.rec", 0);
    std::filesystem::resize_file(dir / "steps.rec", length);
    EXPECT_EQ(reader.size(), 2000);
    message_of([&] { (void)reader.row(0); }, ErrorCode::data);
    message_of([&] { writer.check(); }, ErrorCode::data);
}

TEST(StepRecord, AWriterNoticesThatItsFileWasRemoved) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 3);
    std::filesystem::remove(dir / "steps.rec");
    message_of([&] { writer.check(); }, ErrorCode::data);
}

// Any other SIGBUS is not caused by the record and still ends the process.
TEST(MappedAccessDeathTest, PassesOnABusErrorThatIsNotItsOwn) {
    test_support::TempFolder dir;
    auto writer = StepRecordWriter::create(dir.path());
    append_steps(writer, 1);
    EXPECT_DEATH(
        {
            const File file(::open((dir / "other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
            const Mapping guarded(file, 0, 4096, Mapping::Access::read);
            const Mapping other(file, 0, 4096, Mapping::Access::read_write);
            const MappedAccess access(guarded);
            *const_cast<volatile std::byte*>(other.data()) = std::byte{1};
        },
        "");
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
    header.columns[header.column_count - 1] = {};  // scale_floor, the last column
    --header.column_count;
    std::strcpy(header.columns[1].name.data(), "phase");  // epoch: an unknown column
    header.checksum = record_layout::checksum(header);
    patch(dir / "steps.rec", 0, &header, sizeof header);
    const auto reader = StepRecordReader::open(dir.path());
    const auto row = reader.row(4);
    EXPECT_TRUE(std::isnan(row.scale_floor));
    EXPECT_EQ(row.samples_per_s, row_of(5).samples_per_s);
    EXPECT_EQ(row.epoch, 0);
    EXPECT_EQ(row.loss, row_of(5).loss);
    std::vector<double> out(10);
    reader.column(&StepRecord::scale_floor, 0, out);
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

}  // namespace
}  // namespace engine
