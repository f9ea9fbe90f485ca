#include "runs/shared_index.h"

#include <thread>
#include <utility>

namespace engine {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;           ///< of people, for another program that holds the index
constexpr auto start_patience = 200ms;  ///< of a start; writers of ours are done in milliseconds
constexpr auto retry_interval = 10ms;

}  // namespace

SharedIndex::SharedIndex(std::filesystem::path root) : root_(std::move(root)), index_(root_) {
    wait_for_index(start_patience, [this] { index_.use([](RunIndex&) {}); });
}

SharedIndex::~SharedIndex() {
    try {
        wait_for_index(start_patience, [this] { runs_.flush(index_); });
    } catch (const std::exception&) {
        // The folders have it all.
    }
}

/// Calls f() with the mutex held, once no other program holds the index. False if another program
/// held it the whole time. Throws Error(io).
bool SharedIndex::wait_for_index(Clock::duration time, const std::function<void()>& f) {
    const auto deadline = Clock::now() + time;
    for (;;) {
        try {
            const std::lock_guard lock(mutex_);
            f();
            return true;
        } catch (const BusyDatabase&) {
        }
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(retry_interval);
    }
}

void SharedIndex::wait_patiently(const std::function<void()>& f) {
    const bool done = wait_for_index(patience, [&] {
        try_flush();
        f();
    });
    if (done) return;
    throw Error(ErrorCode::io,
                msg("{}: another program is using the run history", index_.path().string()),
                msg("Close that program, or try again later."));
}

void SharedIndex::rebuild() {
    wait_patiently([this] { index_.rebuild(); });
}

void SharedIndex::try_flush() {
    try {
        runs_.flush(index_);
        retry_.succeeded();
    } catch (const BusyDatabase&) {
        retry_.failed();
    } catch (const Error&) {
        retry_.failed();
    }
}

std::optional<Error> SharedIndex::flush_soon() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !retry_.is_due()) return std::nullopt;
    try {
        runs_.flush(index_);
        retry_.succeeded();
    } catch (const BusyDatabase&) {
        retry_.failed();
    } catch (const Error& error) {
        retry_.failed();
        if (!std::exchange(reported_, true)) return error;
    }
    return std::nullopt;
}

void SharedIndex::warn(std::vector<Message> warnings) {
    const std::lock_guard lock(mutex_);
    for (auto& warning : warnings) warnings_.push_back(std::move(warning));
}

std::vector<Message> SharedIndex::take_warnings() {
    const std::lock_guard lock(mutex_);
    std::vector<Message> warnings = std::exchange(warnings_, {});
    for (auto& warning : index_.take_warnings()) warnings.push_back(std::move(warning));
    return warnings;
}

}  // namespace engine
