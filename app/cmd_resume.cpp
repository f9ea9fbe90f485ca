#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/resume.h"
#include "find_run.h"
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
    bool accept_data = false;
    bool json = false;
};

/// The changes, including the number of ranks if a launcher has started another number than the run
/// had.
std::vector<std::string> changes_of(const ResumeArguments& args, const engine::RunConfig& before) {
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
    engine::ResumePlan plan =
        engine::plan_resume(run->summary, args.from, changes_of(args, run->summary.config));
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
        return train_as_rank(config, options, args.json);
    });
}

}  // namespace

void describe_resume(Command command) {
    auto args = std::make_shared<ResumeArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command
        .text("--from", args->from,
              "Checkpoint to resume from: last (the default), best, or a number of steps; start "
              "begins anew, as a new run")
        .not_empty();
    command.repeated_text("--set", args->changes,
                          "path=value: continue in a new run with this change, such as epochs=20");
    command
        .text("--out", args->out, "Folder of the new run; without one, a new folder in the history")
        .not_empty();
    command
        .text("--schedule", args->schedule,
              "How a schedule that falls goes on over added steps: constant (its last rate), cycle "
              "(anew), or stretch (one schedule over all steps)")
        .not_empty();
    command.flag("--accept-data", args->accept_data,
                 "Go on although the contents of the data set have changed; with another number of "
                 "samples as a new run, from the end of an epoch");
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return resume(*args); });
}

}  // namespace app
