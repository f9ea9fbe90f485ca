#include "io/coco/coco_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/io/coco/text_source.h"

namespace engine {
namespace {

using testing::HasSubstr;

CocoFile read(const std::string& text, bool drop_root = true) {
    return read_coco("a.json", pieces(text), drop_root);
}

std::string error_text(const std::string& text) {
    try {
        read(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.what();
    }
    return "read";
}

const std::string images =
    R"("images": [{"id": 7, "file_name": "b/x.jpg", "width": 40, "height": 30, "license": 3},
                  {"file_name": "y.jpg", "height": 40, "width": 40, "id": 3, "extra": [{"id": 9}]}])";
const std::string categories =
    R"("categories": [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 2, "name": "cat"}])";
const std::string annotations =
    R"("annotations": [
      {"id": 1, "image_id": 3, "category_id": 18, "bbox": [1, 2.5, 10, 20], "area": 150.25, "iscrowd": 0,
       "segmentation": [[1, 2, 11, 2, 11, 22], [3, 3, 5, 3, 5, 5, 3, 5]]},
      {"segmentation": {"counts": "j<1UU1", "size": [40, 40]}, "iscrowd": 1, "area": 1, "image_id": 3,
       "bbox": [10, 10, 1, 1], "category_id": 2, "id": 2},
      {"id": 3, "image_id": 7, "category_id": 2, "bbox": [0, 0, 4, 4], "segmentation":
       {"size": [30, 40], "counts": [3, 4, 1193]}}])";

std::string file(const std::string& a, const std::string& b, const std::string& c) {
    return "{" + a + "," + b + "," + c + "}";
}

/// A file of one annotation with these members besides its ids.
std::string with(const std::string& members) {
    return file(images, categories,
                R"("annotations": [{"id": 5, "image_id": 3, "category_id": 2, )" + members + "}]");
}

TEST(CocoReader, ListsInAnyOrderGiveTheSame) {
    const std::string info = R"("info": {"year": 2017, "images": []}, "licenses": [[[]]])";
    for (const std::string& text :
         {file(images, categories, annotations), file(annotations, categories, images),
          file(info, annotations, images + "," + categories),
          file(categories, images, annotations)}) {
        const CocoFile coco = read(text);
        ASSERT_EQ(coco.images.size(), 2U);
        EXPECT_EQ(coco.images[0].id, CocoId(std::int64_t{7}));
        EXPECT_EQ(coco.images[0].file_name, "b/x.jpg");
        EXPECT_EQ(coco.images[0].width, 40);
        EXPECT_EQ(coco.images[0].height, 30);
        EXPECT_EQ(coco.images[0].count, 1U);
        EXPECT_EQ(coco.images[1].count, 2U);
        ASSERT_EQ(coco.categories.size(), 2U);
        EXPECT_EQ(coco.categories[0].id, 18);
        EXPECT_EQ(coco.categories[0].supercategory, "animal");
        EXPECT_EQ(coco.categories[1].annotations, 2);
        const CocoAnnotation& first = coco.annotations[coco.images[1].first];
        EXPECT_EQ(first.id, 1);
        EXPECT_EQ(first.category, 0);
        EXPECT_EQ(first.box, (std::array<double, 4>{1, 2.5, 10, 20}));
        EXPECT_EQ(first.area, 150.25);
        EXPECT_FALSE(first.crowd);
        const MaskPolygons parts = {{1, 2, 11, 2, 11, 22}, {3, 3, 5, 3, 5, 5, 3, 5}};
        EXPECT_EQ(std::get<MaskPolygons>(coco.mask(first)), parts);
        const CocoAnnotation& crowd = coco.annotations[coco.images[1].first + 1];
        EXPECT_TRUE(crowd.crowd);
        EXPECT_EQ(run_length_text(std::get<RunLength>(coco.mask(crowd))), "j<1UU1");
        const CocoAnnotation& runs = coco.annotations[coco.images[0].first];
        EXPECT_TRUE(std::isnan(runs.area));
        EXPECT_EQ(std::get<RunLength>(coco.mask(runs)).counts,
                  (std::vector<std::uint32_t>{3, 4, 1193}));
        EXPECT_EQ(coco.with_segmentation, 3);
        EXPECT_EQ(coco.no_mask.count, 0);
        EXPECT_EQ(coco.id_zero.count, 0);
    }
}

