#pragma once

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/base/error.h"
#include "kernels/rank_group.h"
#include "parallel/communicator.h"

namespace engine {
namespace thread_lines {

inline std::size_t bytes_of(std::int64_t count, kernels::DType dtype) {
    return static_cast<std::size_t>(count) * kernels::size_of(dtype);
}

/// Shared by all lines of a group: whether a rank has aborted.
struct Fate {
    std::mutex mutex;
    std::condition_variable changed;
    bool aborted = false;
    std::string sentence;
    std::vector<std::function<void(const Message&)>> handlers;
};

/// Where the ranks of one line meet.
class Meeting {
public:
    Meeting(std::shared_ptr<Fate> fate_, int size_)
        : fate(std::move(fate_)), size(size_), posted(static_cast<std::size_t>(size_)) {}

    const std::shared_ptr<Fate> fate;
    const int size;
    // Guarded by fate->mutex.
    int arrived = 0;
    std::int64_t round = 0;
    struct Posted {
        void* data = nullptr;
        kernels::DType dtype = kernels::DType::f32;
        std::int64_t size = 0;
    };
    std::vector<Posted> posted;  // of the call in progress, by rank; written before it meets
    std::shared_ptr<Meeting> next;

    /// Waits for all ranks; afterwards they may read and write one another's memory.
    void enter() {
        meet([this] { busy = size; });
    }
    /// Waits until all ranks have finished with it. A rank whose call was aborted waits too, since
    /// others may still write to the memory that it would return.
    void leave() {
        {
            const std::lock_guard lock(fate->mutex);
            --busy;
        }
        fate->changed.notify_all();
        try {
            meet([] {});
        } catch (const Error&) {
            std::unique_lock lock(fate->mutex);
            fate->changed.wait(lock, [this] { return busy == 0; });
            throw;
        }
    }

private:
    int busy = 0;  // ranks between enter() and leave()

    template <typename F>
    void meet(const F& all_are_here) {
        std::unique_lock lock(fate->mutex);
        if (!fate->aborted && ++arrived == size) {
            arrived = 0;
            ++round;
            all_are_here();
            fate->changed.notify_all();
            return;
        }
        const std::int64_t mine = round;
        fate->changed.wait(lock, [&] { return round != mine || fate->aborted; });
        if (round == mine) throw Error(ErrorCode::training, fate->sentence);
    }
};

class ThreadCommunicator final : public Communicator {
public:
    ThreadCommunicator(std::shared_ptr<Meeting> meeting, int rank)
        : meeting_(std::move(meeting)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return meeting_->size; }
    int local_rank() const override { return rank_; }

    void broadcast(kernels::Array data) override {
        post(data.data, data.dtype, data.size);
        check_equal();
        if (rank_ != 0) std::memcpy(data.data, at(0).data, bytes_of(data.size, data.dtype));
        meeting_->leave();
    }

    /// Each rank adds up its share of the elements for all.
    void sum(kernels::Array data) override {
        post(data.data, data.dtype, data.size);
        check_equal();
        std::vector<void*> outs;
        for (const auto& each : meeting_->posted) outs.push_back(each.data);
        const std::vector<const void*> parts(outs.begin(), outs.end());
        kernels::cpu::rank_sum(outs, parts, data.dtype, data.size * rank_ / size(),
                               data.size * (rank_ + 1) / size());
        meeting_->leave();
    }

    void gather(kernels::Array all, kernels::ConstArray part,
                std::span<const std::int64_t> counts) override {
        post(const_cast<void*>(part.data), part.dtype, part.size);
        auto* to = static_cast<std::byte*>(all.data);
        bool fits = true;
        for (int r = 0; r < size(); ++r) {
            const auto& from = at(r);
            const std::int64_t count = counts[static_cast<std::size_t>(r)];
            fits = fits && from.size == count && from.dtype == all.dtype;
            if (!fits) break;
            if (count > 0) std::memcpy(to, from.data, bytes_of(count, from.dtype));
            to += bytes_of(count, from.dtype);
        }
        meeting_->leave();
        if (!fits) refuse();
    }

    void barrier() override {
        meeting_->enter();
        meeting_->leave();
    }

    std::unique_ptr<Communicator> line() override {
        if (rank_ == 0) meeting_->next = std::make_shared<Meeting>(meeting_->fate, size());
        meeting_->enter();
        auto made = std::make_unique<ThreadCommunicator>(meeting_->next, rank_);
        meeting_->leave();
        return made;
    }

    void abort(const std::string& sentence) noexcept override {
        Fate& fate = *meeting_->fate;
        std::vector<std::function<void(const Message&)>> handlers;
        {
            const std::lock_guard lock(fate.mutex);
            if (fate.aborted) return;
            fate.sentence = sentence;
            fate.aborted = true;
            handlers.swap(fate.handlers);
        }
        fate.changed.notify_all();
        for (const auto& act : handlers) act(Message(sentence));
    }

    void when_lost(std::function<void(const Message&)> act) override {
        Fate& fate = *meeting_->fate;
        {
            const std::lock_guard lock(fate.mutex);
            if (!fate.aborted) {
                fate.handlers.push_back(std::move(act));
                return;
            }
        }
        act(Message(fate.sentence));
    }

private:
    const Meeting::Posted& at(int rank) const {
        return meeting_->posted[static_cast<std::size_t>(rank)];
    }
    [[noreturn]] static void refuse() {
        throw Error(ErrorCode::state, "the ranks made calls of different sizes or types");
    }

    void post(void* data, kernels::DType dtype, std::int64_t size) {
        meeting_->posted[static_cast<std::size_t>(rank_)] = {data, dtype, size};
        meeting_->enter();
    }

    /// All ranks compare the same values, so either all throw or none.
    void check_equal() const {
        for (const auto& each : meeting_->posted) {
            if (each.size != at(0).size || each.dtype != at(0).dtype) {
                meeting_->leave();
                refuse();
            }
        }
    }

    std::shared_ptr<Meeting> meeting_;
    int rank_;
};

}  // namespace thread_lines

/// Lines of `size` ranks that are threads of this process, by rank: data parallel in one process
/// (training-loops.md#data-parallel-in-one-process, 3.6). Each is used by the thread of its rank.
inline std::vector<std::unique_ptr<Communicator>> make_thread_communicators(int size) {
    const auto meeting = std::make_shared<thread_lines::Meeting>(
        std::make_shared<thread_lines::Fate>(), size);
    std::vector<std::unique_ptr<Communicator>> lines;
    for (int rank = 0; rank < size; ++rank)
        lines.push_back(std::make_unique<thread_lines::ThreadCommunicator>(meeting, rank));
    return lines;
}

}  // namespace engine
