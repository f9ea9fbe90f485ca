#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/resume.h"
#include "find_run.h"
#include "follow.h"
#include "settings.h"

namespace app {
namespace {

struct ResumeArguments {
    std::string run;
    std::string from = "last";
    std::vector<std::string> changes;
    std::string out;
    bool json = false;
};

int resume(const ResumeArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const engine::ResumePlan plan = engine::plan_resume(run->summary, args.from, args.changes);
    if (!plan.errors.empty()) {
        report(plan.errors);
        return engine::exit_code(engine::ErrorCode::settings);
    }
    if (plan.continuation.in_place && !args.out.empty()) {
        throw engine::Error(engine::ErrorCode::settings,
                            "--out: the run itself goes on, in its own folder",
                            "Leave --out away, or change a setting with --set.");
    }
    for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
    const auto thread = std::make_shared<engine::ComputeThread>();
    engine::SessionOptions options;
    options.folder = args.out;
    options.continuation = plan.continuation;
    engine::Session session(plan.config, thread, open_store(), options);
    session.post(engine::Command::start);
    return follow({{plan.config.precision.preset, &session}}, args.json).front().exit_code;
}

}  // namespace

void describe_resume(Command command) {
    auto args = std::make_shared<ResumeArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command
        .text("--from", args->from,
              "Checkpoint to go on from: last (the default), best, or a number of steps")
        .not_empty();
    command.repeated_text("--set", args->changes,
                          "path=value: go on in a new run with this change, such as epochs=20");
    command
        .text("--out", args->out, "Folder of the new run; without one, a new folder in the history")
        .not_empty();
    command.flag("--json", args->json, "One JSON object a line on standard output");
    command.run([args] { return resume(*args); });
}

}  // namespace app
