#include "simt/block.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/context.h"
#include "simt/races.h"

namespace kernels::simt {

Position position;

namespace {

constexpr int warp = 32;
constexpr std::size_t stack_bytes = 128 << 10;

enum class State { ready, at_block_barrier, at_warp_barrier, done };

/// Stacks of the threads. A thread that ends without waiting passes its stack on to the next new
/// thread; a waiting one keeps it.
struct Stack {
    Context context;  // where its thread waits
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
};

/// A thread of the simulated block.
struct Thread {
    State state = State::done;
    Stack* stack = nullptr;     // once it has begun
    unsigned mask = 0;          // of the warp barrier at which it waits
    std::uint64_t given = 0;    // its value for exchange and ballot
    std::uint64_t settled = 0;  // its value at its warp's last complete barrier
};

class Block {
public:
    void begin(int threads, ThreadOrder order, const std::function<void()>& body,
               const char* name) {
        name_ = name;
        body_ = &body;
        order_ = order;
        count_ = threads;
        error_ = nullptr;
        at_barrier_ = done_ = 0;
        threads_.assign(static_cast<std::size_t>(threads), Thread{State::ready});
    }

    /// Runs the threads to their next barriers. False: all have ended.
    bool step() {
        turn();
        if (!error_ && done_ < count_) release_barriers();
        if (!error_) return done_ < count_;
        // Threads that were waiting when an error occurred still hold stacks, so all stacks are
        // discarded.
        free_.clear();
        for (Stack& stack : stacks_) {
            start_anew(stack);
            free_.push_back(&stack);
        }
        std::rethrow_exception(error_);
    }

    void wait(State state, unsigned mask) {
        self().state = state;
        self().mask = mask;
        at_barrier_ += state == State::at_block_barrier ? 1 : 0;
        go_on(self().stack->context);
    }
    Thread& self() { return thread(current_); }
    Thread& of_lane(int lane) { return thread(current_ / warp * warp + lane); }
    int current() const { return current_; }
    int count() const { return count_; }
    const char* name() const { return name_; }

private:
    Thread& thread(int index) { return threads_[static_cast<std::size_t>(index)]; }
    const Thread& thread(int index) const { return threads_[static_cast<std::size_t>(index)]; }

    Stack& free_stack() {
        if (free_.empty()) {
            // Stacks at equal distances would all map to the same cache lines.
            const std::size_t bytes = stack_bytes + stacks_.size() * 9 % 1024 * 64;
            Stack& stack = stacks_.emplace_back();
            stack.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
            stack.bytes = bytes;
            start_anew(stack);
            return stack;
        }
        Stack& last = *free_.back();
        free_.pop_back();
        return last;
    }

    static void start_anew(Stack& stack) {
        stack.context.start(stack.memory.get(), stack.bytes, &Block::run_bodies);
    }

    static void run_bodies();

    /// Chooses the next ready thread of this turn. False if there is none.
    bool next() {
        while (++step_ < count_) {
            current_ = order_ == ThreadOrder::forward ? step_ : count_ - 1 - step_;
            if (self().state != State::ready) continue;
            position.thread_index = {static_cast<unsigned>(current_), 0, 0};
            return true;
        }
        return false;
    }

    /// Where the next ready thread of this turn goes on; after the last one, turn().
    Context& next_place() {
        if (error_ || !next()) return scheduler_;
        begins_ = !self().stack;
        if (begins_) self().stack = &free_stack();
        return self().stack->context;
    }
    void go_on(Context& here) {
        Context& there = next_place();
        if (&there != &here) here.switch_to(there);
    }

    /// Runs each ready thread until its next barrier or its end.
    void turn() {
        step_ = -1;
        go_on(scheduler_);
    }

    /// The number of the warp's threads from `first` to `last` that wait at its barrier with this
    /// mask.
    int waiting(int first, int last, unsigned mask) const {
        int found = 0;
        for (int i = first; i < last; ++i) {
            const Thread& each = thread(i);
            found += each.state == State::at_warp_barrier && each.mask == mask ? 1 : 0;
        }
        return found;
    }

    void release_barriers() {
        if (at_barrier_ == count_) {
            pass_barrier();
            at_barrier_ = 0;
            for (Thread& each : threads_) each.state = State::ready;
            return;
        }
        bool progress = false;
        for (int first = 0; first < count_; first += warp)
            progress = release_warp(first) || progress;
        if (progress) return;
        error_ = std::make_exception_ptr(std::logic_error(
            std::string(name_) + ": " + std::to_string(count_ - done_) + " of " +
            std::to_string(count_) + " threads are at a barrier that the others never reach"));
    }

    static bool names_itself(int thread, unsigned mask) {
        return (mask >> (thread % warp) & 1u) != 0;
    }

    /// Releases the lanes whose barrier is complete: all lanes of its mask have arrived, with the
    /// same mask.
    bool release_warp(int first) {
        const int last = std::min(first + warp, count_);
        for (int i = first; i < last; ++i) {
            if (thread(i).state != State::at_warp_barrier) continue;
            const unsigned mask = thread(i).mask;
            const unsigned lanes =
                last - first == warp ? mask : mask & ((1u << (last - first)) - 1);
            if (!names_itself(i, mask) || waiting(first, last, mask) != std::popcount(lanes))
                continue;
            for (int j = first; j < last; ++j) {
                if ((lanes >> (j % warp) & 1u) == 0) continue;
                thread(j).state = State::ready;
                thread(j).settled = thread(j).given;
            }
            return true;
        }
        return false;
    }

