#include "data/image/image_folder_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "support/data_fixtures.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Only file names are examined.
struct ImageFolderFiles : testing::Test {
    void add(const std::string& name) const { folder.write(name, std::string("x")); }
    ImageFolder list() const { return list_image_folder(folder.path(), {}); }
    std::string problem() const {
        return test::data_error([&] { list(); });
    }
    static std::vector<std::string> names(const std::vector<PictureFile>& files) {
        std::vector<std::string> out;
        for (const auto& file : files)
            out.push_back(std::to_string(file.label) + ' ' + file.path.filename().string());
        return out;
    }

    test_support::TempFolder folder;
};

TEST_F(ImageFolderFiles, ClassesAtTheTopAreInTheOrderOfTheirNames) {
    for (const auto* name :
         {"bees/2.png", "bees/10.JPG", "ants/b.jpeg", "ants/a.jpg", "Wasps/c.png"})
        add(name);
    const ImageFolder found = list();
    EXPECT_THAT(found.classes, ElementsAre("Wasps", "ants", "bees"));
    EXPECT_THAT(names(found.train),
                ElementsAre("0 c.png", "1 a.jpg", "1 b.jpeg", "2 10.JPG", "2 2.png"));
    EXPECT_FALSE(found.has_test);
}

TEST_F(ImageFolderFiles, TrainStandsBesideValOrTest) {
    for (const auto* name : {"train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png"})
        add(name);
    ImageFolder found = list();
    EXPECT_TRUE(found.has_test);
    EXPECT_THAT(names(found.test), ElementsAre("0 3.png", "1 4.png"));
    EXPECT_TRUE(found.validation.empty());
    add("test/b/5.png");
    found = list();
    EXPECT_THAT(names(found.test), ElementsAre("1 5.png")) << "a class may be absent from it";
    EXPECT_THAT(names(found.validation), ElementsAre("0 3.png", "1 4.png"));
}

TEST_F(ImageFolderFiles, PartsMayHaveOtherNames) {
    for (const auto* name : {"TRAIN/a/1.png", "TRAIN/b/2.png", "test_images/a/3.png",
                             "extra/c/4.png", "__MACOSX/a/._1.png"})
        add(name);
    const ImageFolder found = list();
    EXPECT_THAT(found.classes, ElementsAre("a", "b"));
    EXPECT_THAT(names(found.test), ElementsAre("0 3.png"));
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_THAT(found.notes[0].str(), HasSubstr("beside the training part are not used: extra"));
}

TEST_F(ImageFolderFiles, ATestFolderWithoutClassesIsToldAndNotUsed) {
    for (const auto* name : {"train/a/1.png", "train/b/2.png", "test/3.png", "val/b/4.png"})
        add(name);
    const ImageFolder found = list();
    EXPECT_THAT(names(found.test), ElementsAre("1 4.png"));
    EXPECT_TRUE(found.validation.empty());
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_THAT(found.notes[0].str(), HasSubstr("test: has no pictures in folders of classes"));
}

TEST_F(ImageFolderFiles, FoldersWithinAClassAreItsOwn) {
    for (const auto* name : {"a/deep/er/1.png", "a/2.png", "b/3.png"}) add(name);
    EXPECT_THAT(names(list().train), ElementsAre("0 2.png", "0 1.png", "1 3.png"));
}

TEST_F(ImageFolderFiles, OtherFilesAreCountedAndHiddenOnesPassedOver) {
    for (const auto* name : {"a/1.png", "a/x.gif", "a/y.GIF", "a/notes.txt", "a/._1.png",
                             ".git/c/2.png", "b/3.png", "top.jpg", "README", "a/Thumbs.db",
                             "desktop.ini", "__MACOSX/a/._1.png", "b/__MACOSX/2.png"})
        add(name);
    const ImageFolder found = list();
    EXPECT_EQ(found.train.size(), 2U);
    const std::map<std::string, std::int64_t> expected{
        {".gif", 2}, {".txt", 1}, {"beside the class folders", 1}, {"README", 1}};
    EXPECT_EQ(found.left_out, expected);
}

