#include "tryit/scene_ask.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>
#include <QTableView>

#include "plots/line_plot.h"
#include "support/detection_run.h"
#include "tryit/scene_view.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SceneAskTest : TryItFixture {
    engine::RunSummary trainDetector() {
        engine::RunConfig config = engine::test::small_detection_run("fp32");
        config.model.options["score_threshold"] = 0.01;
        config.dataset.test_limit = 1;
        config.dataset.train_limit = 2;
        config.epochs = 1;
        config.optimizer.kind = "sgd";  // a checkpoint without AdamW's two moments
        config.optimizer.options = {{"lr", 1e-3}, {"momentum", 0.0}};
        config.checkpoint.best = false;
        return train(config, "fp32");
    }
};

TEST_F(SceneAskTest, APictureIsPastedAnsweredAndReadByKeyboard) {
    auto* page = open({trainDetector()});
    auto* ask = page->findChild<SceneAsk*>();
    ASSERT_NE(ask, nullptr);
    // Training steps have no AP: their plot is empty between evaluations, not full of NaN marks.
    int withoutValues = 0;
    for (const auto* plot : window->findChildren<LinePlot*>()) {
        for (const Curve& curve : plot->content().curves) {
            if (curve.data->size() == 0 || curve.data->total(0, curve.data->size()).finite > 0)
                continue;
            EXPECT_TRUE(curve.gaps) << curve.name.toStdString();
            ++withoutValues;
        }
    }
    EXPECT_GE(withoutValues, 1);
    QImage image(300, 40, QImage::Format_RGB888);
    image.fill(Qt::darkGreen);
    auto* data = new QMimeData;
    data->setImageData(image);
    QGuiApplication::clipboard()->setMimeData(data);
    QTest::keyClick(page->window(), Qt::Key_V, Qt::ControlModifier);
    ASSERT_TRUE(QTest::qWaitFor([&] { return ask->answers()[0].has_value(); }, 300'000));
    // The model's own answer for the same pixels.
    engine::TrainedModel model(feed.store()->find(page->models()[0]->run())->folder, "last", "cpu");
    engine::Picture same{300, 40, {}};
    for (int i = 0; i < 300 * 40; ++i) same.rgb.insert(same.rgb.end(), {0, 128, 0});
    const auto own = model.answer(same).found;
    ASSERT_EQ(ask->answers()[0]->size(), own.size());
    ASSERT_GT(own.size(), 0u) << "a threshold of 0.01 lets something through";
    for (std::size_t i = 0; i < own.size(); ++i) {
        EXPECT_EQ((*ask->answers()[0])[i].score, own[i].score);
        EXPECT_EQ(own[i].shape.size(), 28u * 28u);
    }
    // Everything by keyboard: the score, the list, the masks.
    auto* list = ask->findChild<QTableView*>();
    for (int i = 0; i < 5; ++i) QTest::keyClick(page->window(), Qt::Key_Comma, Qt::ShiftModifier);
    EXPECT_NEAR(ask->lens()->score(), 0, 1e-9);
    EXPECT_EQ(list->model()->rowCount(), static_cast<int>(ask->objects().size()));
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Down);
    ASSERT_TRUE(list->currentIndex().isValid());
    EXPECT_EQ(ask->lens()->highlighted(), list->currentIndex().data(Qt::UserRole).toInt());
    QTest::keyClick(page->window(), Qt::Key_M);
    EXPECT_FALSE(ask->lens()->masks());
    for (int i = 0; i < 10; ++i) QTest::keyClick(page->window(), Qt::Key_Period, Qt::ShiftModifier);
    EXPECT_NEAR(ask->lens()->score(), 1, 1e-9);
    EXPECT_TRUE(ask->findChild<SceneView*>()->spoken().startsWith(u"Nothing above 1.00."_s));
    for (const auto* widget : ask->findChildren<QWidget*>()) {
        const bool stop = (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible();
        if (!stop || qobject_cast<const QAbstractButton*>(widget) != nullptr) continue;
        EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->metaObject()->className();
    }
    // A file that is none stands in words, and the picture stays.
    QFile broken(folder.filePath(u"broken.png"_s));
    ASSERT_TRUE(broken.open(QIODevice::WriteOnly));
    broken.write("no picture");
    broken.close();
    ask->openFile(broken.fileName());
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            const auto labels = ask->findChildren<QLabel*>();
            return std::ranges::any_of(labels, [](const QLabel* label) {
                return label->isVisible() && label->text().contains(u"broken.png"_s);
            });
        },
        300'000));
    EXPECT_TRUE(ask->answers()[0].has_value());
}

}  // namespace
}  // namespace ui
