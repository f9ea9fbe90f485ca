#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace engine {

/// Which steps of a run are sampled. One thread.
class SamplePlan {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    /// The steps divisible by `every`; 0: none.
    SamplePlan(std::int64_t every) : every_(every) {}  // NOLINT: an interval is a plan
    /// Every 50 steps, and the last planned one. Bounded in two ways:
    ///
    /// - At most four samples a second: a step that comes too soon is left out.
    /// - At most 2,000 samples in a run, `kept` of which exist. The first half is spent at 50 steps
    ///   each, so that a run that is stopped early has some; the second half is spread evenly over
    ///   the steps that remain.
    static SamplePlan automatic(std::int64_t planned_steps, std::int64_t kept = 0,
                                Clock now = std::chrono::steady_clock::now);

    bool wants(std::int64_t step) const;
    /// A step was sampled, wanted or not.
    void sampled(std::int64_t step);

private:

    std::int64_t every_;
    std::int64_t planned_ = 0;
    std::int64_t left_ = 0;      // samples that the plan may still take
    std::int64_t due_ = 0;       // no earlier step is wanted
    Clock now_;                  // empty: not automatic
    std::chrono::steady_clock::time_point next_;
};

}  // namespace engine
