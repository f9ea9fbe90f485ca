#include "data/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::Bytes;
using test_support::TempFolder;
using ::testing::HasSubstr;

Bytes sample_bytes(std::size_t count) {
    Bytes data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<std::uint8_t>(i * i / 7);
    return data;
}

Bytes all_bytes(const std::string& file, std::size_t piece) {
    const auto reader = open_packed(file);
    Bytes all, buffer(piece);
    for (std::size_t got = piece; got == piece;) {
        got = reader->read(buffer);
        all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
    }
    return all;
}

TEST(ByteReader, GivesTheSameBytesPlainGzippedAndXzWhateverTheName) {
    const TempFolder folder;
    const Bytes data = sample_bytes(200000);
    for (const std::size_t piece : {1000UL, 65536UL, 200000UL, 300000UL}) {
        EXPECT_EQ(all_bytes(folder.write("plain", data), piece), data);
        EXPECT_EQ(all_bytes(folder.write("no-ending", test::gzip(data)), piece), data);
        EXPECT_EQ(all_bytes(folder.write("wrong-ending.gz", test::xz(data)), piece), data);
    }
}

TEST(ByteReader, ReadsPackedFilesOfSeveralMembers) {
    const TempFolder folder;
    const Bytes data = sample_bytes(1000);
    Bytes twice = data;
    twice.insert(twice.end(), data.begin(), data.end());
    for (const auto& pack : {test::gzip, test::xz}) {
        Bytes packed = pack(data);
        const Bytes again = packed;
        packed.insert(packed.end(), again.begin(), again.end());
        EXPECT_EQ(all_bytes(folder.write("packed", packed), 4096), twice);
    }
}

/// Bytes that no packer shortens.
Bytes noise(std::size_t count) {
    Bytes data(count);
    std::uint32_t state = 1;
    for (auto& byte : data) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::uint8_t>(state >> 24);
    }
    return data;
}

TEST(ByteReader, ReportsHowFarItIsInALargeFile) {
    const TempFolder folder;
    const Bytes data = noise(9 << 20);
    const Bytes small = sample_bytes(1000);
    std::vector<ReadingShare> reports;
    const ReadingProgressScope scope(
        [&](const ReadingShare& share) { reports.push_back(share); });
    all_bytes(folder.write("small", small), 4096);
    EXPECT_TRUE(reports.empty());
    for (const std::string& file : {folder.write("plain", data), folder.write("z", test::gzip(data))}) {
        reports.clear();
        all_bytes(file, 3 << 20);
        ASSERT_GE(reports.size(), 4U);
        const ReadingShare first = reports.front(), last = reports[reports.size() - 2];
        EXPECT_TRUE(first.in_bytes);
        EXPECT_EQ(first.total, static_cast<std::int64_t>(std::filesystem::file_size(file)));
        EXPECT_LT(first.done, first.total / 2);
        EXPECT_GT(last.done, first.total * 9 / 10);
        EXPECT_EQ(reports.back().total, 0) << "nothing is known after its end";
    }
}

TEST(ByteReader, RefusesPackedDataThatAreCutShort) {
    const TempFolder folder;
    for (const auto& pack : {test::gzip, test::xz}) {
        Bytes packed = pack(sample_bytes(200000));
        packed.resize(packed.size() / 2);
        const auto file = folder.write("packed", packed);
        EXPECT_THAT(test::data_error([&] { all_bytes(file, 4096); }), HasSubstr("cut short"));
    }
}

TEST(ByteReader, RefusesPackedDataWithOneWrongByte) {
    const TempFolder folder;
    for (const auto& pack : {test::gzip, test::xz}) {
        // Incompressible bytes are stored as they are, so only the checksum detects the change.
        Bytes noise(5000);
        std::uint32_t state = 1;
        for (auto& byte : noise)
            byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
        Bytes packed = pack(noise);
        packed[packed.size() / 2] ^= 1;
        const auto file = folder.write("packed", packed);
        EXPECT_THAT(test::data_error([&] { all_bytes(file, 4096); }), HasSubstr("damaged"));
    }
}

