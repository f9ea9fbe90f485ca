#include "data/image/image_folder_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/byte_reader.h"
#include "support/damaged_png.h"
#include "support/picture_files.h"
#include "temp_folder.h"

namespace engine {
namespace {

struct PictureChecks : testing::Test {
    PictureChecks() {
        const auto whole = test::png_of(test::make_picture(20, 10));
        for (int i = 0; i < 100; ++i) files.push_back({folder.write(std::to_string(i), whole), 0});
        for (const int bad : {3, 40, 99})
            folder.write(std::to_string(bad), std::span(whole).first(whole.size() / 2));
        auto wrong = whole;
        wrong[whole.size() / 2] ^= 0x55;  // header and end stay valid
        folder.write("70", wrong);
        folder.write("71", test::with_damaged_pixels(whole));  // checksums stay valid, too
    }
    static std::vector<std::size_t> indices(const std::vector<BadPicture>& bad) {
        std::vector<std::size_t> out;
        for (const auto& each : bad) out.push_back(each.index);
        return out;
    }

    test_support::TempFolder folder;
    std::vector<PictureFile> files;
};

TEST_F(PictureChecks, ListWhatCannotBeReadInTheOrderOfTheFiles) {
    for (const int threads : {1, 3}) {
        const auto bad = check_pictures(files, {.decode = false, .threads = threads, .stop = {}});
        EXPECT_EQ(indices(bad), (std::vector<std::size_t>{3, 40, 70, 99}));
        EXPECT_NE(bad[1].why.str().find("40"), std::string::npos) << "the file's name";
    }
}

TEST_F(PictureChecks, FindDamageInTheMiddleByDecoding) {
    const auto bad = check_pictures(files, {.decode = true, .threads = 2, .stop = {}});
    EXPECT_EQ(indices(bad), (std::vector<std::size_t>{3, 40, 70, 71, 99}));
}

TEST_F(PictureChecks, ReportTheirProgressToTheEnd) {
    std::vector<std::int64_t> reports;
    const ReadingProgressScope scope([&](const ReadingShare& share) {
        EXPECT_EQ(share.total, 100);
        reports.push_back(share.done);
    });
    check_pictures(files, {});
    EXPECT_EQ(reports.front(), 0);
    EXPECT_EQ(reports.back(), 100);
    EXPECT_TRUE(std::ranges::is_sorted(reports));
}

TEST_F(PictureChecks, StopOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(check_pictures(files, {.decode = false, .threads = 1, .stop = stop.get_token()}),
                 ReadingStopped);
}

}  // namespace
}  // namespace engine
