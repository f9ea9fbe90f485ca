#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/session/session.h"

namespace engine {

/// Carries commands to the compute thread, and events and the record to the thread that follows the
/// run. Any thread may call it.
class Mailbox {
public:
    void put(Command command);
    /// Returns the commands in order. Costs no lock while there are none.
    std::vector<Command> take_commands();

    void put(Event event);
    /// The start of the run: who receives it asks for the record next.
    void put_start(Event started, std::string run, StepRecordReader record);
    std::vector<Event> take_events();

    /// How much of the data has been read.
    void put(const ReadingShare& share);
    ReadingShare reading() const;

    /// Empty before the start.
    StepRecordReader record() const;
    std::string run() const;

    /// Wakes who waits. The state that `over` reads changes before the last event is put.
    void tell_end() { ended_.notify_all(); }
    /// Whether `over` holds within the time.
    bool wait(double seconds, const std::function<bool()>& over) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable ended_;
    std::vector<Command> commands_;
    std::vector<Event> events_;
    StepRecordReader record_;
    std::string run_;
    ReadingShare reading_;
    std::atomic<bool> has_commands_{false};
};

}  // namespace engine
