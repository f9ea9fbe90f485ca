// A table and a text in the window, from dropping the file to the verdict.
#include <gtest/gtest.h>

#include <QFile>
#include <QTabBar>
#include <cmath>

#include "panels/settings/data_sketch.h"
#include "text/metric_text.h"
#include "widgets/panel.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TaskTest : WindowFixture {
    Panel* panel(const QString& name) const {
        return qobject_cast<Panel*>(window->findChild<QDockWidget*>(name));
    }

    QString write(const QString& name, const QByteArray& content) {
        const QString path = folder.filePath(name);
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(content);
        return path;
    }

    QString table() {
        QByteArray rows = "x,colour,price\n";
        for (int i = 0; i < 300; ++i) {
            rows += QByteArray::number(i % 17) + (i % 2 == 0 ? ",red," : ",blue,") +
                    QByteArray::number(100.0 * (i % 17) + (i % 2 == 0 ? 40.5 : 0.25)) + '\n';
        }
        return write(u"prices.csv"_s, rows);
    }

    void compareAndWait() {
        commands.compare();
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                const auto tracks = feed.tracks();
                return tracks.size() == 2 && std::ranges::all_of(tracks, [](const auto& t) {
                           return t->done().has_value();
                       });
            },
            300'000));
    }

    /// The names in the selected step's table.
    QStringList namesOfStep() const {
        QStringList names;
        for (const auto* label : panelBody(u"step"_s)->findChildren<QLabel*>())
            names << label->accessibleName();
        return names;
    }

    QTabBar* metricTabs() { return panel(u"accuracy"_s)->findChild<QTabBar*>(); }
};

TEST_F(TaskTest, ATableThatIsDroppedIsShownTrainedAndJudgedByItsMetric) {
    commands.openPath(table());
    EXPECT_EQ(settings.text(u"dataset.kind"_s), u"csv"_s);
    EXPECT_EQ(settings.text(u"model.kind"_s), u"mlp"_s);
    auto* sketch = window->findChild<DataSketch*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !sketch->isHidden(); }, 300'000));
    EXPECT_EQ(sketch->accessibleName(), u"Columns of the table"_s);
    settings.set(u"epochs"_s, u"2"_s);
    settings.set(u"optimizer.kind"_s, u"adam"_s);
    compareAndWait();
    ASSERT_NE(metricTabs(), nullptr);
    ASSERT_EQ(metricTabs()->count(), 2);
    EXPECT_EQ(metricTabs()->tabText(0), u"RMSE"_s);
    EXPECT_EQ(metricTabs()->tabText(1), u"R²"_s);
    const auto track = feed.tracks().front();
    EXPECT_EQ(track->unit(), "rows");
    EXPECT_EQ(testCaption(track->metrics()), u"test RMSE"_s);
    EXPECT_EQ(speedUnit(track->unit()), u"rows/s"_s);
    const auto rmse = track->metricFigure("rmse");
    ASSERT_TRUE(rmse);
    EXPECT_GT(rmse->of(track->latest()), 0);
    link.select(1);
    const QStringList rows = namesOfStep();
    EXPECT_TRUE(rows.contains(u"RMSE"_s) && rows.contains(u"R²"_s))
        << rows.join(u' ').toStdString();
    EXPECT_FALSE(track->metricFigure("accuracy"));
    EXPECT_TRUE(std::isnan(track->latest().accuracy));
}

TEST_F(TaskTest, ATextThatIsDroppedIsReadAsCharactersAndJudgedByPerplexity) {
    QByteArray text;
    for (int i = 0; i < 400; ++i) text += "the cat sat on the mat.\n";
    commands.openPath(write(u"story.txt"_s, text));
    EXPECT_EQ(settings.text(u"dataset.kind"_s), u"text-chars"_s);
    EXPECT_EQ(settings.text(u"model.kind"_s), u"rnn-lm"_s);
    auto* sketch = window->findChild<DataSketch*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !sketch->isHidden(); }, 300'000));
    EXPECT_EQ(sketch->accessibleName(), u"Beginning of the text"_s);
    settings.set(u"model.options.hidden"_s, u"16"_s);
    settings.set(u"batch_size"_s, u"8"_s);
    settings.set(u"max_steps"_s, u"10"_s);
    compareAndWait();
    const auto track = feed.tracks().front();
    EXPECT_EQ(testCaption(track->metrics()), u"test perplexity"_s);
    EXPECT_EQ(speedUnit(track->unit()), u"tokens/s"_s);
    const auto perplexity = track->metricFigure("perplexity");
    ASSERT_TRUE(perplexity);
    EXPECT_GT(perplexity->of(track->latest()), 1);
    EXPECT_FALSE(track->epochs().empty());
}

TEST_F(TaskTest, ABadTableIsToldInThePreview) {
    commands.openPath(write(u"bad.csv"_s, "a,b\n1,2\n3\n4,5\n6,7\n8,9\n"));
    const auto* counts = window->findChild<DataSketch*>();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            const auto labels = window->findChildren<QLabel*>();
            return std::ranges::any_of(
                labels, [](const QLabel* label) { return label->text().contains(u"line 3"_s); });
        },
        300'000));
    EXPECT_TRUE(counts->isHidden());
}

}  // namespace
}  // namespace ui
