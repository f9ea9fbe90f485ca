#include "panels/verdict/evidence_table.h"

#include <QLabel>
#include <QSettings>

#include "panels/verdict/run_card.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct EvidenceTableTest : WindowFixture {
    ~EvidenceTableTest() override { QSettings().clear(); }

    void compareShortly() {
        trainShortly({"dataset.train_limit=256", "batch_size=16", "max_steps=32", "epochs=2"},
                     {u"fp32"_s, u"amp-fp16"_s});
    }
    /// The page that the link opens.
    QString opened() {
        window->findChild<VerdictLine*>()->findChildren<QToolButton*>().front()->click();
        const auto* card = window->findChild<QFrame*>(u"help"_s);
        return card == nullptr ? QString() : card->findChild<QLabel*>()->text();
    }
};

TEST_F(EvidenceTableTest, HasARowForEachFigureOfTheCardsAndForEachSentence) {
    compareShortly();
    const RunTrack &first = *feed.tracks()[0], &second = *feed.tracks()[1];
    const QString html = evidenceTable(first, second, {u"One < two."_s});
    EXPECT_EQ(html.count(u"<th"_s), 3) << html.toStdString();
    const CardFigures figures = figuresOf(&first), others = figuresOf(&second);
    for (const QString& figure : {figures.loss, figures.metric, figures.speed, figures.peak,
                                  others.loss, others.metric, others.speed, others.peak})
        EXPECT_TRUE(html.contains(u'>' + figure + u"</td>"_s)) << figure.toStdString();
    EXPECT_TRUE(html.contains(u"<td colspan='3'>One &lt; two.</td>"_s));
    EXPECT_EQ(html.count(u"<tr>"_s), 1 + 4 + 2 + 1);

    const QString shown = opened();
    EXPECT_TRUE(shown.contains(u"<table"_s)) << shown.toStdString();
    EXPECT_TRUE(shown.contains(u"step-to-step noise"_s)) << shown.toStdString();
}

}  // namespace
}  // namespace ui
