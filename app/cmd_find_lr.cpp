#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/table.h"
#include "engine/session/session.h"
#include "engine/train/learning_rate_finder.h"
#include "json_output.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

struct FindArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::int64_t steps = 100;
    bool json = false;
};

void print_rate(const char* what, const std::optional<double>& rate) {
    if (rate)
        print_formatted("%-9s %.3g\n", what, *rate);
    else
        print_formatted("%-9s none: the loss did not fall\n", what);
}

/// Prints at most twenty lines of the curve, evenly spaced, with the last one.
void print_curve(const engine::FoundRate& found) {
    constexpr std::size_t max_lines = 20;
    const std::size_t stride = (found.points.size() + max_lines - 1) / max_lines;
    engine::Table table{{"rate", "loss", "smoothed"}};
    for (std::size_t i = 0; i < found.points.size(); ++i) {
        if (i % stride != 0 && i + 1 != found.points.size()) continue;
        const engine::RatePoint& point = found.points[i];
        table.rows.push_back({engine::Cell(point.lr, "%.3g"), engine::Cell(point.loss, "%.5g"),
                              engine::Cell(point.smoothed, "%.5g")});
    }
    std::cout << to_text(table, 3);
}

int find(const FindArguments& args) {
    const auto config = read_settings(args.config, args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    engine::check_device(*config);
    engine::FindRateOptions options;
    options.steps = args.steps;
    const auto tried = [&] {
        WorkProgress progress("trying rates");
        std::int64_t steps = 0;
        return engine::find_learning_rate(*config, options, [&](const engine::RatePoint&) {
            progress.show(static_cast<double>(++steps) / static_cast<double>(args.steps));
            return true;
        });
    };
    const engine::FoundRate found = tried();
    for (const engine::Message& warning : found.warnings)
        std::cerr << "halftone: " << warning.str() << '\n';
    if (args.json) {
        std::cout << to_json(found) << '\n';
        return 0;
    }
    print_curve(found);
    print_formatted("\n");
    print_rate("valley", found.valley);
    print_rate("steepest", found.steepest);
    return 0;
}

}  // namespace

void describe_find_lr(Command command) {
    auto args = std::make_shared<FindArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of saved settings; without one, the defaults")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value").takes("PATH=VALUE");
    command.number("--steps", args->steps, "Updates from the lowest rate to the highest")
        .within(20, 100'000);
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return find(*args); });
}

}  // namespace app
