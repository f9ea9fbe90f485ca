#include "data/image/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read_sample.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::Bytes;
using test::cifar;
using test_support::TempFolder;
using ::testing::HasSubstr;

/// Record i of `data` must be record `first + i` of test::cifar().
void expect_records(const Dataset& data, std::int64_t first, std::int64_t count) {
    ASSERT_EQ(data.size(), count);
    const int classes = static_cast<int>(data.schema()["label"].cardinality);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto [image, label] = test::read_sample(data, i);
        ASSERT_EQ(label, test::cifar_label(first + i, classes)) << i;
        for (std::int64_t pixel = 0; pixel < 1024; ++pixel) {
            for (std::int64_t c = 0; c < 3; ++c) {
                const float expected = test::cifar_value(first + i, c * 1024 + pixel) / 255.0F;
                ASSERT_EQ(image[static_cast<std::size_t>(pixel * 3 + c)], expected);
            }
        }
    }
}

TEST(Cifar, ReadsTheFiveBatchesOfCifar10InOrder) {
    const TempFolder folder;
    for (int i = 5; i >= 1; --i) {
        folder.write("data_batch_" + std::to_string(i) + ".bin", cifar(10, (i - 1) * 70, 70));
    }
    folder.write("test_batch.bin", cifar(10, 900, 3));
    const auto [train, validation, test, warnings, files] =
        open_cifar(test::dataset("cifar10", {folder.str()}));
    expect_records(*train.data, 0, 350);
    expect_records(*test.data, 900, 3);
    EXPECT_EQ(train.data->schema()["label"].names[3], "cat");
    EXPECT_EQ(train.data->schema()["image"].shape, (Shape{3, 32, 32}));
    EXPECT_FALSE(validation.data);
}

TEST(Cifar, ReadsPackedPartsOfSeveralFoldersAndUsesTheFineLabel) {
    const TempFolder pack, rest;
    pack.write("train.bin.gz", test::gzip(cifar(100, 0, 5)));
    pack.write("test.bin.gz", test::gzip(cifar(100, 100, 2)));
    rest.write("train-part2.bin.xz", test::xz(cifar(100, 5, 4)));
    rest.write("test-part2.bin.xz", test::xz(cifar(100, 102, 2)));
    const auto [train, validation, test, warnings, files] =
        open_cifar(test::dataset("cifar100", {pack.str(), rest.str()}));
    expect_records(*train.data, 0, 9);
    expect_records(*test.data, 100, 4);
    EXPECT_EQ(train.data->schema()["label"].names[42], "42");
}

TEST(Cifar, DoesNotNeedItsFilesOnceOpened) {
    const TempFolder folder;
    folder.write("train.bin", cifar(100, 0, 5));
    folder.write("test.bin", cifar(100, 100, 2));
    const auto [train, validation, test, warnings, files] =
        open_cifar(test::dataset("cifar100", {folder.str()}));
    folder.write("train.bin", cifar(100, 50, 1));  // a shorter one in its place
    std::filesystem::remove(folder / "test.bin");
    expect_records(*train.data, 0, 5);
    expect_records(*test.data, 100, 2);
}

TEST(Cifar, ReadsTheOfficialArchiveWhateverTheOrderInIt) {
    const TempFolder folder;
    const Bytes archive = test::tar({{"cifar-10-batches-bin/test_batch.bin", cifar(10, 50, 2)},
                                     {"cifar-10-batches-bin/data_batch_2.bin", cifar(10, 3, 3)},
                                     {"cifar-10-batches-bin/readme.html", {'x'}},
                                     {"cifar-10-batches-bin/data_batch_1.bin", cifar(10, 0, 3)}});
    const auto file = folder.write("cifar-10-binary.tar.gz", test::gzip(archive));
    for (const auto& path : {file, folder.str()}) {
        const auto [train, validation, test, warnings, files] =
            open_cifar(test::dataset("cifar10", {path}));
        expect_records(*train.data, 0, 6);
        expect_records(*test.data, 50, 2);
    }
}

