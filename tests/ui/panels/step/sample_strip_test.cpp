#include "panels/step/sample_strip.h"

#include <QSlider>

#include "engine/runs/run_store.h"
#include "tryit/tryit_fixture.h"
#include "widgets/picture_view.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SampleStripTest : TryItFixture {
    engine::RunSummary trainPair() {
        return train(config(R"({"dataset": {"kind": "glyphs", "train_limit": 64, "test_limit": 16},
                                "model": {"kind": "dcgan", "options": {"channels": 4}},
                                "batch_size": 16, "epochs": 3})"),
                     "fp32");
    }
    SampleStrip* strip() { return window->findChild<SampleStrip*>(); }
    static QImage fileOf(const engine::SamplePicture& picture) {
        return QImage(QString::fromStdString(picture.file.string()));
    }
};

TEST_F(SampleStripTest, ShowsTheNewestPictureOfARunThatDrawsAndOpensThemAll) {
    const auto run = trainPair();
    const auto kept = engine::list_sample_pictures(run.folder);
    ASSERT_EQ(kept.size(), 3U);
    feed.showStored({run});
    auto* small = strip()->findChild<PictureView*>();
    ASSERT_NE(small, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip()->isVisibleTo(window.get()); }, 300'000));
    EXPECT_EQ(small->image().convertToFormat(QImage::Format_RGB888),
              fileOf(kept.back()).convertToFormat(QImage::Format_RGB888));
    QTest::keyClick(small, Qt::Key_Space);
    auto* viewer = strip()->findChild<SampleViewer*>();
    ASSERT_NE(viewer, nullptr);
    auto* slider = viewer->findChild<QSlider*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return slider->maximum() == 2; }, 300'000));
    EXPECT_EQ(slider->value(), 2) << "the newest first";
    slider->setValue(0);
    EXPECT_EQ(viewer->findChild<PictureView*>()->image(), fileOf(kept.front()));
    EXPECT_NE(fileOf(kept.front()), fileOf(kept.back()));
}

TEST_F(SampleStripTest, ShowsTheUpperSquareOfATallPicture) {
    const auto run = train(config(R"({"dataset": {"kind": "glyphs", "train_limit": 64},
                                      "model": {"kind": "autoencoder", "options": {"channels": 4}},
                                      "batch_size": 16, "epochs": 1})"),
                           "fp32");
    const QImage whole = fileOf(engine::list_sample_pictures(run.folder).back());
    ASSERT_GT(whole.height(), whole.width()) << "each image above its drawing";
    feed.showStored({run});
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip()->isVisibleTo(window.get()); }, 300'000));
    EXPECT_EQ(strip()->findChild<PictureView*>()->image(),
              whole.copy(0, 0, whole.width(), whole.width()));
}

TEST_F(SampleStripTest, StaysAwayWhereNoRunDraws) {
    feed.showStored({train(glyphs(), "fp32")});
    ASSERT_TRUE(QTest::qWaitFor([this] { return feed.tracks().size() == 1 && ended(); }, 300'000));
    standsStill();
    EXPECT_FALSE(strip()->isVisibleTo(window.get()));
    feed.showStored({trainPair()});
    EXPECT_TRUE(QTest::qWaitFor([&] { return strip()->isVisibleTo(window.get()); }, 300'000));
    feed.showStored({});
    EXPECT_FALSE(strip()->isVisibleTo(window.get()));
}

}  // namespace
}  // namespace ui
