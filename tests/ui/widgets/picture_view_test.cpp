#include "widgets/picture_view.h"

#include <gtest/gtest.h>
#include <QSignalSpy>
#include <QTest>

namespace ui {
namespace {

QImage chequered() {
    QImage image(2, 2, QImage::Format_RGB888);
    image.fill(Qt::black);
    image.setPixelColor(1, 0, Qt::white);
    return image;
}

TEST(PictureView, EnlargesASmallPictureByAWholeFactorWithSharpPixels) {
    PictureView view;
    view.resize(25, 31);
    view.setImage(chequered());
    const QImage shown = view.grab().toImage();
    EXPECT_EQ(shown.pixelColor(12, 11), QColor(Qt::white));
    EXPECT_EQ(shown.pixelColor(23, 11), QColor(Qt::white));
    EXPECT_EQ(shown.pixelColor(11, 11), QColor(Qt::black));
    EXPECT_EQ(shown.pixelColor(12, 12), QColor(Qt::black));
}

TEST(PictureView, IsChosenByMouseAndKeys) {
    PictureView view;
    view.resize(20, 20);
    const QSignalSpy spy(&view, &PictureView::chosen);
    QTest::mouseClick(&view, Qt::LeftButton);
    QTest::keyClick(&view, Qt::Key_Space);
    QTest::keyClick(&view, Qt::Key_Return);
    QTest::keyClick(&view, Qt::Key_A);
    EXPECT_EQ(spy.count(), 3);
}

}  // namespace
}  // namespace ui