    Context scheduler_;
    std::vector<Thread> threads_;
    std::deque<Stack> stacks_;  // never moved, since contexts point into themselves
    std::vector<Stack*> free_;
    const std::function<void()>* body_ = nullptr;
    const char* name_ = "";
    ThreadOrder order_ = ThreadOrder::forward;
    int count_ = 0;
    int at_barrier_ = 0;  // of the block
    int done_ = 0;
    int step_ = 0;         // of the turn
    bool begins_ = false;  // the threads of the turn are new
    int current_ = 0;
    std::exception_ptr error_;
};

// The device runs one block at a time, under its lock.
// Never destroyed: memory that is released at exit may still run kernels.
Block& the_block = *new Block;
Block* running = &the_block;
unsigned seed_of_turns = 0;
Block& block() { return *running; }

// The entry of a stack. In a block's first turn every ready thread is new, in later ones none is: a
// stack whose thread ends in the first turn runs the next ready thread at once.
void Block::run_bodies() {
    Block& b = block();
    while (true) {
        Stack& stack = *b.self().stack;
        do {
            b.self().stack = &stack;
            try {
                (*b.body_)();
            } catch (...) {
                b.error_ = std::current_exception();
            }
            b.self().state = State::done;
            ++b.done_;
            b.self().stack = nullptr;
        } while (b.begins_ && !b.error_ && b.next());
        b.free_.push_back(&stack);
        b.go_on(stack.context);
    }
}

}  // namespace

void interleave_blocks(unsigned seed) { seed_of_turns = seed; }

void block_barrier() { block().wait(State::at_block_barrier, 0); }
void warp_barrier(unsigned mask) { block().wait(State::at_warp_barrier, mask); }
int lane() { return block().current() % warp; }

// Reads settled values only, since a lane that ran earlier in this turn may already have written
// the value of its next exchange. Values settle between turns, after all lanes have read them.
std::uint64_t exchange(unsigned mask, std::uint64_t mine, int from) {
    Block& b = block();
    if (b.current() / warp * warp + from >= b.count() || (mask >> from & 1u) == 0)
        throw std::logic_error(std::string(b.name()) + ": reads a lane that takes no part");
    b.self().given = mine;
    warp_barrier(mask);
    return b.of_lane(from).settled;
}

unsigned ballot(unsigned mask, bool predicate) {
    Block& b = block();
    b.self().given = predicate ? 1 : 0;
    warp_barrier(mask);
    unsigned bits = 0;
    const int lanes = std::min(warp, b.count() - b.current() / warp * warp);
    for (int i = 0; i < lanes; ++i) {
        if ((mask >> i & 1u) != 0 && b.of_lane(i).settled != 0) bits |= 1u << i;
    }
    return bits;
}

namespace {

uint3 index_of(const Extent& extent, std::int64_t block) {
    return {static_cast<unsigned>(block % extent.blocks),
            static_cast<unsigned>(block / extent.blocks), 0};
}

void run_in_order(const char* name, const Extent& extent, ThreadOrder order,
                  const std::function<void()>& body) {
    for (std::int64_t i = 0; i < extent.blocks * extent.blocks_y; ++i) {
        position.block_index = index_of(extent, i);
        begin_block(i);
        the_block.begin(extent.threads, order, body, name);
        while (the_block.step()) {
        }
    }
}

/// A block that takes turns with others.
struct Resident {
    std::int64_t index = 0;
    std::unique_ptr<Block> block;
    PausedBlock paused;
    bool begun = false;
};

/// A few blocks at a time, as a card runs them: the next to take a turn, and the next to begin, are
/// drawn.
void run_interleaved(const char* name, const Extent& extent, ThreadOrder order,
                     const std::function<void()>& body) {
    constexpr std::size_t most = 5;
    std::mt19937 random(seed_of_turns);
    std::vector<std::int64_t> waiting(static_cast<std::size_t>(extent.blocks * extent.blocks_y));
    std::iota(waiting.begin(), waiting.end(), 0);
    std::ranges::shuffle(waiting, random);
    static auto& ended = *new std::vector<std::unique_ptr<Block>>;  // kept for their stacks
    std::vector<Resident> residents;
    while (!waiting.empty() || !residents.empty()) {
        while (residents.size() < most && !waiting.empty()) {
            if (ended.empty()) ended.push_back(std::make_unique<Block>());
            residents.push_back({waiting.back(), std::move(ended.back()), {}, false});
            ended.pop_back();
            waiting.pop_back();
        }
        const std::size_t at = random() % residents.size();
        Resident& next = residents[at];
        running = next.block.get();
        position.block_index = index_of(extent, next.index);
        if (next.begun) {
            resume_block(std::move(next.paused));
        } else {
            begin_block(next.index);
            running->begin(extent.threads, order, body, name);
            next.begun = true;
        }
        if (running->step()) {
            next.paused = pause_block();
            continue;
        }
        ended.push_back(std::move(next.block));
        residents.erase(residents.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

}  // namespace

void run_grid(const char* name, const Extent& extent, ThreadOrder order,
              const std::function<void()>& body) {
    position.block_extent = {static_cast<unsigned>(extent.threads), 1, 1};
    position.grid_extent = {static_cast<unsigned>(extent.blocks),
                            static_cast<unsigned>(extent.blocks_y), 1};
    begin_launch();
    note_shared_bytes(seed_of_turns != 0);
    try {
        (seed_of_turns != 0 ? run_interleaved : run_in_order)(name, extent, order, body);
    } catch (...) {
        running = &the_block;
        abandon_launch();
        throw;
    }
    running = &the_block;
    end_launch(name);
}

}  // namespace kernels::simt
