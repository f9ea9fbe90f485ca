// The pages of the instruments, with a run that has histograms and with a twin.
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>

#include "engine/io/named_file.h"
#include "engine/verdict/verdict.h"
#include "feed/run_track.h"
#include "microscope/exponent_plot.h"
#include "microscope/layer_map.h"
#include "microscope/microscope_model.h"
#include "microscope/scale_table.h"
#include "panels/step/step_chooser.h"
#include "scenario/instrument_fixture.h"
#include "screens/painted_text.h"
#include "skips/sample_grid.h"
#include "skips/skips_model.h"
#include "text/format.h"
#include "text/language.h"
#include "twin/loss_gap.h"
#include "twin/twin_map.h"
#include "twin/twin_model.h"
#include "xray/op_view.h"
#include "xray/totals_strip.h"
#include "xray/xray_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::HistogramKind;

struct InstrumentPagesTest : InstrumentFixture {
    QStringList cells() const {
        QStringList out;
        for (const auto* label : part<ScaleTable>()->findChildren<QLabel*>()) out << label->text();
        return out;
    }
};

TEST_F(InstrumentPagesTest, TheMicroscopeShowsTheSampleNearestToTheSelectedStep) {
    load(5);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = shownPage()->findChild<MicroscopeModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->sample().has_value(); }, 300'000));
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
TEST_F(InstrumentPagesTest, DraggingTheHandleSlidesTheGradients) {
    load(5);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = shownPage()->findChild<MicroscopeModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->sample().has_value(); }, 300'000));
    standsStill();
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

/// A run without histograms: one sentence says so, whatever the number of plots.
TEST_F(InstrumentPagesTest, AnEmptyMicroscopeSaysOnceWhyItIsEmpty) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    int said = 0;
    for (auto* widget : shownPage()->findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        const auto texts = paintedTexts(*widget);
        said += std::ranges::any_of(texts, [](const PaintedText& each) {
            return each.text.contains(u"istograms"_s);
        });
    }
    EXPECT_EQ(said, 1);
}

/// A trace holds up the run, so it ends with the page and with its run.
TEST_F(InstrumentPagesTest, ATraceEndsWhenItsPageIsLeftOrItsRunGoes) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"xray"_s);
    auto* model = part<XrayPage>()->findChild<XrayModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->ownTrace() && !model->busy(); }, 300'000))
        << "of a short step at once";
    auto* jobs = model->findChild<StepJobs*>();
    const QTemporaryDir scratch;
    const auto startEndless = [&] {
        jobs->run<int>(
            model->source(), std::nullopt,
            [file = scratch.path().toStdString() + "/turn"](const engine::CapturedStep&) -> int {
                for (;;) engine::write_named_file(file, "work that looks whether it goes on");
            },
            [](int, const engine::CapturedStep&) { FAIL() << "there is no result"; });
        EXPECT_TRUE(model->busy());
    };
    startEndless();
    show(u"training"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
    EXPECT_EQ(model->problem(), QString());
    show(u"xray"_s);
    EXPECT_TRUE(model->ownTrace()) << "the trace that was there stays";
    startEndless();
    commands.start();
    ASSERT_TRUE(ends());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
    EXPECT_EQ(model->problem(), QString());
}

/// An earlier scale called "now" would contradict the card.
TEST_F(InstrumentPagesTest, TheMicroscopeCallsNoEarlierScaleThatOfNow) {
    engine::RunConfig some = config(5);
    some.precision.preset = "amp-fp16";
    some.scaler.init_scale = 1;
    some.scaler.growth_interval = 8;  // twice in 20 steps
    settings.load(engine::completed(some));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = shownPage()->findChild<MicroscopeModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->sample().has_value(); }, 300'000));
    EXPECT_EQ(model->sample()->step, 20);
    EXPECT_TRUE(cells().contains(u"now, 2²"_s)) << cells().join(u'|').toStdString();
    link.select(5, feed.tracks()[0]);
    EXPECT_TRUE(cells().contains(u"step 5, 2⁰"_s)) << cells().join(u'|').toStdString();
    const auto* answer = shownPage()->findChild<QLabel*>(u"answer"_s);
    EXPECT_FALSE(answer->text().contains(u"now"_s)) << answer->text().toStdString();
}

/// Also with a run without histograms.
TEST_F(InstrumentPagesTest, TheShadowPassShowsTrueGradients) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = shownPage()->findChild<MicroscopeModel*>();
    link.select(7, feed.tracks()[0]);
    model->computeShadow();
    EXPECT_TRUE(model->busy());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
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

