#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

// A detector from the command line: evaluation, predictions, and data that it cannot learn from.
namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A grey PNG of 16 x 16 pixels.
const std::string grey_png(
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\0\0\0\0\x3a\x98\xa0\xbd\0\0\0\x0fIDAT\x78\xda"
    "\x63\x88\x42\x03\x0c\x23\x5b\0\0\xd3\xd1\x5a\x01\x0e\x73\x8e\x10\0\0\0\0IEND\xae\x42\x60\x82",
    72);

struct DetectorRun : testing::Test {
    test_support::TempFolder home;
    std::string errors;

    std::vector<std::string> run(const std::vector<std::string>& args, int exit_code = 0) {
        Program program(args, {home.str(), {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        errors = program.errors();
        return program.output();
    }
    std::vector<std::string> train(const std::vector<std::string>& settings, int exit_code = 0) {
        std::vector<std::string> args{"train"};
        for (const char* each : {"model.kind=maskrcnn-resnet18", "model.options.pyramid_channels=16",
                                 "model.options.hidden=32", "model.options.mask_layers=[16]",
                                 "model.options.proposals_before=[60,40]", "precision.preset=fp32",
                                 "max_steps=1", "batch_size=2", "device=cpu", "checkpoint.best=false"})
            args.insert(args.end(), {"--set", each});
        for (const std::string& each : settings) args.insert(args.end(), {"--set", each});
        return run(args, exit_code);
    }
    std::string picture(const std::string& name) const {
        return home.write(name, {reinterpret_cast<const std::uint8_t*>(grey_png.data()), grey_png.size()});
    }
    json read_json(const std::string& name) const {
        std::ifstream in(home / name);
        return json::parse(in);
    }
};

TEST_F(DetectorRun, IsEvaluatedAndFindsObjectsOnPictures) {
    train({"dataset.kind=shapes", "dataset.image_size=64", "dataset.train_limit=8", "dataset.test_limit=4"});
    const json report =
        json::parse(run({"eval", "1", "--json", "--results", (home / "found").string()}).front());
    for (const char* kind : {"boxes", "masks"})
        for (const char* figure : {"AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100"})
            EXPECT_TRUE(report.at("detections").at(kind).contains(figure)) << kind << ' ' << figure;
    const json boxes = read_json("found.bbox.json"), masks = read_json("found.segm.json");
    EXPECT_EQ(boxes.size(), masks.size());
    for (const json& each : boxes) EXPECT_THAT(each.at("bbox"), SizeIs(4));
    for (const json& each : masks) {
        EXPECT_EQ(each.at("segmentation").at("size"), json({64, 64}));
        EXPECT_FALSE(each.contains("bbox")) << "its area would stand for the mask's";
    }

    const std::vector<std::string> files{picture("a/x.png"), picture("b/x.png")};
    const std::vector<std::string> predict{"predict", "1", files[0], files[1], "--out", home.str()};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), predict.begin(), predict.end());
        return more;
    };
    const auto found = run(with({"--json", "--score", "0"}));
    ASSERT_THAT(found, SizeIs(2));
    for (std::size_t i = 0; i < 2; ++i) {
        const json object = json::parse(found[i]);
        EXPECT_EQ(object.at("input"), files[i]);
        EXPECT_EQ(object.at("width"), 16);
        EXPECT_EQ(object.at("drawing"), (home / (i == 0 ? "x.drawn.png" : "x-2.drawn.png")).string());
        EXPECT_TRUE(fs::exists(object.at("drawing").get<std::string>())) << "none is overwritten";
        for (const json& each : object.at("detections")) {
            EXPECT_THAT(each.at("box"), SizeIs(4));
            EXPECT_EQ(each.at("segmentation").at("size"), json({16, 16}));
        }
        EXPECT_EQ(object.at("detections"), json::parse(found[0]).at("detections")) << "the same picture";
    }
    EXPECT_THAT(run(with({"--score", "1"})),
                ElementsAre(HasSubstr("a/x.png: nothing from a score of 1 on"),
                            HasSubstr("b/x.png: nothing from a score of 1 on")));
    EXPECT_THAT(run(with({"--score", "1.5"}), 2), IsEmpty());
    EXPECT_THAT(errors, HasSubstr("--score"));
    home.write("no.png", std::string());
    EXPECT_THAT(run({"predict", "1", (home / "no.png").string()}, 3), IsEmpty());
    EXPECT_THAT(errors, HasSubstr("no.png"));
}

TEST_F(DetectorRun, ABodyIsCheckedWithTheSettingsOfItsDetector) {
    const auto checked = [this](const std::string& first, int exit_code) {
        const std::string file = home.write(
            "body.network", "option wide = 4 in 1..8\nnetwork(image):\n  layer1: Conv2d(wide, 3, stride=" +
                                first + ", padding=1)\n  layer2: MaxPool2d(2)\n  layer3: MaxPool2d(2)\n" +
                                "  layer4: MaxPool2d(2)\n");
        run({"network", file, "--set", "model.kind=maskrcnn-file", "--set", "model.options.hidden=32",
             "--set", "model.options.wide=2", "--set", "dataset.kind=shapes"},
            exit_code);
        return errors;
    };
    EXPECT_THAT(checked("4", 0), IsEmpty());
    EXPECT_THAT(checked("2", 2), HasSubstr("layer1 is N x 2 x 64 x 64. Stages are four images"));
}

