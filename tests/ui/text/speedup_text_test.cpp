#include "text/speedup_text.h"

#include <gtest/gtest.h>

#include "benchmarks/made_results.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(SpeedupText, NamesWhatIsMeasured) {
    const engine::RunConfig mlp = engine::speedup_settings().front();
    EXPECT_TRUE(speedupTitle(mlp).endsWith(u" · batch 32"_s)) << speedupTitle(mlp).toStdString();
    EXPECT_EQ(speedupShortTitle(mlp), u"MLP, batch 32"_s);
}

TEST(SpeedupText, SaysThePrecisionsTitleAndGivesTheFigures) {
    const engine::Speedup row = madeResult(0, "amp-fp16", 5).row;
    EXPECT_EQ(
        speedupSentence(row),
        u"AMP FP16 does not pay off (0.91 times FP32's speed): casts are 45 % of its step and "
        "move 1.00 MB."_s);
    const QString html = speedupFigures(row);
    for (const auto& part : {u"Speed-up 0.91×; 0.90× to 0.92×"_s, u"Largest batch in 1,000 MB"_s,
                             u"200 GFLOP/s in f16"_s, u"60.0 MB"_s})
        EXPECT_TRUE(html.contains(part)) << part.toStdString() << " in " << html.toStdString();
}

}  // namespace
}  // namespace ui
