#include <malloc.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/report/report.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_server.h"
#include "find_run.h"
#include "interruption.h"
#include "settings.h"

namespace app {
namespace {

/// Longer runs get no verdict: it reads the whole record again each time.
constexpr std::int64_t most_judged_steps = 1'000'000;

struct ServeArguments {
    std::optional<std::string> run;
    bool all = false;
    std::int64_t port = 8421;
    std::string bind = "127.0.0.1";
    std::string token_file;
};

/// The verdict on a run of a comparison beside the first one of its seed, or of that one beside the
/// second.
std::optional<engine::ServedVerdict> judge_beside(const engine::RunStore& store,
                                                  const engine::RunSummary& run) {
    if (run.group.empty() || engine::is_sweep_group(run.group)) return std::nullopt;
    engine::GroupRuns compared;
    bool is_there = false;
    for (const engine::RunSummary& each : engine::runs_of_group(store.list(), run.group)) {
        if (each.config.seed != run.config.seed || each.steps == 0) continue;
        if (each.steps > most_judged_steps) return std::nullopt;
        const bool is_asked = each.run == run.run;
        if (compared.size() == 2 && !is_asked) continue;
        if (compared.size() == 2) compared.pop_back();
        compared.push_back(each);
        is_there = is_there || is_asked;
    }
    if (compared.size() < 2 || !is_there) return std::nullopt;
    const auto verdicts = engine::make_report(compared).verdicts;
    if (verdicts.empty()) return std::nullopt;
    const engine::Verdict& verdict = verdicts.front();
    return engine::ServedVerdict{engine::name(verdict.tone), verdict.headline, verdict.cost,
                                 verdict.evidence, verdict.details()};
}

int serve(const ServeArguments& args) {
    if (args.run.has_value() == args.all)
        throw engine::Error(engine::ErrorCode::settings,
                            "serve: give a run, or --all for the whole history",
                            "`halftone runs` lists the history.");
    engine::ServeOptions options;
    options.bind = args.bind;
    options.port = static_cast<int>(args.port);
    options.token_file = args.token_file;
    std::string what = "the history";
    if (args.run) {
        const auto found = find_run(*args.run);
        if (!found) return engine::exit_code(engine::ErrorCode::settings);
        options.run_folder = found->summary.folder;
        what = "run " + engine::one_line(found->summary.run);
    }
    const auto store = std::make_shared<engine::RunStore>(engine::RunStore::default_root());
    report_warnings(*store);
    options.verdict = [store](const engine::RunSummary& run) { return judge_beside(*store, run); };
#ifdef M_ARENA_MAX
    // Each of the server's threads would keep an arena with the largest answer that it has made.
    ::mallopt(M_ARENA_MAX, 2);
#endif
    const InterruptScope obeyed;
    const engine::RunServer server(store, options);
    std::cout << "Shows " << what << " on " << server.address() << " until Ctrl-C" << std::endl;
    while (!was_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 0;
}

}  // namespace

void describe_serve(Command command) {
    auto args = std::make_shared<ServeArguments>();
    const Option run = command.text("RUN", args->run,
                                    "A run of the history (its number or title), or its folder");
    command.flag("--all", args->all, "All runs of the history").excludes(run);
    command.number("--port", args->port, "Port (8421); 0: any that is free").within(0, 65535);
    command
        .text("--bind", args->bind,
              "Address to listen on (127.0.0.1); one beyond this machine needs --token-file. It is "
              "not encrypted")
        .not_empty();
    command
        .text("--token-file", args->token_file,
              "File with the token that a browser or a program must know")
        .not_empty();
    command.run([args] { return serve(*args); });
}

}  // namespace app