TEST(Cifar, TellsThePythonVersionWhereverItLies) {
    const Bytes pickle{0x80, 2, '}', '.'};
    const TempFolder folder;
    folder.write("unpacked/cifar-10-batches-py/data_batch_1", pickle);
    folder.write("unpacked/cifar-10-batches-py/test_batch", pickle);
    folder.write("hundred/train", pickle);
    folder.write("download/cifar-10-python.tar.gz", Bytes{1});
    const auto ten = folder.write(
        "ten.tar.gz", test::gzip(test::tar({{"cifar-10-batches-py/data_batch_4", pickle},
                                            {"cifar-10-batches-py/batches.meta", pickle}})));
    const auto hundred = folder.write("100.tar", test::tar({{"cifar-100-python/meta", pickle},
                                                            {"cifar-100-python/test", pickle}}));
    const auto expect_told = [&](const char* kind, const std::string& path) {
        const auto said = test::data_error([&] { open_cifar(test::dataset(kind, {path})); });
        EXPECT_THAT(said, HasSubstr("the Python version of CIFAR-")) << path;
        EXPECT_THAT(said, HasSubstr("binary.tar.gz, from https://www.cs.toronto.edu")) << path;
    };
    expect_told("cifar10", (folder / "unpacked").string());
    expect_told("cifar10", (folder / "unpacked/cifar-10-batches-py").string());
    expect_told("cifar10", (folder / "unpacked/cifar-10-batches-py/data_batch_1").string());
    expect_told("cifar10", (folder / "download").string());
    expect_told("cifar10", ten);
    expect_told("cifar100", (folder / "hundred").string());
    expect_told("cifar100", hundred);
}

TEST(Cifar, TellsAnArchiveInAnArchive) {
    const TempFolder folder;
    for (const std::string inner :
         {"cifar-10-binary.tar.gz", "data/cifar-10-binary.tar", "cifar10.zip", "a/b/c.tgz",
          "CIFAR-10-BINARY.TAR.GZ", "c.tar.xz"}) {
        const auto tar = test::tar({{inner, test::gzip(cifar(10, 0, 2))}, {"readme.txt", {}}});
        for (const auto& [name, bytes] : {std::pair{"again.tar", tar},
                                          std::pair{"again.tar.gz", test::gzip(tar)}})
            EXPECT_THAT(test::data_error([&] {
                            open_cifar(test::dataset("cifar10", {folder.write(name, bytes)}));
                        }),
                        HasSubstr("holds another archive, " +
                                  std::filesystem::path(inner).filename().string()))
                << name;
    }
}

TEST(Cifar, TakesTheNamesOfTheClassesFromTheirFile) {
    std::string names;
    for (int i = 0; i < 100; ++i) names += "class" + std::to_string(i) + "\r\n";
    const TempFolder folder;
    folder.write("train.bin", cifar(100, 0, 2));
    folder.write("test.bin", cifar(100, 0, 2));
    folder.write("fine_label_names.txt", names);
    const auto config = test::dataset("cifar100", {folder.str()});
    EXPECT_EQ(open_cifar(config).train.data->schema()["label"].names[99], "class99");
    const Bytes archive =
        test::tar({{"c/train.bin", cifar(100, 0, 1)},
                   {"c/test.bin", cifar(100, 0, 1)},
                   {"c/fine_label_names.txt", Bytes(names.begin(), names.end())}});
    const auto packed = test::dataset("cifar100", {folder.write("c.tar", archive)});
    EXPECT_EQ(open_cifar(packed).test.data->schema()["label"].names[0], "class0");
}

