#include "panels/frame/status_line.h"

#include <QSettings>

#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct StatusLineTest : WindowFixture {
    StatusLineTest() {
        trainShortly({"max_steps=40", "epochs=100"});
        line = window->findChild<StatusLine*>();
        // Figures of the machine come once a second.
        EXPECT_TRUE(QTest::qWaitFor([this] { return shows(u"memory"_s); }, 300'000));
    }
    ~StatusLineTest() override { QSettings().clear(); }

    /// From left to right.
    QList<QWidget*> shown() const {
        QList<QWidget*> out;
        for (QObject* child : line->children()) {
            auto* widget = qobject_cast<QWidget*>(child);
            if (widget != nullptr && widget->isVisible()) out << widget;
        }
        return out;
    }
    bool shows(const QString& part) const {
        return std::ranges::any_of(line->findChildren<QLabel*>(), [&part](const QLabel* label) {
            return label->isVisible() && label->text().contains(part);
        });
    }
    StatusLine* line;
};

TEST_F(StatusLineTest, LeavesOutFiguresRatherThanDrawingThemOverOneAnother) {
    for (const int width : {1440, 1000, 800, 560, 420}) {
        line->setParent(nullptr);
        line->resize(width, 24);
        line->show();
        standsStill();
        const auto parts = shown();
        for (int i = 0; i < parts.size(); ++i) {
            EXPECT_LE(parts[i]->geometry().right(), width) << width;
            if (i == 0) continue;
            EXPECT_GT(parts[i]->x(), parts[i - 1]->geometry().right()) << width;
            if (const auto* label = qobject_cast<QLabel*>(parts[i])) {
                EXPECT_GE(label->width(), label->sizeHint().width()) << width;
            }
        }
    }
    EXPECT_FALSE(shows(u"memory"_s));
    EXPECT_TRUE(shows(u"Done"_s));
    delete line;
}

TEST(StatusLine, NamesTheStepOfTheRunThatEvaluates) {
    engine::RunConfig plain, scaled;
    plain.precision.preset = "fp32";
    const TrackList tracks = {std::make_shared<RunTrack>("1", plain),
                              std::make_shared<RunTrack>("2", scaled)};
    tracks[0]->setState(engine::RunState::evaluating);
    tracks[1]->setState(engine::RunState::training);
    ASSERT_EQ(focusTrack(tracks), tracks[1]);
    EXPECT_EQ(trackInState(tracks, engine::RunState::evaluating), tracks[0]);
    EXPECT_EQ(trackInState(tracks, engine::RunState::paused), tracks[1]);
}

}  // namespace
}  // namespace ui
