#pragma once

#include <gtest/gtest.h>

#include <QFileDialog>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTest>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "engine/session/compute_thread.h"
#include "engine/session/session.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "plots/line_plot.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "support/stillness.h"
#include "text/language.h"
#include "theme/theme.h"
#include "window/main_window.h"

namespace ui {

/// The main window with stored runs of a small net.
struct PlotWindowTest : testing::Test {
    PlotWindowTest() { feed.setStore(store); }
    ~PlotWindowTest() override {
        window.reset();
        QThreadPool::globalInstance()->waitForDone();
    }

    /// Trains one run in each precision, shows them all and opens the window.
    void show(const std::vector<std::string>& precisions, std::int64_t steps = 30) {
        for (const auto& precision : precisions) train(precision, steps);
        auto runs = store->list();
        std::sort(runs.begin(), runs.end(),
                  [](const auto& a, const auto& b) { return std::stoi(a.run) < std::stoi(b.run); });
        window = std::make_unique<MainWindow>(context);
        window->resize(1440, 900);
        window->QWidget::show();
        feed.showStored(runs);
        feed.readAll();
        link.setEnd(static_cast<double>(steps));
        standsStill();
        waitFor([this] { return !scheduler.isPainting(); });
    }

    void train(const std::string& precision, std::int64_t steps) {
        engine::RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.precision.preset = precision;
        config.scaler.preset = "classroom";
        config.scaler.growth_interval = 5;
        config.max_steps = steps;
        config.checkpoint.every_steps = checkpointEvery;
        engine::Session session(config, std::make_shared<engine::ComputeThread>(), store, {});
        session.post(engine::Command::start);
        EXPECT_TRUE(session.wait(300));
    }

    LinePlot* plot(const QString& panel) const {
        return window->findChild<QDockWidget*>(panel)->findChild<LinePlot*>();
    }

    std::int64_t checkpointEvery = 0;  ///< steps, for train()'s runs; 0: at the end
    QTemporaryDir folder;
    std::shared_ptr<engine::RunStore> store =
        std::make_shared<engine::RunStore>(folder.path().toStdString() + "/runs");
    Theme theme;
    Language language;
    EventFeed feed;
    SettingsModel settings;
    Commands commands{&feed, &settings};
    PlotLink link;
    PaintScheduler scheduler;
    RunHistory history{&feed, &commands};
    Context context{&theme, &language,  &feed,   &settings, &commands,
                    &link,  &scheduler, nullptr, &history};
    std::unique_ptr<MainWindow> window;
};

/// Runs `open`, which shows a file dialog, and answers the dialog with `file`. False if no dialog
/// appeared.
template <typename F>
bool answerFileDialog(const QString& file, F&& open) {
    bool answered = false;
    QTimer::singleShot(0, qApp, [&] {
        for (auto* widget : QApplication::topLevelWidgets()) {
            auto* dialog = qobject_cast<QFileDialog*>(widget);
            if (dialog == nullptr || !dialog->isVisible()) continue;
            dialog->findChild<QLineEdit*>()->setText(file);
            answered = true;
            QMetaObject::invokeMethod(dialog, "accept");
        }
    });
    open();
    return answered;
}

}  // namespace ui
