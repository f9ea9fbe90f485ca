#pragma once

#include <gtest/gtest.h>
#include <QThreadPool>

#include <QTemporaryDir>
#include <QTest>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/benchmarks.h"
#include "models/settings_model.h"
#include "panels/verdict_line.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"
#include "window/main_window.h"

namespace ui {

/// A window with everything that it depends on.
struct WindowFixture : testing::Test {
    WindowFixture() {
        commands.setTrialLimit(std::chrono::milliseconds(0));
        feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
        window = std::make_unique<MainWindow>(context);
        window->resize(1440, 900);
        window->QWidget::show();
        QTest::qWait(50);
    }
    ~WindowFixture() override {
        window.reset();
        benchmarks.stop();
        QThreadPool::globalInstance()->waitForDone();
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
