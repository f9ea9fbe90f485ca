#pragma once

#include <QTemporaryDir>
#include <QThreadPool>
#include <algorithm>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/benchmarks.h"
#include "models/settings_model.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "support/stillness.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"
#include "window/main_window.h"

namespace ui {

/// A window with everything that it depends on, and a history of its own.
struct WindowStage {
    WindowStage() {
        feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    }
    ~WindowStage() {
        window.reset();
        benchmarks.stop();
        QThreadPool::globalInstance()->waitForDone();
    }
    WindowStage(const WindowStage&) = delete;
    WindowStage& operator=(const WindowStage&) = delete;

    void openWindow(const QSize& size) {
        window.reset();
        window = std::make_unique<MainWindow>(context);
        window->resize(size);
        window->QWidget::show();
    }
    /// Lets the window work until nothing is laid out or painted any more: neither widgets nor
    /// plots, which have a time of their own.
    void settle() {
        constexpr int quiet = 30, limit = 2000;
        standsStill(quiet, limit);
        scheduler.charge(0);  // as the application does after each event
        waitFor([this] { return !scheduler.isPainting(); }, 2 * limit);
        standsStill(quiet, limit);
    }
    /// Whether all runs on screen have ended and all their rows have been read.
    bool ended() const {
        return !feed.tracks().empty() &&
               std::ranges::all_of(feed.tracks(), [](const auto& track) {
                   return track->failed() || (track->done() && track->rows() > 0 &&
                                              track->rows() == track->published());
               });
    }

    QTemporaryDir folder;
    Theme theme;
    Language language;
    EventFeed feed;
    SettingsModel settings;
    Commands commands{&feed, &settings};
    PlotLink link;
    PaintScheduler scheduler;
    View view{&feed, &link, &scheduler};
    QueueRunner queue{&feed, &commands};
    RunHistory history{&feed, &commands};
    Benchmarks benchmarks{&feed, folder.filePath(QStringLiteral("benchmarks.json"))};
    Context context{&theme, &language,  &feed,  &settings, &commands,
                    &link,  &scheduler, &queue, &history,  &benchmarks};
    std::unique_ptr<MainWindow> window;
};

}  // namespace ui
