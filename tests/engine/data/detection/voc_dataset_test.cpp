#include "detection_folder.h"

namespace engine {

DatasetDescriptor voc_descriptor();

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string object(const std::string& name, int left, int top, int right, int bottom,
                   bool difficult = false) {
    const auto side = [](const char* tag, int value) {
        return '<' + std::string(tag) + '>' + std::to_string(value) + "</" + tag + '>';
    };
    return "<object><name>" + name + "</name>" + side("difficult", difficult ? 1 : 0) + "<bndbox>" +
           side("xmin", left) + side("ymin", top) + side("xmax", right) + side("ymax", bottom) +
           "</bndbox></object>";
}

struct Voc : test::DetectionFolder {
    Voc() : DetectionFolder(voc_descriptor()) {}
    void add(const std::string& name, const std::string& objects, int width = 20,
             int height = 10) const {
        folder.write("Annotations/" + name + ".xml",
                     "<annotation><filename>" + name + ".png</filename><size><width>" +
                         std::to_string(width) + "</width><height>" + std::to_string(height) +
                         "</height></size>" + objects + "</annotation>");
        folder.write("JPEGImages/" + name + ".png", test::plain_png(20, 10));
    }
};

TEST_F(Voc, ReadsBoxesFromOneWithTheirLastPixels) {
    add("a", object("dog", 1, 1, 20, 10) + object("cat", 3, 4, 5, 4));
    const DataParts parts = open();
    EXPECT_THAT(boxes(parts.train, 0), ElementsAre(std::array{0.0, 0.0, 20.0, 10.0},
                                                   std::array{2.0, 3.0, 3.0, 1.0}));
    EXPECT_THAT(classes(parts), ElementsAre("cat", "dog"));
    EXPECT_EQ(parts.train.data->truth(0)->annotations[0].label, 2);
    EXPECT_EQ(parts.train.data->truth(0)->annotations[1].area, 3);
    EXPECT_TRUE(kind.recognise(folder.path()));
}

TEST_F(Voc, DifficultObjectsDoNotTrain) {
    add("a", object("dog", 1, 1, 10, 10) + object("dog", 11, 1, 20, 10, /*difficult=*/true));
    const DataParts parts = open();
    EXPECT_EQ(parts.train.data->truth(0)->annotations.size(), 2u);
    EXPECT_TRUE(parts.train.data->truth(0)->annotations[1].difficult);
    EXPECT_THAT(trained_boxes(parts.train, 0), ElementsAre(0, 0, 64, 64));
}

TEST_F(Voc, HasThePartsOfItsLists) {
    for (const char* name : {"a", "b", "c", "d"}) add(name, object("dog", 1, 1, 10, 10));
    folder.write("ImageSets/Main/train.txt", std::string("a\nb 1\n"));
    folder.write("ImageSets/Main/val.txt", std::string("c\n"));
    EXPECT_EQ(open().train.size(), 2);
    EXPECT_EQ(open().test.size(), 1) << "without a test part";
    folder.write("ImageSets/Main/test.txt", std::string("d\n"));
    EXPECT_EQ(open().validation.size(), 1);
    EXPECT_EQ(std::get<std::string>(open().test.data->truth(0)->image_id), "d");
}

TEST_F(Voc, TakesMasksByTheObjectsNumbersWithoutTheVoid) {
    add("a", object("dog", 1, 1, 2, 1) + object("dog", 3, 1, 4, 1));
    std::vector<int> values(200);
    values[0] = values[1] = 1;
    values[2] = 2;
    values[3] = 255;
    folder.write("SegmentationObject/a.png", test::number_png(20, 10, values, 8, true));
    const auto truth = open().train.data->truth(0);
    EXPECT_EQ(mask_area(std::get<RunLength>(truth->annotations[0].mask)), 2);
    EXPECT_EQ(mask_area(std::get<RunLength>(truth->annotations[1].mask)), 1);
    EXPECT_EQ(truth->annotations[1].area, 1);
}

TEST_F(Voc, FollowsEXIFAsTheSizeSays) {
    add("a", object("dog", 1, 1, 10, 10));
    folder.write("JPEGImages/a.png", test::plain_png(20, 10, 6));
    EXPECT_EQ(open().train.data->truth(0)->width, 20) << "the stored pixels";
    add("a", object("dog", 1, 1, 10, 10), 10, 20);
    folder.write("JPEGImages/a.png", test::plain_png(20, 10, 6));
    EXPECT_EQ(open().train.data->truth(0)->width, 10) << "as it is seen";
    EXPECT_THAT(trained_boxes(open().train, 0), ElementsAre(0, 0, 64, 64));
}

TEST_F(Voc, LeavesOutBoxesWithoutAnAreaInThePicture) {
    add("a", object("dog", 1, 1, 10, 10) + object("dog", 30, 1, 40, 10) + object("dog", 9, 9, 5, 5));
    EXPECT_THAT(boxes(open().train, 0), ElementsAre(std::array{0.0, 0.0, 10.0, 10.0}));
    EXPECT_THAT(warnings(), testing::Contains(HasSubstr("2 boxes without an area")));
}

TEST_F(Voc, RefusesNamesAndLinksOutOfTheFolder) {
    add("a", object("dog", 1, 1, 10, 10));
    folder.write("x.xml", std::string("<annotation/>"));
    folder.write("ImageSets/Main/train.txt", std::string("../x\n"));
    EXPECT_THAT(problem(), HasSubstr("the name ../x.xml leads out of the folder"));
    folder.write("ImageSets/Main/train.txt", std::string("a\n"));
    folder.write("secret.png", test::plain_png(20, 10));
    std::filesystem::remove(folder / "JPEGImages/a.png");
    std::filesystem::create_symlink(folder / "secret.png", folder / "JPEGImages/a.png");
    EXPECT_THAT(problem(), HasSubstr("a.png is a link that leads out of its folder"));
}

TEST_F(Voc, RefusesWhatItCannotRead) {
    EXPECT_THAT(problem(), HasSubstr("no folder with Annotations and JPEGImages"));
    add("a", object("dog", 1, 1, 10, 10), 21, 10);
    EXPECT_THAT(problem(), HasSubstr("20 x 10 pixels, and its annotations are for 21 x 10"));
    folder.write("Annotations/a.xml", std::string("<html/>"));
    EXPECT_THAT(problem(), HasSubstr("its root is html instead of annotation"));
    add("a", "<object/>");
    EXPECT_THAT(problem(), HasSubstr("object 1 has no name or no box"));
    folder.write("Annotations/a.xml",
                 std::string("<annotation><filename>../a.png</filename></annotation>"));
    EXPECT_THAT(problem(), HasSubstr("leads out of the folder"));
}

}  // namespace
}  // namespace engine
