#include "detection_folder.h"

#include <map>

#include "data/loader/collator.h"

namespace engine {

DatasetDescriptor coco_descriptor();

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Pictures are 20 wide and 10 high; NAME.png has the id of its place, from 1.
std::string coco(const std::vector<std::string>& pictures, const std::string& annotations,
                 const std::string& categories = R"({"id":3,"name":"dog"},{"id":1,"name":"cat"})",
                 const std::string& size = R"("width":20,"height":10)") {
    std::string images;
    for (std::size_t i = 0; i < pictures.size(); ++i)
        images += (i == 0 ? "" : ",") + std::string("{\"id\":") + std::to_string(i + 1) +
                  ",\"file_name\":\"" + pictures[i] + "\"," + size + "}";
    return "{\"images\":[" + images + "],\"annotations\":[" + annotations + "],\"categories\":[" +
           categories + "]}";
}
std::string dog(int image, const std::string& box = "[0,0,10,5]", const std::string& more = "") {
    static int id = 0;
    return "{\"id\":" + std::to_string(++id) + ",\"image_id\":" + std::to_string(image) +
           ",\"category_id\":3,\"bbox\":" + box + ",\"iscrowd\":0" + more + "}";
}

struct Coco : test::DetectionFolder {
    Coco() : DetectionFolder(coco_descriptor()) {}
    void add_picture(const std::string& path, int orientation = 1) const {
        folder.write(path, test::plain_png(20, 10, orientation));
    }
};

TEST_F(Coco, ReadsCocosOwnLayout) {
    for (const char* name : {"train2017/a.png", "train2017/b.png", "val2017/c.png"})
        add_picture(name);
    folder.write("annotations/instances_train2017.json",
                 coco({"a.png", "b.png"}, dog(1) + "," + dog(2, "[2,3,4,5]")));
    folder.write("annotations/instances_val2017.json", coco({"c.png"}, dog(1)));
    folder.write("annotations/captions_train2017.json", std::string("{}"));
    const DataParts parts = open();
    EXPECT_EQ(parts.train.size(), 2);
    EXPECT_EQ(parts.test.size(), 1) << "val is the test part where there is no other";
    EXPECT_THAT(classes(parts), ElementsAre("cat", "dog")) << "by their ids";
    EXPECT_EQ(parts.train.data->truth(1)->annotations[0].label, 2);
    EXPECT_THAT(parts.test.data->class_ids(), ElementsAre(1, 3));
    EXPECT_THAT(boxes(parts.train, 1), ElementsAre(std::array{2.0, 3.0, 4.0, 5.0}));
    EXPECT_EQ(std::get<std::int64_t>(parts.train.data->truth(1)->image_id), 2);
    EXPECT_THAT(warnings(), Contains(HasSubstr("captions_train2017.json")));
    EXPECT_TRUE(kind.recognise(folder.path()));
}

TEST_F(Coco, ChosenClassesKeepTheNumbersOfTheFile) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1)));
    EXPECT_THAT(open().train.data->class_ids(), ElementsAre(1, 3));
    config.options["classes"] = std::vector<std::string>{"dog"};
    EXPECT_THAT(open().train.data->class_ids(), ElementsAre(3));
}

TEST_F(Coco, ReadsRoboflowsLayoutAndDropsItsRoot) {
    const std::string categories = R"({"id":0,"name":"dog","supercategory":"none"},)"
                                   R"({"id":3,"name":"dog","supercategory":"dog"})";
    for (const char* part : {"train", "valid", "test"}) {
        add_picture(std::string(part) + "/a.png");
        folder.write(std::string(part) + "/_annotations.coco.json",
                     coco({"a.png"}, dog(1), categories));
    }
    const DataParts parts = open();
    EXPECT_EQ(parts.validation.size(), 1);
    EXPECT_EQ(parts.test.size(), 1);
    EXPECT_THAT(classes(parts), ElementsAre("dog"));
    EXPECT_THAT(warnings(), Contains(HasSubstr("the root of the others")));
}

