#include "data/image/image_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_fixtures.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(ImageParts, AreKnownByManyNames) {
    for (const char* name :
         {"train", "Train", "TRAIN", "Training", "train_images", "training_set", "trainset",
          "train-data", "images_train", "train2017", "Train Images", "trn", "img.train"})
        EXPECT_EQ(role_of_folder(name), FolderRole::train) << name;
    for (const char* name : {"test", "TEST", "Testing", "test_set", "test_images", "testdata"})
        EXPECT_EQ(role_of_folder(name), FolderRole::test) << name;
    for (const char* name :
         {"val", "Val", "valid", "Validation", "validation_set", "dev", "VAL2017"})
        EXPECT_EQ(role_of_folder(name), FolderRole::validation) << name;
    for (const char* name : {"eval", "Evaluation", "eval_set"})
        EXPECT_EQ(role_of_folder(name), FolderRole::evaluation) << name;
    for (const char* name : {"cat", "trains", "trainer", "attest", "valley", "device", "0", "2017",
                             "images", "data", "pretest", "tested", "_", "evaluator"})
        EXPECT_EQ(role_of_folder(name), FolderRole::other) << name;
}

TEST(ImageParts, LeftoversAreNoneOfThem) {
    for (const char* name : {".DS_Store", "._a.jpg", "__MACOSX", "Thumbs.db", "desktop.ini",
                             "$RECYCLE.BIN", "System Volume Information", "@eaDir", "~$a.png"})
        EXPECT_TRUE(is_leftover(fs::path("x") / name)) << name;
    for (const char* name : {"a.jpg", "thumbs", "macosx", "_a.png"})
        EXPECT_FALSE(is_leftover(fs::path("x") / name)) << name;
}

struct ImagePartsIn : testing::Test {
    ImageParts parts(std::initializer_list<const char*> folders) {
        for (const char* name : folders) fs::create_directories(folder / name);
        return find_image_parts(folder.path());
    }
    std::string problem(std::initializer_list<const char*> folders) {
        return test::data_error([&] { parts(folders); });
    }
    static std::string name_of(const std::optional<fs::path>& part) {
        return part ? part->filename().string() : "";
    }
    test_support::TempFolder folder;
};

TEST_F(ImagePartsIn, AFolderAreFoundByTheirNames) {
    const ImageParts found = parts({"Training", "Testing", "dev", "docs", ".git", "__MACOSX"});
    EXPECT_EQ(name_of(found.train), "Training");
    EXPECT_EQ(name_of(found.test), "Testing");
    EXPECT_EQ(name_of(found.validation), "dev");
    ASSERT_EQ(found.others.size(), 1U);
    EXPECT_EQ(found.others[0].filename(), "docs");
}

TEST_F(ImagePartsIn, AnEvaluationFolderIsThePartThatIsMissing) {
    EXPECT_EQ(name_of(parts({"train", "eval"}).test), "eval");
    EXPECT_EQ(name_of(parts({"val"}).test), "eval");
    fs::remove(folder / "val");
    EXPECT_EQ(name_of(parts({"test"}).validation), "eval");
}

TEST_F(ImagePartsIn, ClassesHaveNone) {
    const ImageParts found = parts({"cat", "dog"});
    EXPECT_FALSE(found.train || found.test || found.validation);
    EXPECT_TRUE(found.others.empty());
}

TEST_F(ImagePartsIn, APartWithoutATrainingPartIsRefused) {
    EXPECT_THAT(problem({"cat", "dog", "test"}),
                AllOf(HasSubstr("test looks like a part"), HasSubstr("folder train")));
}

TEST_F(ImagePartsIn, TwoOfOnePartAreRefused) {
    EXPECT_THAT(problem({"train", "Training_set"}),
                HasSubstr("Training_set and train look like the same part"));
}

}  // namespace
}  // namespace engine
