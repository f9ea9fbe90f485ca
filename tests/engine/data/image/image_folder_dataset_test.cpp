#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"
#include "data/image/image_transforms.h"
#include "data/input_guide.h"
#include "data/loader/batch_loader.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "engine/io/picture.h"
#include "image_folder_fixture.h"
#include "kernels/device.h"
#include "open_kind.h"
#include "read_sample.h"
#include "support/damaged_png.h"
#include "support/data_fixtures.h"
#include "support/picture_files.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

TEST_F(ImageFolderTest, SplitsATestPartOffEachClass) {
    add_classes(10);
    const DataParts split = open(config());
    EXPECT_EQ(split.train.size(), 16);
    EXPECT_EQ(split.test.size(), 4);
    EXPECT_FALSE(split.validation.data);
}

TEST_F(ImageFolderTest, TooFewPicturesForATestPartAreTold) {
    const auto opened = [&](int of_each, int of_last) {
        const test_support::TempFolder few;
        for (const char* name : {"a", "b", "c"})
            for (int i = 0; i < (*name == 'c' ? of_last : of_each); ++i)
                few.write(std::string(name) + "/" + std::to_string(i) + ".png",
                          test::png_of(test::make_picture(8, 8)));
        return test::open_kind(test::dataset("image-folder", {few.str()}));
    };
    const DataParts none = opened(2, 2);
    EXPECT_EQ(none.train.size(), 6);
    EXPECT_FALSE(none.test.data);
    ASSERT_EQ(none.warnings.size(), 1U);
    EXPECT_THAT(none.warnings[0].str(), HasSubstr("too few pictures for a test part"));
    const DataParts some = opened(5, 2);
    EXPECT_EQ(some.test.size(), 2);
    ASSERT_EQ(some.warnings.size(), 1U);
    EXPECT_THAT(some.warnings[0].str(), HasSubstr("of 1 of the 3 classes, such as c"));
    EXPECT_TRUE(opened(5, 5).warnings.empty());
}

TEST_F(ImageFolderTest, TakesThePartsThatHaveFolders) {
    add_classes(3, "train/");
    add_classes(2, "val/");
    add_classes(1, "test/");
    const DataParts parts = open(config());
    EXPECT_EQ(parts.train.size(), 6);
    EXPECT_EQ(parts.validation.size(), 4);
    EXPECT_EQ(parts.test.size(), 2);
    const Schema& schema = parts.test.data->schema();
    EXPECT_EQ(schema["label"].names, (std::vector<std::string>{"ants", "bees"}));
    EXPECT_EQ(schema["image"].shape, (Shape{3, 28, 28}));
    EXPECT_EQ(schema["image"].normalization.mean, (std::vector<float>{0.485F, 0.456F, 0.406F}));
}

TEST_F(ImageFolderTest, ReadsTheMiddleSquareOfAPicture) {
    add_classes(5);
    DatasetConfig all = config();
    all.options["test_share"] = 0.0;
    const DataParts parts = open(all);
    const auto sample = test::read_sample(*parts.train.data, 6);
    EXPECT_EQ(sample.label, 1);
    const Picture picture =
        centre_square(load_picture(folder / "bees/1.jpg"), /*28 * 256 / 224*/ 32, 28);
    ASSERT_EQ(sample.values.size(), picture.rgb.size());
    for (std::size_t i = 0; i < picture.rgb.size(); ++i)
        ASSERT_EQ(sample.values[i], static_cast<float>(picture.rgb[i]) / 255) << i;
}

TEST_F(ImageFolderTest, AugmentsByARandomBoxAndAFlip) {
    add_classes(5);
    const DataParts parts = open(config());
    std::vector<float> values(28 * 28 * 3);
    std::int64_t label = 0;
    std::array places{test::place_of(values.data(), values.size()), test::place_of(&label, 1)};
    const auto read = [&](const SamplePlace& place) {
        parts.train.data->read_augmented(2, SampleFields(places), place);
        return values;
    };
    const auto once = read({1, 0, 3});
    EXPECT_EQ(read({1, 0, 3}), once);
    EXPECT_NE(read({1, 1, 3}), once);
    EXPECT_NE(read({2, 0, 3}), once);
    EXPECT_NE(test::read_sample(*parts.train.data, 2).values, once);
}