TEST_F(InstrumentPagesTest, TheXrayPageTracesAStepAndTriesAForcedType) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"xray"_s);
    auto* model = part<XrayPage>()->findChild<XrayModel*>();
    auto* tree = part<XrayPage>()->findChild<OpTree*>();
    EXPECT_EQ(tree->rowCount(), 0);
    // Opened, the page traces the last step by itself.
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
    ASSERT_TRUE(model->trace()) << model->problem().toStdString();
    EXPECT_EQ(model->trace()->step, 20);
    link.select(3, feed.tracks()[0]);
    model->traceStep();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
    ASSERT_TRUE(model->trace()) << model->problem().toStdString();
    EXPECT_EQ(model->trace()->step, 3);
    EXPECT_EQ(tree->rowCount(), 3) << "forward, backward, optimizer";
    QStringList totals;
    for (const auto* label : part<TotalsStrip>()->findChildren<QLabel*>()) totals << label->text();
    EXPECT_TRUE(totals.contains(u"1 op"_s)) << "the loss is kept in FP32: "
                                            << totals.join(u'|').toStdString();
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
    // A layer that is chosen on another page is shown; one that is chosen here leaves its row.
    auto* operations = part<XrayPage>()->findChild<OpView*>();
    const auto current = [&] { return tree->op(operations->currentIndex()); };
    link.selectLayer(u"conv1"_s);
    ASSERT_NE(current(), nullptr);
    EXPECT_EQ(current()->module, "conv1");
    const auto& all = model->trace()->ops;
    const auto backward = std::ranges::find_if(all, [](const engine::XrayOp& each) {
        return each.module == "conv2" && each.pass == engine::XrayPass::backward;
    });
    ASSERT_NE(backward, all.end());
    operations->reveal(&*backward);
    link.selectLayer(u"conv2"_s);
    EXPECT_EQ(current(), &*backward);
    tree->setFilter(u"conv2d"_s, {});
    EXPECT_EQ(tree->rowCount(tree->index(0, 0)), 2) << "convolutions of the forward pass";
    model->tryForced("conv1", engine::ForcedType::fp32);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
    ASSERT_TRUE(model->experiment()) << model->problem().toStdString();
    EXPECT_GT(model->experiment()->before.gradient_error, 0);
    model->keep();
    EXPECT_EQ(settings.config().precision.force.at("conv1"), engine::ForcedType::fp32);
}

TEST_F(InstrumentPagesTest, TheSkipsPageExaminesASkip) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p30;
    overflowing.precision.preset = "amp-fp16";
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    auto* model = shownPage()->findChild<SkipsModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->skips().list.empty(); }, 300'000));
    const auto last = feed.tracks()[0]->latest();
    EXPECT_EQ(std::ssize(model->skips().list), last.step - last.updates);
    link.select(1, feed.tracks()[0]);
    ASSERT_NE(model->step(), nullptr);
    EXPECT_EQ(model->step()->step, 1);
    // Nothing trains, so the selected step is examined without being asked for.
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->report() != nullptr; }, 300'000))
        << model->problem().toStdString();
    EXPECT_EQ(model->report()->cause, engine::SkipCause::scale_too_large);
    EXPECT_EQ(model->report()->tests.size(), 6U);
}

TEST_F(InstrumentPagesTest, AnOpenSkipsPageExaminesSkipsAsTheyHappen) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p20;
    overflowing.precision.preset = "amp-fp16";
    // The page needs a run to open, so one is loaded first.
    settings.load(engine::completed(config(0)));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    auto* model = shownPage()->findChild<SkipsModel*>();
    const auto before = feed.tracks()[0];
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0] != before; }, 300'000));
    ASSERT_TRUE(ends());
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->report() != nullptr; }, 300'000));
    EXPECT_FALSE(model->watches()) << "the run has ended";
    EXPECT_EQ(model->report()->cause, engine::SkipCause::scale_too_large);
    EXPECT_TRUE(model->report()->histograms);
    EXPECT_GT(model->report()->capsule_bytes, 0);
    EXPECT_TRUE(std::ranges::all_of(model->skips().list,
                                    [](const auto& step) { return step.report.has_value(); }));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model->picture().isNull(); }, 300'000));
    auto* grid = part<SampleGrid>();
    EXPECT_EQ(grid->findChild<QListWidget*>()->count(), 32);
    EXPECT_EQ(grid->sample(), model->report()->samples.front().sample);
    // The verdict kept the colour of the theme that was before.
    show(u"training"_s);
    theme.setChoice(Theme::Choice::dark);
    show(u"skips"_s);
    const auto labels = shownPage()->findChildren<QLabel*>();
    const auto verdict =
        std::ranges::find(labels, engineText(model->report()->verdict()), &QLabel::text);
    ASSERT_NE(verdict, labels.end());
    EXPECT_EQ((*verdict)->palette().color(QPalette::WindowText), theme.tokens().good);
    theme.setChoice(Theme::Choice::system);
}

