#include "tryit/picture_ask.h"

#include "tryit/answer_view.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PictureAskTest : TryItFixture {
    /// Draws a stroke on the board between two points in its pixels.
    static void draw(DrawBoard* board, const QPoint& from, const QPoint& to) {
        QTest::mousePress(board, Qt::LeftButton, {}, from);
        for (int i = 1; i <= 10; ++i) {
            const QPointF at = QPointF(from) + QPointF(to - from) * i / 10.0;
            QMouseEvent move(QEvent::MouseMove, at, board->mapToGlobal(at), Qt::NoButton,
                             Qt::LeftButton, {});
            QApplication::sendEvent(board, &move);
        }
        QTest::mouseRelease(board, Qt::LeftButton, {}, to);
    }
    static std::vector<std::vector<double>> answers(const QList<AnswerView*>& views) {
        std::vector<std::vector<double>> out;
        for (const auto* each : views) out.push_back(each->answer().probabilities);
        return out;
    }
};

TEST_F(PictureAskTest, EachModelAnswersADrawingAndAnswersAnewWhenItChanges) {
    auto* page = open({train(glyphs(), "fp32"), train(glyphs(), "amp-fp16")});
    auto* ask = page->findChild<PictureAsk*>();
    ASSERT_NE(ask, nullptr);
    const auto views = ask->findChildren<AnswerView*>();
    ASSERT_EQ(views.size(), 2);
    const auto whole = [](const auto& all) {
        return all[0].size() == 20 && all[1].size() == 20;  // classes
    };
    draw(ask->board(), {140, 40}, {140, 240});
    EXPECT_TRUE(views[0]->answer().probabilities.empty()) << "no model ran on the GUI thread";
    ASSERT_TRUE(QTest::qWaitFor([&] { return whole(answers(views)); }, 300'000));
    // The models' own answers for the same pixels; each change of the drawing asks anew.
    for (int i = 0; i < 2; ++i) {
        engine::TrainedModel model(feed.store()->find(page->models()[i]->run())->folder, "last",
                                   "cpu");
        const auto own = model.answer(ask->board()->picture()).probabilities;
        EXPECT_TRUE(QTest::qWaitFor([&] { return answers(views)[i] == own; }, 300'000));
        EXPECT_EQ(views[i]->summary(),
                  className(model.classes(), static_cast<std::size_t>(views[i]->answer().best())));
    }
    const auto first = answers(views);
    EXPECT_NE(first[0], first[1]) << "two models, trained in two precisions";
    draw(ask->board(), {40, 140}, {240, 140});
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return answers(views)[0] != first[0] && answers(views)[1] != first[1]; }, 300'000));
    named(ask, u"clear"_s)->click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return views[1]->answer().probabilities.empty(); }, 300'000));
    EXPECT_TRUE(views[1]->summary().isEmpty());
}

TEST_F(PictureAskTest, AFileIsShownAsTheModelSeesItAndAnswered) {
    auto* page = open({train(glyphs(), "fp32")});
    auto* ask = page->findChild<PictureAsk*>();
    QImage image(140, 140, QImage::Format_RGB888);
    image.fill(Qt::black);
    QPainter(&image).fillRect(60, 20, 20, 100, Qt::white);
    const QString file = folder.filePath(u"one.png"_s);
    ASSERT_TRUE(image.save(file));
    ask->openFile(file);
    const auto* shown = ask->findChild<AnswerView*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !shown->summary().isEmpty(); }, 300'000));
    engine::TrainedModel model(feed.store()->find(page->models()[0]->run())->folder, "last", "cpu");
    EXPECT_EQ(shown->answer().probabilities,
              model.answer(engine::load_picture(file.toStdString())).probabilities);
    EXPECT_EQ(ask->board()->picture().width, model.form().width);
}

TEST_F(PictureAskTest, AFileThatIsNoPictureIsRefusedInPlace) {
    auto* page = open({train(glyphs(), "fp32")});
    auto* ask = page->findChild<PictureAsk*>();
    const QString path = folder.filePath(u"broken.png"_s);
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("\x89PNG\r\n\x1a\n and then nothing");
    file.close();
    ask->openFile(path);
    const auto refused = [&] {
        const auto labels = ask->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [](const QLabel* label) {
            return label->isVisible() && label->text().contains(u"broken.png"_s);
        });
    };
    EXPECT_TRUE(QTest::qWaitFor(refused, 300'000));
    EXPECT_TRUE(ask->board()->isBlank());
}

}  // namespace
}  // namespace ui
