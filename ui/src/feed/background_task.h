#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "text/language.h"

namespace ui {

/// Runs a function on another thread: a pool's, the compute thread, or a lesson's.
using Executor = std::function<void(std::function<void()>)>;

inline Executor onPool(QThreadPool* pool = QThreadPool::globalInstance()) {
    return [pool](std::function<void()> work) { pool->start(std::move(work)); };
}

inline Executor onOwnThread() {
    return [](std::function<void()> work) { std::thread(std::move(work)).detach(); };
}

/// Runs report() on the GUI thread, after earlier ones.
template <typename Report>
void postToWindow(Report report) {
    // Through the application, which outlives everything that waits for a report.
    if (auto* const program = QCoreApplication::instance())
        QMetaObject::invokeMethod(program, std::move(report), Qt::QueuedConnection);
}

/// Thrown by work that ends because it was stopped.
struct Stopped {};

/// How work ended: with a result or an error; with neither it was stopped.
template <typename Result>
struct Outcome {
    std::optional<Result> result;
    std::optional<engine::Error> error;

    bool stopped() const { return !result && !error; }
    /// Empty unless there is an error.
    Failure failure() const { return error ? Failure(*error) : Failure(); }
};

/// Work without a result has true as its result.
template <typename Work, typename... Arguments>
auto outcomeOf(Work& work, Arguments&... arguments) {
    using Result = std::invoke_result_t<Work&, Arguments&...>;
    Outcome<std::conditional_t<std::is_void_v<Result>, bool, Result>> out;
    try {
        if constexpr (std::is_void_v<Result>)
            out.result = (work(arguments...), true);
        else
            out.result = work(arguments...);
    } catch (const Stopped&) {
    } catch (const engine::Error& error) {
        out.error = error;
    } catch (const std::exception& error) {
        out.error.emplace(engine::ErrorCode::state, engine::Message(error.what()));
    }
    return out;
}

/// Runs work() on another thread and then done(result) on the GUI thread, unless `context` is gone
/// by then. work() must not touch the context; it may throw if done() takes an Outcome.
template <typename Work, typename Done>
void inBackground(QObject* context, Work work, Done done, const Executor& executor = onPool()) {
    executor([alive = QPointer<QObject>(context), work = std::move(work),
              done = std::move(done)]() mutable {
        auto result = [&work] {
            if constexpr (std::is_invocable_v<Done&, decltype(outcomeOf(work))>)
                return outcomeOf(work);
            else
                return work();
        }();
        postToWindow([alive, done = std::move(done), result = std::move(result)]() mutable {
            if (alive) done(std::move(result));
        });
    });
}

/// Work on another thread that tells its progress and can be stopped, one at a time. Ends with this
/// object, which stops the work and does not wait for it. GUI thread.
template <typename Progress, typename Result>
class BackgroundTask {
public:
    /// State that the work and the window share. Any thread.
    class Link {
    public:
        explicit Link(BackgroundTask* task = nullptr) : task_(task) {}
        bool stopped() const { return stop_.stop_requested(); }
        void stop() { stop_.request_stop(); }
        std::stop_token token() const { return stop_.get_token(); }
        /// Throws Stopped if the work was stopped.
        void check() const {
            if (stopped()) throw Stopped{};
        }
        /// For an engine::WorkScope: files that are written end with the work.
        engine::WorkWatcher watcher() const {
            return [this](double) { check(); };
        }
        template <typename Change>
        void report(Change change) {
            const std::lock_guard lock(mutex_);
            change(progress_);
        }
        Progress progress() const {
            const std::lock_guard lock(mutex_);
            return progress_;
        }

    private:
        friend class BackgroundTask;
        std::stop_source stop_;
        std::atomic<bool> ended_{false};
        mutable std::mutex mutex_;  ///< guards progress_
        Progress progress_{};
        BackgroundTask* task_;  ///< null: nobody waits for the outcome. GUI thread.
    };

    /// `progressed` is called every `interval` ms while work runs.
    explicit BackgroundTask(std::function<void()> progressed = {}, int interval = 100) {
        timer_.setInterval(interval);
        if (progressed) QObject::connect(&timer_, &QTimer::timeout, &timer_, std::move(progressed));
    }
    ~BackgroundTask() { drop(); }
    BackgroundTask(const BackgroundTask&) = delete;
    BackgroundTask& operator=(const BackgroundTask&) = delete;

    /// Runs work(link) and then ended(outcome) here. Work that still runs is stopped and its outcome
    /// dropped.
    void start(std::function<Result(Link&)> work, std::function<void(Outcome<Result>)> ended,
               const Executor& executor = onPool()) {
        drop();
        link_ = std::make_shared<Link>(this);
        ended_ = std::move(ended);
        running_ = true;
        timer_.start();
        executor([link = link_, work = std::move(work)]() mutable {
            auto outcome = std::make_shared<Outcome<Result>>(outcomeOf(work, *link));
            work = nullptr;
            link->ended_ = true;
            link->ended_.notify_all();
            postToWindow([link, outcome] {
                if (link->task_ != nullptr) link->task_->end(std::move(*outcome));
            });
        });
    }
    /// The work ends when it next looks; its outcome still comes.
    void stop() {
        if (link_) link_->stop();
    }
    /// Stops the work and drops its outcome and its progress.
    void drop() {
        stop();
        if (link_) std::exchange(link_, nullptr)->task_ = nullptr;
        running_ = false;
        timer_.stop();
    }
    /// Returns when the work has ended; its outcome comes later.
    void wait() const {
        if (link_) link_->ended_.wait(false);
    }
    bool running() const { return running_; }
    /// Whether the work was stopped, and has perhaps not ended yet.
    bool stopped() const { return link_ && link_->stopped(); }
    bool stopping() const { return running_ && stopped(); }
    /// Progress of the last work.
    Progress progress() const { return link_ ? link_->progress() : Progress{}; }

private:
    void end(Outcome<Result> outcome) {
        running_ = false;
        timer_.stop();
        // It may start other work or destroy this object.
        const auto ended = std::exchange(ended_, nullptr);
        ended(std::move(outcome));
    }

    QTimer timer_;
    std::shared_ptr<Link> link_;  ///< null: nothing was started, or it was dropped
    std::function<void(Outcome<Result>)> ended_;
    bool running_ = false;
};

}  // namespace ui
