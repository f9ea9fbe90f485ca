#include "lab/lessons/lesson_worker.h"

#include <QPointer>
#include <QThreadPool>
#include <mutex>

#include "engine/base/error.h"

namespace ui {

namespace {

constexpr int every = 100;       // ms: looks at the runs
constexpr int checkEvery = 250;  // ms: evaluates the checks, tells the window

LessonSnapshot::Run viewOf(const engine::LessonRunView& run) {
    LessonSnapshot::Run out{run.name, run.label,    run.config, run.record, run.started,
                            run.done, std::nullopt, run.folder, run.weights};
    for (const auto& event : run.events) {
        if (const auto* failed = std::get_if<engine::RunFailed>(&event)) out.failed = *failed;
    }
    return out;
}

}  // namespace

/// Lives on the worker's thread.
class LessonWorker::Loop final : public QObject {
public:
    Loop(engine::Lesson lesson, engine::LessonStart start, LessonWorker* worker)
        : lesson_(std::move(lesson)), start_(std::move(start)), worker_(worker) {}

    void begin(Command first) {
        guarded([this] {
            runner_ = std::make_unique<engine::LessonRunner>(lesson_, start_);
            measured_ = std::make_unique<engine::MeasuredRuns>(*runner_);
            const std::lock_guard lock(mutex_);
            store_ = runner_->store();
        });
        post(first);
        auto* timer = new QTimer(this);
        timer->setInterval(every);
        connect(timer, &QTimer::timeout, this, [this] { look(); });
        timer->start();
        sinceTold_.start();
    }

    void post(Command command) {
        if (!runner_) return report();
        guarded([this, command] {
            std::invoke(command, *runner_);
            runner_->update();
        });
        report();
    }

    void end() {
        qDeleteAll(findChildren<QTimer*>());  // a timer ends on the thread that started it
        measured_.reset();
        runner_.reset();
    }

    std::shared_ptr<engine::RunStore> store() const {
        const std::lock_guard lock(mutex_);
        return store_;
    }

private:
    void look() {
        if (!runner_) return;
        guarded([this] { changed_ = runner_->update() || changed_; });
        if (!changed_ || sinceTold_.elapsed() < checkEvery) return;
        changed_ = false;
        report();
    }

    void report() {
        sinceTold_.restart();
        auto now = std::make_shared<LessonSnapshot>();
        if (runner_) {
            now->state = runner_->state();
            for (const auto& run : runner_->runs()) now->runs.push_back(viewOf(run));
            guarded([&] { now->checks = engine::check_results(lesson_, *measured_); });
        } else {
            now->state = engine::LessonRunner::State::ended;
        }
        now->problem = problem_;
        now->hint = hint_;
        postToWindow([alive = worker_, now = std::move(now)] {
            if (alive) emit alive->snapshot(now);
        });
    }

    template <typename Work>
    void guarded(Work work) {
        const auto error = outcomeOf(work).error;
        if (!error) return;
        problem_ = error->message();
        hint_ = error->hint();
    }

    engine::Lesson lesson_;
    engine::LessonStart start_;
    QPointer<LessonWorker> worker_;
    std::unique_ptr<engine::LessonRunner> runner_;
    std::unique_ptr<engine::MeasuredRuns> measured_;
    mutable std::mutex mutex_;
    std::shared_ptr<engine::RunStore> store_;
    engine::Message problem_, hint_;
    QElapsedTimer sinceTold_;
    bool changed_ = true;
};

LessonWorker::LessonWorker(engine::Lesson lesson, engine::LessonStart start, Command first,
                           QObject* parent)
    : QObject(parent),
      thread_(std::make_unique<QThread>()),
      loop_(std::make_unique<Loop>(std::move(lesson), std::move(start), this)) {
    thread_->setObjectName(QStringLiteral("lesson"));
    loop_->moveToThread(thread_.get());
    thread_->start();
    executor()([loop = loop_.get(), first] { loop->begin(first); });
}

LessonWorker::~LessonWorker() {
    QThreadPool::globalInstance()->start([thread = std::shared_ptr(std::move(thread_)),
                                          loop = std::shared_ptr(std::move(loop_))]() mutable {
        // The runner is destroyed on its own thread, which called it so far.
        QMetaObject::invokeMethod(
            loop.get(), [end = loop.get()] { end->end(); }, Qt::BlockingQueuedConnection);
        thread->quit();
        thread->wait();
        loop.reset();
    });
}

void LessonWorker::post(Command command) {
    executor()([loop = loop_.get(), command] { loop->post(command); });
}

Executor LessonWorker::executor() const {
    return [loop = loop_.get()](std::function<void()> work) {
        QMetaObject::invokeMethod(loop, std::move(work), Qt::QueuedConnection);
    };
}

std::shared_ptr<engine::RunStore> LessonWorker::store() const { return loop_->store(); }

}  // namespace ui
