#pragma once

#include <QObject>
#include <QThread>
#include <QTimer>
#include <memory>
#include <optional>
#include <vector>

#include "engine/lab/lesson_results.h"
#include "engine/lab/lesson_runner.h"
#include "feed/background_task.h"

namespace ui {

/// The state of a lesson's runs. A value; the reader and the watches may be read on any thread.
struct LessonSnapshot {
    struct Run {
        std::string name, label;
        engine::RunConfig config;
        engine::StepRecordReader record;
        std::optional<engine::RunStarted> started;
        std::optional<engine::RunDone> done;
        std::optional<engine::RunFailed> failed;
        std::filesystem::path folder;
        std::vector<std::shared_ptr<engine::WeightWatch>> weights;
    };
    engine::LessonRunner::State state = engine::LessonRunner::State::ready;
    std::vector<Run> runs;
    std::vector<engine::CheckResult> checks;
    /// Why the runs could not be started or checked; empty: they could.
    engine::Message problem, hint;
};

/// Owns the runner of a lesson on a thread of its own, so that the window's thread neither trains
/// nor evaluates checks. Commands are sent; snapshots come back, at most four a second. GUI thread.
class LessonWorker final : public QObject {
    Q_OBJECT
public:
    using Command = void (engine::LessonRunner::*)();

    /// Makes the runner on its thread and gives it the first command.
    LessonWorker(engine::Lesson lesson, engine::LessonStart start, Command first,
                 QObject* parent = nullptr);
    /// The runs stop after their step in flight, on a thread of the pool: nothing here waits.
    ~LessonWorker() override;

    void post(Command command);
    /// Runs work on the worker's thread, while the runs exist.
    Executor executor() const;
    /// The store with the runs, from any thread.
    std::shared_ptr<engine::RunStore> store() const;

signals:
    void snapshot(std::shared_ptr<const ui::LessonSnapshot> now);

private:
    class Loop;
    std::unique_ptr<QThread> thread_;
    std::unique_ptr<Loop> loop_;
};

}  // namespace ui
