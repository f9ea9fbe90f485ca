#include "simt/block.h"

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "simt/races.h"

namespace kernels::simt {

Position position;

namespace {

constexpr int warp = 32;
constexpr std::size_t stack_bytes = 128 << 10;

enum class State { ready, at_block_barrier, at_warp_barrier, done };

/// A thread of the simulated block, on a stack of its own, which it keeps from block to block.
struct Thread {
    ucontext_t context{};  // where it starts; with a sanitizer, where it waits
    jmp_buf waiting{};     // where it waits
    bool entered = false;
    std::unique_ptr<std::byte[]> stack;
    State state = State::done;
    unsigned mask = 0;        // of the warp barrier it waits at
    std::uint64_t given = 0;  // to exchange and ballot
};

class Block {
public:
    void run(int threads, ThreadOrder order, const std::function<void()>& body, const char* name) {
        name_ = name;
        body_ = &body;
        count_ = threads;
        error_ = nullptr;
        while (static_cast<int>(threads_.size()) < threads) add_thread();
        for (int i = 0; i < threads; ++i)
            threads_[static_cast<std::size_t>(i)].state = State::ready;
        while (turn(order)) release_barriers();
        if (!error_) return;
        // Some wait where they will never be asked to go on: they start anew.
        for (Thread& thread : threads_) start_anew(thread);
        std::rethrow_exception(error_);
    }

    void wait(State state, unsigned mask) {
        Thread& self = threads_[static_cast<std::size_t>(current_)];
        self.state = state;
        self.mask = mask;
        leave(self);
    }
    Thread& self() { return threads_[static_cast<std::size_t>(current_)]; }
    Thread& of_lane(int lane) {
        return threads_[static_cast<std::size_t>(current_ / warp * warp + lane)];
    }
    int current() const { return current_; }
    int count() const { return count_; }
    const char* name() const { return name_; }

private:
    void add_thread() {
        threads_.emplace_back();
        threads_.back().stack = std::make_unique<std::byte[]>(stack_bytes);
        start_anew(threads_.back());
    }

    static void start_anew(Thread& thread) {
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get();
        thread.context.uc_stack.ss_size = stack_bytes;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, &Block::run_bodies, 0);
        thread.entered = false;
    }

    static void run_bodies();

#ifdef __SANITIZE_ADDRESS__
    // The sanitizer follows these from stack to stack.
    void enter(Thread& thread) { swapcontext(&scheduler_, &thread.context); }
    void leave(Thread& thread) { swapcontext(&thread.context, &scheduler_); }
#else
    // As swapcontext, but without its two calls of the system at every barrier of every thread.
    void enter(Thread& thread) {
        if (_setjmp(scheduler_) != 0) return;
        if (thread.entered) _longjmp(thread.waiting, 1);
        thread.entered = true;
        setcontext(&thread.context);
    }
    void leave(Thread& thread) {
        if (_setjmp(thread.waiting) == 0) _longjmp(scheduler_, 1);
    }
#endif

    /// Each ready thread until its next barrier or its end; false when all are done.
    bool turn(ThreadOrder order) {
        bool any = false;
        for (int step = 0; step < count_; ++step) {
            const int i = order == ThreadOrder::forward ? step : count_ - 1 - step;
            if (threads_[static_cast<std::size_t>(i)].state != State::ready) continue;
            any = true;
            current_ = i;
            position.thread_index = {static_cast<unsigned>(i), 0, 0};
            enter(threads_[static_cast<std::size_t>(i)]);
            if (error_) return false;
        }
        return any;
    }

    int waiting(State state, int first, int last, unsigned lanes = ~0u) const {
        int found = 0;
        for (int i = first; i < last; ++i) {
            const bool counts = (lanes >> (i % warp) & 1u) != 0;
            found += counts && threads_[static_cast<std::size_t>(i)].state == state ? 1 : 0;
        }
        return found;
    }

