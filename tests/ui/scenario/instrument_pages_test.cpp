// The pages of the instruments, with a run that has histograms and with a twin.
#include <QApplication>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QTableWidget>
#include <QToolButton>
#include <QTreeView>

#include "feed/track_verdict.h"
#include "microscope/exponent_plot.h"
#include "microscope/layer_map.h"
#include "microscope/microscope_page.h"
#include "microscope/scale_table.h"
#include "pages/page_stack.h"
#include "panels/step_chooser.h"
#include "skips/sample_grid.h"
#include "skips/skips_page.h"
#include "text/format.h"
#include "text/language.h"
#include "twin/loss_gap.h"
#include "twin/twin_map.h"
#include "twin/twin_page.h"
#include "widgets/side_columns.h"
#include "window_fixture.h"
#include "xray/xray_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::HistogramKind;

struct InstrumentPages : WindowFixture {
    InstrumentPages() { QSettings().clear(); }
    ~InstrumentPages() override { QSettings().clear(); }

    engine::RunConfig config(std::int64_t every) {
        engine::RunConfig config = engine::default_comparison();
        config.dataset.train_limit = 640;
        config.dataset.test_limit = 64;
        config.batch_size = 32;
        config.epochs = 1;  // 20 steps
        config.instruments.histograms_every = every;
        return config;
    }
    void load(std::int64_t every) { settings.load(config(every), {u"fp32"_s, u"amp-fp16"_s}); }
    void show(const QString& page) {
        window->findChild<PageStack*>()->showPage(page);
        QTest::qWait(50);
    }
    bool ends() {
        return QTest::qWaitFor(
            [&] {
                const auto tracks = feed.tracks();
                return !tracks.empty() && std::ranges::all_of(tracks, [](const auto& track) {
                    return track->done().has_value();
                });
            },
            60'000);
    }
    template <typename T>
    T* part() const {
        return window->findChild<T*>();
    }
    QStringList cells() const {
        QStringList out;
        for (const auto* label : part<ScaleTable>()->findChildren<QLabel*>()) out << label->text();
        return out;
    }
};

TEST_F(InstrumentPages, TheMicroscopeShowsTheSampleNearestToTheSelectedStep) {
    load(5);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    QTest::qWait(400);
    auto* model = part<MicroscopePage>()->findChild<MicroscopeModel*>();
    ASSERT_TRUE(model->sample());
    EXPECT_EQ(model->sample()->step, 20);
    EXPECT_EQ(model->layers().size(), 5U) << "of LeNet";
    link.select(8, feed.tracks()[0]);
    EXPECT_EQ(model->sample()->step, 10);
    EXPECT_EQ(model->drift().steps, (std::vector<std::int64_t>{5, 10, 15, 20}));
    model->select(3);
    EXPECT_EQ(link.layer(), u"fc2"_s);
    EXPECT_EQ(model->selectedLayer()->layer, "fc2");
    model->setKind(HistogramKind::weights);
    EXPECT_EQ(model->selectedLayer()->values.total(), 120 * 84 + 84);
    EXPECT_FALSE(model->scaled()) << "weights are not multiplied by the loss scale";
}

/// The bars stay, the outline and the third row follow, and the run does not change.
TEST_F(InstrumentPages, DraggingTheHandleSlidesTheGradients) {
    load(5);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    QTest::qWait(400);
    auto* model = part<MicroscopePage>()->findChild<MicroscopeModel*>();
    auto* plot = part<ExponentPlot>();
    const double before = model->scale();
    const QPoint from = plot->handle().center().toPoint();
    const double bit = plot->width() / 80.0;
    QTest::mousePress(plot, Qt::LeftButton, {}, from);
    QTest::mouseMove(plot, from + QPoint(static_cast<int>(8 * bit), 0));
    QTest::mouseRelease(plot, Qt::LeftButton, {}, from + QPoint(static_cast<int>(8 * bit), 0));
    EXPECT_GT(model->draggedScale(), before);
    EXPECT_EQ(std::exp2(std::round(std::log2(model->draggedScale()))), model->draggedScale());
    EXPECT_EQ(model->scale(), before);
    model->drag(before * 0x1p12);
    bool skipped = false, negative = false;
    for (const QString& text : cells()) {
        skipped = skipped || text.startsWith(u"skipped"_s);
        negative = negative || text.startsWith(u'−');
        EXPECT_FALSE(text.startsWith(u'-')) << text.toStdString();
    }
    EXPECT_TRUE(skipped && negative) << cells().join(u" | "_s).toStdString();
    // Columns keep the place that the widest figures gave them.
    const auto places = [this] {
        QCoreApplication::processEvents();
        std::vector<int> left;
        for (const auto* label : part<ScaleTable>()->findChildren<QLabel*>())
            left.push_back(label->x());
        return left;
    };
    const std::vector<int> wide = places();
    model->drag(before * 2);
    EXPECT_EQ(places(), wide);
    model->drag(before * 0x1p12);
    QTest::keyClick(plot, Qt::Key_Left);
    EXPECT_EQ(model->draggedScale(), before * 0x1p11);
    QTest::keyClick(plot, Qt::Key_Escape);
    EXPECT_FALSE(model->isDragged());
}

/// Also with a run without histograms.
TEST_F(InstrumentPages, TheShadowPassShowsTrueGradients) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = part<MicroscopePage>()->findChild<MicroscopeModel*>();
    link.select(7, feed.tracks()[0]);
    model->computeShadow();
    EXPECT_TRUE(model->busy());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 60'000));
    EXPECT_EQ(model->problem(), QString());
    ASSERT_TRUE(model->sample());
    EXPECT_TRUE(model->shadowShown());
    EXPECT_EQ(model->sample()->step, 7);
    EXPECT_EQ(model->layers().size(), 5U);
    EXPECT_EQ(model->counted(), 1) << "FP32 needs no scale";
    EXPECT_EQ(model->scale(), static_cast<double>(feed.tracks()[0]->at(7).loss_scale));
    EXPECT_GT(model->scale(), 1);
    EXPECT_FALSE(model->isDragged());
    EXPECT_TRUE(model->isMoved()) << "the handle stands at the scale of the step";
    EXPECT_TRUE(cells().contains(u"now, %1"_s.arg(powerOfTwo(model->scale()))));
    model->setShadowWanted(false);
    EXPECT_EQ(model->counted(), model->scale());
    EXPECT_FALSE(model->isMoved());
}

