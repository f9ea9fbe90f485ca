#include "data/image/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "read_sample.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::Bytes;
using test::cut;
using test::idx;
using test::idx_images;
using test::idx_labels;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

void write_set(const TempFolder& folder, const std::string& stem, std::uint32_t count) {
    folder.write(stem + "-images-idx3-ubyte", idx_images(count));
    folder.write(stem + "-labels-idx1-ubyte", idx_labels(count));
}

void expect_ramp(const Dataset& data, std::int64_t first_value) {
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto [image, label] = test::read_sample(data, i);
        for (std::int64_t e = 0; e < 784; ++e) {
            const std::int64_t value = (first_value + i * 784 + e) % 251;
            ASSERT_EQ(image[static_cast<std::size_t>(e)], static_cast<float>(value) / 255);
        }
        EXPECT_EQ(label, i % 10);
    }
}

TEST(Idx, ReadsPlainFilesUnderTheOfficialNames) {
    const TempFolder folder;
    write_set(folder, "train", 25);
    write_set(folder, "t10k", 12);
    const auto [train, validation, test, warnings, files] =
        open_idx(test::dataset("mnist", {folder.str()}));
    EXPECT_EQ(train.size(), 25);
    EXPECT_EQ(test.size(), 12);
    EXPECT_EQ(train.data->schema()["image"].shape, (Shape{1, 28, 28}));
    EXPECT_EQ(train.data->schema()["label"].names[7], "7");
    expect_ramp(*train.data, 0);
    expect_ramp(*test.data, 0);
}

TEST(Idx, ReadsPackedFilesDottedNamesAndAFolderInside) {
    const TempFolder folder;
    folder.write("MNIST/raw/train-images.idx3-ubyte", idx_images(20));
    folder.write("MNIST/raw/train-labels.idx1-ubyte.gz", test::gzip(idx_labels(20)));
    folder.write("MNIST/raw/t10k-images.idx3-ubyte.xz", test::xz(idx_images(10)));
    folder.write("MNIST/raw/t10k-labels.idx1-ubyte", idx_labels(10));
    const auto [train, validation, test, warnings, files] =
        open_idx(test::dataset("mnist", {folder.str()}));
    expect_ramp(*train.data, 0);
    EXPECT_EQ(test.size(), 10);
}

TEST(Idx, JoinsPartsInTheOrderOfTheirNames) {
    const TempFolder folder;
    folder.write("train-part2-images-idx3-ubyte", idx({1, 28, 28}, 784, 7));
    folder.write("train-part2-labels-idx1-ubyte", idx_labels(1));
    write_set(folder, "train-part1", 10);
    write_set(folder, "t10k", 1);
    const auto train = open_idx(test::dataset("fashion-mnist", {folder.str()})).train;
    ASSERT_EQ(train.size(), 11);
    const auto image = test::read_sample(*train.data, 10).values;
    EXPECT_EQ(image[6], 6.0F / 255);
    EXPECT_EQ(image[7], 0.0F);
    EXPECT_EQ(train.data->schema()["label"].names[9], "Ankle boot");
}

TEST(Idx, ReadsOnlyTheFirstSamplesUnderALimit) {
    const TempFolder folder;
    write_set(folder, "train", 25);
    write_set(folder, "t10k", 12);
    auto config = test::dataset("mnist", {folder.str()});
    config.train_limit = 7;
    config.test_limit = 100;
    const auto [train, validation, test, warnings, files] = open_idx(config);
    EXPECT_EQ(train.size(), 7);
    EXPECT_EQ(test.size(), 12);
    expect_ramp(*train.data, 0);
}

TEST(Idx, RefusesSeveralSetsByNameAndReadsTheOneOfAFile) {
    const TempFolder folder;
    for (const char* set : {"emnist-digits", "emnist-mnist"}) {
        write_set(folder, std::string(set) + "-train", set[7] == 'd' ? 20 : 30);
        write_set(folder, std::string(set) + "-test", 10);
    }
    const auto error = test::data_error([&] { open_idx(test::dataset("mnist", {folder.str()})); });
    EXPECT_THAT(error, HasSubstr("holds several data sets: emnist-digits, emnist-mnist"));
    const auto chosen = [&](const char* file) {
        return open_idx(test::dataset("mnist", {(folder / file).string()})).train.size();
    };
    EXPECT_EQ(chosen("emnist-digits-test-labels-idx1-ubyte"), 20);
    EXPECT_EQ(chosen("emnist-mnist-train-images-idx3-ubyte"), 30);
    write_set(folder, "train", 5);
    EXPECT_THAT(test::data_error([&] { open_idx(test::dataset("mnist", {folder.str()})); }),
                HasSubstr("train-images-idx3-ubyte, emnist-digits"));
}

