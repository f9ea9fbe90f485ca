// The pages of the instruments in windows of all sizes, and what all of them have in common.
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QTimer>

#include "scenario/instrument_fixture.h"
#include "screens/painted_text.h"
#include "skips/skips_model.h"
#include "widgets/side_columns.h"
#include "xray/xray_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct InstrumentLayoutTest : InstrumentFixture {};

/// The name that the export dialog proposes. Then the dialog is cancelled.
TEST_F(InstrumentLayoutTest, CtrlEExportsFromEveryInstrument) {
    engine::RunConfig overflowing = config(5);
    overflowing.scaler.init_scale = 0x1p30;
    settings.load(engine::completed(overflowing), {u"fp32"_s, u"amp-fp16"_s});
    commands.startTwin({});
    ASSERT_TRUE(ends());
    link.select(1, feed.tracks()[1]);
    show(u"skips"_s);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !shownPage()->findChild<SkipsModel*>()->skips().list.empty(); }, 300'000));
    show(u"xray"_s);
    auto* xray = part<XrayPage>()->findChild<XrayModel*>();
    xray->traceStep();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !xray->busy(); }, 300'000));
    for (const auto& [page, name] : {std::pair{u"microscope"_s, u"microscope-"_s},
                                     {u"xray"_s, u"xray-"_s},
                                     {u"skips"_s, u"skips-"_s},
                                     {u"twin"_s, u"twin-"_s}}) {
        show(page);
        window->activateWindow();
        standsStill();
        QString proposed;
        QTimer looks;  // the dialog has an event loop of its own
        QObject::connect(&looks, &QTimer::timeout, [&proposed] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (dialog == nullptr || !dialog->isVisible()) return;
            proposed = dialog->selectedFiles().value(0);
            dialog->reject();
        });
        looks.start(10);
        QTest::keyClick(window.get(), Qt::Key_E, Qt::ControlModifier);
        EXPECT_TRUE(QTest::qWaitFor([&] { return !proposed.isEmpty(); }, 300'000));
        EXPECT_TRUE(QFileInfo(proposed).fileName().startsWith(name)) << proposed.toStdString();
    }
}

TEST_F(InstrumentLayoutTest, SideColumnsAreTabsInANarrowWindow) {
    load(5);
    commands.startTwin({});
    ASSERT_TRUE(ends());
    const QMap<QString, QStringList> tabs{{u"microscope"_s, {u"Layers"_s, u"Drift"_s}},
                                          {u"skips"_s,
                                           {u"Skipped steps"_s, u"First non-finite tensor"_s,
                                            u"Batch"_s, u"Exponents"_s, u"At another scale"_s}},
                                          {u"twin"_s, {u"Layers"_s, u"Since the resync"_s}}};
    for (auto page = tabs.cbegin(); page != tabs.cend(); ++page) {
        show(page.key());
        window->resize(1100, 760);
        standsStill();
        auto* columns = part<PageStack>()->currentWidget()->findChild<SideColumns*>();
        ASSERT_TRUE(columns != nullptr && columns->folded()) << page.key().toStdString();
        QStringList titles;
        for (int i = 0; i < columns->tabs()->count(); ++i) titles << columns->tabs()->tabText(i);
        EXPECT_EQ(titles, page.value());
        EXPECT_EQ(window->size(), QSize(1100, 760)) << page.key().toStdString();
        EXPECT_LE(window->minimumSizeHint().width(), 1024) << page.key().toStdString();
        EXPECT_LE(window->minimumSizeHint().height(), 760) << page.key().toStdString();
    }
}

/// The columns of the previous page are removed before the next page is shown.
TEST_F(InstrumentLayoutTest, AChangeOfPageNeverWidensTheWindow) {
    load(5);
    commands.compare();
    ASSERT_TRUE(ends());
    for (const int width : {size::foldBelow, 1100}) {
        show(u"training"_s);
        window->resize(width, 820);
        standsStill();
        const QStringList others{u"skips"_s, u"microscope"_s, u"lab"_s, u"runs"_s, u"twin"_s};
        for (const QString& page : others) {
            for (const QString& next : {page, u"xray"_s, u"training"_s, page, u"training"_s}) {
                show(next);
                EXPECT_EQ(window->width(), width) << page.toStdString() << next.toStdString();
            }
        }
    }
}

TEST_F(InstrumentLayoutTest, NoPageSaysASentenceTwiceBeforeThereIsARun) {
    for (const PageEntry& page : pageEntries()) {
        show(page.name);
        QStringList said;
        for (auto* widget : window->findChildren<QWidget*>()) {
            if (widget->visibleRegion().isEmpty() || widget->window() != window.get()) continue;
            QStringList pieces;  // a sentence has several lines
            for (const PaintedText& text : paintedTexts(*widget)) pieces << text.text;
            const QString sentence = pieces.join(u' ').simplified();
            // A name, a hint of few words or an example may recur.
            if (sentence.count(u' ') < 5 || !sentence.endsWith(u'.')) continue;
            EXPECT_FALSE(said.contains(sentence))
                << page.name.toStdString() << ": " << sentence.toStdString();
            said << sentence;
        }
    }
}

TEST_F(InstrumentLayoutTest, FitIntoANarrowWindow) {
    load(5);
    commands.compare();
    ASSERT_TRUE(ends());
    for (const QString& page : {u"training"_s, u"microscope"_s, u"xray"_s, u"skips"_s, u"twin"_s}) {
        show(page);
        EXPECT_LE(window->minimumSizeHint().width(), 1024) << page.toStdString();
        EXPECT_LE(window->minimumSizeHint().height(), 768) << page.toStdString();
    }
}

}  // namespace
}  // namespace ui
