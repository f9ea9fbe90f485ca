// X-ray and shadow pass of a run that is training or paused, and the precision search.
#include <QAbstractButton>
#include <QComboBox>
#include <QSignalSpy>
#include <QTreeWidget>

#include "microscope/microscope_model.h"
#include "pages/page_stack.h"
#include "skips/skip_list_view.h"
#include "window_fixture.h"
#include "xray/search_dialog.h"
#include "xray/xray_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::RunState;

constexpr int patience = 60'000;  // ms

struct LiveInstruments : WindowFixture {
    LiveInstruments() { QSettings().clear(); }
    ~LiveInstruments() override {
        commands.stop();
        EXPECT_TRUE(over());
        QSettings().clear();
    }

    void load() {
        engine::RunConfig config = engine::default_comparison();
        config.dataset.train_limit = 640;
        config.dataset.test_limit = 64;
        config.batch_size = 32;
        config.epochs = 1000;
        config.precision.preset = "amp-fp16";
        config.schedule.kind = "constant";
        settings.load(engine::completed(config));
    }
    void show(const QString& page) {
        window->findChild<PageStack*>()->showPage(page);
        QCoreApplication::processEvents();
    }
    bool over() {
        return QTest::qWaitFor(
            [&] {
                const RunState now = feed.state();
                return now == RunState::idle || now == RunState::done || now == RunState::failed;
            },
            patience);
    }
    bool pausesAt(std::int64_t rows) {
        return QTest::qWaitFor(
            [&] {
                const auto tracks = feed.tracks();
                return !tracks.empty() && feed.state() == RunState::paused &&
                       std::ranges::all_of(
                           tracks, [&](const auto& track) { return track->rows() == rows; });
            },
            patience);
    }
    template <typename Model>
    static bool idle(const Model* model) {
        return QTest::qWaitFor([&] { return !model->busy(); }, patience);
    }
    template <typename T>
    T* part() const {
        return window->findChild<T*>();
    }
    template <typename T>
    T* part(const QString& accessibleName) const {
        for (auto* each : window->findChildren<T*>()) {
            if (each->accessibleName() == accessibleName) return each;
        }
        return nullptr;
    }
    static QAbstractButton* button(const QWidget* in, const QString& text) {
        for (auto* each : in->findChildren<QAbstractButton*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }
};

TEST_F(LiveInstruments, APausedRunIsTracedAtOnceInBothPrecisions) {
    load();
    commands.step();
    ASSERT_TRUE(pausesAt(1));
    show(u"xray"_s);
    auto* page = part<XrayPage>();
    auto* model = page->findChild<XrayModel*>();
    ASSERT_TRUE(idle(model));  // a page that is opened traces a short step by itself
    EXPECT_NE(button(page, u"Trace the next step"_s), nullptr);
    ASSERT_TRUE(model->ownTrace()) << model->problem().toStdString();
    EXPECT_EQ(model->ownTrace()->step, 2);
    EXPECT_EQ(model->ownTrace()->precision, "amp-fp16");
    button(page, u"Difference"_s)->click();
    ASSERT_TRUE(idle(model));
    ASSERT_TRUE(model->otherTrace()) << model->problem().toStdString();
    EXPECT_EQ(model->otherTrace()->precision, "fp32");
    EXPECT_EQ(model->otherTrace()->step, 2);
    EXPECT_GT(part<DifferenceTable>()->rowCount(), 0);
    EXPECT_TRUE(to_csv(page->table()).starts_with("step,pass,module"));
    model->setView(XrayView::other);
    EXPECT_EQ(model->trace()->precision, "fp32");
    EXPECT_EQ(model->track()->rows(), 1) << "the run has not moved";
    commands.step();
    ASSERT_TRUE(pausesAt(2));
    EXPECT_EQ(model->track()->latest().loss, static_cast<float>(model->ownTrace()->loss));
}

TEST_F(LiveInstruments, ARunIsTracedWhileItTrains) {
    load();
    commands.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() > 0; }, patience));
    show(u"xray"_s);
    auto* model = part<XrayPage>()->findChild<XrayModel*>();
    ASSERT_TRUE(idle(model));
    const std::int64_t before = feed.tracks()[0]->rows();
    QTest::keyClick(part<XrayPage>(), Qt::Key_T);
    ASSERT_TRUE(model->busy());
    ASSERT_TRUE(idle(model));
    ASSERT_TRUE(model->ownTrace()) << model->problem().toStdString();
    const std::int64_t step = model->ownTrace()->step;
    EXPECT_GT(step, before);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[0]->rows() >= step; }, patience));
    EXPECT_EQ(feed.tracks()[0]->at(step).loss, static_cast<float>(model->ownTrace()->loss));
}

/// If painting exceeds its budget frames are delayed, also while the plots are hidden.
TEST_F(LiveInstruments, FiguresGoOnWhilePlotsAreOutOfSight) {
    load();
    show(u"xray"_s);
    commands.start();
    scheduler.setSaving(true);
    // The run goes on, and so do frames, until the fixture has stopped it.
    const QSignalSpy frames(&feed, &EventFeed::figuresDue);
    QObject::connect(&feed, &EventFeed::rowsArrived, &scheduler,
                     [this] { scheduler.charge(1000); });
    EXPECT_TRUE(QTest::qWaitFor([&] { return frames.count() >= 3; }, patience)) << frames.count();
}