TEST(Idx, RefusesAnyTwoSetsInOneFolder) {
    for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
             {"train", "fashion-train"},
             {"kmnist-train", "train"},
             {"emnist-letters-train", "emnist-balanced-train"},
             {"qmnist-train", "emnist-byclass-train"},
             {"train", "train-old"},
             {"MNIST_train", "FASHION_train"}}) {
        const TempFolder folder;
        for (const std::string& set : {first, second}) write_set(folder, set, 20);
        const auto error =
            test::data_error([&] { open_idx(test::dataset("mnist", {folder.str()})); });
        EXPECT_THAT(error, HasSubstr("holds several data sets: ")) << first;
    }
}

TEST(Idx, TellsSetsByTheirNames) {
    for (const char* name : {"train-images-idx3-ubyte", "t10k-labels.idx1-ubyte",
                             "train-part12-images-idx3-ubyte", "test_images_2.idx3-ubyte"})
        EXPECT_EQ(idx_set(name), "") << name;
    EXPECT_EQ(idx_set("emnist-balanced-train-images-idx3-ubyte"), "emnist-balanced");
    EXPECT_EQ(idx_set("qmnist-test-images-idx3-ubyte"), idx_set("qmnist-train-labels-idx1-ubyte"));
    EXPECT_EQ(idx_set("train-images-idx3-ubyte-fashion"), "fashion");
}

TEST(Idx, PassesOverUnfinishedDownloadsCopiesAndLeftovers) {
    const TempFolder folder;
    write_set(folder, "train", 20);
    write_set(folder, "t10k", 10);
    for (const char* name :
         {"train-images-idx3-ubyte.gz.crdownload", "train-images-idx3-ubyte.part",
          "t10k-images-idx3-ubyte.gz.download", "train-labels-idx1-ubyte.gz.partial",
          "._train-images-idx3-ubyte", "train-images-idx3-ubyte (1).gz",
          "train-labels-idx1-ubyte copy", "t10k-images-idx3-ubyte - Copy (2).gz"})
        folder.write(name, Bytes{1, 2, 3});
    const auto parts = open_idx(test::dataset("mnist", {folder.str()}));
    EXPECT_EQ(parts.train.size(), 20);
    EXPECT_EQ(parts.test.size(), 10);
    std::filesystem::rename(folder / "train-images-idx3-ubyte",
                            folder / "train-images-idx3-ubyte (3)");
    std::filesystem::remove(folder / "train-images-idx3-ubyte (1).gz");
    EXPECT_EQ(open_idx(test::dataset("mnist", {folder.str()})).train.size(), 20)
        << "a copy alone is the file";
}

struct BadIdx {
    const char* name;
    const char* file;
    Bytes content;  // replaces the valid file; empty name: the file is removed
    const char* sentence;
};

class BadIdxFile : public ::testing::TestWithParam<BadIdx> {};

TEST_P(BadIdxFile, IsRefusedWithOneSentence) {
    const TempFolder folder;
    write_set(folder, "train", 20);
    write_set(folder, "t10k", 10);
    folder.write(GetParam().file, GetParam().content);
    const auto error = test::data_error([&] { open_idx(test::dataset("mnist", {folder.str()})); });
    EXPECT_THAT(error, HasSubstr(GetParam().sentence));
    EXPECT_THAT(error, HasSubstr(folder.str()));
}

Bytes with(Bytes bytes, std::size_t at, std::uint8_t value) {
    bytes[at] = value;
    return bytes;
}

constexpr const char* train_images = "train-images-idx3-ubyte";
constexpr const char* train_labels = "train-labels-idx1-ubyte";

