#pragma once

#include <QString>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/base/error.h"

namespace ui {

/// The way of a replay to its step, shared by the compute thread, which counts, and the GUI thread,
/// which reads and cancels.
class Replay {
public:
    /// For the engine: called with the steps that are left; throws Error(state) once cancelled.
    static std::function<void(std::int64_t)> counter(const std::shared_ptr<Replay>& replay) {
        return [replay](std::int64_t left) {
            replay->check();
            if (replay->total_ < left) replay->total_ = left;
            replay->left_ = left;
        };
    }
    /// Throws Error(state) once cancelled.
    void check() const {
        if (cancelled_) throw engine::Error(engine::ErrorCode::state, engine::msg("Cancelled."));
    }
    void cancel() { cancelled_ = true; }
    bool isCancelled() const { return cancelled_; }

    /// Steps to compute on the way; 0: none, or not known yet.
    std::int64_t total() const { return total_; }
    /// Number of steps that are computed.
    std::int64_t done() const { return std::max<std::int64_t>(total_ - left_, 0); }

private:
    std::atomic<std::int64_t> total_ = 0, left_ = 0;
    std::atomic<bool> cancelled_ = false;
};

}  // namespace ui
