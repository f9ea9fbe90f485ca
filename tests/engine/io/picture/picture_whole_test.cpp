#include <gtest/gtest.h>

#include <filesystem>

#include "io/picture/readers.h"
#include "support/damaged_png.h"
#include "support/picture_files.h"
#include "temp_folder.h"

namespace engine {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct WholePicture : testing::Test {
    bool whole(const Bytes& bytes) const { return has_whole_picture(folder.write("file", bytes)); }

    test_support::TempFolder folder;
    const Bytes jpeg = test::jpeg_of(test::make_picture(30, 20));
    const Bytes png = test::png_of(test::make_picture(30, 20));
};

TEST_F(WholePicture, IsToldByHeaderAndEnd) {
    EXPECT_TRUE(whole(jpeg));
    EXPECT_TRUE(whole(png));
}

TEST_F(WholePicture, CutShortIsToldFromIt) {
    for (const Bytes& bytes : {jpeg, png}) {
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{12}, bytes.size() / 2, bytes.size() - 1})
            EXPECT_FALSE(whole({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}))
                << size;
    }
}

TEST_F(WholePicture, DamagedInsideAPngIsToldByItsChecksums) {
    EXPECT_FALSE(whole(test::with_damaged_pixels(png, /*sound_checksum=*/false)));
    EXPECT_TRUE(whole(test::with_damaged_pixels(png))) << "as only decoding shows";
    for (std::size_t at = 33; at < png.size(); at += 7) {
        Bytes changed = png;
        changed[at] = static_cast<std::uint8_t>(changed[at] ^ 0x10);
        EXPECT_FALSE(whole(changed)) << at;
    }
}

TEST_F(WholePicture, WithASizeThatIsNotReadIsLeftToTheDecoder) {
    Bytes huge = png;
    huge[16] = 0x7F;  // the highest byte of the width
    EXPECT_FALSE(whole(huge));
    Bytes empty = png;
    std::fill_n(empty.begin() + 16, 4, std::uint8_t{0});
    EXPECT_FALSE(whole(empty));
}

TEST_F(WholePicture, WithBytesBehindItsEndIsLeftToTheDecoder) {
    Bytes longer = jpeg;
    longer.push_back(0);
    EXPECT_FALSE(whole(longer));
}

TEST_F(WholePicture, IsNoFolderAndNoMissingFile) {
    EXPECT_FALSE(has_whole_picture(folder.path()));
    EXPECT_FALSE(has_whole_picture(folder / "none.png"));
}

}  // namespace
}  // namespace engine
