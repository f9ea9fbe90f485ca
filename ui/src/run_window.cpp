// The program with a window: what outlives the window, and the window itself.
#include "ui/run_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QScreen>
#include <QSettings>
#include <QStyleFactory>
#include <QTextStream>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "commands/desktop.h"
#include "commands/notifier.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "engine/runs/run_store.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/benchmarks.h"
#include "models/settings_model.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "plots/plot_options.h"
#include "resources/resources.h"
#include "text/event_text.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "view/context.h"
#include "view/view.h"
#include "window/main_window.h"

namespace ui {
namespace {

/// Measures the turns of the event loop, that is stretches of work without a pause, and the time
/// from the start of the process to the first paint. With HALFTONE_TURN_LOG=FILE it writes both
/// there at the end.
class TurnLog {
public:
    TurnLog();
    ~TurnLog();
    void worked(qint64 from, qint64 to);  ///< ns on one clock
    /// The window has been painted for the first time.
    void painted();

private:
    QString file_;
    std::vector<float> turns_;  ///< ms
    double firstPaint_ = -1;    ///< ms since the process began
    qint64 start_ = 0;
    qint64 end_ = 0;
};

/// Owns everything that outlives the window, and the window.
class Application final : public QApplication {
    Q_DECLARE_TR_FUNCTIONS(ui::Application)
public:
    Application(int& argc, char** argv);
    ~Application() override;

    void openWindow();
    /// Opens the run store and the files on the command line, once the window has been painted:
    /// that reads the disk.
    void openFirst();
    bool notify(QObject* receiver, QEvent* event) override;

private:
    void join();
    void openStore();
    void updateSaving();
    void joinDesktop();
    void chooseRunsFolder();

    Context context_;
    std::unique_ptr<Theme> theme_;
    std::unique_ptr<Language> language_;
    std::unique_ptr<EventFeed> feed_;
    std::unique_ptr<SettingsModel> settings_;
    std::unique_ptr<SettingsMemory> memory_;
    std::unique_ptr<Commands> commands_;
    std::unique_ptr<PlotLink> link_;
    std::unique_ptr<PaintScheduler> scheduler_;
    std::unique_ptr<QueueRunner> queue_;
    std::unique_ptr<RunHistory> history_;
    std::unique_ptr<Benchmarks> benchmarks_;
    std::unique_ptr<Desktop> desktop_;
    std::unique_ptr<Notifier> notifier_;
    std::unique_ptr<View> view_;
    std::unique_ptr<QObject> kept_ = std::make_unique<QObject>();  ///< see Context::kept
    std::unique_ptr<MainWindow> window_;
    TurnLog turns_;
    QElapsedTimer clock_;
    int depth_ = 0;
    bool painted_ = false;
    bool opened_ = false;  ///< by openFirst()
};

constexpr int titleBar = 40;          // pixels that a window manager may add above
constexpr qint64 samePause = 30'000;  // ns: pieces of work nearer than that are one turn

int& named(int& argc) {
    nameProgram();
    return argc;
}

/// Milliseconds since the process began; -1 where the system does not say.
double sinceStart() {
    QFile stat(u"/proc/self/stat"_s), uptime(u"/proc/uptime"_s);
    if (!stat.open(QIODevice::ReadOnly) || !uptime.open(QIODevice::ReadOnly)) return -1;
    // The name in parentheses may contain spaces; 19 fields follow up to the start, in ticks.
    const QByteArray line = stat.readAll();
    const QByteArrayList fields = line.mid(line.lastIndexOf(')') + 2).split(' ');
    constexpr qsizetype startField = 19;
    if (fields.size() <= startField) return -1;
    const double began = fields[startField].toDouble() / static_cast<double>(sysconf(_SC_CLK_TCK));
    return 1000 * (uptime.readAll().split(' ').front().toDouble() - began);
}

}  // namespace

TurnLog::TurnLog() : file_(qEnvironmentVariable("HALFTONE_TURN_LOG")) {}

void TurnLog::worked(qint64 from, qint64 to) {
    if (file_.isEmpty()) return;
    if (from - end_ > samePause) {
        if (end_ > start_) turns_.push_back(static_cast<float>(end_ - start_) * 1e-6f);
        start_ = from;
    }
    end_ = to;
}

void TurnLog::painted() {
    if (!file_.isEmpty() && firstPaint_ < 0) firstPaint_ = sinceStart();
}

TurnLog::~TurnLog() {
    QFile file(file_);
    if (file_.isEmpty() || turns_.empty() || !file.open(QIODevice::WriteOnly)) return;
    std::sort(turns_.begin(), turns_.end());
    const auto at = [this](double share) {
        return static_cast<double>(
            turns_[static_cast<std::size_t>(share * static_cast<double>(turns_.size() - 1))]);
    };
    QTextStream out(&file);
    out << "first_paint_ms " << firstPaint_ << "\n";
    out << "turns " << turns_.size() << "\n";
    for (const double share : {0.5, 0.9, 0.99, 0.999, 1.0}) {
        out << "p" << share * 100 << "_ms " << at(share) << "\n";
    }
}

Application::Application(int& argc, char** argv) : QApplication(named(argc), argv) {
    clock_.start();
    setStyle(QStyleFactory::create(u"Fusion"_s));
    setWindowIcon(QIcon(u":/icons/logo.svg"_s));
    setDesktopFileName(u"halftone"_s);  // the desktop file's name: Wayland takes the icon from it
    theme_ = std::make_unique<Theme>();
    language_ = std::make_unique<Language>();
    link_ = std::make_unique<PlotLink>();
    link_->options()->remember();
    scheduler_ = std::make_unique<PaintScheduler>();
    settings_ = std::make_unique<SettingsModel>();
    memory_ = std::make_unique<SettingsMemory>(settings_.get());
    feed_ = std::make_unique<EventFeed>();
    commands_ = std::make_unique<Commands>(feed_.get(), settings_.get());
    queue_ = std::make_unique<QueueRunner>(feed_.get(), commands_.get());
    history_ = std::make_unique<RunHistory>(feed_.get(), commands_.get());
    benchmarks_ = std::make_unique<Benchmarks>(feed_.get(), Benchmarks::defaultFile());
    join();
}

Application::~Application() {
    notifier_.reset();
    window_.reset();
    kept_.reset();  // ends what its pages compute
    view_.reset();
    benchmarks_.reset();  // ends a measurement
    history_.reset();
    queue_.reset();
    commands_.reset();  // gives up exports and imports
    feed_.reset();  // stops the sessions
    QThreadPool::globalInstance()->waitForDone();
}

void Application::join() {
    context_ = {theme_.get(), language_.get(),  feed_.get(),  settings_.get(), commands_.get(),
                link_.get(),  scheduler_.get(), queue_.get(), history_.get(),  benchmarks_.get(),
                kept_.get()};
    view_ = std::make_unique<View>(feed_.get(), link_.get(), scheduler_.get());
    connect(feed_.get(), &EventFeed::stateChanged, this, &Application::updateSaving);
    connect(feed_.get(), &EventFeed::eventArrived, commands_.get(),
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                const auto* failed = std::get_if<engine::RunFailed>(&event);
                if (failed != nullptr) commands_->runFailed(*failed);
            });
    joinDesktop();
}