TEST_F(InstrumentPages, TheXrayPageTracesAStepAndTriesAForcedType) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"xray"_s);
    auto* model = part<XrayPage>()->findChild<XrayModel*>();
    auto* tree = part<XrayPage>()->findChild<OpTree*>();
    EXPECT_EQ(tree->rowCount(), 0);
    // Opened, the page traces the last step by itself.
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 60'000));
    ASSERT_TRUE(model->trace()) << model->problem().toStdString();
    EXPECT_EQ(model->trace()->step, 20);
    link.select(3, feed.tracks()[0]);
    model->traceStep();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 60'000));
    ASSERT_TRUE(model->trace()) << model->problem().toStdString();
    EXPECT_EQ(model->trace()->step, 3);
    EXPECT_EQ(tree->rowCount(), 3) << "forward, backward, optimizer";
    for (const auto* view : part<XrayPage>()->findChildren<QTreeView*>()) {
        if (view->accessibleName() != u"Operations"_s) continue;
        EXPECT_GE(view->columnWidth(OpTree::module), view->columnWidth(OpTree::rule));
    }
    int ops = 0;
    for (int pass = 0; pass < 3; ++pass) {
        const QModelIndex parent = tree->index(pass, 0);
        for (int group = 0; group < tree->rowCount(parent); ++group)
            ops += tree->rowCount(tree->index(group, 0, parent));
    }
    EXPECT_EQ(ops, static_cast<int>(model->trace()->ops.size()));
    tree->setFilter(u"conv2d"_s, {});
    EXPECT_EQ(tree->rowCount(tree->index(0, 0)), 2) << "convolutions of the forward pass";
    model->tryForced("conv1", engine::ForcedType::fp32);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 60'000));
    ASSERT_TRUE(model->experiment()) << model->problem().toStdString();
    EXPECT_GT(model->experiment()->before.gradient_error, 0);
    model->keep();
    EXPECT_EQ(settings.config().precision.force.at("conv1"), engine::ForcedType::fp32);
}

