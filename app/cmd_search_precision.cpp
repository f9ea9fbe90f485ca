#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/precision_search.h"
#include "engine/session.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct SearchArguments {
    std::string what;
    std::int64_t step = 0;
    std::vector<std::string> overrides;
    std::string tolerance = "0.05";
    std::int64_t confirm = 20;
    bool json = false;
};

std::optional<double> number_above_zero(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    const bool valid = error == std::errc() && stopped == end && std::isfinite(value) && value > 0;
    return valid ? std::optional(value) : std::nullopt;
}

std::optional<engine::FoundPrecision> found_in_run(const SearchArguments& args,
                                                   const engine::PrecisionSearchOptions& options) {
    const auto run = find_run(args.what);
    if (!run) return std::nullopt;
    const std::int64_t last = std::max<std::int64_t>(run->summary.steps, 1);
    return engine::search_precision(run->summary.folder, args.step > 0 ? args.step : last, options);
}

std::optional<engine::FoundPrecision> found_with(const SearchArguments& args,
                                                 const engine::PrecisionSearchOptions& options) {
    std::error_code error;
    if (!args.what.empty() && !std::filesystem::is_regular_file(args.what, error))
        return found_in_run(args, options);
    const auto config = read_settings(args.what, args.overrides);
    if (!config) return std::nullopt;
    engine::check_device(*config);
    return engine::search_precision(*config, options);
}

int search(const SearchArguments& args) {
    const auto tolerance = number_above_zero(args.tolerance);
    if (!tolerance) {
        std::cerr << "halftone: --tolerance: " << args.tolerance << ": use a number above 0\n";
        return engine::exit_code(engine::ErrorCode::settings);
    }
    engine::PrecisionSearchOptions options;
    options.tolerance = *tolerance;
    options.confirm_steps = args.confirm;
    options.on_trial = [trials = 0](const engine::PrecisionTrial& trial) mutable {
        std::fprintf(stderr, "trial %d: %zu operations in FP32, error %.3g%s\n", ++trials,
                     trial.fp32.size(), trial.error, trial.passed ? ", enough" : "");
        return true;
    };
    const auto found = found_with(args, options);
    if (!found) return engine::exit_code(engine::ErrorCode::settings);
    std::cout << (args.json ? to_json(*found) + "\n" : text_of(*found));
    return 0;
}

}  // namespace

void describe_search_precision(Command command) {
    auto args = std::make_shared<SearchArguments>();
    command
        .text("CONFIG|RUN", args->what,
              "Settings, a JSON file: their first step; or a run, its number, title or folder")
        .not_empty();
    command.number("STEP", args->step, "Step of the run; without one, its last")
        .within(0, INT64_MAX);
    command.repeated_text("--set", args->overrides, "path=value");
    command.text("--tolerance", args->tolerance,
                 "Largest relative error of the step's gradients (0.05)");
    command
        .number("--confirm", args->confirm, "Steps of training that confirm the result (0: none)")
        .within(0, 100'000);
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return search(*args); });
}

}  // namespace app
