#include "tryit/random_ask.h"

#include "tryit/tryit_fixture.h"
#include "widgets/picture_view.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RandomAskTest : TryItFixture {
    static engine::RunConfig pair() {
        return config(R"({"dataset": {"kind": "glyphs", "train_limit": 64, "test_limit": 16},
                          "model": {"kind": "dcgan", "options": {"channels": 4}},
                          "batch_size": 16, "epochs": 1})");
    }
    static QImage expected(const engine::RunSummary& run, std::int64_t seed) {
        return toImage(engine::TrainedModel(run.folder, "last", "cpu").draw(64, seed));
    }
};

TEST_F(RandomAskTest, EachModelDrawsFromTheSameNumbersAndFromOthersWhenAsked) {
    const std::vector runs = {train(pair(), "fp32"), train(pair(), "amp-fp16")};
    auto* ask = open(runs)->findChild<RandomAsk*>();
    ASSERT_NE(ask, nullptr);
    const auto views = ask->findChildren<PictureView*>();
    ASSERT_EQ(views.size(), 2);
    const auto shows = [&](std::int64_t seed) {
        return QTest::qWaitFor(
            [&] {
                return views[0]->image() == expected(runs[0], seed) &&
                       views[1]->image() == expected(runs[1], seed);
            },
            300'000);
    };
    EXPECT_TRUE(shows(1));
    named(ask, u"others"_s)->click();
    EXPECT_EQ(ask->seed(), 2);
    EXPECT_TRUE(shows(2));
    EXPECT_NE(expected(runs[0], 1), expected(runs[0], 2));
}

}  // namespace
}  // namespace ui