TEST(ByteReader, RefusesAMissingAnEmptyAndAFolderForAFile) {
    const TempFolder folder;
    EXPECT_THAT(test::data_error([&] { open_packed(folder / "absent"); }),
                HasSubstr("no such file"));
    EXPECT_THAT(test::data_error([&] { open_packed(folder.write("empty", Bytes{})); }),
                HasSubstr("the file is empty"));
    EXPECT_THAT(test::data_error([&] { open_packed(folder.str()); }), HasSubstr("not a file"));
}

TEST(ByteReader, RefusesALargerPlainFileThanTheFormatsBeforeItReads) {
    const TempFolder folder;
    const auto file = folder.write("large", sample_bytes(3000));
    EXPECT_THAT(test::data_error([&] { open_packed(file, {.max_bytes = 2999, .stop = {}}); }),
                HasSubstr("holds more than the"));
}

TEST(ByteReader, RefusesBytesBeyondTheFormatsAsTheyUnpack) {
    const TempFolder folder;
    const Bytes data = sample_bytes(3000);
    for (const Bytes& bytes : {test::gzip(data), test::xz(data)}) {
        const auto file = folder.write("large", bytes);
        Bytes content(3000);
        const auto enough = open_packed(file, {.max_bytes = 3000, .stop = {}});
        EXPECT_EQ(enough->read(content), 3000U);
        const auto less = open_packed(file, {.max_bytes = 2999, .stop = {}});
        EXPECT_THAT(test::data_error([&] { less->read(content); }),
                    HasSubstr("holds more than the"));
    }
}

TEST(ByteReader, StopsReadingOnRequest) {
    const TempFolder folder;
    std::stop_source source;
    const auto reader = open_packed(folder.write("file", test::xz(sample_bytes(3000))),
                                    {.stop = source.get_token()});
    Bytes content(100);
    EXPECT_EQ(reader->read(content), 100U);
    source.request_stop();
    EXPECT_THROW(reader->read(content), ReadingStopped);
}

TEST(ArchiveReader, StopsReadingOnRequest) {
    const TempFolder folder;
    std::stop_source source;
    const auto file = folder.write("a.tar", test::tar({{"a.bin", sample_bytes(300'000)}}));
    const auto stop_inside = [&](const std::string&, ByteReader& reader) {
        source.request_stop();
        Bytes content(300'000);
        reader.read(content);
        return true;
    };
    EXPECT_THROW(for_each_entry(file, stop_inside, {.stop = source.get_token()}), ReadingStopped);
}

TEST(ArchiveReader, VisitsTheFilesOfAPlainAndAPackedArchive) {
    const TempFolder folder;
    const Bytes data = sample_bytes(3000);
    const Bytes archive = test::tar({{"folder/a.bin", data}, {"folder/b.bin", {1, 2, 3}}});
    for (const auto& packed : {archive, test::gzip(archive), test::xz(archive)}) {
        const auto file = folder.write("archive", packed);
        EXPECT_TRUE(is_archive(file));
        std::vector<std::string> names;
        for_each_entry(file, [&](const std::string& name, ByteReader& reader) {
            names.push_back(name);
            Bytes content(4000);
            content.resize(reader.read(content));
            EXPECT_EQ(content, names.size() == 1 ? data : (Bytes{1, 2, 3}));
            return true;
        });
        EXPECT_EQ(names, (std::vector<std::string>{"a.bin", "b.bin"}));
    }
}

TEST(ArchiveReader, RefusesAnArchiveThatIsCutShortOrNone) {
    const TempFolder folder;
    const auto walk = [](const std::string& file) {
        return test::data_error([&] {
            for_each_entry(file, [](const std::string&, ByteReader& reader) {
                Bytes content(100000);
                reader.read(content);
                return true;
            });
        });
    };
    Bytes archive = test::tar({{"a.bin", sample_bytes(90000)}});
    archive.resize(40000);
    EXPECT_THAT(walk(folder.write("cut.tar", archive)),
                HasSubstr("cut.tar: not a whole tar archive"));
    Bytes packed = test::gzip(test::tar({{"a.bin", sample_bytes(90000)}}));
    packed.resize(packed.size() / 2);
    EXPECT_THAT(walk(folder.write("cut.tar.gz", packed)), HasSubstr("cut.tar.gz: cut short"));
    EXPECT_THAT(walk(folder.write("none.tar", sample_bytes(3000))),
                HasSubstr("none.tar: not a whole tar"));
}

}  // namespace
}  // namespace engine
