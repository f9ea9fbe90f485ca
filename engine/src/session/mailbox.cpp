#include "session/mailbox.h"

#include <chrono>
#include <utility>

namespace engine {

void Mailbox::put(Command command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(command);
    has_commands_ = true;
}

std::vector<Command> Mailbox::take_commands() {
    if (!has_commands_.exchange(false)) return {};
    const std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
}

void Mailbox::put(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
}

void Mailbox::put_start(Event started, std::string run, StepRecordReader record) {
    const std::lock_guard lock(mutex_);
    run_ = std::move(run);
    record_ = std::move(record);
    events_.push_back(std::move(started));
}

std::vector<Event> Mailbox::take_events() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
}

void Mailbox::put(const ReadingShare& share) {
    const std::lock_guard lock(mutex_);
    reading_ = share;
}

ReadingShare Mailbox::reading() const {
    const std::lock_guard lock(mutex_);
    return reading_;
}

StepRecordReader Mailbox::record() const {
    const std::lock_guard lock(mutex_);
    return record_;
}

std::string Mailbox::run() const {
    const std::lock_guard lock(mutex_);
    return run_;
}

bool Mailbox::wait(double seconds, const std::function<bool()>& over) const {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::duration<double>(seconds), over);
}

}  // namespace engine
