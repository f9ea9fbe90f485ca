#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/message.h"
#include "parallel/mpi_operations.h"
#include "parallel/mpi_watch.h"

namespace engine {

/// The only thread of this process that calls MPI. It initialises and finalises MPI, transfers the
/// messages of all lines while other threads compute, and watches the other ranks (MpiWatch). Any
/// thread may call the public functions.
class MpiThread {
public:
    /// Tags of messages. MpiWatch has 0 and 1, and each line has one, from first_line_tag on.
    static constexpr int leave_tag = 2;
    static constexpr int first_line_tag = 3;

    /// Initialises MPI and meets the other ranks. Throws Error(device).
    MpiThread();
    /// As leave(0), unless that was called.
    ~MpiThread();
    MpiThread(const MpiThread&) = delete;
    MpiThread& operator=(const MpiThread&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    int local_rank() const { return local_rank_; }

    /// Runs an operation to its end. Throws Error(training) with the reason if the launch has
    /// failed; after that the memory of the operation is not touched any more.
    void run(MpiOperation& operation) { run(operation, /*is_last=*/false); }
    /// Sends all ranks the reason why this one cannot continue.
    void fail(const Message& reason) noexcept;
    /// Like Communicator::when_lost().
    void when_lost(std::function<void(const Message&)> act);
    /// Like leave_launch() and speaks_for_ranks().
    int leave(int exit_code);
    bool speaks();

private:
    struct Job {
        MpiOperation* operation;
        bool is_last;  ///< once it is done, a rank that ends is not lost
        bool done = false;
    };

    void run(MpiOperation& operation, bool is_last);
    void work(std::promise<void>& joined);
    void turn();
    void take_jobs();
    bool advance_jobs();
    void rest(bool moved);
    void look_after_ranks();
    void give_up(const Loss& loss, bool tell_others);
    void end_if_overdue();
    void finalize();
    [[noreturn]] void abort_launch(int exit_code);
    [[noreturn]] void leave_failed(int exit_code);
    bool speaks_with_lock() const;
    std::optional<Loss> loss() const;

    int rank_ = 0, ranks_ = 1, local_rank_ = 0;
    std::unique_ptr<MpiWatch> watch_;                    // of the thread
    std::vector<Job*> active_;                           // of the thread
    int idle_polls_ = 0;                                 // of the thread
    bool all_have_ended_ = false;                        // of the thread
    std::chrono::steady_clock::time_point next_look_{};  // of the thread

    mutable std::mutex mutex_;  // guards all below, and Job::done
    std::condition_variable changed_;
    std::vector<Job*> submitted_;
    std::optional<Message> asked_to_fail_;
    std::optional<Loss> loss_;
    std::vector<std::function<void(const Message&)>> loss_handlers_;
    std::chrono::steady_clock::time_point lost_at_;
    enum class End { none, finalize, abort } end_ = End::none;
    int abort_code_ = 0;
    bool said_ = false;   ///< the reason of the loss, on standard error
    bool left_ = false;   ///< leave() was called
    bool ended_ = false;  ///< MPI is finalised
    std::thread thread_;
};

}  // namespace engine
