#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <memory>
#include <vector>

#include "view/context.h"

namespace ui {

class Benchmarks;
class Desktop;
class MainWindow;
class Notifier;
class View;
class SettingsMemory;

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
    Q_OBJECT
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

}  // namespace ui