TEST_F(ImageFolderTest, GivesTheSameBatchesWhateverTheNumberOfThreadsAndWhereverItBegins) {
    add_classes(12);
    DatasetConfig augmented = config();
    augmented.augment = true;
    augmented.options["color_jitter"] = 0.3;
    augmented.options["cutout"] = std::int64_t{8};
    const DataParts parts = open(augmented);
    const auto one = batches(parts.train, augmented, 1);
    EXPECT_EQ(batches(parts.train, augmented, 2), one);
    EXPECT_EQ(batches(parts.train, augmented, 5), one);
    const auto later = batches(parts.train, augmented, 3, 4);
    EXPECT_TRUE(std::equal(later.begin(), later.end(), one.end() - std::ssize(later)));
    EXPECT_LT(later.size(), one.size());
    EXPECT_NE(batches(parts.train, config(), 1), one) << "not augmented";
}

TEST_F(ImageFolderTest, GivesThePixelsOfItsBatchesAsBytesToo) {
    add_classes(6);
    const DataPart part = open(config()).train;
    ASSERT_TRUE(part.data->gives_bytes());
    for (const bool augment : {false, true}) {
        DatasetConfig settings = config();
        settings.augment = augment;
        settings.normalize = false;
        const Schema schema = with_transforms(part.data->schema(), settings, true);
        LoaderOptions options{.sampler = {.batch_size = 7, .seed = 5}, .threads = 2};
        Collator wide(part, schema, options);
        options.image_bytes = true;
        Collator narrow(part, schema, options);
        EXPECT_EQ(narrow.batch_bytes(), std::size_t{7} * (28 * 28 * 3 + 8));
        Batch values, bytes;
        wide.make(values, 1, 0);
        narrow.make(bytes, 1, 0);
        EXPECT_EQ(bytes.fields[0].dtype, DType::u8);
        EXPECT_EQ(bytes.fields[1].bytes, values.fields[1].bytes);
        const auto f32 = values.fields[0].values<float>();
        const auto u8 = bytes.fields[0].values<std::uint8_t>();
        ASSERT_EQ(u8.size(), f32.size());
        for (std::size_t i = 0; i < u8.size(); ++i)
            ASSERT_EQ(static_cast<float>(u8[i]) / 255, f32[i]);
    }
}

TEST_F(ImageFolderTest, LimitsAndLabelsAreSpreadOverTheClasses) {
    add_classes(10);
    DatasetConfig few = config();
    few.train_limit = 6;
    few.test_limit = 2;
    const DataParts parts = open(few);
    EXPECT_EQ(parts.train.size(), 6);
    EXPECT_EQ(parts.test.size(), 2);
    std::multiset<std::int64_t> labels;
    for (std::int64_t i = 0; i < 6; ++i) labels.insert(test::read_label(*parts.train.data, i));
    EXPECT_EQ(labels, (std::multiset<std::int64_t>{0, 0, 0, 1, 1, 1}));
}

TEST_F(ImageFolderTest, DamageThatOnlyDecodingShowsIsNamedWhenItIsRead) {
    add_classes(5, "train/");
    add_classes(2, "val/");
    folder.write("train/bees/0.png",
                 test::with_damaged_pixels(test::png_of(test::make_picture(40, 60))));
    for (const bool skips : {true, false}) {
        DatasetConfig asked = config();
        if (!skips) asked.options["damaged"] = std::string("stop");
        const DataParts parts = open(asked);
        ASSERT_EQ(parts.train.size(), 10);
        EXPECT_EQ(parts.train.data->skips_damaged(), skips);
        try {
            test::read_sample(*parts.train.data, 5);
            ADD_FAILURE() << "read";
        } catch (const DamagedSample& damaged) {
            EXPECT_THAT(damaged.what(), HasSubstr("bees/0.png"));
            EXPECT_THAT(damaged.hint().str(), HasSubstr("--set dataset.damaged=skip"));
        }
    }
    folder.write("train/bees/0.png",
                 test::with_damaged_pixels(test::png_of(test::make_picture(40, 60)), false));
    EXPECT_THAT(problem(config()), HasSubstr("1 of 14 pictures cannot be read"));
}

