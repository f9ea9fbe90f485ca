#include "parallel/mpi_thread.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "engine/base/error.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds watch_interval{100};
// mpirun asks the other ranks to end one second after one has died, and kills them a second later.
constexpr milliseconds time_to_say_why{800};
constexpr seconds time_to_end{4};  // then the rank that speaks ends all ranks, even busy ones
// A rank may be stopped in the middle of a message, which can hold up MPI in the rank that speaks.
// If that one has not ended the launch by then, another one does.
constexpr milliseconds time_to_speak_instead{6500};
constexpr seconds time_to_finalize{20};
constexpr seconds time_to_abort{3};

const int training_failed = exit_code(ErrorCode::training);

/// The pause between two polls of a busy line. It grows while nothing moves, to leave the processor
/// to the threads that compute.
microseconds nap(int idle_polls) {
    constexpr int eager_polls = 10;
    if (idle_polls < eager_polls) return microseconds(0);
    return microseconds(20 << std::min((idle_polls - eager_polls) / 2, 4));
}

void check_device(int code) {
    if (code != MPI_SUCCESS)
        throw Error(ErrorCode::device, msg("MPI cannot be initialised: error {}.", code));
}

}  // namespace

MpiThread::MpiThread() {
    std::promise<void> joined;
    thread_ = std::thread([this, &joined] { work(joined); });
    try {
        joined.get_future().get();
    } catch (...) {
        thread_.join();
        left_ = true;
        throw;
    }
}

MpiThread::~MpiThread() {
    if (!left_) leave(0);
}

