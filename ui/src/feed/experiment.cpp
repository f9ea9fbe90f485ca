#include "feed/experiment.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "feed/background_task.h"
#include "feed/pending_events.h"

namespace ui {

using engine::RunState;

namespace {

/// The plan of the group that each of the runs keeps, so that those that a kill prevents can be
/// begun later.
std::string groupPlanOf(const std::vector<engine::RunConfig>& configs,
                        const std::optional<engine::TwinOptions>& twin = std::nullopt) {
    engine::GroupPlan plan;
    for (const auto& config : configs) plan.runs.push_back({config});
    plan.twin = twin;
    return engine::group_plan_json(plan);
}

}  // namespace

RunState combined(const std::vector<RunState>& states) {
    for (const auto lively : {RunState::training, RunState::evaluating, RunState::preparing,
                              RunState::stopping, RunState::paused}) {
        if (std::find(states.begin(), states.end(), lively) != states.end()) return lively;
    }
    if (states.empty() || !std::all_of(states.begin(), states.end(), ended)) return RunState::idle;
    const bool allFailed =
        std::all_of(states.begin(), states.end(), [](RunState s) { return s == RunState::failed; });
    return allFailed ? RunState::failed : RunState::done;
}

const std::shared_ptr<engine::ComputeThread>& Experiment::thread() {
    if (!thread_) thread_ = std::make_shared<engine::ComputeThread>();
    return thread_;
}

void Experiment::clear() {
    sessions_.clear();
    twin_.reset();
    tracks_.clear();
}

void Experiment::end() {
    clear();
    updateState();
}

void Experiment::openSession(const engine::RunConfig& config,
                             const engine::SessionOptions& options) {
    sessions_.push_back(
        std::make_unique<engine::Session>(config, thread(), store_, options));
    tracks_.push_back(std::make_shared<RunTrack>(std::string(), config));
}

void Experiment::replace(const std::function<void()>& make) {
    clear();
    emit cleared();
    if (!store_) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("There is no folder to keep the run in."),
                            engine::msg("Choose one that you may write to."));
    }
    try {
        make();
    } catch (...) {
        clear();
        emit replaced();
        throw;
    }
    emit replaced();
}

void Experiment::open(const std::vector<engine::RunConfig>& configs, const std::string& group,
                      const std::filesystem::path& dataOf) {
    replace([&] {
        engine::SessionOptions options;
        options.pause_when_disk_full = true;  // somebody is there to make room and go on
        options.group = group;
        if (configs.size() > 1) options.turns = engine::new_run_group();
        const bool compared = configs.size() > 1 && !engine::is_sweep_group(group);
        if (compared && !group.empty()) options.group_plan = groupPlanOf(configs);
        options.data_of = dataOf;
        options.data_use = engine::DataUse::sweep;
        for (const auto& config : configs) openSession(config, options);
    });
}

void Experiment::openTwin(const std::vector<engine::RunConfig>& configs, const std::string& group,
                          const engine::TwinOptions& options) {
    replace([&] {
        twin_ = std::make_shared<engine::Twin>(options);
        engine::SessionOptions session;
        session.pause_when_disk_full = true;
        session.group = group;
        session.twin = twin_;
        session.group_plan = groupPlanOf(configs, options);
        for (const auto& config : configs) {
            openSession(config, session);
            session.twin_side = engine::Twin::Side::other;
        }
    });
}

void Experiment::openResumed(const std::vector<engine::GroupMemberPlan>& members, bool acceptData) {
    replace([&] {
        const std::string turns = members.size() > 1 ? engine::new_run_group() : std::string();
        for (const engine::GroupMemberPlan& member : members) {
            engine::SessionOptions options = member.options();
            options.pause_when_disk_full = true;
            options.accept_data = acceptData;
            if (member.twin) twin_ = member.twin;
            if (!member.twin) options.turns = turns;
            const engine::ResumePlan& plan = member.plan;
            openSession(plan.config, options);
            // A new run repeats its parent's events, or has none yet.
            if (member.is_new || !plan.continuation.in_place) continue;
            for (const auto& event :
                 engine::events_up_to(plan.step, store_->events(member.run.run)))
                tracks_.back()->apply(event);
        }
    });
}

void Experiment::post(engine::Command command) {
    for (auto& session : sessions_) session->post(command);
    if (!sessions_.empty()) emit posted();
}

bool Experiment::holds(const RunTrack* track) const {
    return std::ranges::any_of(tracks_, [&](const auto& each) { return each.get() == track; });
}

engine::DataChanged Experiment::dataChanged() const {
    using engine::DataChanged;
    DataChanged out = DataChanged::no;
    for (const auto& session : sessions_) {
        const DataChanged each = session->data_changed();
        if (each == DataChanged::no) return each;
        out = std::max(out, each);
    }
    return out;
}

engine::ReadingShare Experiment::reading() const {
    for (const auto& session : sessions_) {
        const engine::ReadingShare share = session->reading();
        if (session->state() == RunState::preparing && share.total > 0) return share;
    }
    return {};
}

engine::ExaminationProgress Experiment::examination() const {
    for (const auto& session : sessions_) {
        const engine::ExaminationProgress found = session->examination();
        if (found.step > 0) return found;
    }
    return {};
}

bool Experiment::hasNextStep(const RunTrack* track) const {
    if (!holds(track)) return false;
    switch (track->state()) {
        case RunState::preparing:
        case RunState::training:
        case RunState::evaluating:
        case RunState::paused:
            return true;
        default:
            return false;
    }
}

void Experiment::captureNextStep(const RunTrack* track, QObject* context,
                                 std::function<void(engine::NextStepCapture)> done) {
    const auto found = std::ranges::find(tracks_, track, &std::shared_ptr<RunTrack>::get);
    const QPointer<QObject> alive(context);
    const auto answer = [alive, done = std::move(done)](engine::NextStepCapture capture) {
        postToWindow([alive, done, capture = std::move(capture)] {
            if (alive) done(capture);
        });
    };
    if (found == tracks_.end())
        return answer({{}, engine::msg("The run has ended, so there is no next step.")});
    sessions_[static_cast<std::size_t>(found - tracks_.begin())]->capture_next_step(answer);
}

bool Experiment::drain(PendingEvents& pending) {
    bool changed = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto track = tracks_[i];
        for (const auto& event : sessions_[i]->drain()) {
            changed = true;
            take(i, event, pending);
            // A slot may have opened another experiment.
            if (i >= tracks_.size() || tracks_[i] != track) return true;
        }
    }
    return changed;
}

void Experiment::take(std::size_t session, const engine::Event& event, PendingEvents& pending) {
    const auto track = tracks_[session];
    if (std::holds_alternative<engine::StateChanged>(event)) {
        track->apply(event);  // buttons do not wait for a frame
    } else if (std::holds_alternative<engine::RunStarted>(event)) {
        track->apply(event);
        track->setSource(recordSource(sessions_[session]->record()));
        emit runStarted();
    } else {
        pending.add(track, event);
    }
}

void Experiment::updateState() {
    std::vector<RunState> states;
    for (const auto& track : tracks_) states.push_back(track->state());
    const RunState now = combined(states);
    if (std::exchange(state_, now) != now) emit stateChanged(now);
}

}  // namespace ui