TEST_F(Coco, ReadsCvatsLayoutAndALoneFile) {
    add_picture("images/default/a.png");
    folder.write("annotations/instances_default.json", coco({"a.png"}, dog(1)));
    EXPECT_EQ(open().train.size(), 1);
    const std::string lone =
        folder.write("elsewhere/x.json", coco({"images/default/a.png"}, dog(1)));
    config.path = {lone};
    EXPECT_EQ(open().train.size(), 1) << "one folder up";
    add_picture("elsewhere/images/b.png");
    folder.write("elsewhere/x.json", coco({"b.png"}, dog(1)));
    EXPECT_EQ(open().train.size(), 1) << "in images beside it";
    EXPECT_TRUE(kind.recognise(lone));
}

TEST_F(Coco, KeepsPolygonsRunsAndCrowds) {
    add_picture("a.png");
    folder.write(
        "a.json",
        coco({"a.png"},
             dog(1, "[2,2,4,4]", R"(,"area":16,"segmentation":[[2,2,6,2,6,6,2,6]])") + "," +
                 dog(1, "[0,0,1,3]",
                     R"(,"segmentation":{"size":[10,20],"counts":[0,3,197]})") +
                 R"(,{"id":99,"image_id":1,"category_id":1,"bbox":[0,0,9,9],"iscrowd":1})"));
    const auto truth = open().train.data->truth(0);
    ASSERT_EQ(truth->annotations.size(), 3u);
    EXPECT_EQ(truth->annotations[0].area, 16);
    EXPECT_EQ(mask_area(mask_runs(truth->annotations[0].mask, 10, 20)), 16);
    EXPECT_EQ(truth->annotations[1].area, 3) << "the pixels, where the file has no area";
    EXPECT_TRUE(truth->annotations[2].crowd);
    EXPECT_EQ(trained_boxes(open().train, 0).size(), 8u) << "a crowd does not train";
}

TEST_F(Coco, CutsABoxForTrainingAndKeepsItForTheMetric) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1, "[-4,-2,10,8]")));
    const DataParts parts = open();
    EXPECT_THAT(boxes(parts.train, 0), ElementsAre(std::array{-4.0, -2.0, 10.0, 8.0}));
    const float scale = 6.4F;  // 20 x 10 becomes 128 x 64
    EXPECT_THAT(trained_boxes(parts.train, 0),
                ElementsAre(0, 0, testing::FloatEq(6 * scale), testing::FloatEq(6 * scale)));
    EXPECT_THAT(warnings(), Contains(HasSubstr("reach more than a pixel out")));
}

TEST_F(Coco, LeavesOutBoxesWithoutAnAreaInBoth) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1) + "," + dog(1, "[0,0,0,5]") + "," +
                                               dog(1, "[30,0,5,5]")));
    EXPECT_EQ(boxes(open().train, 0).size(), 1u);
    EXPECT_THAT(warnings(), Contains(HasSubstr("2 annotations whose box has no area")));
}

TEST_F(Coco, FollowsEXIFAsTheSizeSays) {
    add_picture("a.png", 6);
    folder.write("a.json", coco({"a.png"}, dog(1)));
    EXPECT_EQ(open().train.data->truth(0)->width, 20) << "the stored pixels";
    EXPECT_THAT(warnings(), IsEmpty());
    folder.write("a.json", coco({"a.png"}, dog(1), R"({"id":3,"name":"dog"})",
                                R"("width":10,"height":20)"));
    EXPECT_EQ(open().train.data->truth(0)->width, 10) << "as it is seen";
    folder.write("a.json", coco({"a.png"}, dog(1), R"({"id":3,"name":"dog"})",
                                R"("width":11,"height":20)"));
    EXPECT_THAT(problem(), HasSubstr("20 x 10 pixels, and its annotations are for 11 x 20"));
    folder.write("a.png", test::plain_png(10, 10, 3));
    folder.write("a.json", coco({"a.png"}, dog(1), R"({"id":3,"name":"dog"})",
                                R"("width":10,"height":10)"));
    EXPECT_THAT(warnings(), Contains(HasSubstr("1 picture is turned by EXIF")));
    folder.write("b.png", test::plain_png(10, 10, 3));
    folder.write("a.json", coco({"a.png", "b.png"}, dog(1), R"({"id":3,"name":"dog"})",
                                R"("width":10,"height":10)"));
    EXPECT_THAT(warnings(), Contains(HasSubstr("The first is a.png")));
}

