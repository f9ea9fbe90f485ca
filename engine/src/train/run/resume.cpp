#include "engine/train/resume.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "engine/settings/catalog.h"
#include "runs/checkpoint.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"
#include "runs/stored_run.h"
#include "train/run/saved_run.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Settings that may change when a run goes on: sections, and fields.
constexpr std::array changeable_sections = {
    "precision.",  "quantize.",       "scaler.",         "optimizer.",   "schedule.", "clip.",
    "checkpoint.", "early_stopping.", "evaluation.",  "instruments.", "log.", "teach."};
constexpr std::array changeable_fields = {
    "epochs",           "max_steps",       "stop_on_nan",        "gradient_penalty", "recompute",
    "evaluation_batch", "device",          "deterministic",      "threads",          "dataset.path",
    "workers",          "dataset.damaged", "dataset.unreadable", "dataset.decoder"};

bool may_change(const std::string& path) {
    return std::ranges::any_of(changeable_sections,
                               [&](const char* section) { return path.starts_with(section); }) ||
           std::ranges::find(changeable_fields, path) != changeable_fields.end();
}

/// A checkpoint that was read whole.
struct ReadCheckpoint {
    CheckpointFolder at;
    SavedRun saved;
};

ReadCheckpoint read_checkpoint_folder(const CheckpointFolder& at) {
    return {at, read_saved_run(at.folder)};
}

/// Throws Error(data) for a run that had a checkpoint, or whose beginning another run made: without
/// one it cannot begin at step 0.
void refuse_lost_checkpoints(const RunSummary& run) {
    bool had = false;
    EventFile(run.folder).for_each([&](Event&& event) {
        had = had || std::holds_alternative<CheckpointSaved>(event);
        const auto* resumed = std::get_if<RunResumed>(&event);
        if (resumed == nullptr || resumed->parent.empty() || resumed->step == 0) return;
        throw Error(ErrorCode::data,
                    msg("Run {} goes on from step {} of run {} and has no checkpoint.", run.run,
                        resumed->step, resumed->parent),
                    msg("Resume run {} once more.", resumed->parent));
    });
    if (!had) return;
    throw Error(ErrorCode::data,
                msg("The checkpoints of run {} are gone: {}", run.run, run.folder.string()),
                msg("Put them back. --from start begins anew, as a new run."));
}

/// The newest checkpoint whose files are whole; nothing if the run never had one. Newer ones that
/// are damaged are listed in `damaged`. Throws Error(data) if none can be read: a run does not
/// begin again because a disk is away for a moment.
std::optional<ReadCheckpoint> last_whole(const RunSummary& run, std::vector<fs::path>& damaged,
                                         std::string& why) {
    auto all = checkpoint_folders(run.folder);
    if (all.empty()) refuse_lost_checkpoints(run);
    for (; !all.empty(); all.pop_back()) {
        const CheckpointFolder& newest = all.back();
        try {
            return read_checkpoint_folder(newest);
        } catch (const Error& error) {
            if (is_of_later_version(newest.folder)) {
                throw Error(error.code(), error.message(),
                            msg("Resume it with that version, or from an earlier checkpoint as a "
                                "new run (--from STEP). Nothing was changed."));
            }
            why += (why.empty() ? "" : "; ") + error.message().str();
        }
        damaged.push_back(newest.folder);
    }
    if (damaged.empty()) return std::nullopt;
    throw Error(ErrorCode::data, msg("No checkpoint of run {} can be read: {}", run.run, why),
                msg("Nothing was changed: the {} recorded steps are left. --from start begins "
                    "anew, as a new run.",
                    run.steps));
}

/// Settings that leave nothing to do after the checkpoint.
void refuse_no_steps_left(ResumePlan& plan, const SavedRun& saved) {
    const std::int64_t epochs = saved_count(saved.progress, "epoch");
    const std::int64_t steps = saved.step();
    // The evaluation at that step may be left.
    const auto evaluated = saved.progress.find("evaluated");
    const bool unevaluated =
        saved_count(saved.progress, "epoch_ended") != 0 ||
        (evaluated != saved.progress.end() && evaluated->second != static_cast<double>(steps));
    const RunConfig& now = plan.config;
    if (now.epochs < epochs || (now.epochs == epochs && !unevaluated))
        plan.errors.push_back({"epochs", std::to_string(now.epochs),
                               msg("use at least {}: the checkpoint of step {} has {} epochs",
                                   epochs + 1, steps, epochs)});
    const auto waited = saved.rules.find("stopping.waited");
    const std::int64_t patience = now.early_stopping.patience;
    if (patience > 0 && waited != saved.rules.end() &&
        waited->second >= static_cast<double>(patience))
        plan.errors.push_back({"early_stopping.patience", std::to_string(patience),
                               msg("use more than {}, or 0: as many evaluated epochs in a row "
                                   "were not better, which ended the run",
                                   patience)});
    if (now.max_steps > 0 && (now.max_steps < steps || (now.max_steps == steps && !unevaluated)))
        plan.errors.push_back(
            {"max_steps", std::to_string(now.max_steps),
             msg("use at least {}, or 0: the checkpoint has {} steps", steps + 1, steps)});
}