INSTANTIATE_TEST_SUITE_P(
    Idx, BadIdxFile,
    ::testing::Values(BadIdx{"Empty", train_images, {}, "-ubyte: the file is empty"},
                      BadIdx{"HeaderOnlyBegun", train_images, cut(idx_images(20), 9),
                             "it ends in its header"},
                      BadIdx{"Text",
                             train_images,
                             {'h', 'e', 'l', 'l', 'o'},
                             "not an IDX file: it begins with 68 65 6c 6c, not with 00 00 08 03"},
                      BadIdx{"Floats", train_images, with(idx_images(20), 2, 0x0d),
                             "its numbers are of IDX type 0d, not bytes (08)"},
                      BadIdx{"LabelsAsImages", train_images, idx_labels(20),
                             "contains labels; images are expected"},
                      BadIdx{"ImagesAsLabels", train_labels, idx_images(20),
                             "contains images; labels are expected"},
                      BadIdx{"AnotherRank", train_images, idx({20, 28, 28, 1}, 20 * 784, 9),
                             "an IDX file of 4 dimensions; 3 are expected"},
                      BadIdx{"AnotherSize", train_images, idx({20, 32, 32}, 20 * 1024, 9),
                             "images of 32 by 32 pixels; 28 by 28 are expected"},
                      BadIdx{"NoSamples", train_images, idx_images(0), "holds no samples"},
                      BadIdx{"CutShort", train_images, cut(idx_images(20), 16 + 784 * 19 + 3),
                             "its header promises 20 samples and 19 are there"},
                      BadIdx{"TooLong", train_images, cut(idx_images(20), 16 + 784 * 20 + 1),
                             "longer than the 20 samples that its header promises"},
                      BadIdx{"LyingHeader", train_images, with(idx_images(20), 4, 0xff),
                             "its header promises 4278190100 samples, more than the 1000000 that"},
                      BadIdx{"CutPack", "t10k-images-idx3-ubyte",
                             cut(test::gzip(idx_images(10)), 300), "cut short"},
                      BadIdx{"PackedTwice", "train-images-idx3-ubyte",
                             test::gzip(test::gzip(idx_images(20))), "packed twice with gzip"},
                      BadIdx{"FewerLabels", train_labels, idx_labels(19), "20 images and"},
                      BadIdx{"LabelBeyond", train_labels, with(idx_labels(20), 8 + 13, 10),
                             "label 10 of sample 13 is beyond the 10 classes"}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(Idx, ALyingHeaderBelowTheLimitTakesNoMoreMemoryThanThereIsData) {
    // The header states 1,000,000 images (784 MB), but the file has 20.
    Bytes lying = idx({1000000, 28, 28}, 20 * 784, 251);
    const TempFolder folder;
    LabelledImages out;
    const auto file = folder.write("train-images-idx3-ubyte", lying);
    EXPECT_THAT(test::data_error([&] { append_idx_images(file, 0, out); }),
                HasSubstr("20 are there"));
    EXPECT_LE(out.pixels.capacity(), std::size_t{64} << 20);
}

TEST(Idx, NamesTheFileThatIsMissing) {
    for (const std::string missing : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                      "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
        const TempFolder folder;
        write_set(folder, "train", 2);
        write_set(folder, "t10k", 2);
        std::filesystem::remove(folder / missing);
        const auto config = test::dataset("mnist", {folder.str()});
        EXPECT_THAT(test::data_error([&] { open_idx(config); }),
                    HasSubstr("no " + missing + " file here"));
    }
}

TEST(Idx, DoesNotNeedItsFilesOnceOpened) {
    const TempFolder folder;
    write_set(folder, "train", 12);
    write_set(folder, "t10k", 12);
    const auto train = open_idx(test::dataset("mnist", {folder.str()})).train;
    std::filesystem::remove_all(folder / "");
    expect_ramp(*train.data, 0);
}

TEST(Idx, ReadsTheRealFashionMnist) {
    SKIP_WITHOUT_DATA("fashion-mnist");
    const auto [train, validation, test, warnings, files] =
        open_idx(test::dataset("fashion-mnist", {HALFTONE_DATA_DIR "/fashion-mnist"}));
    ASSERT_EQ(train.size(), 60000);
    ASSERT_EQ(test.size(), 10000);
    std::vector<int> counts(10);
    for (std::int64_t i = 0; i < 60000; ++i)
        ++counts[static_cast<std::size_t>(test::read_label(*train.data, i))];
    EXPECT_THAT(counts, ::testing::Each(6000));
    std::vector<std::int64_t> first, test_first;
    for (std::int64_t i = 0; i < 10; ++i) {
        first.push_back(test::read_label(*train.data, i));
        test_first.push_back(test::read_label(*test.data, i));
    }
    EXPECT_THAT(first, ElementsAre(9, 0, 0, 3, 0, 2, 7, 2, 5, 5));
    EXPECT_THAT(test_first, ElementsAre(9, 2, 1, 1, 6, 1, 4, 6, 5, 7));

    const auto image = test::read_sample(*train.data, 0).values;
    EXPECT_EQ(image[14 * 28 + 12], 237.0F / 255);
    EXPECT_EQ(image[14 * 28 + 25], 255.0F / 255);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 10000; ++i) {
        for (const float value : test::read_sample(*test.data, i).values)
            sum += std::lround(value * 255);
    }
    EXPECT_EQ(sum, 573469082);
    EXPECT_FLOAT_EQ(train.data->schema()["image"].normalization.mean[0], 0.2860405969887955F);
    EXPECT_FLOAT_EQ(test.data->schema()["image"].normalization.deviation[0], 0.3530242445149226F);
}

}  // namespace
}  // namespace engine
