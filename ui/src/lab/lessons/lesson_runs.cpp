#include "lab/lessons/lesson_runs.h"

#include <QDeadlineTimer>
#include <QTimer>
#include <algorithm>

#include "commands/commands.h"
#include "feed/background_task.h"
#include "feed/row_source.h"
#include "lab/numbers/number_words.h"
#include "plots/plot_options.h"
#include "text/format.h"

namespace ui {
namespace {

constexpr std::size_t maxFormer = 3;
constexpr int readFor = 8;  // ms of reading rows in one turn

/// Measurements of a lesson without runs: its blocks `bits` and `sum` alone.
class NoRuns final : public engine::LessonMeasurements {
public:
    std::vector<double> column(const std::string&, const std::string&) const override { return {}; }
    std::optional<double> result(const std::string&, const std::string&) const override {
        return std::nullopt;
    }
    std::optional<std::string> xray(const std::string&, const std::string&,
                                    const std::string&) const override {
        return std::nullopt;
    }
    std::optional<engine::LessonValue> skip(const std::string&, const std::string&) const override {
        return std::nullopt;
    }
    bool ended(const std::string&) const override { return true; }
};

}  // namespace

LessonRuns::LessonRuns(Commands* commands, QObject* parent)
    : RunActor(parent),
      commands_(commands),
      link_(new PlotLink(this)),
      now_(std::make_shared<LessonSnapshot>()) {}

LessonRuns::~LessonRuns() = default;

void LessonRuns::setLesson(std::shared_ptr<const engine::Lesson> lesson) {
    lesson_ = std::move(lesson);
    const QSignalBlocker quiet(this);
    reset();
}

void LessonRuns::announce() {
    emit phaseChanged();
    emit tracksChanged();
    emit measured();
    emit figuresDue();
    emit buttonsChanged();
}

void LessonRuns::setLock(const QString& why) {
    if (why == lock_) return;
    lock_ = why;
    emit buttonsChanged();
}

void LessonRuns::reset() {
    discard();
    knobs_.clear();
    former_.clear();
    phase_ = Phase::notRun;
    announce();
}

void LessonRuns::discard() {
    worker_.reset();
    now_ = std::make_shared<LessonSnapshot>();
    tracks_.clear();
    link_->options()->setRuns({});
    if (lesson_ && !lesson_->runs.empty()) {
        const auto first = engine::lesson_settings(*lesson_, lesson_->runs.front(), seed());
        link_->setEnd(static_cast<double>(first.config.max_steps));
    }
    link_->select(0, nullptr);
    link_->forgetZooms();
    askedPause_ = false;
    stopped_ = false;
    toldProblem_ = false;
}

void LessonRuns::setKnob(const QString& path, const QString& value) {
    if (value.isEmpty())
        knobs_.erase(path);
    else
        knobs_[path] = value;
    if (phase_ != Phase::notRun) begin(&engine::LessonRunner::run);
}

void LessonRuns::begin(LessonWorker::Command first) {
    if (!lesson_ || lesson_->runs.empty()) return;
    if (!tracks_.empty()) {
        former_.push_back(tracks_);
        if (former_.size() > maxFormer) former_.erase(former_.begin());
    }
    discard();
    engine::LessonStart start;
    start.seed = seed();
    for (const auto& [path, value] : knobs_)
        start.knobs.push_back((path + u'=' + value).toStdString());
    worker_ = std::make_unique<LessonWorker>(*lesson_, std::move(start), first);
    connect(worker_.get(), &LessonWorker::snapshot, this,
            [this, worker = worker_.get()](const std::shared_ptr<const LessonSnapshot>& now) {
                if (worker != worker_.get()) return;
                now_ = now;
                take(*now);
            });
    setPhase(Phase::running);
    emit began();
    emit tracksChanged();
    emit buttonsChanged();
}

void LessonRuns::checkAlone() {
    emit began();
    setPhase(Phase::running);
    inBackground(
        this,
        [lesson = lesson_] {
            auto now = std::make_shared<LessonSnapshot>();
            now->state = engine::LessonRunner::State::ended;
            now->checks = engine::check_results(*lesson, NoRuns());
            return now;
        },
        [this, lesson = lesson_](const std::shared_ptr<LessonSnapshot>& now) {
            if (lesson != lesson_) return;
            now_ = now;
            setPhase(Phase::ended);
            emit measured();
            emit buttonsChanged();
        });
    emit buttonsChanged();
}

void LessonRuns::makeTracks(const LessonSnapshot& now) {
    for (std::size_t i = tracks_.size(); i < now.runs.size(); ++i) {
        const auto& run = now.runs[i];
        auto track = std::make_shared<RunTrack>(run.name, run.config);
        track->tag = QString::fromStdString(run.label);
        tracks_.push_back(track);
    }
}

void LessonRuns::take(const LessonSnapshot& now) {
    const std::size_t before = tracks_.size();
    makeTracks(now);
    bool changed = before != tracks_.size();
    bool left = false;
    QDeadlineTimer deadline(readFor);
    for (std::size_t i = 0; i < now.runs.size(); ++i) {
        const auto& run = now.runs[i];
        auto& track = tracks_[i];
        if (run.started && !track->started()) {
            track->setSource(recordSource(run.record));
            track->apply(*run.started);
            changed = true;
        }
        if (run.done && !track->done()) track->apply(*run.done);
        if (run.failed && !track->failed()) track->apply(*run.failed);
        if (track->started()) left = track->catchUp(deadline) || left;
    }
    // The rest in later turns of the event loop: the window stays responsive.
    if (left) QTimer::singleShot(0, this, [this] { take(*std::shared_ptr(now_)); });
    link_->setEnd(static_cast<double>(plannedSteps()));
    if (changed) emit tracksChanged();
    using State = engine::LessonRunner::State;
    // A run that goes on by itself reports "running" until the pause that was asked for.
    setPhase(now.state == State::ended    ? Phase::ended
             : now.state == State::paused ? Phase::paused
                                          : Phase::running);
    if (phase_ != Phase::running) askedPause_ = false;
    if (!now.problem.empty() && !std::exchange(toldProblem_, true))
        emit failed(now.problem, now.hint);
    emit measured();
    emit figuresDue();
    emit buttonsChanged();
}

std::int64_t LessonRuns::plannedSteps() const {
    std::int64_t most = 0;
    for (const auto& track : tracks_) most = std::max({most, track->plannedSteps(), track->rows()});
    return most;
}

int LessonRuns::indexOf(const std::string& name) const {
    if (!lesson_) return -1;
    const auto at = std::ranges::find(lesson_->runs, name, &engine::LessonRun::name);
    return at == lesson_->runs.end() ? -1 : static_cast<int>(at - lesson_->runs.begin());
}

void LessonRuns::setPhase(Phase phase) {
    if (phase == phase_) return;
    phase_ = phase;
    emit phaseChanged();
}

void LessonRuns::start() {
    if (!buttons().compare.enabled) return;
    if (lesson_->runs.empty()) return checkAlone();
    if (commands_->experimentRuns()) return emit pauseOffered();
    begin(&engine::LessonRunner::run);
}

void LessonRuns::pauseOthers() {
    commands_->pauseExperiment();
    if (buttons().compare.enabled) begin(&engine::LessonRunner::run);
}

void LessonRuns::togglePause() {
    if (!worker_ || !buttons().pause.enabled) return;
    const bool resume = buttons().pauseResumes;
    askedPause_ = !resume;
    worker_->post(resume ? &engine::LessonRunner::run : &engine::LessonRunner::pause);
    emit buttonsChanged();
}

void LessonRuns::step() {
    if (!buttons().step.enabled) return;
    if (worker_ && phase_ != Phase::ended)
        worker_->post(&engine::LessonRunner::step);
    else if (commands_->experimentRuns())
        emit pauseOffered();
    else
        begin(&engine::LessonRunner::step);
}

void LessonRuns::stop() {
    if (!worker_ || !buttons().stop.enabled) return;
    stopped_ = true;
    worker_->post(&engine::LessonRunner::stop);
}

ButtonStates LessonRuns::buttons() const {
    const bool some = lesson_ && !lesson_->runs.empty();
    const bool checks = lesson_ && !lesson_->checks.empty();
    const bool under = phase_ == Phase::running || phase_ == Phase::paused;
    const QString none = tr("This lesson trains nothing.");
    const auto state = [](bool enabled, const QString& why) {
        return ButtonState{enabled, enabled ? QString() : why};
    };
    ButtonStates out;
    const QString why = !some && !checks                  ? none
                        : !some && phase_ == Phase::ended ? tr("The answers are below.")
                        : under                           ? tr("The lesson's runs are in progress.")
                                                          : lock_;
    out.compare = state(why.isEmpty(), why);
    out.start = state(false, tr("The lesson's runs start together."));
    const QString idle = some ? tr("Nothing is running.") : none;
    out.pauseResumes = phase_ == Phase::paused || askedPause_;
    out.pause = state(under, idle);
    const bool first = some && phase_ == Phase::notRun && why.isEmpty();
    out.step = state(phase_ == Phase::paused || askedPause_ || first,
                     phase_ == Phase::running ? tr("Pause first, then go step by step.")
                     : lock_.isEmpty()        ? idle
                                              : lock_);
    out.stop = state(under, idle);
    out.demonstrate = state(false, tr("Leave the Lab first."));
    return out;
}

QString LessonRuns::startText() const {
    if (lesson_ && lesson_->runs.empty()) return tr("Check answers");
    return phase_ == Phase::ended ? tr("Run again") : tr("Run lesson");
}

QString LessonRuns::title(const RunTrack& track) const { return track.tag; }

QString LessonRuns::status() const {
    if (!lesson_) return {};
    const QString name =
        tr("<b>Lesson</b> %1").arg(QString::fromStdString(lesson_->title).toHtmlEscaped());
    std::int64_t rows = 0;
    for (const auto& track : tracks_) rows = std::max(rows, track->rows());
    switch (phase_) {
        case Phase::notRun:
            return name;
        case Phase::running:
        case Phase::paused: {
            const QString word = phase_ == Phase::paused
                                     ? tr("paused at step %1").arg(count(rows))
                                     : tr("step %1 of %2").arg(count(rows), count(plannedSteps()));
            const QString pace =
                lesson_->pace > 0
                    ? u" · "_s + tr("paced at %1 steps/s").arg(plainText(lesson_->pace))
                    : QString();
            return name + u" · "_s + word + pace;
        }
        case Phase::ended:
            break;
    }
    return name + u" · "_s +
           tr("ended at step %1; the runs are discarded unless kept").arg(count(rows));
}

}  // namespace ui
