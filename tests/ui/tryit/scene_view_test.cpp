#include "tryit/scene_view.h"

#include <gtest/gtest.h>

#include <QTest>
#include <QWheelEvent>
#include <set>

#include "tryit/scene_table.h"

namespace ui {
namespace {

using engine::FoundObject;
using testing::Test;

/// A disc's probabilities in a square of this side.
std::vector<float> disc(int side) {
    std::vector<float> out;
    const double middle = (side - 1) / 2.0;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            out.push_back(std::hypot(x - middle, y - middle) < side / 2.0 ? 1 : 0);
    return out;
}

FoundObject object(std::int32_t label, double score, const std::array<double, 4>& box) {
    return {label, score, box, {}, disc(28)};
}

struct SceneViewTest : Test {
    /// Shows what runs found in a picture of this size, each in a view of 400 × 400 pixels.
    void show(const QSize& picture, SceneAnswers answers) {
        QImage image(picture, QImage::Format_RGB888);
        image.fill(Qt::black);
        answers_ = std::move(answers);
        objects_ = joined(answers_);
        views_.clear();
        for (std::size_t run = 0; run < answers_.size(); ++run) {
            auto& view = views_.emplace_back(std::make_unique<SceneView>(&theme_, &lens_));
            view->resize(400, 400);
            view->setPicture(ScenePicture(image));
            view->setObjects(&objects_, run, answers_[run] ? &*answers_[run] : nullptr, names_);
        }
        std::vector<SceneRun> runs;
        for (const auto& answer : answers_) runs.push_back({u"run"_s, answer.has_value()});
        table_.show(&objects_, std::move(runs), names_);
    }
    QStringList plates(std::size_t run = 0) {
        image(run);
        return views_[run]->plates();
    }
    QImage image(std::size_t run = 0) { return views_[run]->grab().toImage(); }
    QStringList column(int at) {
        table_.choose();
        QStringList out;
        for (int i = 0; i < table_.rowCount(); ++i) out << table_.index(i, at).data().toString();
        return out;
    }