TEST_F(Coco, ShowsThePixelsThatTheAnnotationsLieOn) {
    std::vector<int> values(200, 20);
    for (std::size_t y = 0; y < 5; ++y)
        for (std::size_t x = 0; x < 8; ++x) values[y * 20 + x] = 250;
    const std::map<int, std::string> seen{
        {5, "left top"}, {6, "right top"}, {7, "right bottom"}, {8, "left bottom"}};
    for (const auto& [orientation, corner] : seen) {
        folder.write("a.png", test::number_png(20, 10, values, 8, false, orientation));
        folder.write("a.json", coco({"a.png"}, dog(1)));
        EXPECT_EQ(bright_corner(open().train, 0), "left top") << orientation << ", as stored";
        folder.write("a.json", coco({"a.png"}, dog(1), R"({"id":3,"name":"dog"})",
                                    R"("width":10,"height":20)"));
        EXPECT_EQ(bright_corner(open().train, 0), corner) << orientation;
    }
}

TEST_F(Coco, NumbersItsClassesAsTheFileDoesIfAsked) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1)));
    config.options["label_ids"] = std::string("file");
    const DataParts parts = open();
    EXPECT_THAT(classes(parts), ElementsAre("cat", "", "dog"));
    EXPECT_EQ(parts.train.data->truth(0)->annotations[0].label, 3);
    folder.write("a.json", coco({"a.png"}, dog(1), R"({"id":3,"name":"dog"},{"id":0,"name":"x"})"));
    EXPECT_THAT(problem(), HasSubstr("!dataset.label_ids"));
}

TEST_F(Coco, RefusesFilesThatGiveANumberTwoNames) {
    for (const char* name : {"train/a.png", "test/a.png"}) add_picture(name);
    folder.write("train/_annotations.coco.json", coco({"a.png"}, dog(1)));
    folder.write("test/_annotations.coco.json",
                 coco({"a.png"}, dog(1), R"({"id":1,"name":"dog"},{"id":3,"name":"cat"})"));
    config.options["label_ids"] = std::string("file");
    EXPECT_THAT(problem(), HasSubstr("the category id 1 is dog, and another file calls it cat"));
}

TEST_F(Coco, SaysThatNoSegmentationFits) {
    add_picture("a.png");
    folder.write("a.json",
                 coco({"a.png"}, dog(1, "[0,0,9,9]",
                                     R"(,"segmentation":{"size":[20,10],"counts":[0,3,197]})")));
    EXPECT_THAT(warnings(), Contains(HasSubstr("none of the segmentations of 1 annotations fits")));
    folder.write("a.json", coco({"a.png"}, dog(1, "[0,0,9,9]", R"(,"segmentation":[])")));
    EXPECT_THAT(warnings(), IsEmpty()) << "boxes alone";
}

TEST_F(Coco, RefusesMasksWhereMoreThanOneInAHundredIsBroken) {
    std::vector<std::string> names;
    std::string annotations;
    const auto mask = [](bool good) {
        return std::string(R"(,"segmentation":[[2,2,6,2)") + (good ? ",6,6]]" : "]]");
    };
    for (int i = 1; i <= 100; ++i) {
        names.push_back(std::to_string(i) + ".png");
        add_picture(names.back());
        annotations += (i > 1 ? "," : "") + dog(i, "[0,0,9,9]", mask(i != 70));
    }
    const auto problem_of = [&] {
        return open().train.data->schema().fields[detection_field::bits].problem.str();
    };
    folder.write("a.json", coco(names, annotations));
    EXPECT_EQ(problem_of(), "") << "one of a hundred";
    EXPECT_THAT(warnings(), Contains(HasSubstr("1 of 100 objects have no mask. The first is in 70.png")));
    folder.write("a.json", coco(names, annotations + "," + dog(80, "[0,0,9,9]", mask(false))));
    EXPECT_THAT(problem_of(), HasSubstr("2 of 101 objects have no valid mask, more than 1 %. The "
                                        "first is in 70.png"));
}

