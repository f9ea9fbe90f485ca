#include "engine/session/compute_thread.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

struct ComputeThread::Impl {
    std::mutex mutex;
    std::condition_variable changed;   // turns, wakes or stopping
    std::condition_variable finished;  // a turn ended
    std::vector<std::shared_ptr<Turn>> turns;
    std::vector<std::function<void()>> works;
    const Turn* running = nullptr;
    bool working = false;
    std::uint64_t wakes = 0;
    std::size_t rounds = 0;  // since there was nothing to do; compute thread only
    bool stopping = false;
    bool held = false;  // no turn may begin
    std::thread thread;

    /// The turn at `index` of this round, or null at its end; marks it as running.
    std::shared_ptr<Turn> begin(std::size_t index) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || !held; });
        if (stopping || index >= turns.size()) return nullptr;
        const auto& turn = turns[(rounds + index) % turns.size()];
        running = turn.get();
        return turn;
    }

    void end() {
        {
            const std::lock_guard lock(mutex);
            running = nullptr;
            working = false;
        }
        finished.notify_all();
    }

    std::function<void()> begin_work() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || !held; });
        if (stopping || works.empty()) return nullptr;
        working = true;
        auto work = std::move(works.front());
        works.erase(works.begin());
        return work;
    }

    /// One turn of each; false if none had anything to do.
    bool round() {
        bool any = false;
        for (std::size_t i = 0; auto turn = begin(i); ++i) {
            any = turn->run_turn() || any;
            turn.reset();  // before remove() may return: its caller frees the turn, not this thread
            end();
        }
        while (auto work = begin_work()) {
            work();
            work = nullptr;  // before a Pause may begin
            end();
        }
        // After an idle round the first session comes first again: it is the first to prepare and
        // to get a run number.
        rounds = any ? rounds + 1 : 0;
        return any;
    }

    void loop() {
        std::uint64_t seen = 0;
        while (true) {
            const bool any = round();
            std::unique_lock lock(mutex);
            if (!any) changed.wait(lock, [&] { return stopping || wakes != seen; });
            if (stopping) return;
            seen = wakes;
        }
    }
};

ComputeThread::ComputeThread() : impl_(std::make_unique<Impl>()) {
    impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

ComputeThread::~ComputeThread() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->stopping = true;
    }
    impl_->changed.notify_all();
    impl_->thread.join();
}

void ComputeThread::add(std::shared_ptr<Turn> turn) {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->turns.push_back(std::move(turn));
        ++impl_->wakes;
    }
    impl_->changed.notify_all();
}

void ComputeThread::run_once(std::function<void()> work) {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->works.push_back(std::move(work));
        ++impl_->wakes;
    }
    impl_->changed.notify_all();
}

void ComputeThread::remove(const Turn* turn) {
    std::unique_lock lock(impl_->mutex);
    auto& turns = impl_->turns;
    turns.erase(
        std::remove_if(turns.begin(), turns.end(), [&](const auto& t) { return t.get() == turn; }),
        turns.end());
    // The round in flight may pass one over that has moved up: it is asked in another.
    ++impl_->wakes;
    impl_->changed.notify_all();
    impl_->finished.wait(lock, [&] { return impl_->running != turn; });
}

ComputeThread::Pause::Pause(ComputeThread& thread) : impl_(*thread.impl_) {
    std::unique_lock lock(impl_.mutex);
    impl_.finished.wait(lock, [&] { return !impl_.held; });
    impl_.held = true;
    impl_.finished.wait(lock, [&] { return impl_.running == nullptr && !impl_.working; });
}

ComputeThread::Pause::~Pause() {
    {
        const std::lock_guard lock(impl_.mutex);
        impl_.held = false;
    }
    impl_.changed.notify_all();
    impl_.finished.notify_all();
}

void ComputeThread::wake() {
    {
        const std::lock_guard lock(impl_->mutex);
        ++impl_->wakes;
    }
    impl_->changed.notify_all();
}

}  // namespace engine
