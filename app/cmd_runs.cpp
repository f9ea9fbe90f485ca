#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/disk_use.h"
#include "engine/runs/run_group.h"
#include "engine/runs/run_listing.h"
#include "engine/runs/run_query.h"
#include "engine/runs/run_store.h"
#include "find_run.h"
#include "follow.h"
#include "settings.h"

namespace app {
namespace {

struct RunsArguments {
    std::vector<std::string> filter;
    std::string sort;
    std::int64_t limit = 0;  ///< 0: all
    bool reverse = false;
    bool starred = false;
    bool json = false;
};

/// Newest first, or by --sort from the smallest value on; figures that are unknown come last.
std::vector<engine::RunSummary> chosen_runs(const RunsArguments& args,
                                            std::vector<engine::RunSummary> all) {
    const auto fields = engine::run_fields(all);
    // One filter, however the shell has split it.
    const engine::RunQuery query(engine::join(args.filter, " "), fields);
    std::erase_if(all, [&](const auto& run) {
        return !query.matches(run) || (args.starred && !run.starred);
    });
    std::vector<engine::RunSummary> out;
    if (args.sort.empty()) {
        out = std::move(all);
        if (args.reverse) std::reverse(out.begin(), out.end());
    } else {
        const auto& field = engine::resolve_field(args.sort, fields);
        for (const std::size_t at : engine::order_by(all, field, args.reverse))
            out.push_back(std::move(all[at]));
    }
    if (args.limit > 0 && std::ssize(out) > args.limit)
        out.resize(static_cast<std::size_t>(args.limit));
    return out;
}

int list_runs(const RunsArguments& args) {
    engine::RunStore store(engine::RunStore::default_root());
    auto all = store.list();
    engine::FolderFigures().fill(all);
    report_warnings(store);
    const bool any = !all.empty();
    const auto runs = chosen_runs(args, std::move(all));
    if (args.json) {
        for (const auto& run : runs) std::cout << engine::to_json_line(run) << '\n';
    } else if (!any) {
        std::cout << "No runs in " << store.root().string() << " yet.\n";
    } else if (runs.empty()) {
        std::cout << "No run matches the filter.\n";
    } else {
        std::cout << engine::runs_table(runs);
    }
    return 0;
}

/// Figures, settings, epochs and warnings of one run. A run can have millions of events: no more of
/// them are kept than are shown.
int show_run(const std::string& name, bool json) {
    auto run = find_run(name, [json](const engine::Event& event) {
        return !json && engine::is_on_run_page(event);
    });
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    run->summary.disk_bytes = engine::disk_bytes(run->summary.folder);
    if (!json) {
        std::cout << engine::run_page(*run);
        return 0;
    }
    const auto figures = engine::figures_of_run(run->summary.folder);
    std::cout << engine::show_json_line(run->summary, figures) << '\n';
    find_run(name, [](const engine::Event& event) {
        std::cout << engine::to_json_line(event) << '\n';
        return false;
    });
    return 0;
}

/// Several runs side by side.
void show_runs(const std::vector<engine::RunSummary>& runs, bool json) {
    if (!json) {
        std::cout << engine::runs_page(runs);
        return;
    }
    for (const auto& run : runs) std::cout << engine::to_json_line(run) << '\n';
    std::cout << engine::differences_json(runs) << '\n';
}

/// A comparison ends with its verdicts, as `halftone compare` does.
void show_group(const engine::GroupRuns& runs, bool json) {
    if (json) {
        std::cout << engine::group_json_line(runs) << '\n';
        return show_runs(runs, json);
    }
    std::cout << engine::group_page(runs);
    print_verdicts(runs);
}

int show(const std::vector<std::string>& names, bool json) {
    if (names.size() == 1) {
        const auto group = find_group(names.front());
        if (group.empty()) return show_run(names.front(), json);
        show_group(group, json);
        return 0;
    }
    std::vector<engine::RunSummary> runs;
    for (const auto& name : names) {
        auto found = find_runs(name);
        if (found.empty()) return engine::exit_code(engine::ErrorCode::settings);
        runs.insert(runs.end(), found.begin(), found.end());
    }
    show_runs(runs, json);
    return 0;
}

}  // namespace

void describe_runs(Command command) {
    auto args = std::make_shared<RunsArguments>();
    command.dashed_texts("FILTER", args->filter,
                         "Terms that must all hold: a word, FIELD=VALUE (!= < <= > >= ~), "
                         "tag:NAME, starred; a dash in front negates a term");
    command.text("--sort", args->sort, "A setting or result: lr, test_accuracy, started")
        .not_empty().takes("FIELD");
    command.flag("--reverse", args->reverse, "Reverses the order");
    command.number("--limit", args->limit, "Only the first N").within(1, 1'000'000);
    command.flag("--starred", args->starred, "Only runs with a star");
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return list_runs(*args); });
}

void describe_show(Command command) {
    auto names = std::make_shared<std::vector<std::string>>();
    auto as_json = std::make_shared<bool>(false);
    command
        .texts("RUN", *names,
               "A run of the history (its number or title), its folder, or a comparison or sweep "
               "(g3); "
               "several: how they differ")
        .not_empty();
    command.flag("--json", *as_json,
                 "The run, then its events, one JSON object per line on standard output");
    command.run([names, as_json] { return show(*names, *as_json); });
}

}  // namespace app
