#include "microscope/exponent_axis.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QWidget>
#include <algorithm>

#include "screens/painted_text.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// Paints the rulers alone.
struct RulersAlone : QWidget {
    explicit RulersAlone(int width) { resize(width, 200); }
    FormatRulers rulers() const {
        return {.axis = {60, width() - 12.0}, .place = QRectF(0, 0, width(), 16), .nameWidth = 52};
    }
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        rulers().paint(painter, theme.tokens(), engine::fp16_format, Qt::red);
    }
    Theme theme;
};

TEST(FormatRulers, AreOneRowForEachFormat) {
    const RulersAlone widget(800);
    const auto formats = engine::histogram_formats();
    for (std::size_t i = 0; i < formats.size(); ++i) {
        const QPointF inside(30, 16 * static_cast<double>(i) + 8);
        EXPECT_EQ(widget.rulers().formatAt(inside), formats[i]);
    }
    EXPECT_EQ(widget.rulers().formatAt({30, 16.0 * static_cast<double>(formats.size()) + 8}),
              nullptr);
}

TEST(FormatRulers, WritesNameAndLimitsBesideOneAnotherAtEveryWidth) {
    for (const int width : {380, 600, 860, 1600}) {
        RulersAlone widget(width);
        const auto texts = paintedTexts(widget);
        const auto says = [&](const QString& words) {
            return std::ranges::any_of(texts,
                                       [&](const auto& text) { return text.text == words; });
        };
        EXPECT_TRUE(says(u"FP16"_s)) << width;
        EXPECT_TRUE(says(u"448"_s)) << width;  // the limit of FP16 has no room at the right
        EXPECT_TRUE(says(exponentText(-24)) || says(exponentText(-25))) << width;
        for (const PaintedText& text : texts) {
            EXPECT_TRUE(QRectF(widget.rect()).contains(text.ink)) << text.text.toStdString();
            for (const PaintedText& other : texts) {
                if (&other == &text) continue;
                const QRectF both = text.ink & other.ink;
                EXPECT_LE(std::min(both.width(), both.height()), 2)
                    << width << ": " << text.text.toStdString() << " over "
                    << other.text.toStdString();
            }
        }
    }
}

}  // namespace
}  // namespace ui
