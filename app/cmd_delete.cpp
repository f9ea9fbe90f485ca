#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "engine/runs/disk_use.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_listing.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct DeleteArguments {
    std::vector<std::string> names;
    bool checkpoints = false;  ///< these alone
    bool yes = false;
};

std::string runs_text(const engine::GroupRuns& runs) {
    return std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs");
}

/// Asks on the terminal, where there is one.
bool agreed(const engine::GroupRuns& runs, const DeleteArguments& args) {
    std::cout << engine::runs_table(runs) << "Delete ";
    if (args.checkpoints) {
        engine::SpareCheckpoints all;
        for (const auto& run : runs) {
            const auto spare = engine::spare_checkpoints(run.folder);
            all.count += spare.count;
            all.bytes += spare.bytes;
        }
        std::cout << all.count << " checkpoints (" << engine::bytes_text(all.bytes) << ") of ";
    }
    std::cout << runs_text(runs) << " for good? [y/N] " << std::flush;
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

int free_checkpoints(const engine::GroupRuns& runs) {
    for (const auto& run : runs) {
        const auto freed = engine::free_checkpoints(run.folder);
        std::cout << "Run " << run.run << ": " << freed.count << " checkpoints deleted, "
                  << engine::bytes_text(freed.bytes) << " freed\n";
    }
    return 0;
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
    if (!args.yes && !agreed(runs, args)) {
        std::cout << "Nothing was deleted.\n";
        return 0;
    }
    if (args.checkpoints) return free_checkpoints(runs);
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
    command.flag("--checkpoints", args->checkpoints,
                 "Only checkpoints: keeps the run with its best and its last one");
    command.flag("--yes", args->yes, "Do not ask");
    command.run([args] { return delete_runs(*args); });
}

}  // namespace app
