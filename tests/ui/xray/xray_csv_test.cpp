#include "xray/xray_csv.h"

#include <QStringList>

#include "xray/traces.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QStringList lines(const QString& csv) {
    EXPECT_TRUE(csv.endsWith(u'\n'));
    return csv.chopped(1).split(u'\n');
}

TEST(XrayCsv, HasALineForEachOperationThatPasses) {
    const QStringList all = lines(xrayCsv(test::ampTrace(), {}));
    ASSERT_EQ(all.size(), 4);
    const QStringList head = all[0].split(u','), row = all[2].split(u',');
    ASSERT_EQ(head.size(), row.size());
    const auto field = [&](const QString& name) { return row.value(head.indexOf(name)); };
    EXPECT_EQ(field(u"step"_s), u"7"_s);
    EXPECT_EQ(field(u"precision"_s), u"amp-fp16"_s);
    EXPECT_EQ(field(u"pass"_s), u"forward"_s);
    EXPECT_EQ(field(u"module"_s), u"fc"_s);
    EXPECT_EQ(field(u"inputs"_s), u"f32[2x3] f32[3]"_s);
    EXPECT_EQ(field(u"outputs"_s), u"f16[2x3]"_s);
    EXPECT_EQ(field(u"casts"_s), u"1"_s);
    EXPECT_EQ(field(u"cast_bytes"_s), u"36"_s);
    EXPECT_EQ(field(u"us"_s), u"50"_s);
    EXPECT_EQ(field(u"peak_share"_s), QString()) << "not known";
    EXPECT_EQ(lines(xrayCsv(test::ampTrace(), {u"linear"_s, {}})).size(), 2);
}

TEST(XrayCsv, OfADifferenceHasBothPrecisions) {
    const QStringList all = lines(xrayCsv(test::ampTrace(), test::fp32Trace(), {}));
    ASSERT_EQ(all.size(), 4);
    EXPECT_EQ(all[0],
              u"step,pass,module,op,outputs amp-fp16,outputs fp32,us amp-fp16,us fp32,"
              "bytes_written amp-fp16,bytes_written fp32"_s);
    EXPECT_EQ(all[1], u"7,forward,,to,f16[2x3],,2,,12,"_s);
    EXPECT_EQ(all[2], u"7,forward,fc,linear,f16[2x3],f32[2x3],50,100,12,24"_s);
}

}  // namespace
}  // namespace ui
