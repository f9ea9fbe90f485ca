#include "twin/loss_gap.h"

#include <gtest/gtest.h>

#include <QSettings>
#include <cmath>

#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct LossGapTest : WindowFixture {
    LossGapTest() { QSettings().clear(); }
    ~LossGapTest() override { QSettings().clear(); }
    void train(std::vector<std::string> changes) {
        changes.insert(changes.end(), {"dataset.kind=spirals", "model.kind=mlp", "batch_size=32",
                                       "max_steps=40", "stop_on_nan=0", "device=cpu"});
        const auto parsed = engine::parse_run_config("{}", changes);
        ASSERT_TRUE(parsed.errors.empty());
        settings.load(parsed.config, {u"fp32"_s, u"amp-bf16"_s});
        commands.startTwin({});
        ASSERT_TRUE(ends(2));
        settle();
    }
};

TEST_F(LossGapTest, NotesTheGapAndItsNoise) {
    train({});
    TwinModel model(context);
    const LossGap gap(context.theme, context.link, &model);
    ASSERT_TRUE(std::isfinite(gap.gap()));
    ASSERT_EQ(gap.notes().size(), 2);
    EXPECT_TRUE(gap.notes()[0].startsWith(u"gap "_s));
    EXPECT_TRUE(gap.notes()[1].startsWith(u"noise of the mean ±"_s));
}

TEST_F(LossGapTest, NotesNothingAtAGapThatIsNotFinite) {
    train({"optimizer.lr=1e30", "optimizer.kind=sgd", "schedule.kind=constant"});
    TwinModel model(context);
    const LossGap gap(context.theme, context.link, &model);
    ASSERT_TRUE(model.any());
    ASSERT_TRUE(std::isnan(gap.gap())) << gap.gap();
    EXPECT_EQ(gap.notes(), QStringList());
}

}  // namespace
}  // namespace ui
