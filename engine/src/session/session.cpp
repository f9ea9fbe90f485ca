#include "engine/session/session.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "engine/data/changed_data.h"
#include "instruments/histograms/weight_watch.h"
#include "session/kept_histograms.h"
#include "session/live_skips.h"
#include "session/mailbox.h"
#include "session/next_step.h"
#include "session/request_watch.h"
#include "session/session_failure.h"
#include "session/twin_coupling.h"
#include "tensor/memory/memory.h"
#include "train/run/run_loop.h"
#include "train/run/run_needs.h"

namespace engine {

/// The commands' side and the compute thread's side of a session meet here.
struct Session::Impl final : Turn {
    Impl(RunConfig config_, std::shared_ptr<RunStore> store_, const SessionOptions& options_)
        : config(with_absolute_paths(std::move(config_))),
          store(std::move(store_)),
          options(options_),
          loop(config, store.get(), options, [this](Event event) { post(std::move(event)); }),
          live_skips(
              loop, config.instruments.armed, [this](Event event) { post(std::move(event)); },
              stop_reading.get_token()) {}

    /// Makes the steps known to the other half of a twin.
    struct TwinStep final : RunListener {
        explicit TwinStep(Impl& session_) : session(session_) {}
        void after_step() override {
            session.loop.settle();
            try {
                session.options.twin->coupling().stepped(session.options.twin_side);
            } catch (const Error& error) {
                session.post(
                    RunWarning{session.mail.run(), error.message(), session.loop.record().size()});
            }
        }
        Impl& session;
    };

    // Shared.
    const RunConfig config;
    const std::shared_ptr<RunStore> store;
    const SessionOptions options;
    Mailbox mail;
    /// A stop is obeyed while the data are read and while a step is examined, which takes long.
    std::stop_source stop_reading;
    std::atomic<RunState> state{RunState::idle};
    std::atomic<DataChanged> data_changed{DataChanged::no};
    NextStep next_step;
    std::function<void()> wake;  ///< the compute thread

    // Compute thread only (and the destructor, once no turn can run).
    RunLoop loop;
    LiveSkips live_skips;
    std::optional<KeptHistograms> histograms;  // once prepared
    TwinStep twin_step{*this};
    std::int64_t steps_allowed = -1;  // -1: no limit
    bool pause_asked = false;
    bool stop_asked = false;
    bool evaluate_asked = false;
    bool checkpoint_asked = false;
    bool evaluation_due = false;  // asked for or by the settings, not begun yet
    bool prepared = false;
    int waits = 0;  // turns in a row in which the other half of a twin was behind
    std::optional<RequestWatch> requests;  // once prepared

    bool is_over() const {
        const RunState now = state.load();
        return now == RunState::done || now == RunState::failed;
    }

    void post(Event event) {
        // An event is stored before it is shown, but a store that cannot write must not end the
        // run. A failure before the run exists cannot be stored.
        try {
            if (!loop.run().empty()) store->append(event);
        } catch (const Error& error) {
            mail.put(RunWarning{loop.run(), error.message()});
        }
        if (std::holds_alternative<RunStarted>(event))
            mail.put_start(std::move(event), loop.run(), loop.record());
        else
            mail.put(std::move(event));
    }

    void enter(RunState next) {
        if (state.exchange(next) == next) return;
        mail.put(StateChanged{mail.run(), next});
        if (requests) requests->show(next);
        if (is_over()) mail.tell_end();
    }

    /// Any thread may call it.
    void put(Command command) {
        mail.put(command);
        if (command == Command::stop) stop_reading.request_stop();
        if (wake) wake();
    }

    /// On a thread of its own.
    void obey_outside(OutsideRequest request) {
        switch (request) {
            case OutsideRequest::stop:
                return put(Command::stop);
            case OutsideRequest::pause:
                return put(Command::pause);
            case OutsideRequest::unpause:
                return put(Command::resume);
        }
    }

    void obey(Command command) {
        if (is_over()) return;
        const bool waiting = state == RunState::idle || state == RunState::paused;
        switch (command) {
            case Command::start:
            case Command::resume:
                steps_allowed = -1;
                pause_asked = false;
                if (waiting) go();
                break;
            case Command::step:
                if (!waiting) break;
                steps_allowed = 1;
                pause_asked = true;
                go();
                break;
            case Command::pause:
                pause_asked = true;
                break;
            case Command::stop:
                stop_asked = true;
                break;
            case Command::checkpoint:
                checkpoint_asked = prepared;
                break;
            case Command::watch_skips:
            case Command::unwatch_skips:
                // It computes a step again in one process, and would have to gather its state.
                if (!options.communicator) live_skips.watch(command == Command::watch_skips);
                break;
            case Command::sample_histograms:
                if (prepared) histograms->request();
                break;
            case Command::validate_now:
                evaluate_asked = prepared;
                break;
        }
    }