void Application::joinDesktop() {
    desktop_ = std::make_unique<Desktop>();
    notifier_ = std::make_unique<Notifier>(feed_.get(), queue_.get(), history_.get(),
                                           commands_.get(), desktop_.get());
    connect(notifier_.get(), &Notifier::told, this, [this] { alert(window_.get()); });
    connect(notifier_.get(), &Notifier::progressChanged, this, [this](double share) {
        if (!window_) return;
        const QString title =
            share < 0 ? u"Halftone"_s : tr("%1 % · Halftone").arg(static_cast<int>(share * 100));
        if (window_->windowTitle() != title) window_->setWindowTitle(title);
    });
    connect(desktop_.get(), &Desktop::clicked, this, [this] {
        if (!window_) return;
        if (window_->isMinimized()) window_->showNormal();
        window_->raise();
        window_->activateWindow();
    });
}

void Application::updateSaving() {
    const auto state = feed_->state();
    bool cpu = false;
    for (const auto& track : feed_->tracks()) {
        cpu = cpu || !track->started() || track->started()->device == "cpu";
    }
    scheduler_->setSaving(cpu && (state == engine::RunState::training ||
                                  state == engine::RunState::preparing ||
                                  state == engine::RunState::evaluating));
}

void Application::openStore() {
    const QString chosen = QSettings().value(u"runs"_s).toString();
    try {
        feed_->setStore(engine::RunStore::open(chosen.isEmpty()
                                                   ? engine::RunStore::default_root()
                                                   : std::filesystem::path(chosen.toStdString())));
        QStringList warnings;
        for (const auto& warning : feed_->store()->take_warnings())
            warnings << sentence(engineText(warning));
        if (!warnings.isEmpty()) {
            const QString first = warnings.takeFirst();
            commands_->report(
                {first, joined(warnings), engine::ErrorCode::io, false, {}, /*lasts=*/true});
        }
    } catch (const engine::Error& error) {
        commands_->report(error);
    }
}

void Application::openFirst() {
    if (std::exchange(opened_, true)) return;
    openStore();
    commands_->openPaths(arguments().mid(1));
}

void Application::chooseRunsFolder() {
    const QString folder = QFileDialog::getExistingDirectory(window_.get(), tr("Folder for runs"));
    if (folder.isEmpty()) return;
    QSettings().setValue(u"runs"_s, folder);
    openStore();
}

void Application::openWindow() {
    window_ = std::make_unique<MainWindow>(context_);
    connect(window_.get(), &MainWindow::runsFolderWanted, this, &Application::chooseRunsFolder);
    // On a small screen at the first start, keeps the window within the screen.
    const QSize room = window_->screen()->availableSize();
    const bool fits =
        window_->width() <= room.width() && window_->height() + titleBar <= room.height();
    if (!fits && !QSettings().contains(u"window/place"_s)) {
        window_->setWindowState(Qt::WindowMaximized);
    }
    window_->QWidget::show();
}

bool Application::notify(QObject* receiver, QEvent* event) {
    if (depth_ > 0) return QApplication::notify(receiver, event);
    const bool paints = event->type() == QEvent::UpdateRequest || event->type() == QEvent::Expose;
    const qint64 from = clock_.nsecsElapsed();
    ++depth_;
    const bool done = QApplication::notify(receiver, event);
    --depth_;
    const qint64 to = clock_.nsecsElapsed();
    turns_.worked(from, to);
    if (paints && !painted_ && window_ && window_->isVisible()) {
        painted_ = true;
        turns_.painted();
        QMetaObject::invokeMethod(this, &Application::openFirst, Qt::QueuedConnection);
    }
    if (paints && scheduler_) scheduler_->charge(static_cast<double>(to - from) * 1e-6);
    return done;
}

int run_window(int& argc, char** argv) {
    initResources();
    Application application(argc, argv);
    application.openWindow();
    // The first paint does it; a window that is minimised from the start paints nothing.
    constexpr int unseen = 1000;  // ms
    QTimer::singleShot(unseen, &application, [&application] { application.openFirst(); });
    return Application::exec();
}

}  // namespace ui
