#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_listing.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct DeleteArguments {
    std::vector<std::string> names;
    bool yes = false;
};

/// Asks on the terminal, where there is one.
bool agreed(const engine::GroupRuns& runs) {
    std::cout << engine::runs_table(runs) << "Delete " << runs.size()
              << (runs.size() == 1 ? " run" : " runs") << " for good? [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "yes";
}

void discard(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error)
        throw engine::Error(
            engine::ErrorCode::io,
            engine::msg("{}: cannot be deleted: {}", folder.string(), error.message()),
            "Check that you may write to this folder.");
}

int delete_runs(const DeleteArguments& args) {
    engine::GroupRuns runs;
    for (const std::string& name : args.names) {
        const auto found = find_runs(name);
        if (found.empty()) return engine::exit_code(engine::ErrorCode::settings);
        for (const auto& run : found) {
            const auto same = [&](const auto& other) { return other.folder == run.folder; };
            if (std::ranges::none_of(runs, same)) runs.push_back(run);
        }
    }
    // Before the first one goes.
    for (const auto& run : runs) {
        if (run.state == "running")
            throw engine::Error(engine::ErrorCode::state,
                                engine::msg("Run {} is being trained.", run.run),
                                "Stop it before you delete it. Nothing was deleted.");
    }
    if (!args.yes && isatty(STDIN_FILENO) == 0)
        throw engine::Error(engine::ErrorCode::settings,
                            "--yes: without a terminal to ask on, runs are deleted only with it",
                            "Add --yes. Nothing was deleted.");
    if (!args.yes && !agreed(runs)) {
        std::cout << "Nothing was deleted.\n";
        return 0;
    }
    engine::RunStore store(engine::RunStore::default_root());
    for (const auto& run : runs) {
        store.remove(store.enter(run.folder).run, discard);
        std::cout << "Deleted run " << run.run << '\n';
    }
    return 0;
}

}  // namespace

void describe_delete(Command command) {
    auto args = std::make_shared<DeleteArguments>();
    command
        .texts("RUN", args->names,
               "A run of the history (its number or title), its folder, or a comparison or sweep "
               "(g3): all of its runs")
        .required()
        .not_empty();
    command.flag("--yes", args->yes, "Do not ask");
    command.run([args] { return delete_runs(*args); });
}

}  // namespace app
