#include "io/coco/coco_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/io/coco/text_source.h"

namespace engine::coco_entries_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Taken {
    CocoList list;
    CocoEntry entry;
};

std::vector<Taken> entries(const std::string& text) {
    std::vector<Taken> all;
    read_coco_entries("a.json", pieces(text), [&](CocoList list, const CocoEntry& entry) {
        all.push_back({list, entry});
    });
    return all;
}

std::string error_text(const std::string& text) {
    try {
        entries(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.what();
    }
    return "read";
}

const std::string images =
    R"("images": [{"id": 7, "file_name": "x.jpg", "width": 40, "height": 3e1}])";
const std::string categories =
    R"("categories": [{"id": 2, "name": "cat", "supercategory": "pet"}])";
const std::string annotations =
    R"("annotations": [{"id": 1, "image_id": "b", "bbox": [1, 2.5, 10, 20]}, {}])";

std::string file(const std::string& a, const std::string& b, const std::string& c) {
    return "{" + a + "," + b + "," + c + "}";
}

CocoEntry with_segmentation(const std::string& value) {
    return entries(file(images, categories, R"("annotations": [{"segmentation": )" + value + "}]"))
        .back()
        .entry;
}

TEST(CocoEntries, ComeInTheOrderOfTheFile) {
    const auto all =
        entries(file(annotations, R"("info": {"images": [{"id": 9}]})", categories + "," + images));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].list, CocoList::annotations);
    EXPECT_EQ(all[0].entry.id.whole, 1);
    EXPECT_EQ(all[0].entry.image_id.text, "b");
    EXPECT_THAT(all[0].entry.box, ElementsAre(1, 2.5, 10, 20));
    EXPECT_FALSE(all[0].entry.has_segmentation);
    EXPECT_EQ(all[1].list, CocoList::annotations);
    EXPECT_FALSE(all[1].entry.id.number) << "nothing is left of the entry before";
    EXPECT_TRUE(all[1].entry.box.empty());
    EXPECT_EQ(all[2].list, CocoList::categories);
    EXPECT_EQ(all[2].entry.supercategory.text, "pet");
    EXPECT_EQ(all[3].list, CocoList::images);
    EXPECT_EQ(all[3].entry.width.whole, 40);
    EXPECT_EQ(all[3].entry.height.number, 30);
    EXPECT_FALSE(all[3].entry.height.whole) << "written as 3e1";
}

TEST(CocoEntries, HoldEachFormOfASegmentation) {
    const CocoEntry polygons = with_segmentation("[[1, 2, 11], [3, 4]]");
    EXPECT_TRUE(polygons.has_segmentation && polygons.good_segmentation);
    EXPECT_THAT(polygons.points, ElementsAre(1, 2, 11, 3, 4));
    EXPECT_THAT(polygons.sizes, ElementsAre(3, 2));
    const CocoEntry text = with_segmentation(R"({"counts": "j<1UU1", "size": [40, 30]})");
    EXPECT_EQ(text.counts_text, "j<1UU1");
    EXPECT_THAT(text.size, ElementsAre(40, 30));
    const CocoEntry counts =
        with_segmentation(R"({"size": [4, 3], "counts": [3, 9], "more": [5]})");
    EXPECT_THAT(counts.counts, ElementsAre(3, 9));
    EXPECT_THAT(counts.size, ElementsAre(4, 3));
    for (const char* bad : {"7", "\"text\"", "[1, 2]", "[[1, null]]", "[[[1]]]", "[{}]"})
        EXPECT_FALSE(with_segmentation(bad).good_segmentation) << bad;
}

TEST(CocoEntries, HoldsNoMorePartsThanAMaskMayHave) {
    std::string parts = "[";
    constexpr std::size_t most = std::size_t{1} << 22;
    for (std::size_t i = 0; i <= most; ++i) parts += "[],";
    const CocoEntry entry = with_segmentation(parts + "[]]");
    EXPECT_FALSE(entry.good_segmentation);
    EXPECT_EQ(entry.sizes.size(), most);
}

TEST(CocoEntries, ABoxIsAListAndAnIdIsNoBoolean) {
    const CocoEntry entry =
        entries(file(images, categories, R"("annotations": [{"id": true, "image_id": false,
                     "iscrowd": true, "bbox": {"w": 5, "h": 5, "x": 1, "y": 2}}])"))
            .back()
            .entry;
    EXPECT_TRUE(entry.box.empty());
    EXPECT_FALSE(entry.id.number || entry.id.whole);
    EXPECT_FALSE(entry.image_id.number);
    EXPECT_EQ(entry.iscrowd.number, 1);
}

TEST(CocoEntries, WhatIsNoCocoFileIsRefused) {
    const std::string good = file(images, categories, annotations);
    EXPECT_EQ(error_text(good), "read");
    EXPECT_THAT(error_text(good.substr(0, 60)),
                HasSubstr("is not JSON, or is cut short, at byte 61"));
    EXPECT_THAT(error_text(""), HasSubstr("at byte 1"));
    EXPECT_THAT(error_text(good + "x"), HasSubstr("at byte " + std::to_string(good.size() + 1)));
    EXPECT_THAT(error_text("[]"), HasSubstr("it has no images, annotations and categories"));
    EXPECT_THAT(error_text("{" + images + "," + categories + "}"),
                HasSubstr("it has no annotations"));
    EXPECT_THAT(error_text(file(R"("images": {})", categories, annotations)),
                HasSubstr("images is no list"));
    EXPECT_THAT(error_text(file(R"("images": null)", categories, annotations)),
                HasSubstr("images is no list"));
    EXPECT_THAT(error_text(file(R"("images": "x")", categories, annotations)),
                HasSubstr("images is no list"));
    EXPECT_THAT(error_text(file(R"("images": [3])", categories, annotations)),
                HasSubstr("an entry of images is no object"));
    EXPECT_THAT(error_text(file(R"("images": [[]])", categories, annotations)),
                HasSubstr("an entry of images is no object"));
    EXPECT_THAT(error_text(file(images, categories, images)), HasSubstr("gives images twice"));
    EXPECT_THAT(error_text("{\"a\": 1e999}"), HasSubstr("the number 1e999 is too large"));
    EXPECT_THAT(error_text("{\"a\": " + std::string(70, '[')),
                HasSubstr("more than 64 levels deep"));
}

TEST(CocoEntries, StopReadingWithinATextThatIsTooLong) {
    for (const char letter : {'a', ' ', '1'}) {
        std::uint64_t given = 0;
        const std::string begin = letter == 'a' ? "{\"images\": [{\"file_name\": \"" : "{\"images\": ";
        const CocoSource endless = [&](std::span<std::uint8_t> out) {
            std::ranges::fill(out, static_cast<std::uint8_t>(letter));
            if (given == 0) std::ranges::copy(begin, out.begin());
            given += out.size();
            return out.size();
        };
        try {
            read_coco_entries("a.json", endless, [](CocoList, const CocoEntry&) {});
            ADD_FAILURE() << "read";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("64 MiB")) << letter;
        }
        EXPECT_LT(given, std::uint64_t{66} << 20) << letter;
    }
}

}  // namespace
}  // namespace engine::coco_entries_test