/// How the damaged checkpoints are passed over.
Message note_of_damaged(const RunSummary& run, const ResumePlan& plan, const std::string& why) {
    if (!plan.continuation.in_place)
        return msg("{}. The new run goes on from step {}.", why, plan.step);
    return msg(
        "{}. The run goes on from step {}: the {} recorded steps after it are computed "
        "again. What is damaged is kept under the name .damaged.",
        why, plan.step, std::max<std::int64_t>(run.steps - plan.step, 0));
}

/// Whether the changes bring the text of another network.
bool has_other_network(const RunConfig& now, const RunConfig& before) {
    const auto model = find_model(now.model);
    return model != nullptr && model->from_text && now.model.network != before.model.network;
}

/// Whether a change gives the weights to start from, be it none.
bool sets_weights(const std::vector<std::string>& changes) {
    return std::ranges::any_of(changes, [](const std::string& change) {
        const std::string path = change.substr(0, change.find_first_of("= "));
        return path == "model.init_from" ||
               (path == "model" && change.find("\"init_from\"") != change.npos);
    });
}

void refuse_unchangeable(ResumePlan& plan, const RunConfig& before) {
    const bool other_network = has_other_network(plan.config, before);
    for (const std::string& path : differing_fields(before, plan.config)) {
        if (may_change(path) || (other_network && path.starts_with("model."))) continue;
        if (std::ranges::find(plan.errors, path, &SettingError::field) != plan.errors.end())
            continue;
        plan.errors.push_back({path, "changed",
                               msg("keep it: a run cannot continue with another value. Start a new "
                                   "run from the weights (model.init_from) instead")});
    }
}

/// Before its checkpoints are looked at, which come and go.
void refuse_running(const RunSummary& run) {
    if (run.state != running_state) return;
    const LeaseState holder{
        .present = true, .held = true, .host = run.host, .process = 0, .silent_s = run.silent_s};
    throw_held(run.folder, holder, msg("Stop it before you resume it."));
}

bool has_made_all_steps(const RunSummary& run, const CheckpointFolder& at) {
    if (run.state != "done" || at.step != run.steps) return false;
    const auto all = list_checkpoints(run.folder);  // which another program may have pruned
    return !all.empty() && all.back().step == at.step;
}

/// The advice to give a finished run more epochs. A schedule that has come to its end needs a
/// choice.
Message more_epochs(const RunConfig& config) {
    const std::int64_t epochs = std::max<std::int64_t>(2 * config.epochs, 1);
    if (falls_to_end(config))
        return msg("Give it more epochs, for instance --set epochs={} --schedule cycle.",
                   epochs);
    return msg("Give it more epochs, for instance --set epochs={}.", epochs);
}

/// A run of the group that was never begun.
GroupMemberPlan unbegun(const GroupPlan& plan, const GroupPlan::Run& planned,
                        const RunSummary& member) {
    GroupMemberPlan out;
    out.is_new = true;
    out.group_plan = group_plan_json(plan);
    out.run.config = out.plan.config = planned.config;
    out.run.group = member.group;
    out.run.group_number = member.group_number;
    std::error_code error;
    // A kill while the run was prepared may have left something there.
    if (!fs::exists(planned.folder, error) || fs::is_empty(planned.folder, error))
        out.folder = planned.folder;
    return out;
}

/// Both halves of a twin go on as they did: the one that has come less far catches up by itself.
void couple(std::vector<GroupMemberPlan>& members, const std::optional<GroupPlan>& plan) {
    const TwinOptions options = plan && plan->twin ? *plan->twin : TwinOptions{};
    GroupMemberPlan &first = members[0], &second = members[1];
    const bool depends =
        options.skip_together || options.share_proposals || options.resync_every > 0;
    if (depends && first.plan.step != second.plan.step)
        throw Error(ErrorCode::state,
                    msg("The two runs of this twin stopped at different steps, {} and {}. One of "
                        "them takes over what the other one does, so they cannot go on coupled.",
                        first.plan.step, second.plan.step),
                    msg("Start the twin anew."));
    const auto compared = [](const GroupMemberPlan& member) {
        return !member.is_new && TwinRecordReader::exists(member.run.folder);
    };
    const auto begins_first = [&](const GroupMemberPlan& member) {
        return plan && !plan->runs.empty() &&
               plan->runs.front().config.precision.preset == member.run.config.precision.preset;
    };
    const bool swapped =
        compared(first) || (!compared(second) && begins_first(second) && !begins_first(first));
    first.twin = second.twin = std::make_shared<Twin>(options);
    (swapped ? first : second).side = Twin::Side::other;
}

