#include "xray/search_job.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <variant>

#include "engine/base/error.h"
#include "feed/background_task.h"
#include "text/language.h"

namespace ui {

namespace {

constexpr int pollEvery = 100;  // ms
using Outcome = std::variant<engine::FoundPrecision, engine::Message>;

Outcome outcomeOf(const engine::CapturedStep& step, const engine::PrecisionSearchOptions& options) {
    try {
        return engine::search_precision(step, options);
    } catch (const engine::Error& error) {
        return error.message();
    } catch (const std::exception& error) {
        return engine::msg("Training cannot continue: {}.", error.what());
    }
}

}  // namespace

struct SearchJob::Shared {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> confirmed{0}, toConfirm{0};
    std::mutex mutex;  ///< guards trials
    std::vector<engine::PrecisionTrial> trials;
};

SearchJob::SearchJob(EventFeed* feed, QObject* parent)
    : QObject(parent), jobs_(new StepJobs(feed, this)) {
    timer_.setInterval(pollEvery);
    connect(&timer_, &QTimer::timeout, this, &SearchJob::poll);
    // A step that could not be copied ends the job here; otherwise search() has taken over.
    connect(jobs_, &StepJobs::stateChanged, this, [this] {
        if (jobs_->busy() || jobs_->problem().isEmpty()) return;
        problem_ = jobs_->problem();
        end();
    });
}

SearchJob::~SearchJob() { cancel(); }

void SearchJob::cancel() {
    if (shared_) shared_->stop = true;
}

bool SearchJob::stopping() const { return running_ && shared_->stop; }

void SearchJob::start(const StepSource& source, const std::optional<engine::CapturedStep>& known,
                      Question question) {
    if (running_) return;
    running_ = true;
    asked_ = std::move(question);
    trials_.clear();
    found_.reset();
    problem_.clear();
    confirmed_ = toConfirm_ = step_ = 0;
    shared_ = std::make_shared<Shared>();
    engine::PrecisionSearchOptions options;
    options.tolerance = asked_->tolerance;
    options.confirm_steps = asked_->confirmSteps;
    options.on_trial = [shared = shared_](const engine::PrecisionTrial& trial) {
        const std::lock_guard lock(shared->mutex);
        shared->trials.push_back(trial);
        return !shared->stop;
    };
    options.on_confirm = [shared = shared_](std::int64_t done, std::int64_t all) {
        shared->toConfirm = all;
        shared->confirmed = done;
        return !shared->stop;
    };
    timer_.start();
    if (known) return search(*known, options);
    jobs_->run<bool>(
        source, known, [](const engine::CapturedStep&) { return true; },
        [this, options](bool, const engine::CapturedStep& step) { search(step, options); });
}

void SearchJob::search(const engine::CapturedStep& step,
                       const engine::PrecisionSearchOptions& options) {
    step_ = step.step();
    inBackground(
        this, [step, options] { return outcomeOf(step, options); },
        [this](Outcome outcome) {
            if (auto* problem = std::get_if<engine::Message>(&outcome)) {
                problem_ = engineText(*problem);
            } else {
                found_ = std::move(std::get<engine::FoundPrecision>(outcome));
            }
            end();
        });
}

void SearchJob::poll() {
    {
        const std::lock_guard lock(shared_->mutex);
        trials_ = shared_->trials;
    }
    confirmed_ = shared_->confirmed;
    toConfirm_ = shared_->toConfirm;
    emit progressed();
}

void SearchJob::end() {
    if (!std::exchange(running_, false)) return;
    timer_.stop();
    poll();
    emit ended();
}

}  // namespace ui
