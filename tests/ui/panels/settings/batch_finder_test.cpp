#include "panels/settings/batch_finder.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct BatchFinderTest : WindowFixture {
    BatchFinderTest() {
        settings.load(engine::parse_run_config(
                          "{}", {"precision.preset=fp32", "device=cpu", "dataset.train_limit=640"})
                          .config);
        button = window->findChild<QToolButton*>(u"findBatch"_s);
        button->click();
        finder = window->findChild<BatchFinder*>();
    }
    QPushButton* offered() const { return finder->findChild<QPushButton*>(u"useBatch"_s); }
    void find(const QString& memory) const {
        finder->findChild<QLineEdit*>()->setText(memory);
        for (auto* each : finder->findChildren<QPushButton*>()) {
            if (each->text() == u"Find"_s) each->click();
        }
    }
    bool says(const QString& words) const {
        for (const auto* label : finder->findChildren<QLabel*>()) {
            if (label->text().contains(words)) return true;
        }
        return false;
    }

    QToolButton* button;
    BatchFinder* finder;
};

TEST_F(BatchFinderTest, FindsABatchAndTakesItOver) {
    ASSERT_NE(finder, nullptr);
    find(u"1 MB"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !offered()->isHidden(); }, 300'000));
    EXPECT_TRUE(says(u"does not fit"_s));
    EXPECT_TRUE(says(u"Largest batch"_s));
    const qlonglong size = offered()->text().section(u' ', 1, 1).toLongLong();
    EXPECT_GT(size, 4);
    offered()->click();
    EXPECT_EQ(settings.text(u"batch_size"_s).toLongLong(), size);
    EXPECT_TRUE(feed.store()->list().empty()) << "it is no run";
}

/// A model of one hidden unit. Data that are not there have no samples to end the search before.
TEST_F(BatchFinderTest, TellsTheEndOfTheSearchFromAResult) {
    settings.load(engine::parse_run_config(
                      "{}", {"precision.preset=fp32", "device=cpu", "dataset.kind=csv",
                             "model.kind=mlp", "model.options.hidden=[1]"})
                      .config);
    find({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !offered()->isHidden(); }, 300'000));
    EXPECT_TRUE(says(u"Largest batch: ≥ 1,048,576, with "_s));
    EXPECT_TRUE(says(u"Larger ones are not tried."_s));
    EXPECT_FALSE(says(u"does not fit"_s));
    EXPECT_EQ(offered()->text(), u"Use 1048576"_s);
}

TEST_F(BatchFinderTest, SaysWhatIsNoSizeAndWhatDoesNotFit) {
    find(u"plenty"_s);
    EXPECT_TRUE(says(u"plenty is not a size"_s));
    find(u"50 KB"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return says(u"Not even a batch of 1"_s); }, 300'000));
    EXPECT_TRUE(offered()->isHidden());
}

TEST_F(BatchFinderTest, ClosingEndsTheSearch) {
    find({});
    finder->close();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(300'000));
}

TEST_F(BatchFinderTest, IsOfferedForSettingsThatCanRun) {
    EXPECT_TRUE(button->isEnabled());
    settings.set(u"batch_size"_s, u"-1"_s);
    EXPECT_FALSE(button->isEnabled());
}

}  // namespace
}  // namespace ui
