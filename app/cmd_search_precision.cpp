#include <cmath>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/instruments/precision_search.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

struct SearchArguments {
    StepArguments step;
    std::optional<std::string> tolerance;
    std::int64_t confirm = 20;
    bool json = false;
};

std::optional<double> number_above_zero(const std::string& text) {
    const auto value = engine::to_number<double>(text);
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::optional<engine::FoundPrecision> found_with(const SearchArguments& args,
                                                 const engine::PrecisionSearchOptions& options) {
    const auto step = find_step(args.step);
    if (!step) return std::nullopt;
    if (const auto* config = std::get_if<engine::RunConfig>(&*step))
        return engine::search_precision(engine::capture_first_step(*config), options);
    const auto& at = std::get<RunStep>(*step);
    return engine::search_precision(engine::capture_step(at.folder, at.step), options);
}

int search(const SearchArguments& args) {
    const auto tolerance = args.tolerance ? number_above_zero(*args.tolerance) : std::nullopt;
    if (args.tolerance && !tolerance) {
        std::cerr << "halftone: --tolerance: " << *args.tolerance << ": use a number above 0\n";
        return engine::exit_code(engine::ErrorCode::settings);
    }
    engine::PrecisionSearchOptions options;
    options.tolerance = tolerance;
    options.confirm_steps = args.confirm;
    options.on_trial = [trials = 0](const engine::PrecisionTrial& trial) mutable {
        std::fprintf(stderr, "trial %d: %zu operations in FP32, error %.3g%s\n", ++trials,
                     trial.fp32.size(), trial.error, trial.passed ? ", enough" : "");
        return true;
    };
    std::optional<WorkProgress> progress;
    options.on_confirm = [&](std::int64_t done, std::int64_t all) {
        if (!progress) progress.emplace("training beside FP32");
        progress->show(static_cast<double>(done) / static_cast<double>(all));
        return true;
    };
    const auto found = found_with(args, options);
    progress.reset();
    if (!found) return engine::exit_code(engine::ErrorCode::settings);
    std::cout << (args.json ? to_json(*found) + "\n" : text_of(*found));
    return 0;
}

}  // namespace

void describe_search_precision(Command command) {
    auto args = std::make_shared<SearchArguments>();
    args->step.describe(command);
    command.text("--tolerance", args->tolerance,
                 "Largest relative error of the step's gradients (0.05, or a quarter more than "
                 "amp-fp16 itself has)");
    command
        .number("--confirm", args->confirm, "Steps of training that confirm the result (0: none)")
        .within(0, 100'000);
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return search(*args); });
}

}  // namespace app