TEST(Cifar, ReadsOnlyTheFirstSamplesUnderALimit) {
    const TempFolder folder;
    folder.write("train.bin", cifar(100, 0, 5));
    folder.write("train-part2.bin", cifar(100, 5, 200));
    folder.write("test.bin", cifar(100, 0, 5));
    folder.write("all.tar",
                 test::tar({{"train.bin", cifar(100, 0, 9)}, {"test.bin", cifar(100, 0, 5)}}));
    auto config = test::dataset("cifar100", {folder.str()});
    config.train_limit = 80;
    config.test_limit = 3;
    expect_records(*open_cifar(config).train.data, 0, 80);
    expect_records(*open_cifar(config).test.data, 0, 3);
    config.train_limit = 4;
    expect_records(*open_cifar(config).train.data, 0, 4);
    config.path = {(folder / "all.tar").string()};
    expect_records(*open_cifar(config).train.data, 0, 4);
    expect_records(*open_cifar(config).test.data, 0, 3);
}

std::string error_of(const std::string& kind, const Bytes& train) {
    const TempFolder folder;
    folder.write(kind == "cifar10" ? "data_batch_1.bin" : "train.bin", train);
    folder.write("test.bin", cifar(kind == "cifar10" ? 10 : 100, 0, 1));
    return test::data_error([&] { open_cifar(test::dataset(kind, {folder.str()})); });
}

TEST(Cifar, TellsAFileOfTheOtherKind) {
    // 3,074 records of CIFAR-10 are as long as 3,073 records of CIFAR-100: only the labels differ.
    for (const std::int64_t count : {1, 2, 100, 3074}) {
        EXPECT_THAT(error_of("cifar100", cifar(10, 0, count)),
                    HasSubstr("holds CIFAR-10, not CIFAR-100: its records are of 3073 bytes | Set "
                              "dataset.kind to cifar10"))
            << count;
    }
    for (const std::int64_t count : {1, 2, 100, 3073}) {
        EXPECT_THAT(error_of("cifar10", cifar(100, 0, count)),
                    HasSubstr("holds CIFAR-100, not CIFAR-10: its records are of 3074 bytes"))
            << count;
    }
}

TEST(Cifar, RefusesAFileThatEndsInsideARecord) {
    for (const std::size_t size : {3074UL * 70 - 1, 3074UL * 70 + 1, 3000UL}) {
        Bytes bytes = cifar(100, 0, 71);
        bytes.resize(size);
        EXPECT_THAT(
            error_of("cifar100", bytes),
            HasSubstr(std::to_string(size) + " bytes are not a whole number of CIFAR-100 records"));
    }
}

TEST(Cifar, RefusesALabelBeyondTheClasses) {
    Bytes bytes = cifar(10, 0, 100);
    bytes[3073 * 80] = 10;
    EXPECT_THAT(error_of("cifar10", bytes),
                HasSubstr("label 10 of record 80 is beyond the classes of CIFAR-10"));
    bytes = cifar(100, 0, 3);
    bytes[3074] = 20;
    EXPECT_THAT(error_of("cifar100", bytes), HasSubstr("label 20 of record 1 is beyond"));
    bytes = cifar(100, 0, 3);
    bytes[3074 + 1] = 100;
    EXPECT_THAT(error_of("cifar100", bytes), HasSubstr("label 100 of record 1 is beyond"));
}

TEST(Cifar, RefusesAGapInItsBatchesAndTakesTheFirstFew) {
    const TempFolder folder;
    for (const int batch : {1, 2, 4})
        folder.write("data_batch_" + std::to_string(batch) + ".bin", cifar(10, batch, 2));
    folder.write("test_batch.bin", cifar(10, 0, 1));
    const auto config = test::dataset("cifar10", {folder.str()});
    EXPECT_THAT(test::data_error([&] { open_cifar(config); }),
                HasSubstr("data_batch_3.bin is missing | Looked for data_batch_1.bin to"));
    std::filesystem::remove(folder / "data_batch_4.bin");
    EXPECT_EQ(open_cifar(config).train.size(), 4);
}