TEST_F(Coco, CountsAnnotationsOfUnknownPicturesAndCategories) {
    add_picture("a.png");
    folder.write("a.json",
                 coco({"a.png"}, dog(1) + R"(,{"id":501,"image_id":7,"category_id":3,"bbox":[0,0,2,2]})" +
                                     R"(,{"id":502,"image_id":8,"category_id":3,"bbox":[0,0,2,2]})" +
                                     R"(,{"id":503,"image_id":1,"category_id":9,"bbox":[0,0,2,2]})"));
    EXPECT_EQ(boxes(open().train, 0).size(), 1u);
    EXPECT_THAT(warnings(), Contains(HasSubstr("2 annotations of pictures that it does not list are "
                                               "left out. The first has the id 501")));
    EXPECT_THAT(warnings(), Contains(HasSubstr("The first has the id 503")));
}

TEST_F(Coco, NamesTheFirstTenPicturesThatCannotBeRead) {
    std::vector<std::string> names{"a.png"};
    add_picture("a.png");
    for (int i = 10; i < 22; ++i) names.push_back("gone" + std::to_string(i) + ".png");
    folder.write("a.json", coco(names, dog(1)));
    EXPECT_THAT(problem(), testing::AllOf(HasSubstr("12 of 13 pictures cannot be read"),
                                          HasSubstr("gone10.png"), HasSubstr("gone19.png"),
                                          testing::Not(HasSubstr("gone20.png"))));
}

TEST_F(Coco, RefusesATestPartWithoutObjectsAndWarnsOfClassesThatAreNotTested) {
    for (const char* name : {"train/a.png", "test/a.png"}) add_picture(name);
    const std::string cat = R"({"id":9,"image_id":1,"category_id":1,"bbox":[0,0,2,2]})";
    folder.write("train/_annotations.coco.json", coco({"a.png"}, dog(1) + "," + cat));
    folder.write("test/_annotations.coco.json", coco({"a.png"}, ""));
    EXPECT_THAT(problem(), HasSubstr("a part to test on has no objects"));
    folder.write("test/_annotations.coco.json", coco({"a.png"}, dog(1)));
    EXPECT_THAT(warnings(), Contains(HasSubstr("no object of these classes is tested: cat")));
}

TEST_F(Coco, PicturesWithoutObjectsTrainOnlyIfAsked) {
    for (const char* name : {"a.png", "b.png"}) add_picture(name);
    folder.write("a.json", coco({"a.png", "b.png"}, dog(1)));
    EXPECT_EQ(open().train.size(), 1);
    config.options["keep_empty"] = true;
    EXPECT_EQ(open().train.size(), 2);
    config.normalize = false;
    EXPECT_THAT(problem(), HasSubstr("!dataset.normalize"));
}

TEST_F(Coco, HoldsOutNoneOfTheLastPicturesOfAClass) {
    std::vector<std::string> names;
    std::string annotations = R"({"id":900,"image_id":3,"category_id":1,"bbox":[0,0,2,2]})";
    for (int i = 1; i <= 5; ++i) {
        names.push_back(std::to_string(i) + ".png");
        add_picture(names.back());
        if (i != 3) annotations += "," + dog(i);
    }
    folder.write("a.json", coco(names, annotations));
    config.options["test_share"] = 0.6;
    for (const std::int64_t seed : {1, 2, 3, 4}) {
        const DataParts parts = kind.open(config, seed, {});
        EXPECT_EQ(parts.test.size(), 3) << seed;
        EXPECT_EQ(parts.train.size(), 2) << seed;
    }
    config.options["test_share"] = 0.8;
    EXPECT_EQ(open().test.size(), 3);
    EXPECT_THAT(warnings(), Contains(HasSubstr("3 of 5 pictures are held out")));
}

