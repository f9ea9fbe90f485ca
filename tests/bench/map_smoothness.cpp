// Whether the maps of the instruments move smoothly: turns of the event loop while the pages
// Microscope and Twin show a made-up run of 200 layers and 10,000 steps (histograms in every
// tenth), by mouse wheel, scroll bar, keys and drag, at 1440 x 900 and 3840 x 2160. Prints the
// median, the 99th percentile and the longest turn, as processor time of the window's thread and as
// wall time.
//
//     build/dev/tests/bench/map_smoothness [microscope|twin]
#include <QApplication>
#include <QFile>
#include <QScrollBar>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>
#include <QWheelEvent>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "engine/runs/run_store.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "microscope/drift_map.h"
#include "microscope/exponent_plot.h"
#include "microscope/layer_map.h"
#include "microscope/microscope_model.h"
#include "models/settings_model.h"
#include "pages/page_stack.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "record/histogram_file.h"
#include "record/step_record.h"
#include "record/twin_record.h"
#include "text/language.h"
#include "theme/theme.h"
#include "twin/twin_map.h"
#include "twin/twin_model.h"
#include "view/view.h"
#include "window/main_window.h"

static void initResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

namespace {

using namespace Qt::StringLiterals;

constexpr int layers = 200;
constexpr std::int64_t steps = 10'000, sampled = 10;

std::vector<std::string> layerNames() {
    std::vector<std::string> out;
    for (int i = 0; i < layers; ++i)
        out.push_back("encoder.layers." + std::to_string(i / 4) + ".block." +
                      std::to_string(i % 4));
    return out;
}

engine::StepRecord rowOf(std::int64_t step, bool scaled, std::mt19937& random) {
    std::normal_distribution<float> noise(0, 0.05F);
    engine::StepRecord row{};
    row.step = step;
    row.found_inf = scaled && step % 1250 == 0 ? 1 : 0;
    row.updates = scaled ? step - step / 1250 : step;
    row.samples = 64 * step;
    row.elapsed_s = 0.01 * static_cast<double>(step);
    row.loss = 2.3F * std::exp(-static_cast<float>(step) / 4000.F) + noise(random);
    row.accuracy = 0.5F;
    row.loss_scale = scaled ? 65536.F : 1.F;
    row.step_ms = 10;
    return row;
}

engine::HistogramSample sampleOf(std::int64_t step, const std::vector<std::string>& names) {
    engine::HistogramSample out{step, false, 65536.0, {}};
    for (int i = 0; i < layers; ++i) {
        for (const auto kind : {engine::HistogramKind::gradients, engine::HistogramKind::weights}) {
            engine::LayerHistogram& layer = out.layers.emplace_back();
            layer.layer = names[static_cast<std::size_t>(i)];
            layer.kind = kind;
            layer.type = engine::ValueType::f16;
            const double centre = 34 + 8 * std::sin(i * 0.1 + static_cast<double>(step) * 1e-3);
            for (int bin = 0; bin < engine::ExponentHistogram::bin_count; ++bin) {
                const double away = (bin - centre) / 6;
                layer.values.bins[static_cast<std::size_t>(bin)] =
                    static_cast<std::int64_t>(50'000 * std::exp(-away * away));
            }
            layer.values.largest = std::exp2(centre - 40);
            layer.values.smallest = 0x1p-30;
        }
    }
    return out;
}

/// A twin of two finished runs.
std::vector<engine::RunSummary> makeRuns(engine::RunStore& store) {
    const auto names = layerNames();
    const std::string group = engine::new_run_group();
    std::string reference;
    std::mt19937 random(1);
    for (const bool scaled : {false, true}) {
        engine::RunConfig config;
        config.precision.preset = scaled ? "amp-fp16" : "fp32";
        config.max_steps = steps;
        config.instruments.histograms_every = scaled ? sampled : 0;
        config = engine::completed(config);
        const auto made = store.create(config, {}, group);
        engine::RunStarted started{};
        started.run = made.run;
        started.config = config;
        started.device = "cpu";
        started.threads = 1;
        started.train_samples = 64 * steps;
        started.steps_planned = steps;
        started.folder = made.folder;
        store.append(started);
        auto record = engine::StepRecordWriter::create(made.folder);
        for (std::int64_t step = 1; step <= steps; ++step)
            record.append(rowOf(step, scaled, random));
        engine::RunDone done{};
        done.run = made.run;
        done.steps = steps;
        done.updates = steps;
        store.append(done);
        if (!scaled) {
            reference = made.run;
            continue;
        }
        engine::HistogramWriter histograms(made.folder);
        for (std::int64_t step = sampled; step <= steps; step += sampled)
            histograms.append(sampleOf(step, names));
        engine::TwinRecordWriter twin(made.folder, reference, names);
        std::vector<engine::TwinRow> rows(layers);
        std::lognormal_distribution<float> error(-4, 1);
        for (std::int64_t step = 1; step <= steps; ++step) {
            for (int i = 0; i < layers; ++i) {
                const float value = error(random);
                rows[static_cast<std::size_t>(i)] = {step,  i,    value, 60 * std::min(1.F, value),
                                                     false, false};
            }
            twin.append(rows);
        }
    }
    return store.list();
}

double threadSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Durations of turns in milliseconds.
class Turns {
public:
    /// One turn: an input and the painting that it causes, then turns without further input.
    void take(const std::function<void()>& input) {
        measure(input, true);
        for (int i = 0; i < 3; ++i) measure([] {}, false);
    }
    void print(const QString& name) {
        if (wall_.empty()) return;
        std::printf("%-44s %5zu   cpu %5.1f %5.1f %5.1f   wall %5.1f %5.1f %5.1f\n",
                    qPrintable(name), wall_.size(), at(cpu_, 0.5), at(cpu_, 0.99), at(cpu_, 1),
                    at(wall_, 0.5), at(wall_, 0.99), at(wall_, 1));
        std::fflush(stdout);
    }

private:
    void measure(const std::function<void()>& input, bool always) {
        const auto wall = std::chrono::steady_clock::now();
        const double cpu = threadSeconds();
        input();
        QCoreApplication::processEvents();
        const double used = 1e3 * (threadSeconds() - cpu);
        if (!always && used < 0.1) return;  // nothing was left to paint
        cpu_.push_back(used);
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - wall;
        wall_.push_back(passed.count());
    }
    static double at(std::vector<double>& values, double share) {
        std::ranges::sort(values);
        return values[static_cast<std::size_t>(
            std::ceil(share * static_cast<double>(values.size())) - 1)];
    }
    std::vector<double> cpu_, wall_;
};

void wheel(QAbstractScrollArea* area, int notches) {
    const QPointF at(area->viewport()->rect().center());
    QWheelEvent event(at, area->viewport()->mapToGlobal(at), {}, {0, -120 * notches}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(area->viewport(), &event);
}

void press(QWidget* widget, Qt::Key key) {
    QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(widget, &event);
}

void drag(QWidget* widget, QEvent::Type type, const QPointF& at) {
    const auto button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
    const auto buttons = type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton;
    QMouseEvent event(type, at, widget->mapToGlobal(at), button, buttons, Qt::NoModifier);
    QCoreApplication::sendEvent(widget, &event);
}

/// Moves a map with a row for each layer by wheel, scroll bar and keys.
void moveMap(const QString& name, QAbstractScrollArea* map) {
    Turns wheeled, slid, keyed;
    for (const int way : {1, -1})
        for (int i = 0; i < 60; ++i) wheeled.take([&] { wheel(map, way); });
    wheeled.print(name + u": wheel"_s);
    QScrollBar* bar = map->verticalScrollBar();
    for (int i = 0; i < 150; ++i)
        slid.take([&] { bar->setValue(bar->maximum() * (i * 37 % 150) / 150); });
    slid.print(name + u": scroll bar"_s);
    press(map, Qt::Key_Home);
    for (const auto key : {Qt::Key_Down, Qt::Key_Up})
        for (int i = 1; i < layers; ++i) keyed.take([&] { press(map, key); });
    keyed.print(name + u": Up and Down"_s);
}

template <typename Widget, typename At>
void dragAlong(const QString& name, Widget* widget, const At& at) {
    Turns turns;
    drag(widget, QEvent::MouseButtonPress, at(0.0));
    for (int i = 1; i <= 150; ++i)
        turns.take([&] { drag(widget, QEvent::MouseMove, at(i / 150.0)); });
    drag(widget, QEvent::MouseButtonRelease, at(1.0));
    turns.print(name);
}

/// Waits until a page shows its run, and has painted it.
void waitFor(const std::function<bool()>& shown) {
    if (!QTest::qWaitFor(shown, 60'000)) std::fprintf(stderr, "the page shows nothing\n");
    QCoreApplication::processEvents();
}

void measureMicroscope(ui::MainWindow& window, const QString& screen) {
    window.findChild<ui::PageStack*>()->showPage(u"microscope"_s);
    waitFor([&] { return !window.findChild<ui::MicroscopeModel*>()->layers().empty(); });
    moveMap(screen + u"layers"_s, window.findChild<ui::LayerMap*>());
    auto* plot = window.findChild<ui::ExponentPlot*>();
    const QPointF handle = plot->handle().center();
    const double room = std::min(300.0, plot->width() - handle.x() - 20);
    dragAlong(screen + u"histogram: drag the handle"_s, plot,
              [&](double share) { return handle + QPointF(room * share, 0); });
    press(plot, Qt::Key_Escape);
    auto* drift = window.findChild<ui::DriftMap*>();
    dragAlong(screen + u"drift: drag"_s, drift, [&](double share) {
        return QPointF(80 + (drift->width() - 120) * share, drift->height() / 2.0);
    });
}

void measureTwin(ui::MainWindow& window, const QString& screen) {
    window.findChild<ui::PageStack*>()->showPage(u"twin"_s);
    waitFor([&] { return window.findChild<ui::TwinModel*>()->layers() > 0; });
    auto* twin = window.findChild<ui::TwinMap*>();
    moveMap(screen + u"twin"_s, twin);
    Turns keyed;
    for (int i = 0; i < 100; ++i) keyed.take([&] { press(twin, Qt::Key_Left); });
    keyed.print(screen + u"twin: Left"_s);
    dragAlong(screen + u"twin: drag"_s, twin->viewport(), [&](double share) {
        const QWidget* view = twin->viewport();
        return QPointF(view->width() * (0.3 + 0.6 * share), view->height() / 2.0);
    });
}

QByteArray makeScreen(const QTemporaryDir& folder) {
    QFile file(folder.filePath(u"screen.json"_s));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(R"({"synchronousWindowSystemEvents": false, "windowFrameMargins": true,
                   "screens": [{"name": "large", "x": 0, "y": 0, "width": 3840, "height": 2160,
                                "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]})");
    return file.fileName().toUtf8();
}

}  // namespace

int main(int argc, char** argv) {
    QTemporaryDir home;
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" + makeScreen(home));
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    initResources();
    QCoreApplication::setOrganizationName(u"halftone-bench"_s);
    QApplication application(argc, argv);
    ui::Theme theme;
    ui::Language language;
    ui::EventFeed feed;
    ui::SettingsModel settings;
    ui::Commands commands{&feed, &settings};
    ui::PlotLink link;
    ui::PaintScheduler scheduler;
    ui::View view{&feed, &link, &scheduler};
    ui::QueueRunner queue{&feed, &commands};
    ui::RunHistory history{&feed, &commands};
    feed.setStore(std::make_shared<engine::RunStore>(home.filePath(u"runs"_s).toStdString()));
    const auto runs = makeRuns(*feed.store());
    feed.showStored(runs);
    feed.readAll();
    {
        const ui::Context context{&theme, &language,  &feed,  &settings, &commands,
                                  &link,  &scheduler, &queue, &history};
        ui::MainWindow window(context);
        window.QWidget::show();
        std::printf("%-44s turns   ms: median, 99th percentile, longest\n", "");
        const QString page = application.arguments().value(1);
        for (const QSize size : {QSize(1440, 900), QSize(3840, 2160)}) {
            const QString screen = u"%1 x %2, "_s.arg(size.width()).arg(size.height());
            window.resize(size);
            if (page != u"twin"_s) measureMicroscope(window, screen);
            if (page != u"microscope"_s) measureTwin(window, screen);
        }
    }
    QThreadPool::globalInstance()->waitForDone();
    return 0;
}
