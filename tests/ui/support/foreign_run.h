#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <memory>

#include "engine/runs/run_store.h"
#include "engine/session/compute_thread.h"
#include "engine/session/session.h"

namespace ui {

/// A run that another process writes: here a session with a store of its own, which the feed does
/// not know. It has five steps.
struct ForeignRun {
    explicit ForeignRun(const engine::RunConfig& config)
        : writer(config, std::make_shared<engine::ComputeThread>(),
                 std::make_shared<engine::RunStore>(home / "runs"), inFolder(home / "torch")) {
        write(5);
    }
    void write(std::int64_t upTo) {
        while (writer.record().size() < upTo) {
            const auto before = writer.record().size();
            writer.post(engine::Command::step);
            ASSERT_TRUE(QTest::qWaitFor(
                [&] {
                    return writer.record().size() > before &&
                           writer.state() == engine::RunState::paused;
                },
                300'000));
        }
    }
    std::filesystem::path folder() const { return home / "torch"; }

    QTemporaryDir other;
    std::filesystem::path home = other.path().toStdString();
    engine::Session writer;

private:
    static engine::SessionOptions inFolder(const std::filesystem::path& folder) {
        engine::SessionOptions options;
        options.folder = folder;
        return options;
    }
};

}  // namespace ui
