#include "data/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::Bytes;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Wanted wanted() {
    return {.accepts = [](const std::string& name) { return name.ends_with(".bin"); },
            .inside = {"inner"},
            .archives = true,
            .title = "Things",
            .looked_for = "x.bin"};
}

std::vector<std::string> found(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const auto& file : find_data_files(paths, wanted())) {
        names.push_back(file.path.filename().string());
    }
    return names;
}

TEST(DataFiles, ComeInTheOrderOfTheirNamesWithNumbersByValue) {
    std::vector<std::string> names = {"train-part10.bin", "train-part2.bin", "data_batch_2.bin",
                                      "train.bin", "data_batch_1.bin"};
    std::sort(names.begin(), names.end(), name_before);
    EXPECT_THAT(names, ElementsAre("data_batch_1.bin", "data_batch_2.bin", "train.bin",
                                   "train-part2.bin", "train-part10.bin"));
}

TEST(DataFiles, TakeThePlainOneOfTwoTwins) {
    const TempFolder folder;
    for (const auto* name : {"b.bin.gz", "b.bin", "b.bin.xz", "a.bin.xz"})
        folder.write(name, Bytes{1});
    EXPECT_THAT(found({folder.str()}), ElementsAre("a.bin.xz", "b.bin"));
}

TEST(DataFiles, FollowTheOrderOfTheListOfPaths) {
    const TempFolder first, second;
    first.write("z.bin", Bytes{1});
    second.write("a.bin", Bytes{1});
    EXPECT_THAT(found({first.str(), second.str()}), ElementsAre("z.bin", "a.bin"));
}

TEST(DataFiles, OneFileAloneStandsForItsFolder) {
    const TempFolder folder;
    const auto one = folder.write("a.bin", Bytes{1});
    const auto two = folder.write("b.BIN", Bytes{1});
    EXPECT_THAT(found({one}), ElementsAre("a.bin", "b.BIN"));
    EXPECT_THAT(found({two, one}), ElementsAre("b.BIN", "a.bin"));
}

TEST(DataFiles, LooksIntoTheOfficialFolderInsideOnlyIfThereIsNothingOutside) {
    const TempFolder folder;
    folder.write("inner/a.bin", Bytes{1});
    EXPECT_THAT(found({folder.str()}), ElementsAre("a.bin"));
    folder.write("b.bin", Bytes{1});
    EXPECT_THAT(found({folder.str()}), ElementsAre("b.bin"));
}

TEST(DataFiles, RefuseAPathThatIsNeitherAFileNorAFolder) {
    const TempFolder folder;
    folder.write("a.bin", Bytes{1});
    const auto pipe = (folder / "b.bin").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : {pipe, std::string("/dev/zero")}) {
        EXPECT_THAT(test::data_error([&] { found({path}); }),
                    HasSubstr(path + ": neither a file nor a folder"));
    }
}

TEST(DataFiles, SayWhatIsThereInstead) {
    const TempFolder folder;
    folder.write("a.bin.crdownload", Bytes{1});
    EXPECT_THAT(test::data_error([&] { found({folder.str()}); }),
                HasSubstr("but an unfinished download: a.bin.crdownload"));
    const TempFolder zipped;
    const auto zip = zipped.write("things.tar.gz", Bytes{'P', 'K', 3, 4, 0, 0});
    EXPECT_THAT(test::data_error([&] { found({zipped.str()}); }),
                HasSubstr("but a zip archive: things.tar.gz | Unpack it first."));
    EXPECT_THAT(test::data_error([&] { found({zip}); }),
                HasSubstr("things.tar.gz: a zip archive | Unpack it first. Looked for x.bin."));
}

TEST(DataFiles, NameTheOfficialPage) {
    const TempFolder folder;
    Wanted official = wanted();
    official.page = "https://example.org/things";
    for (const std::vector<std::string>& paths :
         {std::vector<std::string>{}, {folder.str()}, {(folder / "absent").string()}}) {
        EXPECT_THAT(test::data_error([&] { find_data_files(paths, official); }),
                    testing::AllOf(HasSubstr("x.bin"),
                                   HasSubstr("The official page is https://example.org/things.")));
    }
}

TEST(DataFiles, SayWhatWasLookedForWhereNothingIsFound) {
    const TempFolder folder;
    const auto error = test::data_error([&] { found({folder.str()}); });
    EXPECT_EQ(error, folder.str() + ": no Things files here | Looked for x.bin.");
    EXPECT_THAT(
        test::data_error([&] { found({(folder / "absent").string()}); }),
        HasSubstr("absent: no such file or folder | Set dataset.path to the folder with x.bin."));
    EXPECT_THAT(test::data_error([&] { found({}); }), HasSubstr("Things: no path is given"));
}

}  // namespace
}  // namespace engine
