#pragma once

#include <QPointer>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>

#include "engine/base/error.h"
#include "engine/train/trained_model.h"

namespace ui {

/// Runs a trained model on a thread pool: one job at a time, in order. The first job opens the
/// model. Every call returns at once. GUI thread.
class ModelWorker final : public QObject {
    Q_OBJECT
public:
    enum class Job { open, answer, generate, evaluate };
    /// A job's connection to the window: whether its result is still wanted, and how to report.
    class Ticket {
    public:
        Ticket(Job job, QObject* context);
        Job job() const { return job_; }
        bool stopped() const { return *stopped_; }
        void stop() { *stopped_ = true; }
        /// Runs `report` on the GUI thread, after earlier reports; not if the job was stopped or
        /// its context is gone by then.
        void post(std::function<void()> report) const;

    private:
        Job job_;
        QPointer<QObject> context_;
        std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
    };
    /// Makes the model, on the pool. Throws engine::Error.
    using Open = std::function<std::unique_ptr<engine::TrainedModel>()>;
    using Work = std::function<void(engine::TrainedModel&, const Ticket&)>;
    using Failed = std::function<void(const engine::Error&)>;

    /// `pool` outlives this.
    ModelWorker(QThreadPool* pool, Open open, QObject* parent = nullptr);
    /// Stops what is under way and does not wait for it.
    ~ModelWorker() override;

    /// Runs `work` on the pool, and `failed` on the GUI thread if `work` or opening the model
    /// threw. A waiting job of the same kind is dropped; a running one is stopped, unless it is an
    /// answer.
    void ask(Job job, QObject* context, Work work, Failed failed);
    void stop(Job job);
    /// Makes the next job open the model again.
    void reopen();
    /// Frees the model, at once or after the jobs that wait. The next job opens it again.
    void release();
    /// A model is in memory.
    bool holdsModel() const;

private:
    struct Core;
    static void run(const std::shared_ptr<Core>& core);

    QThreadPool* pool_;
    std::shared_ptr<Core> core_;  ///< shared with the pool
};

}  // namespace ui