    void go() { enter(prepared ? RunState::training : RunState::preparing); }

    void prepare() {
        const ReadingProgressScope progress([this](const ReadingShare& share) { mail.put(share); });
        loop.prepare(stop_reading.get_token());
        const auto to_post = [this](Event event) { post(std::move(event)); };
        histograms.emplace(loop, config.instruments.histograms_every, to_post);
        loop.listen(live_skips);
        if (options.twin) loop.listen(twin_step);
        loop.listen(*histograms);
        for (const auto& watch : options.weights)
            loop.trainer().attach(std::make_shared<WeightObserver>(watch));
        prepared = true;
        if (loop.hold())
            requests.emplace(loop.hold(), loop.folder(),
                             [this](OutsideRequest request) { obey_outside(request); });
        if (options.twin) options.twin->coupling().join(options.twin_side, loop);
        // A run that goes on may have been stopped in an evaluation.
        plan_evaluation();
        enter(RunState::training);
    }

    /// Ends the epoch if its end has no evaluation.
    void plan_evaluation() {
        evaluation_due = options.evaluate && loop.is_evaluation_due();
        if (options.evaluate && !evaluation_due && loop.at_epoch_end()) loop.end_epoch();
    }

    void begin_evaluation() {
        loop.begin_evaluation();
        evaluation_due = false;
        enter(RunState::evaluating);
    }

    void train() {
        loop.write_pending();
        loop.poll();
        if (std::exchange(checkpoint_asked, false)) loop.save_checkpoint();
        if (evaluation_due) return begin_evaluation();
        if (loop.finished() && !loop.in_step()) return finish_trained();
        if (!loop.in_step() && (pauses() || !is_in_step())) return;
        loop.train_step();
        if (steps_allowed > 0) --steps_allowed;
        plan_evaluation();
        evaluation_due = evaluation_due || std::exchange(evaluate_asked, false);
        if (evaluation_due) return begin_evaluation();
        if (loop.finished()) finish_trained();
    }

