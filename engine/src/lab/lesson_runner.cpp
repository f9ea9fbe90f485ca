#include "engine/lab/lesson_runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/base/error.h"
#include "engine/session/compute_thread.h"
#include "engine/train/resume.h"
#include "instruments/replay/scratch_folder.h"

namespace engine {
namespace {

/// Limits the pace of a compute thread: while it is on, its turn lasts until the round has taken
/// long enough.
class Pacer final : public Turn {
public:
    /// `rounds_per_second` above 0.
    explicit Pacer(double rounds_per_second);

    /// Off at first. Wake the thread after turning it on.
    void turn(bool on);
    bool run_turn() override;

private:
    using Clock = std::chrono::steady_clock;
    const Clock::duration period_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool on_ = false;
    Clock::time_point next_{};
};

Pacer::Pacer(double rounds_per_second)
    : period_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / rounds_per_second))) {}

void Pacer::turn(bool on) {
    {
        const std::lock_guard lock(mutex_);
        on_ = on;
        next_ = Clock::now() + period_;
    }
    changed_.notify_all();
}

bool Pacer::run_turn() {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, next_, [this] { return !on_; });
    // A round that took too long is not made up for.
    next_ = std::max(next_ + period_, Clock::now());
    return on_;
}

/// Runs that others go on from keep checkpoints at the steps where those begin.
void keep_for_resumes(const Lesson& lesson, const LessonRun& run, CheckpointConfig& checkpoint) {
    std::int64_t every = 0;
    for (const LessonRun& other : lesson.runs)
        if (other.resume && other.resume->run == run.name)
            every = std::gcd(every, other.resume->step);
    if (every == 0) return;
    checkpoint.every_steps = every;
    checkpoint.keep = 1000;
}

constexpr std::int64_t histogram_every = 5;  // steps: often enough to follow, and cheap

/// A lesson that shows histograms has its runs keep them, unless its settings say how often.
void keep_histograms(HistogramInterval& every) {
    if (every == HistogramInterval(0)) every = histogram_every;
}

/// Test figures cost an evaluation an epoch, so only lessons that read them have them.
bool reads_test_figures(const Lesson& lesson) {
    const auto reads = [](const LessonExpression& each) {
        return each.text().find("test_") != std::string::npos;
    };
    for (const LessonCheck& check : lesson.checks) {
        if (check.value && reads(*check.value)) return true;
        for (const auto& each : check.cases)
            if (reads(each.condition)) return true;
    }
    return std::ranges::any_of(lesson.expectations,
                               [&](const auto& each) { return reads(each.condition); });
}

}  // namespace

struct LessonRunner::Impl {
    Impl(const Lesson& lesson_, LessonStart start_) : lesson(lesson_), start(std::move(start_)) {
        if (start.folder.empty()) scratch.emplace();
        store = std::make_shared<RunStore>(scratch ? scratch->path() : start.folder);
        thread = std::make_shared<ComputeThread>();
        if (start.paced && lesson.pace > 0) {
            pacer = std::make_shared<Pacer>(lesson.pace);
            thread->add(pacer);
        }
        evaluate = reads_test_figures(lesson);
        for (const LessonRun& run : lesson.runs) runs.push_back(view_of(run));
        if (runs.empty()) throw Error(ErrorCode::settings, msg("The lesson has no runs."));
    }
    ~Impl() {
        if (pacer) pacer->turn(false);
        for (LessonRunView& run : runs)
            if (run.session) run.session->post(Command::stop);
        for (LessonRunView& run : runs) run.session.reset();
        thread.reset();
    }

    const Lesson lesson;
    const LessonStart start;
    std::optional<ScratchFolder> scratch;
    std::shared_ptr<RunStore> store;
    std::shared_ptr<ComputeThread> thread;
    std::shared_ptr<Pacer> pacer;
    std::vector<LessonRunView> runs;
    State state = State::ready;
    bool evaluate = false;
    bool begun = false;    ///< the runs that begin by themselves were given their first step
    bool in_step = false;  ///< all of them have made it
    bool stop_asked = false;

    LessonRunView view_of(const LessonRun& run) const {
        LessonRunView view{.name = run.name, .label = run.label};
        const ParsedConfig parsed = lesson_settings(lesson, run, start.seed, start.knobs);
        if (!parsed.errors.empty()) throw Error(ErrorCode::settings, parsed.errors.front().str());
        view.config = parsed.config;
        keep_for_resumes(lesson, run, view.config.checkpoint);
        for (const LessonInstrument& each : lesson.instruments) {
            if (std::ranges::find(each.runs, run.name) == each.runs.end()) continue;
            if (each.kind == LessonInstrument::Kind::histogram)
                keep_histograms(view.config.instruments.histograms_every);
            if (each.kind != LessonInstrument::Kind::weight) continue;
            view.weights.push_back(std::make_shared<WeightWatch>(each.parameter, each.index));
        }
        return view;
    }
    SessionOptions options_of(const LessonRunView& view) const {
        SessionOptions options;
        options.evaluate = evaluate;
        options.group = lesson.name;
        options.weights = view.weights;
        return options;
    }
    void begin(LessonRunView& view) const {
        view.session = std::make_shared<Session>(view.config, thread, store, options_of(view));
    }

