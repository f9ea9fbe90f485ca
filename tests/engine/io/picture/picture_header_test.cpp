// Sizes and orientations without pixels, and PNG files of numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "io/picture/readers.h"
#include "support/picture_files.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

struct PictureHeaders : testing::Test {
    std::string problem(const std::string& file) const {
        try {
            read_picture_header(file);
        } catch (const Error& error) {
            return error.message().str();
        }
        return "none";
    }
    test_support::TempFolder folder;
};

TEST_F(PictureHeaders, HaveTheSizeOfTheirPixels) {
    for (const auto& [width, height] : {std::pair(1, 1), std::pair(40, 25), std::pair(300, 301)}) {
        const Picture picture = test::make_picture(width, height);
        for (const auto& bytes : {test::png_of(picture), test::jpeg_of(picture)}) {
            const PictureHeader header = read_picture_header(folder.write("picture", bytes));
            EXPECT_EQ(header.width, width);
            EXPECT_EQ(header.height, height);
            EXPECT_EQ(header.orientation, 1);
        }
    }
}

TEST_F(PictureHeaders, AreThoseOfWholeFilesIfTheyAreLong) {
    const Picture picture = test::make_picture(700, 500);
    auto bytes = test::jpeg_of(picture);
    // A comment of 65,533 bytes and another: the frame lies behind the part that is read first.
    std::vector<std::uint8_t> comment(65'537, 'x');
    comment[0] = 0xFF;
    comment[1] = 0xFE;
    comment[2] = comment[3] = 0xFF;
    for (int i = 0; i < 2; ++i)
        bytes.insert(bytes.begin() + 2, comment.begin(), comment.end());
    EXPECT_EQ(read_picture_header(folder.write("long.jpg", bytes)).width, 700);
}

TEST_F(PictureHeaders, RefuseWhatIsNoPicture) {
    EXPECT_THAT(problem((folder / "gone.png").string()), HasSubstr("the file cannot be read"));
    EXPECT_THAT(problem(folder.write("text.png", std::string("no picture"))),
                HasSubstr("neither a PNG nor a JPEG picture"));
    auto cut = test::jpeg_of(test::make_picture(20, 20));
    cut.resize(20);
    EXPECT_THAT(problem(folder.write("cut.jpg", cut)), HasSubstr("a damaged JPEG picture"));
    auto png = test::png_of(test::make_picture(20, 20));
    png.resize(20);
    EXPECT_THAT(problem(folder.write("cut.png", png)), HasSubstr("a damaged PNG picture"));
}

TEST_F(PictureHeaders, NumbersOfAPngAreNoColours) {
    const auto colour = test::png_of(test::make_picture(3, 2));
    EXPECT_THROW((void)read_number_png(colour, "a.png"), Error);
    EXPECT_THROW((void)load_number_png(folder.write("text.png", std::string("text"))), Error);
}

}  // namespace
}  // namespace engine