    /// Whether the other half of a twin, if there is one, has come as far.
    bool is_in_step() {
        if (!options.twin || options.twin->coupling().may_step(options.twin_side)) {
            waits = 0;
            return true;
        }
        // It may be paused, with nothing to do for a long time.
        if (++waits > 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return false;
    }

    /// The halves of a twin stop at the same step, so that they can go on coupled.
    void catch_up() {
        if (options.twin && prepared && !loop.in_step() && !evaluation_due &&
            !loop.at_epoch_end() && options.twin->coupling().is_behind(options.twin_side))
            loop.train_step();
    }

    void finish_trained() {
        loop.settle();
        finish(loop.reason());
    }

    /// The run pauses here, if it is asked to.
    bool pauses() {
        if (steps_allowed == 0 || (pause_asked && steps_allowed < 0)) {
            loop.settle();
            steps_allowed = -1;
            enter(RunState::paused);
            return true;
        }
        return false;
    }

    void evaluate() {
        if (loop.evaluate_some()) return;
        if (loop.finished())
            finish(loop.reason());
        else
            enter(RunState::training);
    }

    void finish(DoneReason reason) {
        if (options.twin) options.twin->coupling().leave(options.twin_side);
        const bool failed = reason == DoneReason::failed;
        if (prepared)
            post(loop.end(reason));
        else if (!failed)
            loop.leave({});
        enter(failed ? RunState::failed : RunState::done);
    }

    /// Writes the rows of the steps in flight, as far as they can still be had.
    void settle_at_last() {
        try {
            loop.settle();
        } catch (const std::exception& error) {
            if (loop.has_unwritten())
                post(RunWarning{mail.run(), msg("The last steps are lost: {}.", error.what())});
            else if (loop.is_taken_over())
                post(RunWarning{mail.run(), error.what()});
        }
    }

    /// The step that ended the run is examined like any other.
    void examine_at_last() {
        if (!prepared || loop.is_taken_over()) return;
        try {
            live_skips.after_step();
        } catch (const std::exception&) {
            return;  // the run ends with the error that it ends with
        }
    }

    void fail(const SessionFailure& failure) {
        if (failure.code == ErrorCode::io && options.pause_when_disk_full && loop.has_pending()) {
            post(RunWarning{mail.run(), failure.message});
            pause_asked = false;
            steps_allowed = -1;
            enter(RunState::paused);
            return;
        }
        settle_at_last();
        examine_at_last();
        loop.leave(failure.message.str());
        release_cached_memory();  // the neighbours may need what this run has left
        post(RunFailed{loop.run(), failure.code, failure.message, failure.hint});
        finish(DoneReason::failed);
    }

    bool advance() {
        for (const Command command : mail.take_commands()) obey(command);
        if (stop_asked && !is_over()) {
            // A step would pass over the evaluation that is under way.
            const bool may_step = state.load() != RunState::evaluating;
            enter(RunState::stopping);
            if (may_step) catch_up();
            settle_at_last();
            finish(DoneReason::stopped);
        }
        answer_next_step();
        switch (state.load()) {
            case RunState::preparing:
                prepare();
                return true;
            case RunState::training:
                train();
                return true;
            case RunState::evaluating:
                evaluate();
                return true;
            case RunState::paused:
                if (std::exchange(checkpoint_asked, false)) loop.save_checkpoint();
                if (loop.poll()) return wait_for_checkpoint();
                if (!std::exchange(evaluate_asked, false)) return false;
                loop.begin_evaluation();
                pause_asked = true;
                enter(RunState::evaluating);
                return true;
            default:
                return false;
        }
    }

    /// While the run is trained or paused: between two steps, once an evaluation is over.
    void answer_next_step() {
        if (!next_step.asked()) return;
        if (is_over()) return next_step.close(msg("The run has ended, so there is no next step."));
        const RunState now = state.load();
        if (now == RunState::idle) return next_step.refuse(msg("The run has not started yet."));
        const bool between = now == RunState::training && !loop.in_step() && !evaluation_due;
        if (now == RunState::paused || (between && !loop.finished())) next_step.give(loop);
    }

    /// A pause has nothing else to do than to report the checkpoint when it is written.
    static bool wait_for_checkpoint() {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return true;
    }

    bool run_turn() override {
        try {
            return advance();
        } catch (const ReadingStopped&) {
            finish(DoneReason::stopped);
        } catch (const std::exception& error) {
            if (const auto* changed = dynamic_cast<const ChangedData*>(&error))
                data_changed =
                    changed->other_size() ? DataChanged::samples : DataChanged::contents;
            fail(to_session_failure(error));
        }
        return true;
    }
};

Session::Session(RunConfig config, std::shared_ptr<ComputeThread> thread,
                 std::shared_ptr<RunStore> store, SessionOptions options)
    : thread_(std::move(thread)) {
    const auto errors = validate(config);
    if (!errors.empty()) throw Error(ErrorCode::settings, errors.front().str());
    check_workers(config, options.communicator.get());
    impl_ = std::make_shared<Impl>(std::move(config), std::move(store), options);
    impl_->wake = [thread = thread_.get()] { thread->wake(); };
    thread_->add(impl_);
}

Session::~Session() {
    post(Command::stop);
    thread_->remove(impl_.get());
    // Leaving a twin takes an observer from the other half, which may be in a step.
    std::optional<ComputeThread::Pause> pause;
    if (impl_->options.twin) pause.emplace(*thread_);
    if (!impl_->is_over() && impl_->prepared) {
        impl_->settle_at_last();
        try {
            impl_->finish(DoneReason::stopped);
        } catch (const Error& error) {  // a lost rank: its state cannot be saved
            impl_->fail(to_session_failure(error));
        }
    }
    impl_->requests.reset();  // it wakes the compute thread
    impl_->loop.leave({});
    impl_->next_step.close(msg("The run has ended, so there is no next step."));
}

void Session::post(Command command) { impl_->put(command); }

void Session::capture_next_step(std::function<void(NextStepCapture)> answer) {
    impl_->next_step.ask(std::move(answer));
    thread_->wake();
}

std::vector<Event> Session::drain() { return impl_->mail.take_events(); }

RunState Session::state() const { return impl_->state; }

StepRecordReader Session::record() const { return impl_->mail.record(); }

std::string Session::run() const { return impl_->mail.run(); }

const RunConfig& Session::config() const { return impl_->config; }

ReadingShare Session::reading() const { return impl_->mail.reading(); }

ExaminationProgress Session::examination() const { return impl_->live_skips.progress(); }

DataChanged Session::data_changed() const { return impl_->data_changed; }

bool Session::wait(double seconds) {
    return impl_->mail.wait(seconds, [this] { return impl_->is_over(); });
}

}  // namespace engine