TEST(CocoReader, IdsOfImagesMayBeTexts) {
    const CocoFile coco = read(
        R"({"images": [{"id": "b", "file_name": "x", "width": 9, "height": 9}], "categories": [{"id": 1, "name": "c"}],
            "annotations": [{"id": 0, "image_id": "b", "category_id": 1.0, "bbox": [0, 0, 2, 2]}]})");
    EXPECT_EQ(coco.images[0].id, CocoId("b"));
    EXPECT_EQ(coco.images[0].count, 1U);
    EXPECT_EQ(coco.id_zero.count, 1);
    EXPECT_EQ(coco.with_segmentation, 0);
}

TEST(CocoReader, AnnotationsThatBelongNowhereAreCounted) {
    const CocoFile coco = read(file(images, categories, R"("annotations": [
        {"id": 1, "image_id": 99, "category_id": 2, "bbox": [0, 0, 4, 4]},
        {"id": 2, "image_id": 3, "category_id": 99, "bbox": [0, 0, 4, 4]},
        {"id": 3, "category_id": 2, "bbox": [0, 0, 4, 4]},
        {"id": 4, "image_id": 3, "category_id": "cat", "bbox": [0, 0, 4, 4]}, {}])"));
    EXPECT_TRUE(coco.annotations.empty());
    EXPECT_EQ(coco.unknown_image.count, 3);
    EXPECT_EQ(coco.unknown_category.count, 2);
    EXPECT_EQ(coco.unknown_category.first_id, 4);
}

TEST(CocoReader, BoxesWithoutAreaOrOutsideAreLeftOut) {
    for (const char* box : {"[1, 1, 0, 5]", "[1, 1, 5, -1]", "[40, 0, 5, 5]", "[0, 40, 5, 5]",
                            "[-5, 0, 5, 5]", "[0, 0, 5]", "[0, 0, 5, 5, 5]", "null", "\"box\"",
                            "[1e308, 0, 1e308, 5]", "[0, 0, null, 5]"})
        EXPECT_EQ(read(with("\"bbox\": " + std::string(box))).bad_box.count, 1) << box;
    // Partly outside stays as it is in the file.
    const CocoFile coco = read(with(R"("bbox": [-5, 35, 10, 10])"));
    EXPECT_EQ(coco.annotations.at(0).box, (std::array<double, 4>{-5, 35, 10, 10}));
}

TEST(CocoReader, MalformedMasksAreNone) {
    for (const char* mask :
         {"[]", "null", "[[]]", "[[1, 2, 3, 4]]", "[[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]",
          "[[1, 2, 3, 4, 5, 6, 7]]", "[[1, 2, 3, 4, 5, 6], [1, 2]]", "[1, 2, 3, 4, 5, 6]",
          "[[1, 2, 3, 4, 5, null, 6]]", "[[[1, 2, 3, 4, 5, 6]]]", "\"text\"", "{}",
          R"({"counts": "j<1UU1", "size": [40, 41]})", R"({"counts": "j<1UU", "size": [40, 40]})",
          R"({"counts": "j<1UU1"})", R"({"counts": [1, 2], "size": [40, 40]})",
          R"({"counts": [1600.5], "size": [40, 40]})", R"({"size": [40, 40]})",
          R"([{"counts": "j<1UU1", "size": [40, 40]}])"}) {
        const CocoFile coco =
            read(with(R"("bbox": [0, 0, 5, 5], "segmentation": )" + std::string(mask)));
        EXPECT_EQ(coco.no_mask.count, 1) << mask;
        EXPECT_EQ(coco.no_mask.first_id, 5) << mask;
        EXPECT_TRUE(std::holds_alternative<std::monostate>(coco.mask(coco.annotations.at(0))))
            << mask;
    }
}

TEST(CocoReader, EntriesNeedWhatTheyMustHave) {
    const auto image = [](const std::string& members) {
        return error_text(
            file(R"("images": [{)" + members + "}]", categories, R"("annotations": [])"));
    };
    EXPECT_THAT(image(R"("file_name": "a", "width": 1, "height": 1)"),
                HasSubstr("image 1 has no valid id"));
    EXPECT_THAT(image(R"("id": 1, "width": 1, "height": 1)"), HasSubstr("no valid file_name"));
    EXPECT_THAT(image(R"("id": 1, "file_name": "a", "width": 0, "height": 1)"),
                HasSubstr("no valid width"));
    EXPECT_THAT(image(R"("id": 1, "file_name": "a", "width": 70000, "height": 70000)"),
                HasSubstr("no valid height"));
    for (const char* path : {"../a", "/a", "a/../../b", "a/.."})
        EXPECT_THAT(
            image(R"("id": 1, "width": 1, "height": 1, "file_name": ")" + std::string(path) + "\""),
            HasSubstr("leads out of its folder"));
    const auto category = [](const std::string& list) {
        return error_text(file(images, R"("categories": [)" + list + "]", R"("annotations": [])"));
    };
    EXPECT_THAT(category(R"({"name": "a"})"), HasSubstr("category 1 has no valid id"));
    EXPECT_THAT(category(R"({"id": 1})"), HasSubstr("category 1 has no valid name"));
    EXPECT_THAT(category(R"({"id": 1, "name": "a"}, {"id": 1, "name": "b"})"),
                HasSubstr("two categories with the id 1"));
    EXPECT_THAT(category(R"({"id": 1, "name": "a"}, {"id": 2, "name": "a"})"),
                HasSubstr("two categories with the name a"));
    EXPECT_THAT(error_text(file(R"("images": [{"id": 1, "file_name": "a", "width": 1, "height": 1},
                                           {"id": 1, "file_name": "b", "width": 1, "height": 1}])",
                             categories, R"("annotations": [])")),
                HasSubstr("two images with the id 1"));
}

