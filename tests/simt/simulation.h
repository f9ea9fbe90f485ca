#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/array.h"
#include "kernels/cuda_device.h"
#include "simt/device.h"
#include "simt/heap.h"

/// The state of the simulated CUDA runtime, only for its own parts.
namespace kernels::simt {

struct Mark;

/// Work in the order of submission. Runs when a thread waits for it.
struct Queue {
    struct Item {
        std::function<void()> work{};
        std::shared_ptr<Mark> mark{};  // set when it has run
        std::shared_ptr<Mark> hold{};  // must be set before it runs
        /// If set: whether the work can run, or must wait for what another thread does.
        std::function<bool()> ready{};
    };
    std::deque<Item> items;
    std::vector<std::function<void()>>* recording = nullptr;  // if set, gets the work instead
    int device = 0;
};

struct Mark {
    Queue* queue = nullptr;
    bool passed = true;
    int asked = 0;
    std::chrono::steady_clock::time_point time;
};

struct Fault {
    std::string call;
    int after = -1;
};

/// Allocations that fail because a test requested it.
struct AllocationFailures {
    int after = 0, times = 0;
    /// Whether the current allocation is one of them.
    bool next() {
        if (times == 0 || after-- > 0) return false;
        --times;
        return true;
    }
};

struct Simulation {
    std::recursive_mutex mutex;
    DeviceSettings settings;
    std::map<int, Heap> heaps;                            // by device
    int reached = -1;                                     // the device whose memory is accessible
    std::map<void*, std::pair<int, std::size_t>> owners;  // of blocks: device and size
    std::map<void*, std::unique_ptr<std::byte[]>> pinned;
    std::map<void*, std::size_t> pinned_sizes;
    std::map<int, Queue> compute;
    std::vector<std::unique_ptr<Queue>> others;
    cuda::CallCounts counts;
    Fault fault;
    AllocationFailures allocation_failures, pinned_failures;
    std::map<int, std::int64_t> choices;  // calls of cudaSetDevice, by device
    bool lost = false;
    std::string lost_to;                  // an error found where no exception could be thrown
    bool finding_untold = false;          // no call has reported it yet
    std::condition_variable_any changed;  // what items of queues wait for; with `mutex`
};

/// The only simulation.
Simulation& simulation();

/// The calling thread's device. The first call that needs one selects it.
int use_device();

using Lock = std::lock_guard<std::recursive_mutex>;

/// The fault because of which the device is lost.
std::string fault_text();

/// Called before each CUDA call. Throws DeviceError if the device is lost, and loses it if a test
/// requested that.
void check(const std::string& call);

Queue& queue_of(Stream stream);
void put(Stream stream, std::function<void()> work);
/// False if the queue's first item must wait for another thread. Then nothing has run.
bool run_one(Queue& queue);
/// Runs the queue's work up to the mark, which must be one of its own. False if it must wait for
/// another thread first. Faster than run_one() in a loop, since the memory is made accessible once.
bool run_until_passed(Queue& queue, const Mark& mark);
/// The calling thread waits, with the lock released, until another thread has done what items may
/// be waiting for. The lock must be held once.
void wait_for_others();
void drain(Queue& queue);
void drain_all();
/// Called before a stream is destroyed: finishes the work that does not wait for another thread. A
/// fault is thrown by the next call; if there is none, the program fails at its end.
void finish_all() noexcept;
/// Called before memory of the device is released: finishes all of its work too.
void finish_all(int device) noexcept;
/// Discards the queue's work. Nothing needs to wait for it any more.
void forget(Queue& queue);
/// Fails like CUDA for calls that are not allowed during a capture.
void refuse_while_recording(const Queue& queue, const char* call);

/// While it lives, only one device's memory is accessible.
class Reach {
public:
    explicit Reach(int device);
    ~Reach();
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

private:
    int before_;
};

}  // namespace kernels::simt