TEST_F(ImageFolderFiles, RefusesWhatIsNoSuchFolder) {
    EXPECT_THAT(problem(), HasSubstr("no folder for any class"));
    add("a/1.png");
    EXPECT_THAT(problem(), HasSubstr("a single class, a"));
    fs::create_directory(folder / "empty");
    EXPECT_THAT(problem(), HasSubstr("empty: a class without pictures"));
    const auto of = [&](const fs::path& path) {
        return test::data_error([&] { list_image_folder(path, {}); });
    };
    EXPECT_THAT(of(folder / "a/1.png"), HasSubstr("a file, not a folder of pictures"));
    EXPECT_THAT(of(folder / "none"), HasSubstr("no such file or folder"));
}

TEST_F(ImageFolderFiles, RefusesAClassThatTrainDoesNotHave) {
    for (const auto* name : {"train/a/1.png", "train/b/2.png", "val/c/3.png"}) add(name);
    EXPECT_THAT(problem(), HasSubstr("val: the training part has no class c"));
}

TEST_F(ImageFolderFiles, FollowsLinksToFoldersButNotInCircles) {
    add("elsewhere/1.png");
    add("set/b/2.png");
    fs::create_directory_symlink(folder / "elsewhere", folder / "set/a");
    EXPECT_EQ(list_image_folder(folder / "set", {}).train.size(), 2U);
    fs::create_directory_symlink(folder / "set/b", folder / "set/b/again");
    EXPECT_THAT(test::data_error([&] { list_image_folder(folder / "set", {}); }),
                HasSubstr("the folders are nested without end"));
}

TEST_F(ImageFolderFiles, ALimitTakesTheClassesInTurn) {
    for (int i = 0; i < 5; ++i) add("a/" + std::to_string(i) + ".png");
    for (int i = 5; i < 7; ++i) add("b/" + std::to_string(i) + ".png");
    auto files = list().train;
    limit_in_turn(files, 5);
    EXPECT_THAT(names(files), ElementsAre("0 0.png", "0 1.png", "0 2.png", "1 5.png", "1 6.png"));
    limit_in_turn(files, 0);
    EXPECT_EQ(files.size(), 5U);
    limit_in_turn(files, 50);
    EXPECT_EQ(files.size(), 5U);
}

TEST_F(ImageFolderFiles, ATestPartIsSplitOffEachClassByTheSeed) {
    for (int i = 0; i < 30; ++i) add("a/" + std::to_string(i) + ".png");
    for (int i = 30; i < 40; ++i) add("b/" + std::to_string(i) + ".png");
    const auto all = names(list().train);
    const auto split = [&](std::int64_t seed) {
        auto files = list().train;
        const auto test = names(split_test(files, 0.2, seed));
        auto rest = names(files);
        EXPECT_EQ(rest.size() + test.size(), all.size());
        rest.insert(rest.end(), test.begin(), test.end());
        EXPECT_EQ(std::multiset<std::string>(rest.begin(), rest.end()),
                  std::multiset<std::string>(all.begin(), all.end()));
        return test;
    };
    const auto test = split(1);
    EXPECT_EQ(std::ranges::count_if(test, [](const auto& name) { return name[0] == '0'; }), 6);
    EXPECT_EQ(std::ranges::count_if(test, [](const auto& name) { return name[0] == '1'; }), 2);
    EXPECT_EQ(split(1), test);
    EXPECT_NE(split(2), test);
}

TEST_F(ImageFolderFiles, AreRecognisedByTwoFoldersWithPictures) {
    EXPECT_FALSE(looks_like_image_folder(folder.path()));
    add("a/1.png");
    EXPECT_FALSE(looks_like_image_folder(folder.path()));
    add("b/notes.txt");
    EXPECT_FALSE(looks_like_image_folder(folder.path()));
    add("b/2.JPEG");
    EXPECT_TRUE(looks_like_image_folder(folder.path()));
    add("other/train/a/1.png");
    add("other/train/b/1.png");
    EXPECT_TRUE(looks_like_image_folder(folder / "other"));
    EXPECT_FALSE(looks_like_image_folder(folder / "a/1.png"));
}

}  // namespace
}  // namespace engine
