#include "microscope/microscope_csv.h"

#include <gtest/gtest.h>
#include <QStringList>

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::HistogramKind;

TEST(MicroscopeCsv, HasALineForEachLayerOfTheKind) {
    engine::HistogramSample sample;
    sample.step = 12;
    sample.shadow = true;
    sample.loss_scale = 65536;
    sample.layers.resize(2);
    sample.layers[0].layer = "fc,1";
    sample.layers[0].kind = HistogramKind::gradients;
    sample.layers[0].type = engine::ValueType::f32;
    sample.layers[0].values.bins[0] = 3;
    sample.layers[0].values.zero = 5;
    sample.layers[0].values.nan = 2;
    sample.layers[1].layer = "fc2";
    sample.layers[1].kind = HistogramKind::weights;
    const QStringList lines = microscopeCsv(sample, HistogramKind::gradients).split(u'\n');
    ASSERT_EQ(lines.size(), 3) << "head, one layer, the end";
    const QStringList head = lines[0].split(u',');
    EXPECT_EQ(head.size(), 9 + engine::ExponentHistogram::bin_count + 2);
    EXPECT_EQ(head[9], u"-48"_s);
    EXPECT_EQ(head[head.size() - 3], u"17"_s);
    EXPECT_TRUE(lines[1].startsWith(u"12,1,65536,gradients,\"fc,1\",f32,0,5,0,3,0,"_s))
        << lines[1].toStdString();
    EXPECT_TRUE(lines[1].endsWith(u",0,0,2"_s));
    EXPECT_EQ(lines[2], QString());
}

}  // namespace
}  // namespace ui
