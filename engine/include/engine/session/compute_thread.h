#pragma once

#include <functional>
#include <memory>

namespace engine {

/// Work that takes turns on a compute thread: one turn is one training step, or a piece of similar
/// length.
class Turn {
public:
    virtual ~Turn() = default;
    /// Runs one turn on the compute thread. False: nothing to do until wake().
    virtual bool run_turn() = 0;
};

/// The one thread that computes for a device. It runs the turns of all its sessions one after
/// another, so that each sees its true step time (decisions.md#one-compute-thread, D14). Each round
/// begins with another session: the first one to read a batch loads it into the processor's caches
/// for the others, which would make it look slower. Thread-safe.
class ComputeThread {
public:
    ComputeThread();
    /// Ends the turn in flight and joins.
    ~ComputeThread();
    ComputeThread(const ComputeThread&) = delete;
    ComputeThread& operator=(const ComputeThread&) = delete;

    void add(std::shared_ptr<Turn> turn);
    /// Returns when no turn of it is running or will run. Not to be called from the compute thread.
    void remove(const Turn* turn);
    /// Runs work() once, after the turns of the round in flight, which wait for it. It must not throw.
    void run_once(std::function<void()> work);
    /// Something may have changed: ask every turn again.
    void wake();
    class Pause;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// While it lives, no turn runs. Waits for the turn in flight. Not to be made on the compute
/// thread.
class ComputeThread::Pause {
public:
    explicit Pause(ComputeThread& thread);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

private:
    Impl& impl_;
};

}  // namespace engine