    /// Begins a run from the checkpoint of one that has ended.
    void go_on(LessonRunView& view, const LessonRun& run) {
        try {
            const LessonRunView& source = *find(run.resume->run);
            const auto summary = source.started ? store->find(source.started->run) : std::nullopt;
            if (!summary) throw Error(ErrorCode::state, msg("{} did not begin.", source.label));
            std::vector<std::string> changes;
            const LessonRun& from = *find_run(lesson, run.resume->run);
            for (const auto& setting : run.settings)
                if (std::ranges::find(from.settings, setting) == from.settings.end())
                    changes.push_back(setting);
            ResumePlan plan = plan_resume(*summary, std::to_string(run.resume->step), changes);
            if (!plan.errors.empty()) throw Error(ErrorCode::settings, plan.errors.front().str());
            plan.continuation.in_place = false;
            plan.continuation.schedule = LongerSchedule::stretch;
            view.config = plan.config;
            SessionOptions options = options_of(view);
            options.continuation = plan.continuation;
            view.session = std::make_shared<Session>(view.config, thread, store, options);
            view.session->post(state == State::paused ? Command::step : Command::start);
        } catch (const Error& error) {
            view.events.emplace_back(RunFailed{{}, error.code(), error.message(), error.hint()});
            view.over = true;
        }
    }
    const LessonRunView* find(const std::string& name) const {
        const auto at = std::ranges::find(runs, name, &LessonRunView::name);
        return at == runs.end() ? nullptr : &*at;
    }

    bool waits(const LessonRunView& view) const {
        if (!view.session || view.over) return false;
        return view.session->state() == RunState::paused;
    }
    /// No run is computing: each waits, has ended, or has not begun.
    bool all_wait() const {
        return std::ranges::all_of(
            runs, [&](const auto& each) { return !each.session || each.over || waits(each); });
    }
    void post(Command command) {
        for (LessonRunView& run : runs)
            if (run.session && !run.over) run.session->post(command);
    }

    /// Each run that begins by itself makes one step. So all have read their data before they train
    /// together.
    void begin_all() {
        begun = true;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (lesson.runs[i].resume) continue;
            begin(runs[i]);
            runs[i].session->post(Command::step);
        }
    }
    void set_off() {
        in_step = true;
        if (state != State::running) return;
        post(Command::resume);
        if (pacer) pacer->turn(true);
        thread->wake();
    }
    /// After a pause some runs have made one step less than others.
    void catch_up() {
        std::int64_t most = 0;
        for (const LessonRunView& run : runs) most = std::max(most, run.record.size());
        for (const LessonRunView& run : runs)
            if (waits(run) && run.record.size() + 1 == most) run.session->post(Command::step);
    }

    bool take(LessonRunView& view) {
        if (!view.session) return false;
        const RunState now = view.session->state();
        auto events = view.session->drain();
        bool changed = !events.empty();
        for (Event& event : events) {
            if (auto* started = std::get_if<RunStarted>(&event)) {
                view.started = *started;
                view.metrics = started->step_metrics;
                view.folder = started->folder;
            }
            if (auto* done = std::get_if<RunDone>(&event)) view.done = *done;
            view.events.push_back(std::move(event));
        }
        const auto before = view.record.size();
        view.record = view.session->record();
        changed = changed || view.record.size() != before;
        // The state was read before the events, so none of them is missing.
        if (!view.over && (now == RunState::done || now == RunState::failed))
            view.over = changed = true;
        return changed;
    }

    bool update() {
        bool changed = false;
        for (LessonRunView& run : runs) changed = take(run) || changed;
        if (state == State::ready || state == State::ended) return changed;
        if (begun && !in_step && all_wait()) set_off();
        if (state == State::paused && in_step && all_wait()) catch_up();
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const auto& resume = lesson.runs[i].resume;
            if (!resume || runs[i].session || runs[i].over || !find(resume->run)->over) continue;
            if (stop_asked)
                runs[i].over = true;
            else
                go_on(runs[i], lesson.runs[i]);
            changed = true;
        }
        if (std::ranges::all_of(runs, &LessonRunView::over)) {
            state = State::ended;
            if (pacer) pacer->turn(false);
            changed = true;
        }
        return changed;
    }
};

LessonRunner::LessonRunner(const Lesson& lesson, LessonStart start)
    : impl_(std::make_unique<Impl>(lesson, std::move(start))) {}
LessonRunner::~LessonRunner() = default;

void LessonRunner::run() {
    if (impl_->state == State::running || impl_->state == State::ended) return;
    impl_->state = State::running;
    if (!impl_->begun) return impl_->begin_all();
    if (impl_->in_step) impl_->set_off();
}

void LessonRunner::pause() {
    if (impl_->state != State::running) return;
    impl_->state = State::paused;
    if (impl_->pacer) impl_->pacer->turn(false);
    if (impl_->in_step) impl_->post(Command::pause);
}

void LessonRunner::step() {
    if (impl_->state == State::running) return pause();
    if (impl_->state == State::ended) return;
    impl_->state = State::paused;
    if (!impl_->begun) return impl_->begin_all();
    if (impl_->in_step && impl_->all_wait()) impl_->post(Command::step);
}

void LessonRunner::stop() {
    impl_->stop_asked = true;
    if (impl_->pacer) impl_->pacer->turn(false);
    if (impl_->begun) return impl_->post(Command::stop);
    impl_->state = State::ended;
    for (LessonRunView& run : impl_->runs) run.over = true;
}

bool LessonRunner::update() { return impl_->update(); }

bool LessonRunner::wait(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
    while (true) {
        update();
        if (impl_->state == State::ended) return true;
        if (Clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

LessonRunner::State LessonRunner::state() const { return impl_->state; }
const std::vector<LessonRunView>& LessonRunner::runs() const { return impl_->runs; }
const LessonRunView* LessonRunner::find(const std::string& name) const { return impl_->find(name); }
const std::shared_ptr<RunStore>& LessonRunner::store() const { return impl_->store; }
const Lesson& LessonRunner::lesson() const { return impl_->lesson; }
const LessonStart& LessonRunner::start() const { return impl_->start; }

}  // namespace engine
