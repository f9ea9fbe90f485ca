#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/record/event.h"

namespace ui {

class RunTrack;

/// Events that wait for the rows they are about, in order. GUI thread.
class PendingEvents {
public:
    struct Pending {
        std::shared_ptr<RunTrack> track;
        engine::Event event;
    };
    void add(std::shared_ptr<RunTrack> track, engine::Event event);
    bool empty() const { return events_.empty(); }
    /// Takes the events whose rows have been read; all events of a run that ended and is read
    /// whole. An event never overtakes an earlier one of its run.
    std::vector<Pending> takeDue();
    /// Drops the events of all other runs.
    void keepOnly(const std::function<bool(const std::shared_ptr<RunTrack>&)>& wanted);

private:
    std::deque<Pending> events_;
};

}  // namespace ui
