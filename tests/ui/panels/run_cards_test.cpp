#include "panels/run_cards.h"

#include <QTableWidget>

#include "panels/run_card.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RunCardsTest : WindowFixture {
    RunCards* cards = window->findChild<RunCards*>();
    void compare(const QStringList& precisions) {
        settings.load(engine::default_comparison(), precisions);
        QTest::qWait(20);
    }
};

TEST_F(RunCardsTest, ShowAllFiguresAndTheirNamesAtEveryWidth) {
    for (const int width : {1024, 1280, 1440, 3840}) {
        for (const QStringList& precisions :
             {QStringList{u"fp32"_s, u"amp-fp16"_s},
              QStringList{u"fp32"_s, u"amp-fp16"_s, u"amp-bf16"_s, u"pure-fp16"_s}}) {
            window->resize(width, 800);
            compare(precisions);
            const auto all = cards->findChildren<RunCard*>();
            ASSERT_EQ(all.size(), precisions.size());
            for (const auto* card : all) {
                EXPECT_TRUE(
                    cards->rect().contains(QRect(card->mapTo(cards, QPoint()), card->size())))
                    << width;
                for (const auto* label : card->findChildren<QLabel*>()) {
                    EXPECT_FALSE(label->visibleRegion().isEmpty() && !label->text().isEmpty())
                        << label->text().toStdString() << " at " << width;
                    EXPECT_LE(label->fontMetrics().horizontalAdvance(label->text()), label->width())
                        << label->text().toStdString() << " at " << width;
                }
            }
        }
    }
}

TEST_F(RunCardsTest, ATableShowsFiveRunsWithoutScrolling) {
    feed.open(std::vector<engine::RunConfig>(5));
    QTest::qWait(20);
    const auto* table = cards->findChild<QTableWidget*>();
    ASSERT_TRUE(table->isVisible());
    ASSERT_EQ(table->rowCount(), 5);
    EXPECT_TRUE(table->viewport()->rect().contains(table->visualItemRect(table->item(4, 0))));
}

}  // namespace
}  // namespace ui
