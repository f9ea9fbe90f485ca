// Another language: the window stays, and what is in it.
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenuBar>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <QTreeView>

#include "engine/base/error.h"
#include "help/help_window.h"
#include "pages/page_stack.h"
#include "panels/verdict/verdict_bar.h"
#include "plots/line_plot.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window_fixture.h"
#include "xray/search_dialog.h"
#include "xray/xray_model.h"
#include "xray/xray_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// Counts what would make a window vanish for a moment.
struct Vanishing final : QObject {
    int times = 0;
    bool eventFilter(QObject*, QEvent* event) override {
        const auto type = event->type();
        if (type == QEvent::Hide || type == QEvent::WinIdChange || type == QEvent::Close) ++times;
        return false;
    }
};

struct FillTest : WindowFixture {
    FillTest() {
        QSettings().clear();
        language.setChoice(u"en"_s);
        context.kept = kept.get();
        openWindow({1440, 900});
        standsStill();
    }
    ~FillTest() override {
        language.setChoice(u"en"_s);
        window.reset();
        kept.reset();
        QSettings().clear();
    }
    bool speak(const QString& code) {
        language.setChoice(code);
        const QString word = code == u"en"_s ? u"Training"_s : u"训练"_s;
        const bool done =
            waitFor([&] { return stack()->row()->tabText(0) == word; }, 20'000);
        standsStill();
        return done;
    }
    PageStack* stack() const { return window->findChild<PageStack*>(); }
    QMap<QString, QRect> docks() const {
        QMap<QString, QRect> out;
        for (const auto* dock : window->findChildren<QDockWidget*>())
            if (dock->isVisible()) out[dock->objectName()] = dock->geometry();
        return out;
    }
    /// The left edges and widths.
    static QMap<QString, QPoint> columns(const QMap<QString, QRect>& docks) {
        QMap<QString, QPoint> out;
        for (auto dock = docks.begin(); dock != docks.end(); ++dock)
            out[dock.key()] = {dock->left(), dock->width()};
        return out;
    }
    QStringList words() const {
        QStringList out;
        for (const auto* label : window->findChildren<QLabel*>())
            if (label->isVisible()) out << label->text();
        return out;
    }

    std::unique_ptr<QObject> kept = std::make_unique<QObject>();
};

bool isChinese(const QString& text) {
    return std::ranges::any_of(text, [](QChar c) { return c.script() == QChar::Script_Han; });
}

/// Qt says so where a size is asked for a dock that has no place yet.
TEST_F(FillTest, AnotherLanguageSizesNoDockBeforeItsPlace) {
    static QStringList told;
    told.clear();
    const auto before = qInstallMessageHandler(
        [](QtMsgType, const QMessageLogContext&, const QString& text) { told << text; });
    EXPECT_TRUE(speak(u"zh_CN"_s));
    qInstallMessageHandler(before);
    EXPECT_TRUE(told.filter(u"resizeDocks"_s).isEmpty()) << told.join(u'\n').toStdString();
}

TEST_F(FillTest, AnotherLanguageKeepsTheWindowAndItsLayout) {
    trainShortly({"max_steps=12"}, {u"fp32"_s, u"amp-fp16"_s});
    standsStill();
    const WId id = window->winId();
    const QRect place = window->geometry();
    const auto before = docks();
    const auto bars = window->findChildren<QToolBar*>().size();
    ASSERT_GE(before.size(), 7);
    link.select(7, feed.tracks()[1]);
    Vanishing vanishing;
    window->installEventFilter(&vanishing);
    for (const QString& code : {u"zh_CN"_s, u"en"_s, u"zh_CN"_s}) {
        ASSERT_TRUE(speak(code));
        EXPECT_EQ(vanishing.times, 0);
        EXPECT_TRUE(window->isVisible());
        EXPECT_EQ(window->winId(), id);
        EXPECT_EQ(window->geometry(), place);
        // Chinese lines of text are of another height, and so is what they leave to the docks.
        if (code == u"en"_s)
            EXPECT_EQ(docks(), before);
        else
            EXPECT_EQ(columns(docks()), columns(before));
        EXPECT_EQ(window->findChildren<QToolBar*>().size(), bars);
        EXPECT_EQ(window->findChildren<QMenuBar*>().size(), 1);
        EXPECT_EQ(window->findChildren<QStatusBar*>().size(), 1);
        EXPECT_EQ(link.selected(), 7);
        EXPECT_EQ(link.run(), feed.tracks()[1]);
    }
    QSettings settings;
    EXPECT_TRUE(settings.value(u"window/plotsByHand"_s).toByteArray().isEmpty())
        << "nobody has moved a plot";
}

TEST_F(FillTest, WhatTheWindowSaysIsSaidAnew) {
    trainShortly({"max_steps=12"}, {u"fp32"_s, u"amp-fp16"_s});
    commands.report(engine::Error(engine::ErrorCode::io, engine::msg("{}: the disk is full", "a"),
                                  engine::msg("Free some space, or give another folder.")));
    auto* message = window->findChild<MessageBar*>();
    ASSERT_TRUE(message->isVisible());
    ASSERT_TRUE(message->accessibleName().startsWith(u"a: the disk is full"_s));
    ASSERT_TRUE(speak(u"zh_CN"_s));
    message = window->findChild<MessageBar*>();
    EXPECT_TRUE(message->isVisible());
    EXPECT_TRUE(isChinese(message->accessibleName())) << message->accessibleName().toStdString();
    message->hide();
    standsStill();
    // Verdict, cards, the selected step: nothing stays English but names and units.
    auto* verdict = window->findChild<VerdictBar*>();
    QString said;
    for (const auto* label : verdict->findChildren<QLabel*>()) said += label->text();
    EXPECT_TRUE(isChinese(said)) << said.toStdString();
    for (const QString& text : words()) {
        for (const char* english : {"the ", " and ", " loss", "step ", "No measurable"})
            EXPECT_FALSE(text.contains(QLatin1StringView(english))) << text.toStdString();
    }
}

/// The table of operations.
QTreeView* treeOf(const XrayPage* page) {
    for (auto* view : page->findChildren<QTreeView*>())
        if (!view->model()->inherits("ui::DifferenceTable")) return view;
    return nullptr;
}

TEST_F(FillTest, PagesKeepWhatTheyComputedAndWhatIsSetInThem) {
    trainShortly({"max_steps=12"});
    stack()->showPage(u"runs"_s);
    stack()->showPage(u"xray"_s);
    auto* page = window->findChild<XrayPage*>();
    auto* model = kept->findChild<XrayModel*>();
    ASSERT_TRUE(page != nullptr && model != nullptr);
    ASSERT_TRUE(waitFor([&] { return model->ownTrace() && !model->busy(); }, 30'000));
    page->findChild<QLineEdit*>()->setText(u"linear"_s);
    auto* tree = treeOf(page);
    ASSERT_NE(tree, nullptr);
    const auto found = [&] { return tree->model()->index(0, 0, tree->model()->index(0, 0)); };
    ASSERT_TRUE(waitFor([&] { return found().isValid(); }, 30'000));
    const QModelIndex row = found();
    tree->setCurrentIndex(row);
    const engine::Xray* trace = &*model->ownTrace();
    ASSERT_TRUE(speak(u"zh_CN"_s));
    EXPECT_EQ(stack()->shown().name, u"xray"_s);
    EXPECT_TRUE(stack()->made().contains(u"runs"_s));
    page = window->findChild<XrayPage*>();
    EXPECT_EQ(page->findChild<QLineEdit*>()->text(), u"linear"_s);
    tree = treeOf(page);
    EXPECT_EQ(tree->currentIndex().row(), row.row());
    EXPECT_TRUE(tree->currentIndex().parent().isValid());
    EXPECT_EQ(kept->findChild<XrayModel*>(), model);
    EXPECT_EQ(&*model->ownTrace(), trace) << "not traced again";
    EXPECT_TRUE(isChinese(tree->model()->index(0, 0).data().toString()));
}

TEST_F(FillTest, APrecisionSearchGoesOnAndPlotsKeepTheirZoomedValues) {
    trainShortly({"max_steps=12"});
    const auto loss = [this] {
        return window->findChild<QDockWidget*>(u"loss"_s)->findChild<LinePlot*>();
    };
    link.zoomValues(loss(), {0.5, 2});
    stack()->showPage(u"xray"_s);
    auto* model = kept->findChild<XrayModel*>();
    ASSERT_TRUE(waitFor([&] { return model->ownTrace() && !model->busy(); }, 30'000));
    const auto press = [](const QWidget* in, const QString& text) {
        for (auto* each : in->findChildren<QAbstractButton*>())
            if (each->text() == text) return each->click();
        ADD_FAILURE() << text.toStdString();
    };
    press(window->findChild<XrayPage*>(), u"Find the smallest FP32 set…"_s);
    auto* dialog = window->findChild<SearchDialog*>();
    ASSERT_NE(dialog, nullptr);
    auto* confirm = dialog->findChildren<QComboBox*>().value(1);
    const int last = confirm->count() - 1;
    confirm->setCurrentIndex(last);
    press(dialog, u"Search"_s);
    SearchJob* job = dialog->job();
    ASSERT_TRUE(job->running());
    ASSERT_TRUE(speak(u"zh_CN"_s));
    ASSERT_TRUE(waitFor([&] { return window->findChild<SearchDialog*>() != nullptr; }, 5'000));
    dialog = window->findChild<SearchDialog*>();
    EXPECT_TRUE(dialog->isVisible());
    EXPECT_TRUE(isChinese(dialog->windowTitle()));
    EXPECT_EQ(dialog->job(), job) << "the search is the one that was begun";
    EXPECT_FALSE(job->stopping());
    EXPECT_EQ(dialog->findChildren<QComboBox*>().value(1)->currentIndex(), last);
    EXPECT_TRUE(waitFor([&] { return link.values(loss()) == PlotLink::Values(0.5, 2); }, 5'000));
    dialog->close();
    EXPECT_FALSE(model->isSearchOpen()) << "closing ends it";
}

TEST_F(FillTest, TheHelpStaysOpenAtItsPage) {
    auto* menu = window->findChild<MainMenu*>();
    menu->showHelpWindow(u"optimizer.lr"_s);
    const HelpWindow* help = menu->help();
    ASSERT_NE(help, nullptr);
    EXPECT_EQ(help->topic(), u"optimizer.lr"_s);
    ASSERT_TRUE(speak(u"zh_CN"_s));
    help = window->findChild<MainMenu*>()->help();
    ASSERT_NE(help, nullptr);
    EXPECT_EQ(help->topic(), u"optimizer.lr"_s);
    EXPECT_TRUE(isChinese(help->windowTitle()));
    EXPECT_EQ(window->findChildren<HelpWindow*>().size(), 1);
}

}  // namespace
}  // namespace ui
