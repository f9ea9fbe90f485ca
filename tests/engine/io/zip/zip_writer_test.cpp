#include "io/zip/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

TEST(ZipWriter, WritesWhatTheReaderReads) {
    const test_support::TempFolder folder;
    const std::string large(300000, 'x');
    const std::string source = folder.write("source", large);
    ZipWriter writer(folder / "a.zip");
    writer.add_text("empty", "");
    writer.add_text("folder/\xC3\xA4.txt", "text");
    writer.add_file("large", source);
    writer.commit();
    ASSERT_TRUE(is_zip(folder / "a.zip"));
    EXPECT_LT(std::filesystem::file_size(folder / "a.zip"), 10000U);
    ZipReader reader(folder / "a.zip");
    for (const auto& [name, text] : {std::pair<std::string, std::string>{"empty", ""},
                                     {"folder/\xC3\xA4.txt", "text"},
                                     {"large", large}}) {
        const ZipEntry* entry = reader.next();
        ASSERT_NE(entry, nullptr);
        EXPECT_EQ(entry->name, name);
        EXPECT_TRUE(entry->is_file);
        ASSERT_TRUE(entry->has_bytes);
        EXPECT_EQ(entry->bytes, text.size());
        EXPECT_EQ(reader.read_text(text.size()), text);
    }
    EXPECT_EQ(reader.next(), nullptr);
}

TEST(ZipWriter, LeavesNothingUnlessItIsCommitted) {
    const test_support::TempFolder folder;
    {
        ZipWriter writer(folder / "a.zip");
        writer.add_text("a", "text");
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ZipWriter, SaysWhatItCannotReadOrWrite) {
    const test_support::TempFolder folder;
    EXPECT_THAT(message_of(ErrorCode::io, [&] { ZipWriter(folder / "absent" / "a.zip"); }),
                HasSubstr("cannot be written"));
    ZipWriter writer(folder / "a.zip");
    EXPECT_THAT(message_of(ErrorCode::data, [&] { writer.add_file("a", folder / "absent"); }),
                HasSubstr("absent: cannot be read"));
}

TEST(ZipWriter, OnAFullDiskSaysSo) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
    const test_support::TempFolder folder;
    // A device is written into although it is no regular file, here the one that is always full.
    std::filesystem::create_symlink("/dev/full", folder / "a.zip");
    EXPECT_THAT(message_of(ErrorCode::io,
                           [&] {
                               ZipWriter writer(folder / "a.zip");
                               writer.add_text("a", "text");
                               writer.commit();
                           }),
                HasSubstr("the disk is full"));
}

TEST(ZipReader, RefusesAnEntryThatIsLongerThanItMayBe) {
    const test_support::TempFolder folder;
    ZipWriter writer(folder / "a.zip");
    writer.add_text("a", std::string(1000, 'x'));
    writer.commit();
    ZipReader reader(folder / "a.zip");
    ASSERT_NE(reader.next(), nullptr);
    EXPECT_THAT(message_of(ErrorCode::data, [&] { reader.read_text(999); }),
                HasSubstr("an entry is too long"));
}

TEST(ZipReader, RefusesWhatIsNoZipArchive) {
    const test_support::TempFolder folder;
    const std::string text = folder.write("text", "no archive");
    EXPECT_FALSE(is_zip(text));
    EXPECT_THAT(message_of(ErrorCode::data, [&] { ZipReader(text).next(); }),
                HasSubstr("not a valid zip archive"));
    EXPECT_THAT(message_of(ErrorCode::data, [&] { ZipReader(folder / "absent"); }),
                HasSubstr("cannot be read"));
    EXPECT_THAT(message_of(ErrorCode::data, [&] { ZipReader(folder.path()); }),
                HasSubstr("it is not a regular file"));
}

}  // namespace
}  // namespace engine