TEST_F(InstrumentPages, TheSkipsPageExaminesASkip) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p30;
    overflowing.precision.preset = "amp-fp16";
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    auto* model = part<SkipsPage>()->findChild<SkipsModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->skips().list.empty(); }, 30'000));
    const auto last = feed.tracks()[0]->latest();
    EXPECT_EQ(std::ssize(model->skips().list), last.step - last.updates);
    link.select(1, feed.tracks()[0]);
    ASSERT_NE(model->step(), nullptr);
    EXPECT_EQ(model->step()->step, 1);
    // Nothing trains, so the selected step is examined without being asked for.
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->report() != nullptr; }, 60'000))
        << model->problem().toStdString();
    EXPECT_EQ(model->report()->cause, engine::SkipCause::scale_too_large);
    EXPECT_EQ(model->report()->tests.size(), 6U);
}

TEST_F(InstrumentPages, AnOpenSkipsPageExaminesSkipsAsTheyHappen) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p20;
    overflowing.precision.preset = "amp-fp16";
    // The page needs a run to open, so one is loaded first.
    settings.load(engine::completed(config(0)));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    auto* model = part<SkipsPage>()->findChild<SkipsModel*>();
    const auto before = feed.tracks()[0];
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0] != before; }, 30'000));
    ASSERT_TRUE(ends());
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->report() != nullptr; }, 30'000));
    EXPECT_FALSE(model->watches()) << "the run has ended";
    EXPECT_EQ(model->report()->cause, engine::SkipCause::scale_too_large);
    EXPECT_TRUE(model->report()->histograms);
    EXPECT_GT(model->report()->capsule_bytes, 0);
    EXPECT_TRUE(std::ranges::all_of(model->skips().list,
                                    [](const auto& step) { return step.report.has_value(); }));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->picture().isNull(); }, 10'000));
    auto* grid = part<SampleGrid>();
    EXPECT_EQ(grid->findChild<QListWidget*>()->count(), 32);
    EXPECT_EQ(grid->sample(), model->report()->samples.front().sample);
}

TEST_F(InstrumentPages, ARunWithoutSkipsSaysHowLongTheScaleHasStayed) {
    engine::RunConfig growing = config(0);
    growing.scaler.init_scale = 4;
    growing.scaler.growth_interval = 8;
    growing.precision.preset = "amp-fp16";
    settings.load(engine::completed(growing));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    const auto says = [&](const QString& words) {
        const auto labels = part<SkipsPage>()->findChildren<QLabel*>();
        return std::ranges::any_of(labels,
                                   [&](const QLabel* label) { return label->text() == words; });
    };
    // The eighth and the sixteenth of the 20 steps raise the scale.
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return says(u"The loss scale last grew 4 steps ago, to 2⁴."_s); }, 5'000));
    EXPECT_TRUE(says(u"No skipped step"_s));
    EXPECT_TRUE(says(u"No skipped steps in 20."_s));
}

TEST_F(InstrumentPages, AClickOnASkipOpensIt) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p30;
    overflowing.precision.preset = "amp-fp16";
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(ends());
    emit part<StepChooser>()->skipOpened(1);
    EXPECT_EQ(part<PageStack>()->currentWidget(), part<SkipsPage>());
}

TEST_F(InstrumentPages, APageWithoutDataSaysWhatToDo) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = part<MicroscopePage>()->findChild<MicroscopeModel*>();
    EXPECT_TRUE(model->emptiness().contains(u"histograms every"_s));
    show(u"twin"_s);
    const auto* twin = part<TwinPage>()->findChild<TwinModel*>();
    EXPECT_TRUE(twin->emptiness().contains(u"Start one"_s));
    EXPECT_FALSE(twin->lossMissing().isEmpty());
}