void MpiThread::work(std::promise<void>& joined) {
    try {
        int provided = 0;
        check_device(mpi().init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
        mpi().comm_set_errhandler(mpi().comm_world, mpi().errors_return);
        mpi().comm_rank(mpi().comm_world, &rank_);
        mpi().comm_size(mpi().comm_world, &ranks_);
        watch_ = std::make_unique<MpiWatch>(rank_, ranks_);
        local_rank_ = watch_->local_rank();
        const int processors = kernels::cpu::hardware_threads();
        kernels::cpu::limit_hardware_threads(processors / watch_->sharers());
    } catch (...) {
        joined.set_exception(std::current_exception());
        return;
    }
    kernels::cpu::set_threads(1);                // of this thread: the others compute
    prctl(PR_SET_TIMERSLACK, 1'000UL, 0, 0, 0);  // nanoseconds: short naps stay short
    joined.set_value();
    while (!ended_) turn();
}

/// Checks once everything that may have made progress.
void MpiThread::turn() {
    try {
        if (!loss()) look_after_ranks();
        take_jobs();
        rest(advance_jobs());
    } catch (const Error& error) {
        give_up({error.message()}, /*tell_others=*/true);
    } catch (const std::exception& error) {
        give_up({Message(error.what())}, /*tell_others=*/true);
    }
    if (loss()) end_if_overdue();
    End end = End::none;
    {
        const std::lock_guard lock(mutex_);
        end = end_;
    }
    if (end == End::finalize) finalize();
    if (end == End::abort) abort_launch(abort_code_);
}

void MpiThread::take_jobs() {
    const std::lock_guard lock(mutex_);
    if (loss_) return;
    active_.insert(active_.end(), submitted_.begin(), submitted_.end());
    submitted_.clear();
}

bool MpiThread::advance_jobs() {
    bool moved = false;
    std::erase_if(active_, [&](Job* job) {
        const auto state = job->operation->advance();
        moved = moved || state != MpiOperation::State::waiting;
        if (state != MpiOperation::State::done) return false;
        if (job->is_last) all_have_ended_ = true;
        const std::lock_guard lock(mutex_);
        job->done = true;  // its owner may be gone from here on
        changed_.notify_all();
        return true;
    });
    return moved;
}

void MpiThread::rest(bool moved) {
    idle_polls_ = moved ? 0 : idle_polls_ + 1;
    if (!active_.empty()) {
        const auto time = nap(idle_polls_);
        if (time.count() > 0) std::this_thread::sleep_for(time);
        return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, watch_interval, [this] {
        return !submitted_.empty() || end_ != End::none || (asked_to_fail_ && !loss_);
    });
}

void MpiThread::look_after_ranks() {
    if (all_have_ended_) return;
    std::optional<Message> asked;
    {
        const std::lock_guard lock(mutex_);
        asked = asked_to_fail_;
    }
    if (asked) return give_up({*asked}, /*tell_others=*/true);
    const auto now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + watch_interval;
    const auto found = watch_->look(now);
    if (found) give_up(*found, /*tell_others=*/found->rank >= 0 && found->rank != rank_);
}

/// Makes all waiting calls throw. Messages under way cannot be withdrawn. Through shared memory and
/// TCP, MPI writes only inside its calls, and after this the thread makes none but MPI_Abort, so
/// they do not arrive in memory that their owners use again.
void MpiThread::give_up(const Loss& loss, bool tell_others) {
    if (tell_others) {
        try {
            watch_->tell(loss);
        } catch (const Error&) {
            // Ranks that cannot be reached notice it by the missing heartbeats.
        }
    }
    active_.clear();
    std::vector<std::function<void(const Message&)>> handlers;
    {
        const std::lock_guard lock(mutex_);
        if (loss_) return;
        submitted_.clear();
        loss_ = loss;
        lost_at_ = Clock::now();
        changed_.notify_all();
        handlers.swap(loss_handlers_);
    }
    for (const auto& act : handlers) act(loss.reason);
}

/// Ends the launch if ranks that are busy (reading data, a long step) do not end in time.
void MpiThread::end_if_overdue() {
    const std::lock_guard lock(mutex_);
    const auto since = Clock::now() - lost_at_;
    const bool speaks = speaks_with_lock();
    const bool is_overdue = since > (speaks ? milliseconds(time_to_end) : time_to_speak_instead);
    if (!said_ && (speaks ? since > time_to_say_why && !left_ : is_overdue)) {
        said_ = true;
        dprintf(STDERR_FILENO, "halftone: %s\n", loss_->reason.str().c_str());
    }
    if (is_overdue && end_ == End::none) {
        end_ = End::abort;
        abort_code_ = training_failed;
    }
}

void MpiThread::finalize() {
    watch_->close();
    mpi().finalize();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

void MpiThread::abort_launch(int exit_code) {
    // A launcher that has ended may leave MPI waiting for it.
    std::thread([exit_code] {
        std::this_thread::sleep_for(time_to_abort);
        _exit(exit_code);
    }).detach();
    mpi().abort(mpi().comm_world, exit_code);
    _exit(exit_code);
}

std::optional<Loss> MpiThread::loss() const {
    const std::lock_guard lock(mutex_);
    return loss_;
}

bool MpiThread::speaks_with_lock() const {
    const int lost = loss_ ? loss_->rank : -1;
    return rank_ == (lost == 0 ? 1 : 0);
}

bool MpiThread::speaks() {
    const std::lock_guard lock(mutex_);
    const bool fails = loss_ || asked_to_fail_;
    return speaks_with_lock() && !(fails && std::exchange(said_, true));
}

void MpiThread::run(MpiOperation& operation, bool is_last) {
    Job job{&operation, is_last};
    std::unique_lock lock(mutex_);
    if (!loss_) {
        submitted_.push_back(&job);
        changed_.notify_all();
        changed_.wait(lock, [&] { return job.done || loss_; });
    }
    if (!job.done) throw Error(ErrorCode::training, loss_->reason);
}

void MpiThread::fail(const Message& reason) noexcept {
    const std::lock_guard lock(mutex_);
    if (!asked_to_fail_) asked_to_fail_ = reason;
    changed_.notify_all();
}

void MpiThread::when_lost(std::function<void(const Message&)> act) {
    {
        const std::lock_guard lock(mutex_);
        if (!loss_) {
            loss_handlers_.push_back(std::move(act));
            return;
        }
    }
    act(loss_->reason);  // which does not change any more
}

int MpiThread::leave(int exit_code) {
    try {
        std::int64_t one = 1;
        std::vector<std::byte> received;
        MpiSum all_here(rank_, ranks_, leave_tag, {&one, kernels::DType::i64, 1}, received);
        run(all_here, /*is_last=*/true);
    } catch (const Error&) {
        leave_failed(exit_code == 0 ? training_failed : exit_code);
    }
    std::unique_lock lock(mutex_);
    left_ = true;
    end_ = End::finalize;
    changed_.notify_all();
    if (!changed_.wait_for(lock, time_to_finalize, [this] { return ended_; })) {
        if (rank_ == 0) dprintf(STDERR_FILENO, "halftone: A rank was lost as all were ending.\n");
        _exit(training_failed);
    }
    lock.unlock();
    thread_.join();
    return exit_code;
}

/// The rank that speaks aborts the launch after its last output. The others wait for that, for a
/// limited time.
void MpiThread::leave_failed(int exit_code) {
    std::cout.flush();
    std::unique_lock lock(mutex_);
    left_ = true;
    if (speaks_with_lock()) {
        end_ = End::abort;
        abort_code_ = exit_code;
        changed_.notify_all();
    }
    lock.unlock();
    std::this_thread::sleep_for(time_to_speak_instead + time_to_abort + seconds(1));
    _exit(exit_code);
}

}  // namespace engine
