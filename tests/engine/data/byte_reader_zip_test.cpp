#include "data/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/csv/csv_format.h"
#include "data/csv/csv_table.h"
#include "engine/base/error.h"
#include "io/zip/zip.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ZipFile : public ::testing::Test {
protected:
    std::filesystem::path zip(const std::vector<std::pair<std::string, std::string>>& entries) {
        ZipWriter writer(folder_ / "t.zip");
        for (const auto& [name, text] : entries) writer.add_text(name, text);
        writer.commit();
        return folder_ / "t.zip";
    }
    TempFolder folder_;
};

TEST_F(ZipFile, OfOneTableIsReadLikeTheTable) {
    const auto file = zip({{"data/flowers.csv", "a,b\n1,2\n3,4\n"}});
    EXPECT_EQ(name_in_zip(file), "flowers.csv");
    EXPECT_TRUE(looks_like_csv(file));
    const CsvTable table = read_csv_table({.files = {file}, .max_bytes = 1 << 20});
    EXPECT_THAT(table.cells, ElementsAre(1, 3));
}

TEST_F(ZipFile, MayHoldATableAsAnyProgramWritesOne) {
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"t.csv", "\xEF\xBB\xBF" "a,b\r\n1,2\r\n3,4\r\n"},
             {"t.tsv", "a\tb\n1\t2\n3\t4\n"},
             {"deep/er/T.CSV", "a;b\n1;2\n3;4\n"},
             {"t.txt", "a,b,\n1,2,\n3,4,\n"},
             {"t.data", "a b\n1 2\n3 4\n"},
             {"with blanks (1).csv", "# by a tool\na,b\n1,2\n3,4"}}) {
        const auto file = zip({{name, text}});
        const CsvTable table = read_csv_table({.files = {file}, .max_bytes = 1 << 20});
        EXPECT_THAT(table.cells, ElementsAre(1, 3)) << name;
        EXPECT_EQ(table.target, "b") << name;
    }
}

TEST_F(ZipFile, DoesNotCountWhatSystemsLeaveInIt) {
    const auto file = zip({{"__MACOSX/._t.csv", "x"},
                           {".DS_Store", "x"},
                           {"t.csv", "a,b\n1,2\n"},
                           {"desktop.ini", "x"},
                           {"Thumbs.db", "x"}});
    EXPECT_EQ(csv_sample(file, 100), "a,b\n1,2\n");
}

TEST_F(ZipFile, OfNoneOrSeveralFilesIsRefused) {
    EXPECT_THAT(test::data_error([&] {
                    open_packed(zip({{"a.csv", "1"}, {"b.csv", "2"}}));
                }),
                HasSubstr("t.zip: a zip archive of 2 files; only one of a single file is read | "
                          "Unpack it"));
    EXPECT_THAT(test::data_error([&] {
                    open_packed(zip({{".hidden", "1"}}));
                }),
                HasSubstr("a zip archive of 0 files"));
}

TEST_F(ZipFile, ThatIsDamagedIsRefused) {
    const auto file = zip({{"t.csv", std::string(100000, 'a')}});
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 30);
    EXPECT_THROW(csv_sample(file, 1 << 20), Error);
}

}  // namespace
}  // namespace engine