TEST_F(InstrumentPagesTest, ARunWithoutSkipsSaysHowLongTheScaleHasStayed) {
    engine::RunConfig growing = config(0);
    growing.scaler.init_scale = 4;
    growing.scaler.growth_interval = 8;
    growing.precision.preset = "amp-fp16";
    settings.load(engine::completed(growing));
    commands.start();
    ASSERT_TRUE(ends());
    show(u"skips"_s);
    const auto says = [&](const QString& words) {
        const auto labels = shownPage()->findChildren<QLabel*>();
        return std::ranges::any_of(labels,
                                   [&](const QLabel* label) { return label->text() == words; });
    };
    // The eighth and the sixteenth of the 20 steps raise the scale.
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return says(u"The loss scale last grew 4 steps ago, to 2⁴."_s); }, 300'000));
    EXPECT_TRUE(says(u"No skipped step"_s));
    EXPECT_TRUE(says(u"No skipped steps in 20."_s));
}

TEST_F(InstrumentPagesTest, AClickOnASkipOpensIt) {
    engine::RunConfig overflowing = config(0);
    overflowing.scaler.init_scale = 0x1p30;
    overflowing.precision.preset = "amp-fp16";
    settings.load(engine::completed(overflowing));
    commands.start();
    ASSERT_TRUE(ends());
    emit part<StepChooser>()->skipOpened(1);
    EXPECT_EQ(part<PageStack>()->shown().name, u"skips"_s);
}

TEST_F(InstrumentPagesTest, APageWithoutDataSaysWhatToDo) {
    load(0);
    commands.start();
    ASSERT_TRUE(ends());
    show(u"microscope"_s);
    auto* model = shownPage()->findChild<MicroscopeModel*>();
    EXPECT_TRUE(model->emptiness().contains(u"histograms every"_s));
    show(u"twin"_s);
    const auto* twin = shownPage()->findChild<TwinModel*>();
    EXPECT_TRUE(twin->emptiness().contains(u"Start one"_s));
    EXPECT_FALSE(twin->lossMissing().isEmpty());
}

TEST_F(InstrumentPagesTest, TheTwinPageStartsAndResyncsATwin) {
    load(0);
    show(u"twin"_s);
    QPushButton *start = nullptr, *resync = nullptr;
    for (auto* button : shownPage()->findChildren<QPushButton*>()) {
        if (button->text().startsWith(u"Start a twin"_s)) start = button;
        if (button->text() == u"Resync now"_s) resync = button;
    }
    ASSERT_TRUE(start != nullptr && resync != nullptr);
    EXPECT_FALSE(resync->isEnabled());
    auto* every = shownPage()->findChild<QComboBox*>();
    every->setCurrentIndex(1);  // 10 steps
    start->click();
    ASSERT_TRUE(ends());
    auto* model = shownPage()->findChild<TwinModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->steps() == 20; }, 300'000));
    standsStill();
    ASSERT_TRUE(model->any());
    EXPECT_EQ(model->layers(), 5U);
    EXPECT_EQ(model->resyncs(), (std::vector<std::int64_t>{10, 20}));
    ASSERT_TRUE(model->reference() && model->other());
    EXPECT_EQ(model->reference()->precision(), "fp32");
    EXPECT_EQ(model->other()->precision(), "amp-fp16");
    EXPECT_EQ(shownPage()->findChild<QTableWidget*>()->rowCount(), 5);
    // The rule of the page Training, on the part that it names.
    const QString headline =
        engineText(judgeTracks(*model->reference(), *model->other(), 11).headline);
    const auto labels = shownPage()->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) {
        return label->text().contains(u"After the resync, from step 11 on: "_s + headline);
    }));
    EXPECT_FALSE(std::isnan(part<LossGap>()->gap()));
    EXPECT_EQ(part<LossGap>()->span(), std::pair(part<TwinMap>()->left(), part<TwinMap>()->right()))
        << "a step stands at one place in both";
    link.select(3, model->other());
    EXPECT_EQ(model->current(), 2);
}

}  // namespace
}  // namespace ui