TEST(Cifar, RefusesAnEmptyFileAndAMissingSet) {
    EXPECT_THAT(error_of("cifar100", {}), HasSubstr("the file is empty"));
    EXPECT_THAT(error_of("cifar100", test::gzip({})), HasSubstr("holds no samples"));
    const TempFolder folder;
    folder.write("train.bin", cifar(100, 0, 2));
    EXPECT_THAT(test::data_error([&] { open_cifar(test::dataset("cifar100", {folder.str()})); }),
                HasSubstr("no test set of CIFAR-100 here | Looked for train.bin and test.bin"));
    const TempFolder none;
    EXPECT_THAT(test::data_error([&] { open_cifar(test::dataset("cifar10", {none.str()})); }),
                HasSubstr("no CIFAR-10 files here | Looked for data_batch_1.bin"));
}

TEST(Cifar, ReadsTheRealCifar100PackAndRestAsTheWholeSet) {
    SKIP_WITHOUT_DATA("cifar100-15k");
    SKIP_WITHOUT_DATA("cifar-100-binary");
    const auto [train, validation, test, warnings, files] = open_cifar(test::dataset(
        "cifar100", {HALFTONE_DATA_DIR "/cifar100-15k", HALFTONE_DATA_DIR "/cifar-100-binary"}));
    ASSERT_EQ(train.size(), 50000);
    ASSERT_EQ(test.size(), 10000);
    std::vector<int> counts(100), test_counts(100);
    for (std::int64_t i = 0; i < 50000; ++i)
        ++counts[static_cast<std::size_t>(test::read_label(*train.data, i))];
    for (std::int64_t i = 0; i < 10000; ++i)
        ++test_counts[static_cast<std::size_t>(test::read_label(*test.data, i))];
    EXPECT_THAT(counts, ::testing::Each(500));
    EXPECT_THAT(test_counts, ::testing::Each(100));

    const auto first = test::read_sample(*train.data, 0);
    const auto& names = train.data->schema()["label"].names;
    EXPECT_EQ(names[static_cast<std::size_t>(first.label)], "cattle");
    EXPECT_EQ(std::vector(first.values.begin() + 99, first.values.begin() + 102),
              (std::vector{207 / 255.0F, 215 / 255.0F, 230 / 255.0F}));  // row 1, column 1
    const auto of_rest = test::read_sample(*test.data, 2500);
    EXPECT_EQ(of_rest.label, 36);
    EXPECT_EQ(std::vector(of_rest.values.begin(), of_rest.values.begin() + 3),
              (std::vector{69 / 255.0F, 169 / 255.0F, 218 / 255.0F}));

    // The published figures of the training set. The test set is normalised by them too.
    for (const auto& part : {train, test}) {
        const auto& normalization = part.data->schema()["image"].normalization;
        EXPECT_FLOAT_EQ(normalization.mean[0], 0.5070751592371323F);
        EXPECT_FLOAT_EQ(normalization.mean[1], 0.48654887331495095F);
        EXPECT_FLOAT_EQ(normalization.mean[2], 0.4409178433670343F);
        EXPECT_FLOAT_EQ(normalization.deviation[0], 0.2673342858792406F);
        EXPECT_FLOAT_EQ(normalization.deviation[1], 0.2564384629170881F);
        EXPECT_FLOAT_EQ(normalization.deviation[2], 0.2761504713256839F);
    }
}

TEST(Cifar, MeasuresTheRealTestSetToThePublishedDigits) {
    SKIP_WITHOUT_DATA("cifar100-15k");
    SKIP_WITHOUT_DATA("cifar-100-binary");
    LabelledImages images{{3, 32, 32}, {}, {}};
    for (const char* file : {"/cifar100-15k/test.bin.gz", "/cifar-100-binary/test-part2.bin.xz"}) {
        const auto reader = open_packed(std::string(HALFTONE_DATA_DIR) + file);
        append_cifar(file, *reader, cifar100_format(), 0, images);
    }
    const ChannelMoments moments = measure(images);
    const double mean[] = {0.5087964127604166, 0.48739301317401956, 0.44194221124387256};
    const double deviation[] = {0.2682515741720802, 0.2573637364478125, 0.2770957707973042};
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(moments.mean[c], mean[c], 1e-15);
        EXPECT_NEAR(moments.deviation[c], deviation[c], 1e-14);
    }
}

}  // namespace
}  // namespace engine
