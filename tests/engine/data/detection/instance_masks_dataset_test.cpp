#include "detection_folder.h"

namespace engine {

DatasetDescriptor instance_masks_descriptor();

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct InstanceMasks : test::DetectionFolder {
    InstanceMasks() : DetectionFolder(instance_masks_descriptor()) {}
};

TEST_F(InstanceMasks, ReadsTheLayoutOfPennFudan) {
    folder.write("PNGImages/a.png", test::plain_png(6, 4));
    // Two objects, of values 1 and 7; 0 is the background.
    folder.write("PedMasks/a_mask.png", test::number_png(6, 4, {0, 0, 0, 0, 0, 0,  //
                                                                0, 1, 1, 0, 7, 0,  //
                                                                0, 1, 0, 0, 7, 7,  //
                                                                0, 0, 0, 0, 0, 7}));
    const DataParts parts = open();
    ASSERT_EQ(parts.train.size(), 1);
    EXPECT_EQ(parts.test.size(), 0);
    EXPECT_THAT(boxes(parts.train, 0), ElementsAre(std::array{1.0, 1.0, 2.0, 2.0},
                                                   std::array{4.0, 1.0, 2.0, 3.0}));
    const auto truth = parts.train.data->truth(0);
    EXPECT_EQ(truth->annotations[1].area, 4);
    EXPECT_EQ(mask_area(std::get<RunLength>(truth->annotations[0].mask)), 3);
    EXPECT_THAT(classes(parts), ElementsAre("object"));
    EXPECT_TRUE(kind.recognise(folder.path()));
}

TEST_F(InstanceMasks, TakesMasksOf16BitsAndPalettesAndPicturesWithoutObjects) {
    folder.write("images/1.png", test::plain_png(2, 2));
    folder.write("images/2.png", test::plain_png(2, 2));
    folder.write("images/10.png", test::plain_png(2, 2));
    folder.write("masks/1.png", test::number_png(2, 2, {0, 300, 44, 300}, 16));
    folder.write("masks/2.png", test::number_png(2, 2, {3, 3, 3, 3}, 8, /*palette=*/true));
    config.options["classes"] = std::vector<std::string>{"cell"};
    config.options["keep_empty"] = true;
    const DataParts parts = open();
    ASSERT_EQ(parts.train.size(), 3);
    EXPECT_THAT(boxes(parts.train, 0), ElementsAre(std::array{0.0, 1.0, 1.0, 1.0},
                                                   std::array{1.0, 0.0, 1.0, 2.0}));
    EXPECT_THAT(boxes(parts.train, 1), ElementsAre(std::array{0.0, 0.0, 2.0, 2.0}));
    EXPECT_THAT(boxes(parts.train, 2), testing::IsEmpty());
    EXPECT_THAT(warnings(), testing::Contains(HasSubstr("1 of 3 pictures have no PNG of masks")));
    EXPECT_THAT(classes(parts), ElementsAre("cell"));
    config.options["keep_empty"] = false;
    EXPECT_EQ(open().train.size(), 2) << "training needs objects";
}

TEST_F(InstanceMasks, RefusesMasksOfAnotherSizeOrInColour) {
    folder.write("images/a.png", test::plain_png(2, 2));
    folder.write("masks/a.png", test::number_png(1, 2, {1, 1}));
    EXPECT_THAT(problem(), HasSubstr("2 x 2 pixels, and its annotations are for 1 x 2"));
    folder.write("masks/a.png", png_bytes({2, 2, std::vector<std::uint8_t>(12)}));
    EXPECT_THAT(problem(), HasSubstr("a.png: a picture in colour"));
    folder.write("masks/a.png", std::string("no picture"));
    EXPECT_THAT(problem(), HasSubstr("no PNG picture"));
}

TEST_F(InstanceMasks, RefusesFoldersWithoutObjects) {
    EXPECT_THAT(problem(), HasSubstr("no folder with pictures in PNGImages"));
    folder.write("images/a.png", test::plain_png(2, 2));
    folder.write("masks/a.png", test::number_png(2, 2, {0, 0, 0, 0}));
    EXPECT_THAT(problem(), HasSubstr("the training part has no objects"));
}

TEST_F(InstanceMasks, HoldsOutATestPart) {
    for (int i = 0; i < 10; ++i) {
        const std::string name = std::to_string(i) + ".png";
        folder.write("images/" + name, test::plain_png(2, 2));
        folder.write("masks/" + name, test::number_png(2, 2, {0, 1, 2, 2}));
    }
    config.options["test_share"] = 0.3;
    const DataParts parts = open();
    EXPECT_EQ(parts.train.size(), 7);
    EXPECT_EQ(parts.test.size(), 3);
    EXPECT_EQ(boxes(parts.test, 0).size(), 2u);
}

}  // namespace
}  // namespace engine
