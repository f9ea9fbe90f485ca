#pragma once

#include <QPushButton>
#include <QSettings>

#include "engine/session/session.h"
#include "pages/page_stack.h"
#include "tryit/tryit_page.h"
#include "window_fixture.h"

namespace ui {

/// A window with the models of tiny runs that were actually trained.
struct TryItFixture : WindowFixture {
    TryItFixture() { QSettings().remove(QStringLiteral("window/page")); }
    ~TryItFixture() override { QSettings().remove(QStringLiteral("window/page")); }

    engine::RunSummary train(engine::RunConfig config, const std::string& preset) {
        config.precision.preset = preset;
        config.device = "cpu";
        config.threads = 1;
        engine::Session session(config, std::make_shared<engine::ComputeThread>(), feed.store());
        session.post(engine::Command::start);
        EXPECT_TRUE(session.wait(120));
        return *feed.store()->find(session.run());
    }
    static engine::RunConfig config(const char* json) {
        return engine::parse_run_config(json).config;
    }
    static engine::RunConfig glyphs() {
        return config(R"({"dataset": {"kind": "glyphs", "train_limit": 640, "test_limit": 200},
                          "model": {"kind": "lenet"}, "batch_size": 16, "epochs": 1})");
    }
    static engine::RunConfig text() {
        return config(
            R"({"dataset": {"kind": "text-generated", "train_limit": 2000, "test_limit": 400},
                "model": {"kind": "rnn-lm", "options": {"embedding": 8, "hidden": 8, "layers": 1}},
                "batch_size": 4, "bptt": 5, "max_steps": 20})");
    }

    /// The index of the page in the row of pages.
    static int tabOf(const PageStack& stack) {
        const auto entries = pageEntries();
        const auto at = std::ranges::find(entries, QStringLiteral("tryit"), &PageEntry::name);
        EXPECT_LT(at - entries.begin(), stack.row()->count());
        return static_cast<int>(at - entries.begin());
    }
    /// Returns the page once the models are open.
    TryItPage* open(const std::vector<engine::RunSummary>& runs) {
        feed.showStored(runs);
        auto* stack = window->findChild<PageStack*>();
        stack->row()->setCurrentIndex(tabOf(*stack));
        auto* page = qobject_cast<TryItPage*>(stack->currentWidget());
        EXPECT_NE(page, nullptr);
        EXPECT_TRUE(QTest::qWaitFor([&] { return page->isSettled(); }, 300'000));
        standsStill();
        return page;
    }
    template <typename T = QPushButton>
    static T* named(const QWidget* in, const QString& name) {
        for (auto* each : in->findChildren<T*>()) {
            if (each->accessibleName() == name || each->objectName() == name) return each;
        }
        ADD_FAILURE() << "no " << name.toStdString();
        return nullptr;
    }
};

}  // namespace ui
