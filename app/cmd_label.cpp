#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct LabelArguments {
    std::string run;
    std::optional<std::string> title;
    std::optional<std::string> tags;
    std::optional<std::string> notes;
    bool star = false;
    bool no_star = false;
};

/// Values that are not given stay unchanged; an empty text removes one.
int label(const LabelArguments& args) {
    const auto found = find_runs(args.run);
    if (found.empty()) return engine::exit_code(engine::ErrorCode::settings);
    if (!args.title && !args.tags && !args.notes && !args.star && !args.no_star) {
        std::cerr << "halftone: label: give --title, --tags, --notes, --star or --no-star\n";
        return engine::exit_code(engine::ErrorCode::settings);
    }
    engine::RunStore store(engine::RunStore::default_root());
    for (const engine::RunSummary& each : found) {
        const std::string run = store.enter(each.folder).run;
        if (args.title) store.set_title(run, *args.title);
        if (args.tags) store.set_tags(run, *args.tags);
        if (args.notes) store.set_notes(run, *args.notes);
        if (args.star || args.no_star) store.set_starred(run, args.star);
    }
    return 0;
}

}  // namespace

void describe_label(Command command) {
    auto args = std::make_shared<LabelArguments>();
    command
        .text("RUN", args->run,
              "A run of the history (its number or title), its folder, or a comparison or sweep "
              "(g3): all of its runs")
        .required()
        .not_empty();
    command.text("--title", args->title, "Title of the run; empty: remove it");
    command.text("--tags", args->tags, "Tags, separated by commas");
    command.text("--notes", args->notes, "A text");
    const Option star = command.flag("--star", args->star, "Gives it a star");
    command.flag("--no-star", args->no_star, "Removes the star").excludes(star);
    command.run([args] { return label(*args); });
}

}  // namespace app