    void release_barriers() {
        bool progress = false;
        for (int first = 0; first < count_; first += warp)
            progress = release_warp(first) || progress;
        const int at_barrier = waiting(State::at_block_barrier, 0, count_);
        if (at_barrier == count_) {
            pass_barrier();
            for (int i = 0; i < count_; ++i)
                threads_[static_cast<std::size_t>(i)].state = State::ready;
            return;
        }
        if (progress || waiting(State::done, 0, count_) == count_) return;
        error_ = std::make_exception_ptr(std::logic_error(
            std::string(name_) + ": " + std::to_string(at_barrier) + " of " +
            std::to_string(count_) + " threads are at a barrier that the others never reach"));
    }

    /// Lets the lanes go on whose barrier is complete.
    bool release_warp(int first) {
        const int last = std::min(first + warp, count_);
        for (int i = first; i < last; ++i) {
            const Thread& thread = threads_[static_cast<std::size_t>(i)];
            if (thread.state != State::at_warp_barrier) continue;
            const unsigned lanes =
                last - first == warp ? thread.mask : thread.mask & ((1u << (last - first)) - 1);
            if (waiting(State::at_warp_barrier, first, last, lanes) != std::popcount(lanes))
                continue;
            for (int j = first; j < last; ++j) {
                if ((lanes >> (j % warp) & 1u) != 0)
                    threads_[static_cast<std::size_t>(j)].state = State::ready;
            }
            return true;
        }
        return false;
    }

    friend void run_grid(const char*, const Extent&, ThreadOrder, const std::function<void()>&);

#ifdef __SANITIZE_ADDRESS__
    ucontext_t scheduler_{};
#else
    jmp_buf scheduler_{};
#endif
    std::deque<Thread> threads_;  // they stay where they are: contexts point into themselves
    const std::function<void()>* body_ = nullptr;
    const char* name_ = "";
    int count_ = 0;
    int current_ = 0;
    std::exception_ptr error_;
};

// The device runs one block at a time, under its lock.
Block& block() {
    static Block only;
    return only;
}

void Block::run_bodies() {
    Block& b = block();
    while (true) {
        try {
            (*b.body_)();
        } catch (...) {
            b.error_ = std::current_exception();
        }
        b.self().state = State::done;
        b.leave(b.self());
    }
}

}  // namespace

void block_barrier() { block().wait(State::at_block_barrier, 0); }
void warp_barrier(unsigned mask) { block().wait(State::at_warp_barrier, mask); }
int lane() { return block().current() % warp; }

std::uint64_t exchange(unsigned mask, std::uint64_t mine, int from) {
    block().self().given = mine;
    warp_barrier(mask);
    const int absolute = block().current() / warp * warp + from;
    if (absolute >= block().count() || (mask >> from & 1u) == 0)
        throw std::logic_error(std::string(block().name()) + ": reads a lane that takes no part");
    const std::uint64_t value = block().of_lane(from).given;
    warp_barrier(mask);
    return value;
}

unsigned ballot(unsigned mask, bool predicate) {
    block().self().given = predicate ? 1 : 0;
    warp_barrier(mask);
    unsigned bits = 0;
    const int lanes = std::min(warp, block().count() - block().current() / warp * warp);
    for (int i = 0; i < lanes; ++i) {
        if ((mask >> i & 1u) != 0 && block().of_lane(i).given != 0) bits |= 1u << i;
    }
    warp_barrier(mask);
    return bits;
}

void run_grid(const char* name, const Extent& extent, ThreadOrder order,
              const std::function<void()>& body) {
    position.block_extent = {static_cast<unsigned>(extent.threads), 1, 1};
    position.grid_extent = {static_cast<unsigned>(extent.blocks),
                            static_cast<unsigned>(extent.blocks_y), 1};
    begin_launch();
    for (std::int64_t y = 0; y < extent.blocks_y; ++y) {
        for (std::int64_t x = 0; x < extent.blocks; ++x) {
            position.block_index = {static_cast<unsigned>(x), static_cast<unsigned>(y), 0};
            begin_block(y * extent.blocks + x);
            block().run(extent.threads, order, body, name);
        }
    }
    end_launch(name);
}

}  // namespace kernels::simt
