#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "engine/train/resume.h"
#include "find_run.h"
#include "follow.h"
#include "interruption.h"
#include "notify.h"
#include "ranks.h"
#include "settings.h"

namespace app {
namespace {

struct ResumeArguments {
    std::string run;
    std::string from = "last";
    std::vector<std::string> changes;
    std::string out;
    std::string schedule;
    std::string notify;
    bool accept_data = false;
    bool json = false;
};

/// The changes, including the number of ranks if a launcher has started another number than the run
/// had.
std::vector<std::string> requested_overrides(const ResumeArguments& args,
                                             const engine::RunConfig& before) {
    std::vector<std::string> changes = args.changes;
    const int ranks = engine::launched_rank().ranks;
    const bool given = std::ranges::any_of(
        changes, [](const std::string& change) { return change.starts_with("workers="); });
    if (ranks > 1 && before.workers != ranks && !given)
        changes.push_back("workers=" + std::to_string(ranks));
    return changes;
}

/// How the schedule goes on over added steps. Throws Error(settings) for another word.
engine::LongerSchedule longer_schedule(const std::string& word) {
    using engine::LongerSchedule;
    if (word.empty()) return LongerSchedule::ask;
    if (word == "constant") return LongerSchedule::constant;
    if (word == "cycle") return LongerSchedule::cycle;
    if (word == "stretch") return LongerSchedule::stretch;
    throw engine::Error(engine::ErrorCode::settings,
                        engine::msg("--schedule: {}: use constant, cycle or stretch", word));
}

/// Nothing, with the reasons on standard error, if the run cannot continue with these changes.
std::optional<engine::ResumePlan> plan(const ResumeArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return std::nullopt;
    engine::ResumePlan plan = engine::plan_resume(run->summary, args.from,
                                                  requested_overrides(args, run->summary.config));
    plan.continuation.schedule = longer_schedule(args.schedule);
    report(plan.errors);
    if (!plan.errors.empty()) return std::nullopt;
    if (plan.continuation.in_place && !args.out.empty()) {
        throw engine::Error(engine::ErrorCode::settings,
                            "--out: the run itself goes on, in its own folder",
                            "Omit --out, or change a setting with --set.");
    }
    for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
    return plan;
}

int resume(const ResumeArguments& args) {
    engine::SessionOptions options;
    options.folder = args.out;
    options.accept_data = args.accept_data;
    const auto read = [&]() -> std::optional<engine::RunConfig> {
        const auto planned = plan(args);
        if (!planned) return std::nullopt;
        options.continuation = planned->continuation;
        return planned->config;
    };
    return with_ranks(read, [&](const engine::RunConfig& config, const auto& line) {
        options.communicator = line;
        return train_as_rank(config, options, args.json, args.notify);
    });
}

std::vector<engine::RunOutcome> resume_together(const std::vector<engine::GroupMemberPlan>& members,
                                     const std::shared_ptr<engine::RunStore>& store,
                                     const ResumeArguments& args) {
    const auto thread = std::make_shared<engine::ComputeThread>();
    std::vector<std::unique_ptr<engine::Session>> sessions;
    std::vector<Followed> followed;
    const std::string turns = members.size() > 1 ? engine::new_run_group() : std::string();
    for (const auto& member : members) {
        for (const auto& note : member.plan.notes)
            std::cerr << "halftone: " << note.str() << '\n';
        engine::SessionOptions options = member.options();
        options.accept_data = args.accept_data;
        if (!member.twin) options.turns = turns;
        sessions.push_back(
            std::make_unique<engine::Session>(member.plan.config, thread, store, options));
        const std::string& precision = member.plan.config.precision.preset;
        followed.push_back({member.is_new ? precision : member.run.run + " " + precision,
                            sessions.back().get()});
    }
    for (const auto& session : sessions) session->post(engine::Command::start);
    return follow(followed, args.json);
}

/// A comparison goes on as it was: its runs of one seed take turns, and those that were not begun
/// are begun. A twin goes on coupled. A sweep goes on with the points that were not begun, as far as
/// the queue still has them.
int resume_group(const engine::GroupRuns& runs, const ResumeArguments& args) {
    if (args.from != "last" || !args.changes.empty() || !args.out.empty() ||
        !args.schedule.empty()) {
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("{} goes on as it was: --from, --set, --out and --schedule "
                                        "are for a single run",
                                        args.run),
                            "Name one of its runs to change it.");
    }
    const bool sweep = engine::is_sweep_group(runs.front().group);
    if (sweep) {
        if (const auto code =
                continue_sweep(runs.front().group, args.accept_data, args.json, args.notify))
            return *code;
    }
    const auto store = open_store();
    std::vector<engine::GroupMemberPlan> left = engine::plan_group_resume(runs);
    std::vector<engine::RunOutcome> outcomes;
    while (!left.empty()) {
        const std::int64_t seed = left.front().run.config.seed;
        const auto goes_now = [&](const engine::GroupMemberPlan& each) {
            return sweep ? &each == &left.front() : each.run.config.seed == seed;
        };
        std::vector<engine::GroupMemberPlan> now, later;
        for (const auto& each : left) (goes_now(each) ? now : later).push_back(each);
        for (auto& outcome : resume_together(now, store, args))
            outcomes.push_back(std::move(outcome));
        left = std::move(later);
        if (was_interrupted()) break;
    }
    if (!args.json) {
        const auto after = engine::runs_of_group(store->list(), runs.front().group);
        std::cout << '\n' << engine::group_page(after);
        print_verdicts(after);
    }
    notify(args.notify, make_notice(sweep ? "sweep" : "comparison", outcomes));
    return std::ranges::max(outcomes, {}, &engine::RunOutcome::exit_code).exit_code;
}

/// The two runs of a twin of which one is to go on as it was: they go on coupled. Empty for another
/// run, and for one that goes on alone since its twin has ended.
engine::GroupRuns find_twin(const ResumeArguments& args) {
    const bool as_it_was = args.from == "last" && args.changes.empty() && args.out.empty();
    if (!as_it_was) return {};
    const auto history = open_store()->list();
    const auto named = std::ranges::find(history, args.run, &engine::RunSummary::run);
    if (named == history.end() || named->group.empty()) return {};
    auto runs = engine::runs_of_group(history, named->group);
    const bool both = std::ranges::all_of(runs, engine::is_unfinished);
    return both && engine::is_twin(runs) ? runs : engine::GroupRuns();
}

int resume_any(const ResumeArguments& args) {
    const auto group = find_group(args.run);
    if (!group.empty()) return resume_group(group, args);
    const auto twin = find_twin(args);
    return twin.empty() ? resume(args) : resume_group(twin, args);
}

}  // namespace