TEST_F(ImageFolderTest, APreviewLeavesOutADamagedPictureWhereTrainingDoes) {
    add_classes(5, "train/");
    add_classes(2, "val/");
    folder.write("train/bees/0.png",
                 test::with_damaged_pixels(test::png_of(test::make_picture(40, 60))));
    DatasetConfig asked = config();
    const DatasetPreview preview = preview_dataset(asked, 1, 10);
    EXPECT_EQ(preview.train_samples, 10);
    std::vector<int> labels;
    for (const auto& shown : preview.thumbnails) labels.push_back(shown.label);
    EXPECT_EQ(labels, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1}));
    asked.options["damaged"] = std::string("stop");
    EXPECT_THROW(preview_dataset(asked, 1, 10), DamagedSample);
}

TEST_F(ImageFolderTest, AFileThatGoesWhileItIsTrainedOnIsNamed) {
    add_classes(5);
    const DataParts parts = open(config());
    fs::remove_all(folder / "bees");
    EXPECT_THAT(test::data_error([&] { batches(parts.train, config(), 2); }),
                HasSubstr("the file cannot be read"));
}

TEST_F(ImageFolderTest, TellsTheModelHowItsPicturesWereScaled) {
    add_classes(5);
    InputGuide guide;
    open(config()).train.data->guide(guide);
    EXPECT_EQ(guide.short_side, 32);
    EXPECT_EQ(guide.alpha, Alpha::dropped);
    guide.schema = open(config()).train.data->schema();
    write_input_guide(folder.path(), guide);
    const InputGuide read = read_input_guide(folder.path());
    EXPECT_EQ(read.short_side, 32);
    EXPECT_EQ(read.alpha, Alpha::dropped);
}

TEST_F(ImageFolderTest, IsPreviewedWithPicturesOfAllClasses) {
    add_classes(10);
    std::vector<std::int64_t> told;
    const DatasetPreview preview = preview_dataset(
        config(), 1, 4, {[&](const ReadingShare& share) { told.push_back(share.done); }, {}});
    ASSERT_EQ(preview.thumbnails.size(), 4U);
    EXPECT_EQ(preview.thumbnails.front().label, 0);
    EXPECT_EQ(preview.thumbnails.back().label, 1);
    EXPECT_EQ(preview.train_counts, (std::vector<std::int64_t>{8, 8}));
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back(), 20);
}

TEST_F(ImageFolderTest, IsOpenedAnewWhenAPictureComesOrGoes) {
    add_classes(5, "train/");
    add_classes(2, "val/");
    const DataParts first = open_dataset(config(), 1);
    EXPECT_EQ(open_dataset(config(), 1).train.data, first.train.data);
    folder.write("train/ants/new.png", test::png_of(test::make_picture(30, 30)));
    EXPECT_EQ(open_dataset(config(), 1).train.size(), 11);
}

TEST_F(ImageFolderTest, TakesOnePath) {
    EXPECT_THAT(problem(test::dataset("image-folder", {})), HasSubstr("no path is given"));
    EXPECT_THAT(problem(test::dataset("image-folder", {"a", "b"})), HasSubstr("one folder, not 2"));
}

TEST_F(ImageFolderTest, StopsOnRequest) {
    add_classes(3);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(test::open_kind(config(), 1, stop.get_token()), ReadingStopped);
}

TEST_F(ImageFolderTest, RealPhotographsAreRead) {
    SKIP_WITHOUT_DATA("hymenoptera-mini");
    DatasetConfig real = test::dataset("image-folder", {HALFTONE_DATA_DIR "/hymenoptera-mini"});
    real.options["image_size"] = std::int64_t{64};
    const DataParts parts = open(real);
    EXPECT_EQ(parts.train.size(), 32);
    EXPECT_EQ(parts.test.size(), 16);
    EXPECT_TRUE(parts.warnings.empty());
    EXPECT_FALSE(batches(parts.train, real, 2).empty());
}

// On the simulated device it is used (image_folder_dataset_device_test.cpp).
TEST_F(ImageFolderTest, RefusesADecoderThatNeedsAGpuWhereThereIsNone) {
    if (kernels::cuda::device_count() > 0) GTEST_SKIP() << "there is a GPU";
    add_classes(1);
    DatasetConfig on_gpu = config();
    on_gpu.options["decoder"] = "nvjpeg";
    try {
        open(on_gpu);
        FAIL() << "opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_THAT(error.what(), HasSubstr("dataset.decoder is nvjpeg, which needs a GPU: "));
        EXPECT_EQ(error.hint().str(), "Set dataset.decoder to exact.");
    }
}

}  // namespace
}  // namespace engine