TEST_F(LiveInstruments, AForcedTypeIsKeptForTheNextStartAndTakenBack) {
    load();
    commands.step();
    ASSERT_TRUE(pausesAt(1));
    show(u"xray"_s);
    auto* page = part<XrayPage>();
    auto* model = page->findChild<XrayModel*>();
    model->traceStep();
    ASSERT_TRUE(idle(model));
    ASSERT_TRUE(model->ownTrace()) << model->problem().toStdString();
    // F on the first convolution forces it to the other precision.
    auto* tree = part<OpTree>();
    tree->setFilter(u"conv2d"_s, {});
    auto* table = part<QTreeView>(u"Operations"_s);
    ASSERT_NE(table, nullptr);
    table->setCurrentIndex(tree->index(0, 0, tree->index(0, 0, tree->index(0, 0))));
    ASSERT_NE(tree->op(table->currentIndex()), nullptr);
    QTest::keyClick(table, Qt::Key_F);
    ASSERT_TRUE(idle(model));
    ASSERT_TRUE(model->experiment()) << model->problem().toStdString();
    EXPECT_EQ(model->experiment()->forced,
              (engine::ForcedTypes{{"conv1:conv2d", engine::ForcedType::fp32}}));
    button(page, u"Keep for the run"_s)->click();
    EXPECT_EQ(settings.config().precision.force, model->experiment()->forced);
    EXPECT_TRUE(model->kept());
    button(page, u"Undo"_s)->click();
    EXPECT_TRUE(settings.config().precision.force.empty());
    EXPECT_FALSE(model->experiment());
}

TEST_F(LiveInstruments, TheShadowPassOfAPausedRunIsThatOfItsStepToCome) {
    load();
    commands.step();
    ASSERT_TRUE(pausesAt(1));
    show(u"microscope"_s);
    auto* page = shownPage();
    auto* model = page->findChild<MicroscopeModel*>();
    EXPECT_TRUE(model->shadowsNext());
    button(page, u"Shadow pass now"_s)->click();
    ASSERT_TRUE(idle(model));
    ASSERT_TRUE(model->sample()) << model->problem().toStdString();
    EXPECT_EQ(model->sample()->step, 2);
    EXPECT_TRUE(model->shadowShown());
    EXPECT_EQ(link.selected(), 0) << "the page stays live";
    const double scale = model->scale();
    // The run has no histograms, so the step is counted on a copy.
    model->setShadowWanted(false);
    EXPECT_EQ(model->scale(), scale);
    EXPECT_EQ(model->sample()->step, 2);
    EXPECT_FALSE(model->shadowShown());
    EXPECT_GT(model->scale(), 1);
}

TEST_F(LiveInstruments, ThePrecisionSearchShowsItsTrialsAndItsSetIsKept) {
    load();
    commands.step();
    ASSERT_TRUE(pausesAt(1));
    show(u"xray"_s);
    ASSERT_TRUE(idle(part<XrayPage>()->findChild<XrayModel*>()));
    button(part<XrayPage>(), u"Find the smallest FP32 set…"_s)->click();
    auto* dialog = part<SearchDialog>();
    ASSERT_NE(dialog, nullptr);
    auto* confirm = dialog->findChildren<QComboBox*>().value(1);
    ASSERT_NE(confirm, nullptr);
    confirm->setCurrentIndex(confirm->findData(5));
    button(dialog, u"Search"_s)->click();
    const SearchJob* job = dialog->job();
    EXPECT_TRUE(job->running());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job->running(); }, patience));
    ASSERT_TRUE(job->found()) << job->problem().toStdString();
    EXPECT_EQ(job->step(), 2);
    EXPECT_EQ(job->found()->confirmed_steps, 5);
    constexpr double usual = engine::PrecisionSearchOptions::usual_tolerance;
    EXPECT_EQ(job->found()->tolerance, std::max(usual, 1.25 * job->found()->amp_error))
        << "automatic";
    EXPECT_EQ(dialog->findChild<QTreeWidget*>()->topLevelItemCount(),
              std::ssize(job->found()->trials));
    button(dialog, u"Keep for the run"_s)->click();
    EXPECT_EQ(settings.config().precision.force, job->found()->force);
    EXPECT_EQ(settings.config().precision.preset, "amp-fp16");
    EXPECT_EQ(feed.state(), RunState::paused);
}

TEST_F(LiveInstruments, TheListOfSkipsCountsStepsAsTheyCome) {
    load();
    commands.step();
    ASSERT_TRUE(pausesAt(1));
    show(u"skips"_s);
    const auto says = [&](const QString& words) {
        const auto labels = part<SkipListView>()->findChildren<QLabel*>();
        return std::ranges::any_of(labels,
                                   [&](const QLabel* label) { return label->text() == words; });
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return says(u"No skipped steps in 1."_s); }, patience));
    commands.step();
    ASSERT_TRUE(pausesAt(2));
    EXPECT_TRUE(QTest::qWaitFor([&] { return says(u"No skipped steps in 2."_s); }, patience));
}

TEST_F(LiveInstruments, APrecisionSearchCanBeCancelled) {
    load();
    show(u"xray"_s);
    button(part<XrayPage>(), u"Find the smallest FP32 set…"_s)->click();
    auto* dialog = part<SearchDialog>();
    button(dialog, u"Search"_s)->click();
    button(dialog, u"Cancel"_s)->click();
    const SearchJob* job = dialog->job();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job->running(); }, patience));
    EXPECT_FALSE(job->found());
    EXPECT_EQ(job->problem(), u"The search for a precision was stopped."_s);
}

}  // namespace
}  // namespace ui