void describe_resume(Command command) {
    auto args = std::make_shared<ResumeArguments>();
    command
        .text("RUN", args->run,
              "A run of the history (its number or title), its folder, or a comparison or sweep "
              "(g3): all of its runs that have not ended, and those of a comparison that were "
              "not begun; a twin goes on coupled")
        .required()
        .not_empty();
    command
        .text("--from", args->from,
              "Checkpoint to resume from: last (the default), best, or a number of steps; start "
              "begins anew, as a new run")
        .not_empty().takes("last|best|start|STEP");
    command.repeated_text("--set", args->changes,
                          "path=value: continue in a new run with this change, such as epochs=20").takes("PATH=VALUE");
    command
        .text("--out", args->out, "Folder of the new run; without one, a new folder in the history")
        .not_empty().takes("FOLDER");
    command
        .text("--schedule", args->schedule,
              "How a schedule that falls goes on over added steps: constant (its last rate), cycle "
              "(anew), or stretch (one schedule over all steps)")
        .not_empty().takes("constant|cycle|stretch");
    command.flag("--accept-data", args->accept_data,
                 "Go on although the contents of the data set have changed; with another number of "
                 "samples as a new run, from the end of an epoch");
    describe_notify(command, args->notify);
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return resume_any(*args); });
}

}  // namespace app
