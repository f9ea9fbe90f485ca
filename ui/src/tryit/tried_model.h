#pragma once

#include <QColor>
#include <QObject>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/instruments/captured_step.h"
#include "engine/runs/run_store.h"
#include "feed/run_track.h"
#include "tryit/model_worker.h"

namespace ui {

/// Facts about a model that is open.
struct ModelFacts {
    engine::InputForm form;
    std::vector<std::string> classes;
    std::vector<engine::Metric> metrics;
    std::string target;
    std::string task;
    std::int64_t step = 0;
};

ModelFacts factsOf(const engine::TrainedModel& model);

/// "Sneaker"; the number of a class without a name.
QString className(const std::vector<std::string>& classes, std::size_t index);
/// Where an output is NaN.
QString noPrediction();
/// Name of the predicted class, or noPrediction().
QString predictedName(const std::vector<std::string>& classes, const engine::HardSample& sample);

/// A run on screen and its model, opened off the GUI thread. GUI thread.
class TriedModel final : public QObject {
    Q_OBJECT
public:
    /// Passes a copy of the run's next step to its argument, on the GUI thread.
    using Capture = std::function<void(std::function<void(engine::NextStepCapture)>)>;
    /// `checkpoint`: "last" or "best". With `capture` the weights that the run has now instead.
    TriedModel(std::shared_ptr<engine::RunStore> store, const RunTrack& track,
               std::string checkpoint, QThreadPool* pool, QObject* parent, Capture capture = {});

    const std::string& run() const { return run_; }
    const QString& title() const { return title_; }
    /// Its precision preset, which has a colour.
    const std::string& precision() const { return precision_; }
    /// Nothing until the model is open.
    const std::optional<ModelFacts>& facts() const { return facts_; }
    /// Why there is no model; empty if there is one, or will be.
    const QString& problem() const { return problem_; }
    bool settled() const { return facts_ || !problem_.isEmpty(); }
    ModelWorker* worker() const { return worker_; }
    /// Another worker for the same model, of a pool's own.
    ModelWorker* makeWorker(QThreadPool* pool, QObject* parent) const;
    /// Opens the checkpoint that is the newest, or the best, by now, or the run's weights of now.
    void reopen();

signals:
    /// It was opened, or could not be.
    void changed();

private:
    /// The captured step, which workers read on their threads.
    class Live {
    public:
        std::optional<engine::CapturedStep> get() const {
            const std::lock_guard lock(mutex_);
            return step_;
        }
        void set(const std::optional<engine::CapturedStep>& step) {
            const std::lock_guard lock(mutex_);
            step_ = step;
        }

    private:
        mutable std::mutex mutex_;
        std::optional<engine::CapturedStep> step_;
    };
    ModelWorker::Open opener() const;
    void open();
    void fail(const engine::Error& error);

    std::shared_ptr<engine::RunStore> store_;
    std::string run_;
    QString title_;
    std::string precision_;
    std::string checkpoint_;
    Capture capture_;
    std::shared_ptr<Live> live_ = std::make_shared<Live>();
    std::optional<ModelFacts> facts_;
    QString problem_;
    ModelWorker* worker_;
};

using TriedModels = std::vector<TriedModel*>;

/// An error's sentence and what to do, in the window's language.
QString errorText(const engine::Error& error);
/// A note on a text in the window's language; empty without one.
QString noteText(const engine::Message& note);

}  // namespace ui
