#include "engine/resume.h"

#include <algorithm>
#include <array>

#include "engine/checkpoint.h"
#include "engine/error.h"
#include "store/event_file.h"
#include "store/run_folder.h"
#include "train/saved_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// What may change when a run goes on: sections, and fields.
constexpr std::array changeable_sections = {"precision.",      "scaler.",      "optimizer.",
                                            "schedule.",       "clip.",        "checkpoint.",
                                            "early_stopping.", "instruments.", "teach."};
constexpr std::array changeable_fields = {
    "epochs", "max_steps",     "stop_on_nan", "gradient_penalty", "recompute", "evaluation_batch",
    "device", "deterministic", "threads",     "dataset.path",     "workers"};

bool may_change(const std::string& path) {
    return std::ranges::any_of(changeable_sections,
                               [&](const char* section) { return path.starts_with(section); }) ||
           std::ranges::find(changeable_fields, path) != changeable_fields.end();
}

/// The newest checkpoint whose files are whole; the others are noted.
std::optional<CheckpointInfo> last_whole(const fs::path& folder, std::vector<Message>& notes) {
    auto all = list_checkpoints(folder);
    for (; !all.empty(); all.pop_back()) {
        try {
            read_saved_run(all.back().folder);
            return all.back();
        } catch (const Error& error) {
            notes.push_back(error.message());
        }
    }
    return std::nullopt;
}

void refuse_unchangeable(ResumePlan& plan, const RunConfig& before) {
    for (const std::string& path : differing_fields(before, plan.config)) {
        if (may_change(path)) continue;
        plan.errors.push_back({path, "changed",
                               msg("keep it: a run cannot continue with another value. Start a new "
                                   "run from the weights (model.init_from) instead")});
    }
}

bool has_made_all_steps(const RunSummary& run, const CheckpointInfo& at) {
    if (run.state != "done" || list_checkpoints(run.folder).back().step != at.step) return false;
    return at.step == run.steps;
}

}  // namespace

ResumePlan plan_resume(const RunSummary& run, const std::string& from,
                       const std::vector<std::string>& changes) {
    if (run.origin) {
        throw Error(ErrorCode::state,
                    msg("Run {} was trained by {}; only that program can continue it.", run.run,
                        run.origin->program));
    }
    ResumePlan plan;
    std::optional<CheckpointInfo> at;
    if (from == "last") {
        at = last_whole(run.folder, plan.notes);
    } else {
        at = find_checkpoint(run.folder, from);
        read_saved_run(at->folder);  // refuses a damaged one before anything starts
    }
    const ParsedConfig parsed = parse_run_config(to_json(run.config), changes);
    plan.config = parsed.config;
    plan.errors = parsed.errors;
    refuse_unchangeable(plan, run.config);
    const bool changed = !differing_fields(run.config, plan.config).empty();
    if (at && !changed && has_made_all_steps(run, *at)) {
        throw Error(
            ErrorCode::state, msg("Run {} has completed all of its {} steps.", run.run, at->step),
            msg("Give it more epochs, for instance --set epochs={}.", 2 * run.config.epochs));
    }
    const bool is_last =
        !at || list_checkpoints(run.folder).back().step == at->step || from == "last";
    plan.continuation = {.run_folder = run.folder,
                         .checkpoint = at ? at->folder : fs::path(),
                         .in_place = !changed && is_last};
    plan.step = at ? at->step : 0;
    return plan;
}

std::vector<Event> events_up_to(std::int64_t step, std::vector<Event> events) {
    take_back_after(step, events);
    return events;
}

}  // namespace engine
