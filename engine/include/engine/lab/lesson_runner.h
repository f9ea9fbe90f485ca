#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/instruments/weight_watch.h"
#include "engine/lab/lesson.h"
#include "engine/record/event.h"
#include "engine/session/session.h"

namespace engine {

/// Options for starting the runs of a lesson.
struct LessonStart {
    std::int64_t seed = 1;
    std::vector<std::string> knobs{};  ///< "path=value" over the settings of all runs
    bool paced = true;                 ///< false: as fast as they can, whatever the lesson says
    /// Where the runs' folders go; empty: a temporary folder, which goes when the runner does.
    std::filesystem::path folder{};
};

/// One run of a lesson. `session` is null until it has begun: a run that continues another one
/// begins when that one has reached the step.
struct LessonRunView {
    std::string name{}, label{};
    RunConfig config{};
    std::shared_ptr<Session> session{};
    StepRecordReader record{};      ///< empty until it has begun
    std::vector<Metric> metrics{};  ///< of the record's columns
    std::vector<Event> events{};    ///< so far
    std::optional<RunStarted> started{};
    std::optional<RunDone> done{};
    std::filesystem::path folder{};  ///< empty until it has begun
    /// The lesson's `weight` instruments for this run, in order.
    std::vector<std::shared_ptr<WeightWatch>> weights{};
    bool over = false;  ///< no step will follow; without `done` it failed before its first one

    bool ended() const { return over; }
};

/// Trains the runs of a lesson in lockstep on a thread of its own, no faster than the lesson's
/// pace. All calls must come from one thread, which calls update() now and then. The destructor
/// stops the runs after the step in flight.
class LessonRunner {
public:
    enum class State { ready, running, paused, ended };

    /// Throws Error(settings) for a lesson without runs or with invalid settings, and Error(io).
    LessonRunner(const Lesson& lesson, LessonStart start);
    ~LessonRunner();
    LessonRunner(const LessonRunner&) = delete;
    LessonRunner& operator=(const LessonRunner&) = delete;

    void run();    ///< from ready or paused
    void pause();  ///< after the step in flight
    void step();   ///< one step of each run, then paused
    void stop();   ///< for good; the runs end as stopped
    /// Processes what the runs have done: events, records, runs that can begin now. True if
    /// anything changed.
    bool update();
    /// update() until all runs have ended or the time is up; true if they have.
    bool wait(double seconds);

    State state() const;
    const std::vector<LessonRunView>& runs() const;
    /// Null if there is none of that name.
    const LessonRunView* find(const std::string& name) const;
    /// The store that holds the runs, as long as the runner lives.
    const std::shared_ptr<RunStore>& store() const;
    const Lesson& lesson() const;
    const LessonStart& start() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
