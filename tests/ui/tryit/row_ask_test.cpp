#include "tryit/row_ask.h"

#include <QComboBox>
#include <QLineEdit>

#include "tryit/answer_view.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RowAskTest : TryItFixture {
    engine::RunConfig prices() {
        const QString path = folder.filePath(u"prices.csv"_s);
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("x,colour,price\n");
        for (int i = 0; i < 120; ++i) {
            file.write(QByteArray::number(i % 17) + (i % 2 == 0 ? ",red," : ",blue,") +
                       QByteArray::number(100.0 * (i % 17) + (i % 2 == 0 ? 40.5 : 0.25)) + '\n');
        }
        auto out = config(R"({"dataset": {"kind": "csv", "target": "price"},
                              "model": {"kind": "mlp"}, "batch_size": 16, "epochs": 5})");
        out.dataset.path = {path.toStdString()};
        return out;
    }
};

TEST_F(RowAskTest, TheAnswersFollowTheCells) {
    auto* page = open({train(prices(), "fp32"), train(prices(), "amp-bf16")});
    auto* ask = page->findChild<RowAsk*>();
    ASSERT_NE(ask, nullptr);
    const auto views = ask->findChildren<AnswerView*>();
    ASSERT_EQ(views.size(), 2);
    const auto answered = [&] {
        return views[0]->answer().values.size() == 1 && views[1]->answer().values.size() == 1;
    };
    ASSERT_TRUE(QTest::qWaitFor(answered, 300'000)) << "the usual row is answered at once";
    const auto value = [&](int i) { return views[i]->answer().values.front(); };
    const double usual = value(0);
    engine::TrainedModel model(feed.store()->find(page->models()[0]->run())->folder, "last", "cpu");
    auto* x = named<QLineEdit>(ask, u"x"_s);
    ASSERT_NE(x, nullptr);
    x->setFocus();
    x->selectAll();
    QTest::keyClicks(x, u"16"_s);
    EXPECT_EQ(value(0), usual) << "no model ran on the GUI thread";
    ASSERT_TRUE(QTest::qWaitFor([&] { return value(0) != usual; }, 300'000));
    auto* colour = named<QComboBox>(ask, u"colour"_s);
    const std::string word = colour->currentText().toStdString();
    EXPECT_EQ(value(0), model.answer({{"x", "16"}, {"colour", word}}).values.front());
    const double before = value(1);
    colour->setCurrentIndex(2);
    ASSERT_NE(colour->currentText().toStdString(), word);
    EXPECT_TRUE(QTest::qWaitFor([&] { return value(1) != before; }, 300'000));
}

TEST_F(RowAskTest, ACellThatIsNoNumberIsRefusedInTheEnginesWords) {
    auto* page = open({train(prices(), "fp32")});
    auto* ask = page->findChild<RowAsk*>();
    named<QLineEdit>(ask, u"x"_s)->setText(u"wide"_s);
    const auto* shown = ask->findChild<AnswerView*>();
    const auto refused = [&] {
        const auto labels = ask->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [](const QLabel* label) {
            return label->isVisible() && label->text().contains(u"wide is not a number"_s);
        });
    };
    ASSERT_TRUE(QTest::qWaitFor(refused, 300'000));
    EXPECT_TRUE(shown->answer().values.empty());
    named<QLineEdit>(ask, u"x"_s)->setText(u"3"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !shown->answer().values.empty(); }, 300'000));
    EXPECT_FALSE(refused());
}

}  // namespace
}  // namespace ui
