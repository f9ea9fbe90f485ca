#include "data/image_folder_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "data/batch_loader.h"
#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"
#include "data/input_guide.h"
#include "data/picture_crop.h"
#include "engine/dataset_preview.h"
#include "engine/error.h"
#include "engine/picture.h"
#include "kernels/device.h"
#include "read_sample.h"
#include "support/damaged_png.h"
#include "support/data_fixtures.h"
#include "support/picture_files.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

struct ImageFolderTest : testing::Test {
    /// Writes `count` pictures per class, of different sizes, JPEG and PNG.
    void add_classes(int count, const std::string& part = "") const {
        for (int i = 0; i < count; ++i) {
            for (const std::string name : {"ants", "bees"}) {
                const int seed = i + (name == "ants" ? 0 : 50);
                const Picture picture = test::make_picture(40 + 3 * i, 60 - 2 * i, seed);
                const std::string file = part + name + '/' + std::to_string(i);
                if (i % 2 == 0)
                    folder.write(file + ".png", test::png_of(picture));
                else
                    folder.write(file + ".jpg", test::jpeg_of(picture));
            }
        }
    }
    DatasetConfig config() const {
        DatasetConfig out = test::dataset("image-folder", {folder.str()});
        out.options["image_size"] = std::int64_t{28};
        return out;
    }
    DataParts open(const DatasetConfig& config) const { return open_image_folder(config, 1, {}); }
    std::string problem(const DatasetConfig& config) const {
        return test::data_error([&] { open(config); });
    }

    test_support::TempFolder folder;
};

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
        return open_image_folder(test::dataset("image-folder", {few.str()}), 1, {});
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

