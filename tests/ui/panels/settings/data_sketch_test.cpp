#include "panels/settings/data_sketch.h"

#include <gtest/gtest.h>

#include <QImage>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

bool isBlank(const QImage& image, int row) {
    for (int x = 1; x < image.width(); ++x) {
        if (image.pixel(x, row) != image.pixel(0, row)) return false;
    }
    return true;
}

/// The lowest line of the passage ends above the line of words.
TEST(DataSketch, CutsNoLineOfALongText) {
    Theme theme(Theme::Choice::light);
    DataSketch sketch(&theme);
    engine::DatasetPreview preview;
    preview.text = engine::TextPreview{};
    for (int i = 0; i < 400; ++i) preview.text->passage += "jpgqy ";
    preview.text->frequent = {{"e", 5}};
    for (const int width : {150, 268, 500}) {
        sketch.show(preview);
        sketch.resize(width, sketch.sizeHint().height());
        QImage image(sketch.size(), QImage::Format_RGB32);
        image.fill(Qt::white);
        sketch.render(&image);
        const int line = sketch.height() / 6;  // five of the passage, one of words
        EXPECT_TRUE(isBlank(image, 5 * line - 1)) << width;
        EXPECT_TRUE(isBlank(image, 5 * line)) << width;
        bool drawn = false;
        for (int y = 4 * line; y < 5 * line; ++y) drawn = drawn || !isBlank(image, y);
        EXPECT_TRUE(drawn) << "the fifth line, which says that the text goes on";
    }
}

}  // namespace
}  // namespace ui
