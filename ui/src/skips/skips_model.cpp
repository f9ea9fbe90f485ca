#include "skips/skips_model.h"

#include <algorithm>

#include "engine/capsule.h"
#include "engine/error.h"
#include "feed/background.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "view/selection.h"

namespace ui {

SkipsModel::SkipsModel(const Context& context, QObject* parent)
    : QObject(parent), context_(context) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &SkipsModel::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &SkipsModel::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, [this] {
        refresh();
        trial_.reset();
        emit stepChanged();
    });
    refresh();
}

void SkipsModel::refresh() {
    const auto track = selectedTrack(context_);
    const std::filesystem::path folder =
        track && track->started() ? track->started()->folder : std::string();
    if (track != track_ || folder != folder_) {
        track_ = track;
        folder_ = folder;
        skips_ = {};
        known_ = -1;
        trial_.reset();
        problem_.clear();
        emit listChanged();
        emit stepChanged();
    }
    if (folder_.empty() || track_->rows() == 0) return;
    const auto last = track_->latest();
    if (last.step - last.updates != known_) readList();
}

/// The whole record is read, so it is done in the background and when there are new skips alone.
void SkipsModel::readList() {
    if (reading_) return;
    reading_ = true;
    const auto last = track_->latest();
    const std::int64_t skipped = last.step - last.updates;
    const auto folder = folder_;
    inBackground(
        this,
        [folder]() -> std::optional<engine::SkipList> {
            try {
                return engine::list_skips(folder);
            } catch (const std::exception&) {
                return std::nullopt;
            }
        },
        [this, folder, skipped](std::optional<engine::SkipList> found) {
            reading_ = false;
            if (folder != folder_) return;
            known_ = skipped;  // a record that cannot be read is not read again at every frame
            if (!found) return;
            skips_ = std::move(*found);
            emit listChanged();
            emit stepChanged();
        });
}

int SkipsModel::current() const {
    const auto& list = skips_.list;
    if (list.empty()) return -1;
    const std::int64_t selected = context_.link->selected();
    const auto found = std::ranges::find(list, selected, &engine::SkippedStep::step);
    return static_cast<int>(found != list.end() ? found - list.begin() : std::ssize(list) - 1);
}

void SkipsModel::select(int index) {
    if (index < 0 || index >= static_cast<int>(skips_.list.size())) return;
    context_.link->select(skips_.list[static_cast<std::size_t>(index)].step, track_);
}

const engine::SkippedStep* SkipsModel::step() const {
    const int at = current();
    return at < 0 ? nullptr : &skips_.list[static_cast<std::size_t>(at)];
}

const engine::SkipReport* SkipsModel::report() const {
    const auto* here = step();
    return here != nullptr && here->report ? &*here->report : nullptr;
}

void SkipsModel::run(std::function<void()> work, std::function<void()> done) {
    if (busy_) return;
    busy_ = true;
    problem_.clear();
    emit stateChanged();
    auto problem = std::make_shared<QString>();
    context_.feed->compute(
        this,
        [work = std::move(work), problem] {
            try {
                work();
            } catch (const engine::Error& error) {
                *problem = joined({engineText(error.message()), engineText(error.hint())});
            } catch (const std::exception& error) {
                *problem = QString::fromUtf8(error.what());
            }
        },
        [this, problem, done = std::move(done)] {
            busy_ = false;
            problem_ = *problem;
            if (problem_.isEmpty()) done();
            emit stateChanged();
        });
}

void SkipsModel::examine() {
    const auto* here = step();
    if (here == nullptr) return;
    auto report = std::make_shared<std::optional<engine::SkipReport>>();
    run([folder = folder_, number = here->step,
         report] { *report = engine::examine_skip(folder, number); },
        [this, folder = folder_, report] {
            if (folder != folder_ || !*report) return;
            for (auto& each : skips_.list) {
                if (each.step == (*report)->step) each.report = **report;
            }
            emit listChanged();
            emit stepChanged();
        });
}

void SkipsModel::retry(const engine::RetryChange& change) {
    const auto* here = step();
    if (here == nullptr) return;
    auto trial = std::make_shared<std::optional<engine::StepTrial>>();
    run([folder = folder_, number = here->step, change,
         trial] { *trial = engine::retry_step(folder, number, change); },
        [this, trial] {
            trial_ = *trial;
            emit stepChanged();
        });
}

void SkipsModel::saveCapsule(const QString& file) {
    const auto* here = step();
    if (here == nullptr || file.isEmpty()) return;
    run(
        [folder = folder_, number = here->step, path = std::filesystem::path(file.toStdString())] {
            engine::write_capsule(folder, number, path);
        },
        [] {});
}

}  // namespace ui
