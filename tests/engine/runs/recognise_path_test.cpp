#include <gtest/gtest.h>

#include "engine/data/dataset_preview.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::Bytes;
using test_support::TempFolder;

TEST(RecognisePath, KnowsCifarFoldersFilesAndArchivesByTheirRecords) {
    for (const int classes : {10, 100}) {
        const std::string kind = classes == 10 ? "cifar10" : "cifar100";
        const TempFolder folder;
        const auto file = folder.write("set/train.bin.gz", test::gzip(test::cifar(classes, 0, 40)));
        EXPECT_EQ(recognise_path((folder / "set").string()), kind);
        EXPECT_EQ(recognise_path(file), kind);
        const Bytes archive =
            test::tar({{"x/readme", {'x'}}, {"x/test.bin", test::cifar(classes, 0, 40)}});
        EXPECT_EQ(recognise_path(folder.write("x.tar.gz", test::gzip(archive))), kind);
    }
}

TEST(RecognisePath, KnowsIdxFilesByTheirLabelsAndElseByTheirFolder) {
    const TempFolder folder;
    const auto write = [&](const std::string& name, const Bytes& labels) {
        folder.write(name + "/train-images-idx3-ubyte", test::idx_images(10));
        folder.write(name + "/train-labels-idx1-ubyte", labels);
        return (folder / name).string();
    };
    const Bytes header{0, 0, 8, 1, 0, 0, 0, 10};
    const auto labels = [&](std::initializer_list<std::uint8_t> values) {
        Bytes bytes = header;
        bytes.insert(bytes.end(), values);
        return bytes;
    };
    EXPECT_EQ(recognise_path(write("a", labels({5, 0, 4, 1, 9, 2, 1, 3, 1, 4}))), "mnist");
    EXPECT_EQ(recognise_path(write("my-mnist", labels({9, 0, 0, 3, 0, 2, 7, 2, 5, 5}))),
              "fashion-mnist");
    EXPECT_EQ(recognise_path(write("Fashion-MNIST", test::idx_labels(10))), "fashion-mnist");
    EXPECT_EQ(recognise_path(write("my-mnist", test::idx_labels(10))), "mnist");
    EXPECT_EQ(recognise_path(write("neither", test::idx_labels(10))), "fashion-mnist");
    EXPECT_EQ(recognise_path((folder / "my-mnist/train-images-idx3-ubyte").string()), "mnist");
}

TEST(RecognisePath, KnowsSettingsByTheirFields) {
    const TempFolder folder;
    EXPECT_EQ(recognise_path(folder.write("a.json", R"({"batch_size": 7})")), "settings");
    EXPECT_EQ(recognise_path(folder.write("any-name", R"({"dataset": {"kind": "glyphs"}})")),
              "settings");
    EXPECT_EQ(recognise_path(folder.write("b.json", R"({"colour": 7})")), "");
    EXPECT_EQ(recognise_path(folder.write("c.json", R"(["batch_size"])")), "");
    EXPECT_EQ(recognise_path(folder.write("d.json", R"({"batch_size": )")), "");
}

TEST(RecognisePath, KnowsTheFolderOfARun) {
    const TempFolder folder;
    folder.write("config.json", "{}");
    EXPECT_EQ(recognise_path(folder.str()), "");
    folder.write("steps.rec", "");
    EXPECT_EQ(recognise_path(folder.str()), "run");
}

TEST(RecognisePath, KnowsEventFilesOfTensorBoard) {
    const TempFolder folder;
    const std::string file = folder.write("events.out.tfevents.1.host", "");
    EXPECT_EQ(recognise_path(file), "log");
    EXPECT_EQ(recognise_path(folder.str()), "log");
}

TEST(RecognisePath, IsEmptyForAnythingElse) {
    const TempFolder folder;
    EXPECT_EQ(recognise_path((folder / "absent").string()), "");
    EXPECT_EQ(recognise_path(folder.str()), "");
    EXPECT_EQ(recognise_path(folder.write("empty", "")), "");
    EXPECT_EQ(recognise_path(folder.write("other.dat", "hello")), "");
    EXPECT_EQ(recognise_path(folder.write("x.tar.gz", "hello")), "");
    EXPECT_EQ(recognise_path(folder.write("train.bin", "hello")), "");
    EXPECT_EQ(recognise_path(folder.write("train-images-idx3-ubyte", "hello")), "");
    // A file that belongs to no data set is not recognised, whatever else is in the folder.
    folder.write("test.bin", test::cifar(100, 0, 40));
    EXPECT_EQ(recognise_path((folder / "other.dat").string()), "");
}

TEST(RecognisePath, KnowsTablesAndTexts) {
    const TempFolder folder;
    EXPECT_EQ(recognise_path(folder.write("a.csv", "x,y\n1,2\n3,4\n5,6\n")), "csv");
    EXPECT_EQ(recognise_path(folder.write("story.txt", "Once upon a time\nthere was\n")),
              "text-chars");
    EXPECT_EQ(recognise_path(folder.write("news.txt", "the <unk> said\nthat\n")), "text-words");
    EXPECT_EQ(recognise_path(folder.write("binary.txt", std::string("\0\1\2", 3))), "");
}

TEST(RecognisePath, KnowsTheRealSets) {
    SKIP_WITHOUT_DATA("fashion-mnist");
    SKIP_WITHOUT_DATA("cifar-100-binary");
    EXPECT_EQ(recognise_path(HALFTONE_DATA_DIR "/fashion-mnist"), "fashion-mnist");
    EXPECT_EQ(recognise_path(HALFTONE_DATA_DIR "/fashion-mnist/t10k-labels-idx1-ubyte.gz"),
              "fashion-mnist");
    EXPECT_EQ(recognise_path(HALFTONE_DATA_DIR "/cifar-100-binary"), "cifar100");
    EXPECT_EQ(recognise_path(HALFTONE_DATA_DIR "/cifar-100-binary/test-part2.bin.xz"), "cifar100");
    EXPECT_EQ(recognise_path(HALFTONE_DATA_DIR "/tinyshakespeare"), "");
}

}  // namespace
}  // namespace engine