TEST(CocoReader, TenThousandCategoriesAreTheMost) {
    std::string list;
    for (int i = 1; i <= 10'001; ++i)
        list += (i > 1 ? "," : "") + std::string(R"({"id":)") + std::to_string(i) + R"(,"name":")" +
                std::to_string(i) + R"("})";
    EXPECT_THAT(error_text(file(images, R"("categories": [)" + list + "]", R"("annotations": [])")),
                HasSubstr("more than 10000 categories"));
}

TEST(CocoReader, RoboflowsRootCategoryIsDropped) {
    const std::string same =
        R"("categories": [{"id": 0, "name": "cat", "supercategory": "none"},
                          {"id": 2, "name": "cat", "supercategory": "cat"}, {"id": 18, "name": "dog", "supercategory": "cat"}])";
    const CocoFile coco = read(file(images, same, annotations));
    EXPECT_EQ(coco.root_category, "cat");
    ASSERT_EQ(coco.categories.size(), 2U);
    EXPECT_EQ(coco.categories[0].id, 2);
    EXPECT_EQ(coco.categories[0].annotations, 2);
    EXPECT_EQ(
        coco.categories[static_cast<std::size_t>(coco.annotations[coco.images[1].first].category)]
            .id,
        18);
    EXPECT_THROW(read(file(images, same, annotations), false), Error);
    // COCO's person is its own supercategory, with or without annotations.
    const std::string person =
        R"("categories": [{"id": 1, "name": "person", "supercategory": "person"}])";
    EXPECT_EQ(read(file(images, person, R"("annotations": [])")).categories.size(), 1U);
}

TEST(CocoReader, AMillionAnnotationsAndTwoThousandInAPicture) {
    // 500 pictures, 10^6 annotations with a polygon, before their pictures.
    struct Generated {
        bool next_line(std::string& line) {
            if (number == 0) {
                line = R"({"categories": [{"id": 1, "name": "c"}], "annotations": [)";
            } else if (number <= 1'000'000) {
                line =
                    (number > 1 ? "," : "") + std::string(R"({"id": )") + std::to_string(number) +
                    R"(, "image_id": )" + std::to_string(number % 500) +
                    R"(, "category_id": 1, "bbox": [1, 1, 5, 5], "segmentation": [[1, 1, 6, 1, 6, 6]]})";
            } else if (number <= 1'000'500) {
                line = (number > 1'000'001 ? "," : R"(], "images": [)") +
                       std::string(R"({"id": )") + std::to_string(number - 1'000'001) +
                       R"(, "file_name": "x", "width": 9, "height": 9})";
            } else if (number == 1'000'501) {
                line = "]}";
            } else {
                return false;
            }
            ++number;
            return true;
        }
        std::int64_t number = 0;
    };
    const CocoFile coco = read_coco("many.json", LineSource(Generated()));
    EXPECT_EQ(coco.annotations.size(), 1'000'000U);
    EXPECT_EQ(coco.images[17].count, 2'000U);
    EXPECT_EQ(std::get<MaskPolygons>(coco.mask(coco.annotations.back())).at(0).at(4), 6);

    std::string crowded = R"("annotations": [)";
    for (int i = 0; i < 2001; ++i)
        crowded += std::string(i > 0 ? "," : "") +
                   R"({"id": 1, "image_id": 3, "category_id": 2, "bbox": [0, 0, 4, 4]})";
    EXPECT_THAT(error_text(file(images, categories, crowded + "]")),
                HasSubstr("image 3 has more than 2000 annotations"));
}

}  // namespace
}  // namespace engine
