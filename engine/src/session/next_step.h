#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "engine/instruments/captured_step.h"
#include "train/run/run_loop.h"

namespace engine {

/// Requests for a copy of a run's coming step. Every request is answered exactly once, with a copy
/// or with the reason why there is none. Thread-safe; answers are called without a lock held.
class NextStep {
public:
    using Answer = std::function<void(NextStepCapture)>;

    /// May be called from any thread. After close() the answer is an error, given at once.
    void ask(Answer answer);
    bool asked() const { return asked_; }
    /// Copies the step that `loop` computes next and answers all requests with the copy. The run
    /// is as it was. Compute thread; between two steps. A copy that fails is an answer too.
    void give(RunLoop& loop);
    /// Answers all requests with an error.
    void refuse(const Message& why);
    /// Refuses these requests and all later ones.
    void close(const Message& why);

private:
    void answer(const NextStepCapture& capture);

    std::mutex mutex_;  // guards the next two
    std::vector<Answer> answers_;
    Message closed_;  ///< empty: requests are taken
    std::atomic<bool> asked_{false};
};

}  // namespace engine
