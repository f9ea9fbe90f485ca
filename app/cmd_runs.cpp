#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/run_listing.h"
#include "engine/run_store.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

int list_runs(bool json) {
    engine::RunStore store(engine::RunStore::default_root());
    const auto runs = store.list();
    report_warnings(store);
    if (json) {
        for (const auto& run : runs) std::cout << engine::to_json_line(run) << '\n';
    } else if (runs.empty()) {
        std::cout << "No runs in " << store.root().string() << " yet.\n";
    } else {
        std::cout << engine::runs_table(runs);
    }
    return 0;
}

int show_run(const std::string& name, bool json) {
    const auto run = find_run(name);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    if (!json) {
        std::cout << engine::run_page(*run);
        return 0;
    }
    std::cout << engine::to_json_line(run->summary) << '\n';
    for (const auto& event : run->events) std::cout << engine::to_json_line(event) << '\n';
    return 0;
}

}  // namespace

void describe_runs(Command command) {
    auto as_json = std::make_shared<bool>(false);
    command.flag("--json", *as_json, "One JSON object a line on standard output");
    command.run([as_json] { return list_runs(*as_json); });
}

void describe_show(Command command) {
    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    command.text("RUN", *name, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.flag("--json", *as_json,
                 "The run, then its events, one JSON object a line on standard output");
    command.run([name, as_json] { return show_run(*name, *as_json); });
}

}  // namespace app
