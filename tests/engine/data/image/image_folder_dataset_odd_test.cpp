#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <set>

#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "image_folder_fixture.h"
#include "support/damaged_png.h"

// Folders with files that are no pictures, or damaged ones.
namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

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

}  // namespace
}  // namespace engine
