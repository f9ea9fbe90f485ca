#include "network/network_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <set>

#include "engine/base/error.h"
#include "network/network_model.h"

namespace ui {
namespace {

NetworkView viewOf(const std::string& name) {
    NetworkView view;
    const std::string text = engine::network_template(name);
    view.text = QString::fromStdString(text);
    view.data = engine::usual_network_data(text);
    if (name == "clicks") view.data.outputs = 1;
    view.network = engine::check_network(text, view.data);
    view.types = predictTypes(text, view.network, view.data, {});
    return view;
}

QByteArray made(const QString& ending, const NetworkView& view, std::size_t which = 0) {
    for (const auto& each : networkExports())
        if (each.ending == ending && which-- == 0) return each.make(view, {});
    return {};
}

TEST(NetworkExport, EveryFormWritesSomething) {
    const NetworkView view = viewOf("lenet");
    std::set<QString> endings;
    for (const auto& each : networkExports()) {
        EXPECT_FALSE(each.title.isEmpty());
        EXPECT_GT(each.make(view, {}).size(), 100) << each.ending.toStdString();
        endings.insert(each.ending);
    }
    EXPECT_THAT(endings, testing::IsSupersetOf({u"py"_s, u"network"_s, u"svg"_s, u"pdf"_s, u"onnx"_s, u"json"_s}));
}

TEST(NetworkExport, PicturesAreRenderedByQtInTheirSizes) {
    for (const std::string& name : engine::network_templates()) {
        for (const std::size_t which : {0u, 1u}) {
            const QByteArray svg = made(u"svg"_s, viewOf(name), which);
            QSvgRenderer picture(svg);
            ASSERT_TRUE(picture.isValid()) << name;
            const QSize size = picture.defaultSize();
            EXPECT_GT(size.width(), 100) << name;
            EXPECT_GT(size.height(), 100) << name;
            QImage image(size.boundedTo({2000, 2000}), QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            picture.render(&painter);
            painter.end();
            QImage blank(image.size(), image.format());
            blank.fill(Qt::white);
            EXPECT_NE(image, blank) << name;
        }
    }
}

TEST(NetworkExport, APdfHasTheSizeOfThePictureAndNoPixels) {
    const QByteArray svg = made(u"svg"_s, viewOf("resnet18")), pdf = made(u"pdf"_s, viewOf("resnet18"));
    EXPECT_TRUE(pdf.startsWith("%PDF-"));
    EXPECT_FALSE(pdf.contains("/Subtype /Image")) << "all is drawn as vectors";
    EXPECT_GT(pdf.size(), 10'000);
    const double width = 0.75 * QSvgRenderer(svg).viewBoxF().width();
    const auto box = pdf.indexOf("/MediaBox [");
    ASSERT_GE(box, 0);
    const QList<QByteArray> sides = pdf.mid(box + 11, 60).split(' ');
    ASSERT_GE(sides.size(), 4);
    EXPECT_NEAR(sides[2].toDouble(), width, 1);
    EXPECT_THROW(pdfOfSvg("no picture"), engine::Error);
}

}  // namespace
}  // namespace ui
