#include "engine/runs/followed_run.h"

#include <chrono>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "io/file/mapped_file.h"
#include "record/event_json.h"
#include "record/record_source.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto local_interval = 100ms;
constexpr auto network_interval = 500ms;
/// Time after the last sign of life before a run without a lease counts as dead. A lock may not
/// work across a network, and a server's view may be some seconds old.
constexpr auto local_patience = 0s;
constexpr auto network_patience = 60s;
/// A run of ours that fails frees its lock before it writes its last event.
constexpr auto failed_patience = 1s;
/// For the rows of an ended run to arrive.
constexpr auto rows_patience = 5s;
/// Lines that are read at once: an event takes twenty times as much memory as its line.
constexpr std::size_t events_at_once = std::size_t{128} << 10;

}  // namespace

struct FollowedRun::Impl {
    const std::filesystem::path folder;
    const RecordAccess access;
    LineTail tail;
    RunState state = RunState::idle;
    std::string run;
    bool started = false;
    bool interrupted = false;
    bool failed = false;
    bool behind = false;  ///< lines are left to read
    std::optional<RunDone> done;
    StepRecordReader record;
    bool has_record = false;
    bool on_network = false;  ///< where neither the lock nor the files are sure to be up to date
    LeaseSighting seen;       ///< of a writer on another machine
    LeaseState holder;        ///< present: the writer renews a lease, or did until it died
    std::int64_t rows = 0;
    Clock::time_point looked{};  ///< at the folder
    Clock::time_point lively{};  ///< something new was there
    Clock::time_point done_at{};
    std::vector<Event> events;

    Impl(std::filesystem::path folder_, RecordAccess access_)
        : folder(std::move(folder_)), access(access_), tail(folder / events_file) {}

    bool is_over() const { return state == RunState::done || state == RunState::failed; }

    void look() {
        const auto now = Clock::now();
        const auto interval = on_network ? network_interval : local_interval;
        const bool is_due = behind || looked == Clock::time_point{} || now - looked >= interval;
        if (is_over() || !is_due) return;
        looked = now;
        try {
            look_at_folder();
        } catch (const Error& error) {
            events.emplace_back(RunFailed{run, error.code(), error.message(), error.hint()});
            enter(RunState::failed);
        }
    }

    void look_at_folder() {
        if (!has_settings(folder)) return;
        if (state == RunState::idle) enter(RunState::preparing);
        // Asked before the rest is read: a run that ends now writes its end before it lets go.
        holder = holder_of(folder, seen);
        const bool held = holder.held;
        const std::size_t before = events.size();
        behind = tail.read([this](std::string_view line) { take(line); }, events_at_once);
        if (started) look_at_record();
        if (held || behind || events.size() != before) lively = looked;
        if (behind) return;
        if (started && held && !done) show_pause();
        if (done) return finish_when_whole();
        if (!held && looked - lively >= patience()) end_without_done();
    }

    void show_pause() {
        const bool paused = holder.activity == name(RunState::paused);
        if (paused != (state == RunState::paused))
            enter(paused ? RunState::paused : RunState::training);
    }

    void take(std::string_view line) {
        auto event = parse_event(line);
        if (!event) return;
        if (auto* start = std::get_if<RunStarted>(&*event)) {
            start->folder = folder.string();  // on another machine it may have another path
            begin(*start);
        }
        if (const auto* end = std::get_if<RunDone>(&*event)) {
            done = *end;
            done_at = looked;
        }
        failed = failed || std::holds_alternative<RunFailed>(*event);
        if (const auto* resumed = std::get_if<RunResumed>(&*event)) go_on(*resumed);
        if (std::holds_alternative<StateChanged>(*event)) return;
        events.push_back(std::move(*event));
    }

    void begin(const RunStarted& start) {
        run = start.run;
        if (std::exchange(started, true)) return;
        record = StepRecordReader::open(folder, access);
        on_network = is_on_network(open_record_file(folder / record_layout::file_name));
        enter(RunState::training);
    }

    /// An end that came before does not count any more.
    void go_on(const RunResumed& resumed) {
        done.reset();
        failed = false;
        if (resumed.parent.empty()) take_back_after(resumed.step, events);
    }

    void look_at_record() {
        record.check();
        const std::int64_t now = record.size();
        if (std::exchange(rows, now) != now) lively = looked;
    }

    /// A server may show the end of a run before its last rows.
    void finish_when_whole() {
        if (rows < done->steps && looked - done_at < rows_patience) return;
        const bool bad = done->reason == DoneReason::failed || done->reason == DoneReason::diverged;
        enter(bad ? RunState::failed : RunState::done);
    }

    Clock::duration patience() const {
        if (on_network && !holder.present) return network_patience;
        return failed ? Clock::duration(failed_patience) : local_patience;
    }

    void end_without_done() {
        if (failed) return enter(RunState::failed);
        interrupted = true;
        events.emplace_back(RunWarning{
            run, msg("The program that trained this run ended without finishing it."), rows});
        enter(RunState::failed);
    }

    void enter(RunState next) {
        state = next;
        events.emplace_back(StateChanged{run, next});
    }
};

FollowedRun::FollowedRun(std::filesystem::path folder, RecordAccess access)
    : impl_(std::make_unique<Impl>(std::move(folder), access)) {}
FollowedRun::~FollowedRun() = default;

std::vector<Event> FollowedRun::drain() {
    impl_->look();
    return std::exchange(impl_->events, {});
}

bool FollowedRun::is_behind() const { return impl_->behind; }

RunState FollowedRun::state() const { return impl_->state; }
StepRecordReader FollowedRun::record() const { return impl_->record; }
std::string FollowedRun::run() const { return impl_->run; }
const std::filesystem::path& FollowedRun::folder() const { return impl_->folder; }
RunProcess FollowedRun::writer() const {
    const LeaseState& holder = impl_->holder;
    if (!holder.held) return {};
    return {true, holder.host, holder.process, holder.silent_s};
}
bool FollowedRun::interrupted() const { return impl_->interrupted; }

}  // namespace engine