    Theme theme_{Theme::Choice::light};
    SceneLens lens_;
    std::vector<std::string> names_{"square", "disc", "triangle"};
    SceneAnswers answers_;
    std::vector<SceneObject> objects_;
    std::vector<std::unique_ptr<SceneView>> views_;
    SceneTable table_{&lens_, nullptr};
};

TEST_F(SceneViewTest, TheColoursOfTwelveClassesRepeatAfterTen) {
    std::set<QRgb> seen;
    for (int label = 1; label <= 12; ++label) seen.insert(classColor(label).rgb());
    EXPECT_EQ(seen.size(), 10u);
    EXPECT_EQ(classColor(11), classColor(1));
    EXPECT_EQ(classColor(12), classColor(2));
    EXPECT_EQ(classColor(1), QColor(0xb8, 0x32, 0x7c));
}

TEST_F(SceneViewTest, RunsShareObjectsOfAClassThatOverlapByHalf) {
    // Half of 10 × 10 and 10 × 20: an overlap of exactly one half.
    show({64, 64}, {{{object(1, 0.9, {0, 0, 10, 10}), object(2, 0.8, {30, 30, 10, 10})}},
                    {{object(1, 0.7, {0, 0, 10, 20}), object(3, 0.6, {30, 30, 10, 10})}}});
    ASSERT_EQ(objects_.size(), 3u);
    EXPECT_EQ(column(0), (QStringList{u"square"_s, u"disc"_s, u"triangle"_s}));
    EXPECT_EQ(column(2), (QStringList{u"0.90"_s, u"0.80"_s, u"none"_s}));
    EXPECT_EQ(column(3), (QStringList{u"0.70"_s, u"none"_s, u"0.60"_s}));
    EXPECT_EQ(column(4), (QStringList{u""_s, u"Only one run has it"_s, u"Only one run has it"_s}));
    // Below the slider an object is of the other run alone.
    lens_.setScore(0.75);
    EXPECT_EQ(column(0), (QStringList{u"square"_s, u"disc"_s}));
    EXPECT_EQ(column(3), (QStringList{u"below: 0.70"_s, u"none"_s}));
    EXPECT_EQ(column(4).front(), u"Only one run has it"_s);
}

TEST_F(SceneViewTest, AnObjectIsTakenOnceByEachRun) {
    show({64, 64}, {{{object(1, 0.9, {0, 0, 10, 10})}},
                    {{object(1, 0.8, {0, 0, 10, 11}), object(1, 0.7, {0, 0, 10, 10})}}});
    ASSERT_EQ(objects_.size(), 2u);
    EXPECT_EQ(objects_[0].scores, (std::vector<double>{0.9, 0.8}));
    EXPECT_EQ(objects_[1].scores, (std::vector<double>{0, 0.7}));
}

TEST_F(SceneViewTest, TheSliderAtItsEnds) {
    show({64, 64}, {{{object(1, 1.0, {0, 0, 20, 20}), object(2, 0.31, {30, 30, 20, 20})}}});
    lens_.setScore(0);
    EXPECT_EQ(views_[0]->drawn().size(), 2u);
    lens_.setScore(1);
    EXPECT_EQ(views_[0]->drawn().size(), 1u) << "a score of 1 is at least 1";
    lens_.setScore(0.5);
    EXPECT_EQ(nothingAbove(0.5, {object(1, 0.31, {})}, names_),
              u"Nothing above 0.50. Highest: square 0.31."_s);
    EXPECT_EQ(nothingAbove(0.5, {}, names_), u"Nothing found."_s);
    EXPECT_EQ(nothingAbove(0.5, {object(1, 0.5, {})}, names_), QString());
    EXPECT_EQ(nothingAbove(0.5, {object(4, 0.25, {})}, {}),
              u"Nothing above 0.50. Highest: %1 0.25."_s.arg(className({}, 3)))
        << "classes without names";
}

TEST_F(SceneViewTest, PlatesOfSmallAndCoveredBoxesWaitForTheHighlight) {
    // Four pixels of the screen for one of the picture.
    show({100, 100}, {{{object(1, 0.9, {10, 50, 40, 40}), object(2, 0.8, {11, 50, 40, 40}),
                        object(3, 0.7, {80, 80, 2, 2})}}});
    EXPECT_EQ(plates(), QStringList{u"square 0.90"_s});
    lens_.highlight(1);
    EXPECT_EQ(plates(), QStringList{u"disc 0.80"_s}) << "it covers the other one";
    lens_.highlight(2);
    EXPECT_EQ(plates(), (QStringList{u"triangle 0.70"_s, u"square 0.90"_s}));
    EXPECT_EQ(views_[0]->spoken(), u"square 0.90, disc 0.80, triangle 0.70"_s)
        << "a screen reader has all, large boxes first";
}

TEST_F(SceneViewTest, APlateThatWouldBeCutIsInsideTheBox) {
    show({100, 100}, {{{object(2, 0.9, {20, 0, 40, 40})}}});
    lens_.setMasks(false);
    const QImage drawn = image();
    // The box begins at x 80, y 0. Right of the text there is the plate's colour, below the edge.
    EXPECT_EQ(drawn.pixelColor(82, 4), classColor(2));
    EXPECT_EQ(views_[0]->plates(), QStringList{u"disc 0.90"_s});
}

TEST_F(SceneViewTest, MasksAreFilledAndOutlinedWithinTheirBoxes) {
    const QColor color = classColor(1);
    const QImage mask = pastedMask(disc(28), {10, 10, 100, 100}, {0, 0, 120, 120}, color, 0.35);
    ASSERT_EQ(mask.size(), QSize(120, 120));
    EXPECT_NEAR(qAlpha(mask.pixel(60, 60)), 0.35 * 255, 1);
    EXPECT_EQ(qAlpha(mask.pixel(5, 60)), 0);
    int filled = 0;
    bool outlined = false;
    for (int x = 0; x < 120; ++x) {
        for (int y = 0; y < 120; ++y) filled += qAlpha(mask.pixel(x, y)) > 0 ? 1 : 0;
        outlined = outlined || mask.pixel(x, 60) == color.rgb();
    }
    EXPECT_TRUE(outlined);
    // A disc takes π/4 of its box; its edge is off by half a pixel of the mask at most.
    const double exact = 3.14159 / 4 * 100 * 100, edge = 3.14159 * 100 * (100.0 / 28) / 2;
    EXPECT_NEAR(filled, exact, edge);
    // A part of it has the same pixels: what is cut is no edge.
    const QImage part = pastedMask(disc(28), {10, 10, 100, 100}, {50, 50, 30, 30}, color, 0.35);
    EXPECT_EQ(part, mask.copy(50, 50, 30, 30));
    EXPECT_TRUE(pastedMask({}, {0, 0, 9, 9}, {0, 0, 9, 9}, color, 0.35).isNull());
}

TEST_F(SceneViewTest, PicturesOfAnyShapeFitAndAreEnlarged) {
    for (const QSize& size : {QSize(900, 30), {30, 900}, {1, 1}, {1, 700}, {8000, 20}}) {
        show(size, {{{object(1, 0.9, {0, 0, size.width() + 0.0, size.height() + 0.0})}}});
        lens_.fit();
        QRectF place = lens_.placeIn({400, 400}, size);
        EXPECT_LE(place.width(), 400.001);
        EXPECT_LE(place.height(), 400.001);
        EXPECT_NEAR(place.width() * size.height(), place.height() * size.width(),
                    1e-6 * 8000 * 400);
        EXPECT_FALSE(image().isNull());
        lens_.zoom(4, {100, 200}, {400, 400}, size);
        EXPECT_NEAR(lens_.placeIn({400, 400}, size).width(), 4 * place.width(), 1e-6);
        EXPECT_FALSE(image().isNull());
        lens_.fit();
        EXPECT_EQ(lens_.placeIn({400, 400}, size), place);
    }
}

TEST_F(SceneViewTest, TheWheelKeepsThePointUnderItInAllViews) {
    show({100, 100}, {{std::vector<FoundObject>{}}, {std::vector<FoundObject>{}}});
    const QPointF at(100, 300);
    QWheelEvent wheel(at, at, {}, {0, 360}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(views_[0].get(), &wheel);
    const QRectF place = lens_.placeIn({400, 400}, {100, 100});
    EXPECT_NEAR(lens_.magnification(), 1.25 * 1.25 * 1.25, 1e-9);
    EXPECT_NEAR((at.x() - place.x()) / place.width(), 0.25, 1e-9);
    EXPECT_NEAR((at.y() - place.y()) / place.height(), 0.75, 1e-9);
    // A drag beyond the edge stops there, and the way back begins at once.
    lens_.pan({10'000, 0}, {400, 400}, {100, 100});
    EXPECT_EQ(lens_.placeIn({400, 400}, {100, 100}).left(), 0);
    lens_.pan({-10, 0}, {400, 400}, {100, 100});
    EXPECT_NEAR(lens_.placeIn({400, 400}, {100, 100}).left(), -10, 1e-9);
    QTest::keyClick(views_[1].get(), Qt::Key_0);
    EXPECT_EQ(lens_.magnification(), 1);
    QTest::keyClick(views_[1].get(), Qt::Key_Plus);
    EXPECT_NEAR(lens_.magnification(), 1.25, 1e-9);
}

TEST_F(SceneViewTest, TheSmallestObjectUnderTheMouseIsHighlighted) {
    show({100, 100}, {{{object(1, 0.9, {0, 0, 100, 100}), object(2, 0.8, {40, 40, 20, 20})}}});
    EXPECT_EQ(views_[0]->objectAt({200, 200}), 1);
    EXPECT_EQ(views_[0]->objectAt({20, 20}), 0);
    lens_.setShown(2, false);
    EXPECT_EQ(views_[0]->objectAt({200, 200}), 0) << "a hidden class is not there";
    EXPECT_EQ(column(0), QStringList{u"square"_s});
}

}  // namespace
}  // namespace ui
