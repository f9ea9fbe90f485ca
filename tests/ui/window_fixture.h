#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "pages/page_stack.h"
#include "panels/verdict/verdict_bar.h"
#include "support/stillness.h"
#include "support/window_stage.h"

namespace ui {

/// A window with everything that it depends on, for a test.
struct WindowFixture : testing::Test, WindowStage {
    WindowFixture() {
        commands.setTrialLimit(std::chrono::milliseconds(0));
        openWindow({1440, 900});
        standsStill();
    }

    QWidget* shownPage() const { return window->findChild<PageStack*>()->currentWidget(); }
    QWidget* panelBody(const QString& name) const {
        return window->findChild<QDockWidget*>(name)->widget();
    }

    /// Whether the runs on screen end; as many as this if that is not 0.
    bool ends(std::size_t runs = 0) {
        return QTest::qWaitFor(
            [&] { return (runs == 0 || feed.tracks().size() == runs) && ended(); }, 300'000);
    }

    /// Trains one run, or several precisions side by side, and waits for the end of it on screen.
    void trainToEnd(const engine::RunConfig& config, const QStringList& presets) {
        settings.load(config, presets);
        if (presets.size() > 1)
            commands.compare();
        else
            commands.start();
        ASSERT_TRUE(ends(static_cast<std::size_t>(presets.size())));
        settle();
    }
    /// A few steps of a small model; "path=value" changes it. Some pages need a run on screen.
    void trainShortly(const std::vector<std::string>& changes = {},
                      const QStringList& presets = {QStringLiteral("fp32")}) {
        std::vector<std::string> values = {
            "dataset.kind=spirals", "dataset.train_limit=64", "model.kind=mlp", "batch_size=32",
            "max_steps=4",          "device=cpu",             "threads=1"};
        values.insert(values.end(), changes.begin(), changes.end());
        const auto parsed = engine::parse_run_config("{}", values);
        ASSERT_TRUE(parsed.errors.empty());
        trainToEnd(parsed.config, presets);
    }
};

}  // namespace ui