/// The bytes of all batches of two epochs.
std::vector<std::byte> batches(const DataPart& part, const DatasetConfig& config,
                               std::int64_t threads, std::int64_t first = 0) {
    LoaderOptions options{.sampler = {.batch_size = 7, .seed = 5}, .epochs = 2, .threads = threads};
    BatchLoader loader(part, with_transforms(part.data->schema(), config, true), options);
    if (first > 0)
        loader.seek(first / loader.batches_per_epoch(), first % loader.batches_per_epoch());
    std::vector<std::byte> out;
    for (Batch batch; loader.next(batch);) {
        for (const auto& field : batch.fields)
            out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    }
    return out;
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

/// A folder with thirty malformed or misplaced files and folders beside valid ones.
struct OddFolder : ImageFolderTest {
    OddFolder() {
        add_classes(10);
        const Bytes png = test::png_of(test::make_picture(30, 20));
        const Bytes jpeg = test::jpeg_of(test::make_picture(90, 70));
        const auto cut = [](const Bytes& bytes, std::size_t size) {
            return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        };
        const auto bad = [&](const std::string& name, const Bytes& bytes) {
            folder.write("ants/" + name, bytes);
            unreadable.insert(name);
        };
        const auto text = [](const std::string& words) {
            return Bytes(words.begin(), words.end());
        };
        const auto changed = [](Bytes bytes, std::size_t at,
                                std::initializer_list<std::uint8_t> to) {
            std::copy(to.begin(), to.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
            if (bytes[1] != 'P') return bytes;
            const auto sum = crc32(0, bytes.data() + 12, 17);  // of the PNG header
            for (std::size_t i = 0; i < 4; ++i)
                bytes[29 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
            return bytes;
        };
        bad("empty.jpg", {});
        bad("empty.png", {});
        bad("text.jpg", text("no picture at all"));
        bad("page.png", text("<html><body>Not found</body></html>"));
        bad("gif.jpg", text("GIF89a\x01"));
        bad("webp.png", text("RIFF0000WEBPVP8 "));
        bad("one-byte.jpg", cut(jpeg, 1));
        bad("signature.png", cut(png, 8));
        bad("no-data.png", cut(png, 33));
        bad("cut.png", cut(png, png.size() / 2));
        bad("cut-end.png", cut(png, png.size() - 3));
        bad("header.jpg", cut(jpeg, 20));
        bad("cut.jpg", cut(jpeg, jpeg.size() / 2));
        bad("cut-late.jpg", cut(jpeg, jpeg.size() - 40));
        bad("wide.png", changed(png, 16, {0x7F, 0xFF, 0xFF, 0xFF}));
        bad("negative.png", changed(png, 16, {0xFF, 0xFF, 0xFF, 0xFF}));
        bad("bomb.png", changed(png, 16, {0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF}));
        bad("no-width.png", changed(png, 16, {0, 0, 0, 0}));
        bad("depth.png", changed(png, 24, {3}));
        const auto frame =
            std::search(jpeg.begin(), jpeg.end(), std::begin(start), std::end(start));
        const auto size_at = static_cast<std::size_t>(frame - jpeg.begin()) + 5;
        bad("bomb.jpg", changed(jpeg, size_at, {0xFF, 0xDC, 0xFF, 0xDC}));
        bad("no-size.jpg", changed(jpeg, size_at, {0, 0, 0, 0}));
        bad("twelve-bits.jpg", changed(jpeg, size_at - 1, {12}));
        fs::create_directory(folder / "ants/folder.png");
        unreadable.insert("folder.png");
        fs::create_symlink("nowhere.png", folder / "ants/dangling.png");
        unreadable.insert("dangling.png");
        fs::create_symlink("round.jpg", folder / "ants/round.jpg");
        unreadable.insert("round.jpg");
        ::mkfifo((folder / "ants/pipe.jpg").c_str(), 0600);
        unreadable.insert("pipe.jpg");
        if (::geteuid() != 0) {  // root can read it regardless
            bad("secret.png", png);
            fs::permissions(folder / "ants/secret.png", fs::perms::none);
        }
        // Unusual, but readable.
        folder.write("ants/really-a-jpeg.png", jpeg);
        folder.write("ants/really-a-png.jpg", png);
        folder.write("ants/\xE8\x9A\x82\xE8\x9A\x81.png", png);
        folder.write("ants/with space & \"quotes\".jpg", jpeg);
        Bytes longer = jpeg;
        longer.insert(longer.end(), 100, 0);
        folder.write("ants/longer.jpg", longer);
        folder.write("ants/dot.png", test::png_of(test::make_picture(1, 1)));
        folder.write("ants/thin.png", test::png_of(test::make_picture(1, 900)));
        folder.write("ants/movie.mp4", text("no picture"));
        fs::create_directories(folder / "ants/nothing/within");
    }

    static constexpr std::uint8_t start[] = {0xFF, 0xC0};
    std::set<std::string> unreadable;
    static constexpr std::int64_t readable = 27;
};

TEST_F(OddFolder, IsRefusedWithTheFirstTenAndTheirNumber) {
    const std::string told = problem(config());
    EXPECT_THAT(
        told, HasSubstr(std::to_string(unreadable.size()) + " of " +
                        std::to_string(unreadable.size() + readable) + " pictures cannot be read"));
    EXPECT_THAT(told, HasSubstr("dataset.unreadable"));
    int named = 0;
    for (const std::string& name : unreadable)
        named += told.find("/" + name + ":") != std::string::npos;
    EXPECT_EQ(named, 10);
    EXPECT_GE(unreadable.size(), 26U);
}

TEST_F(OddFolder, EachIsToldBySkippingAllOthers) {
    for (const std::string& name : unreadable) {
        test_support::TempFolder alone;
        fs::copy(folder / "bees", alone / "bees");
        fs::create_directory(alone / "ants");
        fs::copy(folder / "ants/0.png", alone / "ants/0.png");
        fs::rename(folder / ("ants/" + name), alone / ("ants/" + name));
        DatasetConfig one = config();
        one.path = {alone.str()};
        EXPECT_THAT(problem(one), HasSubstr("1 of 12 pictures cannot be read")) << name;
        EXPECT_THAT(problem(one), HasSubstr("/" + name)) << name;
    }
}

TEST_F(OddFolder, IsReadWithoutThemWhenAskedTo) {
    DatasetConfig skipping = config();
    skipping.options["unreadable"] = std::string("skip");
    skipping.options["test_share"] = 0.0;
    const DataParts parts = open(skipping);
    EXPECT_EQ(parts.train.size(), readable);
    ASSERT_EQ(parts.warnings.size(), 2U);
    EXPECT_THAT(parts.warnings[0].str(), HasSubstr(".mp4 1"));
    EXPECT_THAT(parts.warnings[1].str(), HasSubstr(std::to_string(unreadable.size()) + " of "));
    EXPECT_FALSE(batches(parts.train, skipping, 2).empty()) << "and all of it can be read";
}

TEST_F(ImageFolderTest, AClassOfWhichNothingCanBeReadIsToldEvenWhenSkipping) {
    add_classes(3);
    for (int i = 0; i < 3; ++i) {
        folder.write("bees/" + std::to_string(i) + (i % 2 == 0 ? ".png" : ".jpg"),
                     std::string("x"));
    }
    DatasetConfig skipping = config();
    skipping.options["unreadable"] = std::string("skip");
    EXPECT_THAT(problem(skipping), HasSubstr("no picture of the class bees can be read"));
}

TEST_F(ImageFolderTest, TakesOnePath) {
    EXPECT_THAT(problem(test::dataset("image-folder", {})), HasSubstr("no path is given"));
    EXPECT_THAT(problem(test::dataset("image-folder", {"a", "b"})), HasSubstr("one folder, not 2"));
}

TEST_F(ImageFolderTest, StopsOnRequest) {
    add_classes(3);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(open_image_folder(config(), 1, stop.get_token()), ReadingStopped);
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