TEST_F(InstrumentPages, TheTwinPageStartsAndResyncsATwin) {
    load(0);
    show(u"twin"_s);
    QPushButton *start = nullptr, *resync = nullptr;
    for (auto* button : part<TwinPage>()->findChildren<QPushButton*>()) {
        if (button->text().startsWith(u"Start a twin"_s)) start = button;
        if (button->text() == u"Resync now"_s) resync = button;
    }
    ASSERT_TRUE(start != nullptr && resync != nullptr);
    EXPECT_FALSE(resync->isEnabled());
    auto* every = part<TwinPage>()->findChild<QComboBox*>();
    every->setCurrentIndex(1);  // 10 steps
    start->click();
    ASSERT_TRUE(ends());
    QTest::qWait(400);
    auto* model = part<TwinPage>()->findChild<TwinModel*>();
    ASSERT_TRUE(model->any());
    EXPECT_EQ(model->steps(), 20);
    EXPECT_EQ(model->layers(), 5U);
    EXPECT_EQ(model->resyncs(), (std::vector<std::int64_t>{10, 20}));
    ASSERT_TRUE(model->reference() && model->other());
    EXPECT_EQ(model->reference()->precision(), "fp32");
    EXPECT_EQ(model->other()->precision(), "amp-fp16");
    EXPECT_EQ(part<TwinPage>()->findChild<QTableWidget*>()->rowCount(), 5);
    // The rule of the page Training, on the part that it names.
    const QString headline =
        engineText(judgeTracks(*model->reference(), *model->other(), 11).headline);
    const auto labels = part<TwinPage>()->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) {
        return label->text().contains(u"After the resync, from step 11 on: "_s + headline);
    }));
    EXPECT_FALSE(std::isnan(part<LossGap>()->gap()));
    EXPECT_EQ(part<LossGap>()->span(), std::pair(part<TwinMap>()->left(), part<TwinMap>()->right()))
        << "a step stands at one place in both";
    link.select(3, model->other());
    EXPECT_EQ(model->current(), 2);
}

/// The name that the export dialog proposes. Then the dialog is cancelled.
TEST_F(InstrumentPages, CtrlEExportsFromEveryInstrument) {
    engine::RunConfig overflowing = config(5);
    overflowing.scaler.init_scale = 0x1p30;
    settings.load(engine::completed(overflowing), {u"fp32"_s, u"amp-fp16"_s});
    commands.startTwin({});
    ASSERT_TRUE(ends());
    link.select(1, feed.tracks()[1]);
    show(u"skips"_s);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !part<SkipsPage>()->findChild<SkipsModel*>()->skips().list.empty(); },
        30'000));
    show(u"xray"_s);
    auto* xray = part<XrayPage>()->findChild<XrayModel*>();
    xray->traceStep();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !xray->busy(); }, 60'000));
    for (const auto& [page, name] : {std::pair{u"microscope"_s, u"microscope-"_s},
                                     {u"xray"_s, u"xray-"_s},
                                     {u"skips"_s, u"skips-"_s},
                                     {u"twin"_s, u"twin-"_s}}) {
        show(page);
        window->activateWindow();
        QTest::qWait(400);
        QString proposed;
        QTimer::singleShot(200, window.get(), [&proposed] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (dialog == nullptr) return;
            proposed = dialog->selectedFiles().value(0);
            dialog->reject();
        });
        QTest::keyClick(window.get(), Qt::Key_E, Qt::ControlModifier);
        EXPECT_TRUE(QTest::qWaitFor([&] { return !proposed.isEmpty(); }, 2'000));
        EXPECT_TRUE(QFileInfo(proposed).fileName().startsWith(name)) << proposed.toStdString();
    }
}

TEST_F(InstrumentPages, SideColumnsAreTabsInANarrowWindow) {
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
        QTest::qWait(100);
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
TEST_F(InstrumentPages, AChangeOfPageNeverWidensTheWindow) {
    load(5);
    commands.compare();
    ASSERT_TRUE(ends());
    for (const int width : {size::foldBelow, 1100}) {
        show(u"training"_s);
        window->resize(width, 820);
        QTest::qWait(100);
        const QStringList others{u"skips"_s, u"microscope"_s, u"lab"_s, u"runs"_s, u"twin"_s};
        for (const QString& page : others) {
            for (const QString& next : {page, u"xray"_s, u"training"_s, page, u"training"_s}) {
                show(next);
                EXPECT_EQ(window->width(), width) << page.toStdString() << next.toStdString();
            }
        }
    }
}

TEST_F(InstrumentPages, FitIntoANarrowWindow) {
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
