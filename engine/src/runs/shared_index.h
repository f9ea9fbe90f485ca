#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "runs/kept_index.h"
#include "runs/open_runs.h"

namespace engine {

/// Decides when to retry something that failed: at once the first time, then after 50 ms and twice
/// as long after each failure, up to 5 s.
class Retry {
public:
    bool is_due() const { return Clock::now() >= next_; }
    void succeeded() { *this = {}; }
    void failed() {
        delay_ = std::clamp(delay_ * 2, shortest, longest);
        next_ = Clock::now() + delay_;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::duration shortest = std::chrono::milliseconds(50);
    static constexpr Clock::duration longest = std::chrono::seconds(5);
    Clock::duration delay_{};
    Clock::time_point next_{};
};

/// The index below a root, which other programs may hold for a while, and the open runs, whose
/// events it gets as soon as it is free. Thread-safe.
class SharedIndex {
public:
    /// Opens the index unless another program holds it. Throws Error(io) if it cannot be used.
    explicit SharedIndex(std::filesystem::path root);
    /// Brings the index up to date if no other program holds it; the folders have everything.
    ~SharedIndex();
    SharedIndex(const SharedIndex&) = delete;
    SharedIndex& operator=(const SharedIndex&) = delete;

    const std::filesystem::path& root() const { return root_; }
    OpenRuns& open_runs() { return runs_; }

    /// Returns f(RunIndex&) of an index that is up to date. For calls of a person: waits up to two
    /// seconds for another program that holds the index, then throws Error(io).
    template <typename F>
    auto ask(F&& f) {
        using Answer = std::invoke_result_t<F, RunIndex&>;
        if constexpr (std::is_void_v<Answer>) {
            wait_patiently([&] { index_.use(f); });
        } else {
            Answer answer{};
            wait_patiently([&] { answer = index_.use(f); });
            return answer;
        }
    }
    /// Drops the index and builds it again from the folders. Waits and throws as ask() does.
    void rebuild();

    /// Calls f(lock of the root) while no other thread or process makes a run or builds the index
    /// anew. f may call try_use() and try_flush().
    template <typename F>
    auto exclusively(F&& f) {
        const std::lock_guard lock(mutex_);
        return index_.exclusively(f);
    }
    /// f(RunIndex&), or `otherwise` if the index cannot be used now. Within exclusively() only.
    template <typename T, typename F>
    T try_use(T otherwise, F&& f) {
        try {
            return index_.use(f);
        } catch (const BusyDatabase&) {
            return otherwise;
        } catch (const Error&) {
            return otherwise;
        }
    }
    /// Brings the index up to date, or leaves that to a later call. Within exclusively() only.
    void try_flush();

    /// Brings the index up to date if that takes no waiting: for the compute thread. Returns an
    /// error of the index the first time that one occurs.
    std::optional<Error> flush_soon();

    /// Adds warnings for the next take_warnings().
    void warn(std::vector<Message> warnings);
    /// These, and problems of the index that were repaired since the last call.
    std::vector<Message> take_warnings();

private:
    using Clock = std::chrono::steady_clock;

    bool wait_for_index(Clock::duration time, const std::function<void()>& f);
    void wait_patiently(const std::function<void()>& f);

    const std::filesystem::path root_;
    std::mutex mutex_;  ///< guards the next four; taken before the mutex of the open runs
    KeptIndex index_;
    Retry retry_;
    std::vector<Message> warnings_;
    bool reported_ = false;  ///< an error of the index, by flush_soon()
    OpenRuns runs_;
};

}  // namespace engine