/// A run that goes on with another setting than the one that it had would be another run.
void refuse_replaced_settings(const RunSummary& run) {
    const std::string settings = engine::read_text(run.folder / config_file);
    const ParsedConfig parsed = parse_run_config(settings);
    if (std::ranges::find(parsed.errors, "model.sha256", &SettingError::field) != parsed.errors.end())
        throw Error(ErrorCode::data,
                    msg("The text of the network in the settings of run {} has another hash than "
                        "model.sha256: it was changed.",
                        run.run),
                    msg("Put it back, or begin a new run with it."));
    const auto replaced = replaced_settings(parsed);
    if (settings.empty() || replaced.empty()) return;
    throw Error(ErrorCode::data,
                msg("Run {} has a setting that this version does not take: {} = {}.", run.run,
                    replaced.front().field, replaced.front().value),
                msg("Resume it with the version of Halftone that trained it."));
}

}  // namespace

ResumePlan plan_resume(const RunSummary& run, const std::string& from,
                       const std::vector<std::string>& changes) {
    if (run.origin) {
        throw Error(ErrorCode::state,
                    msg("Run {} was trained by {}; only that program can continue it.", run.run,
                        run.origin->program));
    }
    if (run.state == missing_state)
        throw Error(
            ErrorCode::data, msg("The folder of run {} is gone: {}", run.run, run.folder.string()),
            msg("Put it back, or take the run from the list: halftone delete {}.", run.run));
    if (from == "last" && changes.empty()) refuse_running(run);
    // A program may have been killed since this one swept the runs at its start.
    if (!holder_of(run.folder).held) settle_replaced_checkpoints(run.folder);
    ResumePlan plan;
    std::optional<ReadCheckpoint> from_it;
    std::string why;
    if (from == "last") {
        from_it = last_whole(run, plan.continuation.damaged, why);
    } else if (from != "start") {
        const CheckpointInfo found = find_checkpoint(run.folder, from);
        // Refuses a damaged one before anything starts.
        from_it = read_checkpoint_folder({found.folder, found.step});
    }
    refuse_replaced_settings(run);
    ParsedConfig parsed = parse_run_config(to_json(run.config), changes);
    if (has_other_network(parsed.config, run.config)) {
        // Another network begins anew, with the weights of this one by their names.
        if (from_it && !sets_weights(changes)) {
            std::vector<std::string> all = changes;
            all.push_back("model.init_from=" + checkpoint_weights(from_it->at.folder).string());
            parsed = parse_run_config(to_json(run.config), all);
            plan.notes.push_back(msg("Another network: a new run begins with the weights of step {}. "
                                     "With --from start they are drawn.",
                                     from_it->at.step));
        }
        from_it.reset();
        plan.continuation.damaged.clear();
    }
    plan.config = parsed.config;
    plan.errors = parsed.errors;
    refuse_unchangeable(plan, run.config);
    const bool changed = !differing_fields(run.config, plan.config).empty();
    if (from_it && !changed && has_made_all_steps(run, from_it->at)) {
        throw Error(ErrorCode::settings,
                    msg("Run {} has completed all of its {} steps.", run.run, from_it->at.step),
                    more_epochs(run.config));
    }
    if (from_it && changed) refuse_no_steps_left(plan, from_it->saved);
    // Beside a newer checkpoint, readable or not, an earlier one goes on as a new run.
    const bool is_last = from == "last" || !from_it ||
                         checkpoint_folders(run.folder).back().step == from_it->at.step;
    plan.continuation.run_folder = run.folder;
    plan.continuation.checkpoint = from_it ? from_it->at.folder : fs::path();
    plan.continuation.in_place = !changed && is_last && from != "start";
    if (plan.continuation.in_place) refuse_running(run);
    plan.step = from_it ? from_it->at.step : 0;
    if (!why.empty()) plan.notes.push_back(note_of_damaged(run, plan, why));
    if (!plan.continuation.in_place) plan.continuation.damaged.clear();
    return plan;
}

SessionOptions GroupMemberPlan::options() const {
    SessionOptions out;
    out.group = run.group;
    out.twin = twin;
    out.twin_side = side;
    out.folder = folder;
    out.group_plan = group_plan;
    if (!is_new) out.continuation = plan.continuation;
    return out;
}

std::vector<GroupMemberPlan> plan_group_resume(const std::vector<RunSummary>& runs) {
    std::vector<GroupMemberPlan> out;
    for (const RunSummary& run : runs) {
        if (run.state == running_state)
            throw Error(ErrorCode::state, msg("Run {} is being trained.", run.run),
                        msg("Stop it before you resume what it belongs to."));
        if (is_unfinished(run) && !run.origin) out.push_back({run, plan_resume(run)});
    }
    const auto plan = plan_of_group(runs);
    if (plan)
        for (const auto& each : unstarted_runs(*plan, runs))
            out.push_back(unbegun(*plan, each, runs.front()));
    if (out.empty())
        throw Error(ErrorCode::settings,
                    msg("There is nothing to resume: all {} runs have ended.", runs.size()),
                    msg("Resume a single run to give it more steps."));
    if (out.size() == 2 && is_twin(runs)) couple(out, plan);
    return out;
}

bool schedule_falls(const RunConfig& config) { return falls_to_end(config); }

std::vector<Event> events_up_to(std::int64_t step, std::vector<Event> events) {
    take_back_after(step, events);
    return events;
}

}  // namespace engine