TEST_F(Coco, RecognisesAFileByItsListsAndTheirKeys) {
    const std::string file = folder.write("a.json", "\xEF\xBB\xBF" + coco({"a.png"}, dog(1)));
    EXPECT_TRUE(kind.recognise(file)) << "with a byte-order mark";
    folder.write("a.json", std::string(R"({"categories":[],"images":["a.png"]})"));
    EXPECT_FALSE(kind.recognise(file));
}

TEST_F(Coco, LearnsTheChosenClasses) {
    for (const char* name : {"a.png", "b.png"}) add_picture(name);
    const std::string cat = R"({"id":999,"image_id":2,"category_id":1,"bbox":[0,0,2,2]})";
    folder.write("a.json", coco({"a.png", "b.png"}, dog(1) + "," + cat));
    config.options["classes"] = std::vector<std::string>{"cat"};
    EXPECT_EQ(open().train.size(), 1);
    EXPECT_THAT(classes(open()), ElementsAre("cat"));
    config.options["classes"] = std::vector<std::string>{"bird"};
    EXPECT_THAT(problem(), HasSubstr("has no class bird"));
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"cat", "cat"}, {""}}) {
        config.options["classes"] = wrong;
        EXPECT_THAT(problem(), HasSubstr("!dataset.classes: name each class once"));
    }
    config.options["classes"] = std::vector<std::string>{"cat"};
    config.options["label_ids"] = std::string("file");
    EXPECT_THAT(problem(), HasSubstr("dataset.label_ids cannot be file"));
}

TEST_F(Coco, RefusesMissingPicturesUnlessTheyAreSkipped) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png", "gone.png"}, dog(1) + "," + dog(2)));
    EXPECT_THAT(problem(), HasSubstr("1 of 2 pictures cannot be read"));
    config.options["unreadable"] = std::string("skip");
    EXPECT_EQ(open().train.size(), 1);
    EXPECT_THAT(warnings(), Contains(HasSubstr("gone.png")));
}

TEST_F(Coco, RefusesLinksOutOfTheFolder) {
    add_picture("pictures/a.png");
    add_picture("secret.png");
    std::filesystem::create_symlink(folder / "secret.png", folder / "pictures/b.png");
    folder.write("pictures/x.json", coco({"b.png"}, dog(1)));
    config.path = {(folder / "pictures").string()};
    EXPECT_THAT(problem(), HasSubstr("is a link that leads out of its folder"));
}

TEST_F(Coco, RefusesClassesThatAreNotLearnt) {
    for (const char* name : {"train/a.png", "test/a.png"}) add_picture(name);
    folder.write("train/_annotations.coco.json", coco({"a.png"}, dog(1)));
    folder.write("test/_annotations.coco.json",
                 coco({"a.png"}, R"({"id":9,"image_id":1,"category_id":1,"bbox":[0,0,2,2]})"));
    EXPECT_THAT(problem(), HasSubstr("no object of the class cat is in the training part"));
}

TEST_F(Coco, RefusesYoloLabelsAndOtherFolders) {
    EXPECT_THAT(problem(), HasSubstr("no annotations in COCO's format"));
    folder.write("data.yaml", std::string("names: [dog]"));
    EXPECT_THAT(problem(), HasSubstr("does not read YOLO labels yet"));
}

TEST_F(Coco, RefusesTwoFilesOfOnePartAndUnnamedParts) {
    add_picture("a.png");
    folder.write("annotations/instances_val.json", coco({"a.png"}, dog(1)));
    EXPECT_THAT(problem(), HasSubstr("no training part"));
    folder.write("annotations/instances_train.json", coco({"a.png"}, dog(1)));
    folder.write("annotations/instances_x.json", coco({"a.png"}, dog(1)));
    EXPECT_THAT(problem(), HasSubstr("not all are named after a part"));
    std::filesystem::remove(folder / "annotations/instances_x.json");
    folder.write("annotations/instances_train2.json", coco({"a.png"}, dog(1)));
    EXPECT_THAT(problem(), HasSubstr("look like the same part"));
}

