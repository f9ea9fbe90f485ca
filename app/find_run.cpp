#include "find_run.h"

#include <algorithm>
#include <iostream>

#include "engine/base/plain_text.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_store.h"
#include "settings.h"

namespace app {
namespace {

std::optional<engine::RunSummary> find_title(const engine::RunStore& store,
                                             const std::string& title) {
    for (auto& run : store.list()) {
        if (run.title == title) return std::move(run);
    }
    return std::nullopt;
}

/// Whether a run of another machine still goes on shows only over a while.
std::optional<engine::ListedRun> read_folder(const std::string& name,
                                             const engine::EventFilter& keep) {
    auto run = engine::read_run_folder(name, keep);
    if (run && !run->summary.host.empty())
        engine::RunStore(engine::RunStore::default_root()).look_at_holder(run->summary);
    return run;
}

std::optional<engine::ListedRun> look_for(const std::string& name,
                                          const engine::EventFilter& keep) {
    if (name.find('/') != std::string::npos) return read_folder(name, keep);
    engine::RunStore store(engine::RunStore::default_root());
    report_warnings(store);
    auto found = store.find(name);
    if (!found) found = find_title(store, name);
    if (found) return engine::ListedRun{*found, store.events(found->run, keep)};
    return read_folder(name, keep);
}

}  // namespace

std::optional<engine::ListedRun> find_run(const std::string& name,
                                          const engine::EventFilter& keep) {
    auto run = look_for(name, keep);
    if (!run) {
        std::cerr << "halftone: " << engine::one_line(name)
                  << ": neither a run of the history nor a run's folder\n"
                  << "`halftone runs` lists the history.\n";
        if (!find_group(name).empty())
            std::cerr << "It is a comparison or a sweep; this command takes one of its runs.\n";
    }
    return run;
}

std::vector<engine::RunSummary> find_group(const std::string& name) {
    const auto number = engine::number_in_group_name(name);
    if (!number) return {};
    const engine::RunStore store(engine::RunStore::default_root());
    const auto history = store.list();
    const bool is_run = std::ranges::any_of(history, [&](const engine::RunSummary& run) {
        return run.run == name || run.title == name;
    });
    return is_run ? engine::GroupRuns{} : engine::runs_of_group(history, *number);
}

std::vector<engine::RunSummary> find_runs(const std::string& name) {
    auto runs = find_group(name);
    if (!runs.empty()) return runs;
    if (auto run = find_run(name)) runs.push_back(std::move(run->summary));
    return runs;
}

}  // namespace app
