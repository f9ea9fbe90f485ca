#include "panels/settings/next_run_note.h"

#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct NextRunNoteTest : WindowFixture {
    NextRunNoteTest() {
        note = window->findChild<NextRunNote*>();
        settings.load(engine::parse_run_config(
                          R"({"dataset": {"kind": "spirals", "train_limit": 64},
                              "model": {"kind": "mlp"}, "batch_size": 32, "max_steps": 2})")
                          .config);
    }
    QString text() const { return note->findChild<QLabel*>()->text(); }
    void run() {
        commands.start();
        ASSERT_TRUE(
            QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    }
    NextRunNote* note;
};

TEST_F(NextRunNoteTest, SaysWhereTheSettingsAreNotThoseOfTheRunOnScreen) {
    EXPECT_TRUE(note->isHidden());
    run();
    EXPECT_TRUE(note->isHidden()) << "they are its own";
    settings.set(u"precision.preset"_s, u"amp-fp16"_s);
    EXPECT_TRUE(note->isHidden()) << "each run of a comparison has its own";
    settings.set(u"seed"_s, u"9"_s);
    settings.set(u"batch_size"_s, u"16"_s);
    EXPECT_FALSE(note->isHidden());
    EXPECT_TRUE(text().contains(settings.label(u"batch_size"_s)));
    note->findChild<QToolButton*>()->click();
    EXPECT_TRUE(note->isHidden());
    EXPECT_EQ(settings.text(u"batch_size"_s), u"32"_s);
}

TEST_F(NextRunNoteTest, ARunOfAnotherProgramHasNoSettingsToCompareOrToUse) {
    run();
    feed.tracks().front()->setOrigin(engine::RunOrigin{.program = "PyTorch 2.15.0"});
    settings.set(u"batch_size"_s, u"16"_s);
    EXPECT_TRUE(note->isHidden());
}

TEST_F(NextRunNoteTest, ItsLinkUnlocksTheSettingsWhileARunTrains) {
    settings.set(u"max_steps"_s, u"0"_s);
    settings.set(u"epochs"_s, u"100000"_s);
    commands.start();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return feed.state() == engine::RunState::training; }, 300'000));
    EXPECT_TRUE(note->locked());
    EXPECT_FALSE(note->isHidden());
    note->findChild<QToolButton*>()->click();
    EXPECT_FALSE(note->locked());
    settings.set(u"seed"_s, u"5"_s);
    EXPECT_TRUE(text().contains(settings.label(u"seed"_s)));
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

}  // namespace
}  // namespace ui
