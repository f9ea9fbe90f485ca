#include "tryit/model_worker.h"

#include <deque>
#include <mutex>

#include "feed/background_task.h"

namespace ui {

namespace {

struct Task {
    ModelWorker::Ticket ticket;
    ModelWorker::Work work;
    ModelWorker::Failed failed;
};

}  // namespace

struct ModelWorker::Core {
    Open open;
    std::unique_ptr<engine::TrainedModel> model;  ///< of the running job; else guarded by mutex

    std::mutex mutex;  ///< guards what follows
    std::deque<Task> waiting;
    std::optional<Ticket> running;
    bool busy = false;   ///< a thread of the pool works on the jobs
    bool stale = false;  ///< the model is to be opened anew
    bool unused = false;  ///< the model is to be freed once no job waits

    /// The next job; nothing if none waits, and then the thread ends.
    std::optional<Task> next() {
        const std::lock_guard lock(mutex);
        running.reset();
        busy = !waiting.empty();
        if (!busy && std::exchange(unused, false)) model.reset();
        if (!busy) return std::nullopt;
        Task task = std::move(waiting.front());
        waiting.pop_front();
        running = task.ticket;
        return task;
    }
    /// The model as it is by now. Throws engine::Error.
    engine::TrainedModel& current() {
        bool old = false;
        {
            const std::lock_guard lock(mutex);
            old = std::exchange(stale, false);
        }
        if (old) model.reset();
        if (!model) model = open();
        return *model;
    }
};

ModelWorker::Ticket::Ticket(Job job, QObject* context) : job_(job), context_(context) {}

void ModelWorker::Ticket::post(std::function<void()> report) const {
    postToWindow([context = context_, stopped = stopped_, report = std::move(report)] {
        if (context && !*stopped) report();
    });
}

ModelWorker::ModelWorker(QThreadPool* pool, Open open, QObject* parent)
    : QObject(parent), pool_(pool), core_(std::make_shared<Core>()) {
    core_->open = std::move(open);
}

ModelWorker::~ModelWorker() {
    const std::lock_guard lock(core_->mutex);
    core_->waiting.clear();
    if (core_->running) core_->running->stop();
}

void ModelWorker::ask(Job job, QObject* context, Work work, Failed failed) {
    if (job != Job::answer) stop(job);
    const std::lock_guard lock(core_->mutex);
    std::erase_if(core_->waiting, [job](const Task& task) { return task.ticket.job() == job; });
    core_->unused = false;
    core_->waiting.push_back({Ticket(job, context), std::move(work), std::move(failed)});
    if (std::exchange(core_->busy, true)) return;
    pool_->start([core = core_] { run(core); });
}

void ModelWorker::stop(Job job) {
    const std::lock_guard lock(core_->mutex);
    std::erase_if(core_->waiting, [job](const Task& task) { return task.ticket.job() == job; });
    if (core_->running && core_->running->job() == job) core_->running->stop();
}

void ModelWorker::reopen() {
    const std::lock_guard lock(core_->mutex);
    core_->stale = true;
}

void ModelWorker::release() {
    const std::lock_guard lock(core_->mutex);
    core_->unused = core_->busy;
    if (!core_->busy) core_->model.reset();
}

bool ModelWorker::holdsModel() const {
    const std::lock_guard lock(core_->mutex);
    return core_->busy || core_->model != nullptr;
}

void ModelWorker::run(const std::shared_ptr<Core>& core) {
    while (auto task = core->next()) {
        const auto work = [&] { task->work(core->current(), task->ticket); };
        if (const auto error = outcomeOf(work).error)
            task->ticket.post([failed = task->failed, error] { failed(*error); });
    }
}

}  // namespace ui