TEST_F(DetectorRun, FoldersOfRoboflowCvatAndVocTrainAsTheyAre) {
    const auto text = [this](const std::string& name, const std::string& content) {
        home.write(name, {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
    };
    const auto coco = [](const std::vector<std::string>& names, const std::string& categories) {
        std::string images, objects;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string comma = i > 0 ? "," : "", id = std::to_string(i + 1);
            images += comma + R"({"id":)" + id + R"(,"license":1,"file_name":")" + names[i] +
                      R"(","width":16,"height":16,"date_captured":"2024-01-01"})";
            objects +=
                comma + R"({"id":)" + id + R"(,"image_id":)" + id +
                R"(,"category_id":1,"bbox":[1,1,9,8],"area":72,"segmentation":[[1,1,10,1,10,9,1,9]],"iscrowd":0})";
        }
        return R"({"info":{},"licenses":[],"images":[)" + images + R"(],"annotations":[)" +
               objects + R"(],"categories":[)" + categories + "]}";
    };
    // Roboflow: parts as folders, and a root category that nothing is of.
    for (const std::string part : {"train", "valid", "test"}) {
        for (const char* name : {"a", "b"}) picture("roboflow/" + part + '/' + name + ".png");
        text("roboflow/" + part + "/_annotations.coco.json",
             coco({"a.png", "b.png"}, R"({"id":0,"name":"pets","supercategory":"none"},)"
                                      R"({"id":1,"name":"dog","supercategory":"pets"})"));
    }
    // CVAT's export as COCO: one part called default.
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) {
        names.push_back("frame_" + std::to_string(i) + ".png");
        picture("cvat/images/default/" + names.back());
        picture("voc/JPEGImages/" + names.back());
        text("voc/Annotations/frame_" + std::to_string(i) + ".xml",
             "<annotation><folder>voc</folder><filename>" + names.back() +
                 "</filename><size><width>16</width><height>16</height><depth>3</depth></"
                 "size><object><name>dog</name>"
                 "<pose>Unspecified</pose><truncated>0</truncated><difficult>0</"
                 "difficult><bndbox><xmin>2</xmin><ymin>2</ymin>"
                 "<xmax>10</xmax><ymax>9</ymax></bndbox></object></annotation>");
    }
    text("cvat/annotations/instances_default.json",
         coco(names, R"({"id":1,"name":"dog","supercategory":""})"));
    text("voc/ImageSets/Main/train.txt", "frame_0\nframe_1\n");
    text("voc/ImageSets/Main/val.txt", "frame_2\nframe_3\n");
    const std::vector<std::string> small{"dataset.short_side=[64]",
                                         "model.options.anchor_sizes=[8,16,32,64,128]"};
    for (const auto& [kind, folder, masks] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"coco", "roboflow", "true"}, {"coco", "cvat", "true"}, {"voc", "voc", "false"}}) {
        SCOPED_TRACE(folder);
        std::vector<std::string> settings{"dataset.kind=" + kind,
                                          "dataset.path=" + (home / folder).string(),
                                          "model.options.masks=" + masks};
        settings.insert(settings.end(), small.begin(), small.end());
        const auto said = train(settings);
        EXPECT_THAT(said, testing::Not(IsEmpty()));
        EXPECT_EQ(said.back().find("nan"), std::string::npos) << said.back();
    }
}

TEST_F(DetectorRun, DataThatItCannotLearnFromAreRefusedAndNothingIsWritten) {
    picture("a.png");
    const std::string images = R"({"images":[{"id":1,"file_name":"a.png","width":16,"height":16}],)"
                               R"("categories":[{"id":1,"name":"dog"}],"annotations":)";
    const std::string box = R"([{"id":1,"image_id":1,"category_id":1,"bbox":[1,1,9,9])";
    const std::string good = box + R"(,"segmentation":[[1,1,9,1,9,9]]})",
                      broken = R"(,{"id":2,"image_id":1,"category_id":1,"bbox":[1,1,9,9],"segmentation":[[1,1]]})";
    struct Case {
        std::string text, sentence;
        int exit_code = 3;
    };
    for (const Case& each : std::vector<Case>{
             {images, "is not JSON, or is cut short, at byte"},
             {"{}", "it has no images"},
             {images + "[]}", "the training part has no objects"},
             {images + good + broken + "]}", "1 of 2 objects have no valid mask, more than 1 %"},
             {images + box + "}]}", "model.options.masks", 2}}) {
        std::ofstream(home / "a.json") << each.text;
        EXPECT_THAT(train({"dataset.kind=coco", "dataset.test_share=0",
                           "dataset.path=" + (home / "a.json").string()},
                          each.exit_code),
                    IsEmpty());
        EXPECT_THAT(errors, HasSubstr(each.sentence));
        for (const auto& entry : fs::directory_iterator(home / "halftone/runs"))
            EXPECT_FALSE(entry.is_directory()) << "a run is left: " << entry.path();
    }
}

}  // namespace
}  // namespace app
