#include "tryit/mask_ask.h"

#include <QLabel>
#include <QPlainTextEdit>

#include "tryit/answer_view.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct MaskAskTest : TryItFixture {
    static engine::RunConfig masked() {
        return config(
            R"({"dataset": {"kind": "text-generated", "train_limit": 2000, "test_limit": 400},
                "model": {"kind": "bert", "options": {"layers": 1, "width": 16, "heads": 2,
                                                      "context": 24}},
                "batch_size": 4, "bptt": 16, "max_steps": 10})");
    }
    static QPlainTextEdit* field(const MaskAsk* ask) {
        return named<QPlainTextEdit>(ask, u"Text with masks"_s);
    }
    static std::vector<engine::FilledMask> expected(const engine::RunSummary& run,
                                                    const std::string& text) {
        return engine::TrainedModel(run.folder, "last", "cpu").fill(text, 6);
    }
    static bool same(const std::vector<engine::FilledMask>& a,
                     const std::vector<engine::FilledMask>& b) {
        return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
            return one.place == other.place &&
                   std::ranges::equal(one.words, other.words, [](const auto& x, const auto& y) {
                       return x.text == y.text && x.probability == y.probability;
                   });
        });
    }
    static bool shows(const MaskView* view, const std::vector<engine::FilledMask>& filled) {
        return QTest::qWaitFor([&] { return same(view->filled(), filled); }, 300'000);
    }
};

TEST_F(MaskAskTest, EachRunFillsTheMasksOfTheTextAsItsModelDoes) {
    const std::vector runs = {train(masked(), "fp32"), train(masked(), "amp-fp16")};
    auto* ask = open(runs)->findChild<MaskAsk*>();
    ASSERT_NE(ask, nullptr);
    ASSERT_TRUE(field(ask)->toPlainText().contains(u"[MASK]"_s)) << "an example stands there";
    const auto views = ask->findChildren<MaskView*>();
    ASSERT_EQ(views.size(), 2);
    for (const std::string& text :
         {field(ask)->toPlainText().toStdString(), std::string("a[MASK]b[MASK][MASK]c")}) {
        field(ask)->setPlainText(QString::fromStdString(text));
        for (std::size_t i = 0; i < 2; ++i) {
            const auto filled = expected(runs[i], text);
            ASSERT_TRUE(shows(views[static_cast<int>(i)], filled)) << text;
            const auto bars = views[static_cast<int>(i)]->findChildren<AnswerView*>();
            ASSERT_EQ(bars.size(), std::ssize(filled));
            for (std::size_t m = 0; m < filled.size(); ++m) {
                EXPECT_EQ(bars[static_cast<int>(m)]->summary(),
                          shownWord(filled[m].words.front().text));
                EXPECT_EQ(bars[static_cast<int>(m)]->answer().probabilities.size(), 6U);
            }
        }
    }
}

TEST_F(MaskAskTest, CharactersThatTheModelDoesNotKnowAreTold) {
    const auto run = train(masked(), "fp32");
    auto* ask = open({run})->findChild<MaskAsk*>();
    const auto told = [&] {
        return std::ranges::any_of(ask->findChildren<QLabel*>(), [](const QLabel* label) {
            return label->isVisibleTo(label->parentWidget()) &&
                   label->text().contains(u"vocabulary"_s) && label->text().contains(u"Ж"_s);
        });
    };
    field(ask)->setPlainText(u"a[MASK]Ж"_s);
    EXPECT_TRUE(QTest::qWaitFor(told, 300'000));
    field(ask)->setPlainText(u"a[MASK]b"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !told(); }, 300'000));
}

TEST_F(MaskAskTest, TheFilledTextKeepsWhatIsNoMask) {
    const auto run = train(masked(), "fp32");
    auto* ask = open({run})->findChild<MaskAsk*>();
    const auto* fillings = ask->findChild<MaskView*>();
    field(ask)->setPlainText(u"<i>[MASK] & b"_s);
    const auto filled = expected(run, "<i>[MASK] & b");
    ASSERT_TRUE(shows(fillings, filled));
    const auto* sentence = named<QLabel>(fillings, u"Text with its masks filled"_s);
    EXPECT_EQ(
        sentence->text(),
        u"&lt;i&gt;<b>"_s + shownWord(filled[0].words[0].text).toHtmlEscaped() + u"</b> &amp; b"_s);
}

TEST_F(MaskAskTest, ATextWithoutAMaskOrTooLongSaysWhatIsWrong) {
    const auto run = train(masked(), "fp32");
    auto* ask = open({run})->findChild<MaskAsk*>();
    const auto* fillings = ask->findChild<MaskView*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !fillings->filled().empty(); }, 300'000));
    field(ask)->setPlainText(u"no gap"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return fillings->filled().empty(); }, 300'000));
    EXPECT_TRUE(
        named<QLabel>(fillings, u"Text with its masks filled"_s)->text().contains(u"[MASK]"_s));
    field(ask)->setPlainText(u"[MASK]"_s + QString(24, u'a'));
    const auto problems = [&] {
        QStringList out;
        for (const auto* label : ask->findChildren<QLabel*>()) {
            if (label->isVisible() && label->property("role") == u"caution"_s) out << label->text();
        }
        return out;
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return !problems().isEmpty(); }, 300'000));
    EXPECT_TRUE(problems().front().contains(u"25"_s)) << problems().front().toStdString();
}

TEST_F(MaskAskTest, TheButtonPutsAMaskInPlaceOfTheSelectedText) {
    auto* ask = open({train(masked(), "fp32")})->findChild<MaskAsk*>();
    field(ask)->setPlainText(u"one two three"_s);
    QTextCursor cursor = field(ask)->textCursor();
    cursor.setPosition(4);
    cursor.setPosition(7, QTextCursor::KeepAnchor);
    field(ask)->setTextCursor(cursor);
    named(ask, u"insert-mask"_s)->click();
    EXPECT_EQ(field(ask)->toPlainText(), u"one [MASK] three"_s);
}

}  // namespace
}  // namespace ui
