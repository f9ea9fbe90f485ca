#include "twin/twin_model.h"

#include <gtest/gtest.h>

#include <QSettings>
#include <QSignalSpy>

#include "feed/run_track.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TwinModelTest : WindowFixture {
    TwinModelTest() {
        QSettings().clear();
        engine::RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.batch_size = 32;
        config.max_steps = 10;
        settings.load(engine::completed(config), {u"fp32"_s, u"amp-bf16"_s});
    }
    ~TwinModelTest() override { QSettings().clear(); }
};

TEST_F(TwinModelTest, FindsAReferenceThatComesOnScreenLater) {
    commands.startTwin({});
    ASSERT_TRUE(ends(2));
    const TwinModel first(context);
    ASSERT_NE(first.reference(), nullptr);
    const std::string reference = first.reference()->run();
    feed.setHidden(reference, true);
    TwinModel later(context);
    ASSERT_NE(later.other(), nullptr);
    EXPECT_EQ(later.reference(), nullptr);
    const QSignalSpy told(&later, &TwinModel::contentChanged);
    feed.setHidden(reference, false);
    EXPECT_TRUE(QTest::qWaitFor([&] { return later.reference() != nullptr; }, 300'000));
    EXPECT_EQ(told.count(), 1);
}

}  // namespace
}  // namespace ui