TEST_F(Coco, RefusesSizesThatDoNotGoTogether) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1)));
    config.options["long_side"] = std::int64_t{32};
    EXPECT_THAT(problem(), HasSubstr("!dataset.long_side: 32"));
}

TEST_F(Coco, ABatchHoldsPicturesOfMuchTheSameShape) {
    std::vector<std::string> names;
    std::string objects;
    for (int i = 1; i <= 8; ++i) {
        names.push_back(std::to_string(i) + ".png");
        objects += (i > 1 ? "," : "") + dog(i);
        folder.write(names.back(), i % 2 == 0 ? test::plain_png(20, 10) : test::plain_png(10, 20));
    }
    std::string text = coco(names, objects);
    const std::string wide = R"("width":20,"height":10)", high = R"("width":10,"height":20)";
    for (std::size_t at = 0; (at = text.find(wide, at)) != text.npos; ++at)
        if ((text[text.rfind(".png", at) - 1] - '0') % 2 == 1) text.replace(at, wide.size(), high);
    folder.write("a.json", text);
    const auto canvases = [&] {
        const DataParts parts = open();
        std::vector<CanvasSize> out;
        for (const int rank : {0, 1}) {  // each makes its own row of a batch
            Collator collator(parts.train, parts.train.data->schema(),
                              {.sampler = {.batch_size = 2}, .threads = 1, .rank = rank, .ranks = 2});
            for (std::int64_t i = 0; i < collator.batches_per_epoch(); ++i) {
                Batch batch;
                collator.make(batch, 0, i);
                const Shape& shape = batch.fields[detection_field::image].shape;
                out.push_back({shape[shape.rank() - 2], shape[shape.rank() - 1]});
            }
        }
        return out;
    };
    const auto same = [](const std::vector<CanvasSize>& all) {
        int out = 0;
        for (std::size_t i = 0; i < 4; ++i) out += all[i] == all[i + 4] ? 1 : 0;
        return out;
    };
    EXPECT_EQ(same(canvases()), 4) << "both rows of each batch are wide, or both are high";
    config.options["aspect_groups"] = false;
    EXPECT_LT(same(canvases()), 4) << "four batches of a shuffle";
}

TEST(AspectGroup, FollowsThirdsOfAnOctave) {
    EXPECT_EQ(aspect_group({100, 201}), 0);
    EXPECT_EQ(aspect_group({100, 200}), 1) << "a bound belongs to the group above it";
    EXPECT_EQ(aspect_group({427, 640}), 2);
    EXPECT_EQ(aspect_group({480, 640}), 2);
    EXPECT_EQ(aspect_group({100, 101}), 3);
    EXPECT_EQ(aspect_group({64, 64}), 4);
    EXPECT_EQ(aspect_group({640, 480}), 5);
    EXPECT_EQ(aspect_group({640, 400}), 6);
    EXPECT_EQ(aspect_group({4000, 100}), 7);
    // 2^(1/3) = 1.259921...: the bound is met to the pixel.
    EXPECT_EQ(aspect_group({1259922, 1000000}), 5);
    EXPECT_EQ(aspect_group({1259921, 1000000}), 4);
}

TEST_F(Coco, TheCanvasIsFixedIfAsked) {
    add_picture("a.png");
    folder.write("a.json", coco({"a.png"}, dog(1)));
    EXPECT_TRUE(open().train.data->schema().fields[0].by_batch);
    EXPECT_EQ(open().train.data->schema().fields[0].shape, (Shape{3, 64, 128}));
    config.options["canvas"] = std::string("fixed");
    config.options["long_side"] = std::int64_t{140};
    EXPECT_FALSE(open().train.data->schema().fields[0].by_batch);
    EXPECT_EQ(open().train.data->schema().fields[0].shape, (Shape{3, 64, 160}))
        << "all pictures are wide";
}

}  // namespace
}  // namespace engine
