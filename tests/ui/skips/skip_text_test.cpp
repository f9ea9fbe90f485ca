#include "skips/skip_text.h"

#include <gtest/gtest.h>
#include <QStringList>
#include <limits>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(SkipsCsv, HasALineForEachStepAndWhatItsExaminationFound) {
    engine::SkipList skips;
    skips.list.resize(2);
    skips.list[0] = {.step = 3, .skipped = true, .loss = 1.5, .loss_scale = 65536};
    skips.list[0].grad_norm = std::numeric_limits<double>::infinity();
    engine::SkipReport report;
    report.cause = engine::SkipCause::scale_too_large;
    report.passing_scale = 32768;
    engine::BadTensor bad;
    bad.stage = engine::SkipStage::backward;
    bad.module = "conv,1";
    bad.op = "conv2d";
    bad.tensor.dtype = "f16";
    bad.infinite = 2;
    bad.total = 36;
    bad.largest_in_f32 = 77359;
    report.first = bad;
    skips.list[0].report = report;
    skips.list[1] = {.step = 9, .loss = std::numeric_limits<double>::quiet_NaN()};
    const QStringList lines = skipsCsv(skips).split(u'\n');
    ASSERT_EQ(lines.size(), 4) << "head, two steps, the end";
    EXPECT_EQ(lines[1],
              u"3,1,1.5,65536,inf,scale_too_large,backward,\"conv,1\",,conv2d,f16,2,0,36,77359,"
              "32768,"_s);
    EXPECT_EQ(lines[2], u"9,0,nan,1,0,,,,,,,,,,,,"_s);
    for (const QString& line : {lines[0], lines[2]})
        EXPECT_EQ(line.count(u','), 16) << line.toStdString();
    EXPECT_EQ(lines[3], QString());
}

}  // namespace
}  // namespace ui
