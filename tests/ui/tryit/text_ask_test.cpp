#include "tryit/text_ask.h"

#include <QLineEdit>
#include <QPlainTextEdit>

#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TextAskTest : TryItFixture {
    static QList<QPlainTextEdit*> texts(const TextAsk* ask) {
        QList<QPlainTextEdit*> out;
        for (auto* each : ask->findChildren<QPlainTextEdit*>()) {
            if (each->isReadOnly()) out << each;
        }
        return out;
    }
    static QPlainTextEdit* prompt(const TextAsk* ask) {
        return named<QPlainTextEdit>(ask, u"Beginning of the text"_s);
    }
};

TEST_F(TextAskTest, EachRunContinuesThePromptAsItsModelDoes) {
    auto* page = open({train(text(), "fp32"), train(text(), "amp-fp16")});
    auto* ask = page->findChild<TextAsk*>();
    ASSERT_NE(ask, nullptr);
    prompt(ask)->setPlainText(u"the "_s);
    named<QLineEdit>(ask, u"Characters"_s)->setText(u"60"_s);
    named(ask, u"generate"_s)->click();
    EXPECT_TRUE(ask->isGenerating());
    EXPECT_EQ(texts(ask)[0]->toPlainText(), u"the "_s) << "no model ran on the GUI thread";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !ask->isGenerating(); }, 300'000));
    for (int i = 0; i < 2; ++i) {
        engine::TrainedModel model(feed.store()->find(page->models()[i]->run())->folder, "last",
                                   "cpu");
        std::string expected = "the ";
        model.generate({.prompt = "the ", .length = 60, .temperature = 0.8, .top_k = 0, .seed = 1},
                       [&](const std::string& piece) {
                           expected += piece;
                           return true;
                       });
        EXPECT_EQ(texts(ask)[i]->toPlainText().toStdString(), expected);
    }
}

TEST_F(TextAskTest, TextStreamsInAndStops) {
    auto* page = open({train(text(), "fp32")});
    auto* ask = page->findChild<TextAsk*>();
    named<QLineEdit>(ask, u"Characters"_s)->setText(u"100000000"_s);
    named(ask, u"generate"_s)->click();
    auto* shown = texts(ask)[0];
    ASSERT_TRUE(QTest::qWaitFor([&] { return shown->toPlainText().size() > 50; }, 300'000));
    EXPECT_TRUE(ask->isGenerating()) << "the text came before its end";
    named(ask, u"stop"_s)->click();
    EXPECT_FALSE(ask->isGenerating());
    const QString stopped = shown->toPlainText();
    standsStill(100);
    EXPECT_EQ(shown->toPlainText(), stopped);
    named<QLineEdit>(ask, u"Characters"_s)->setText(u"20"_s);
    named(ask, u"generate"_s)->click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !ask->isGenerating(); }, 300'000))
        << "it can begin again";
    EXPECT_EQ(shown->toPlainText().size(), 20);
}

TEST_F(TextAskTest, AFieldThatIsNoNumberIsMarkedAndNothingBegins) {
    auto* page = open({train(text(), "fp32")});
    auto* ask = page->findChild<TextAsk*>();
    auto* temperature = named<QLineEdit>(ask, u"Temperature"_s);
    temperature->setText(u"-1"_s);
    named(ask, u"generate"_s)->click();
    EXPECT_FALSE(ask->isGenerating());
    EXPECT_TRUE(temperature->property("refused").toBool());
}

}  // namespace
}  // namespace ui
