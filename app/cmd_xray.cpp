#include <filesystem>
#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/session.h"
#include "engine/xray.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct XrayArguments {
    std::string what;
    std::int64_t step = 0;
    std::vector<std::string> overrides;
    std::vector<std::string> forced;
    bool json = false;
};

/// A run's folder and one of its steps.
struct RunStep {
    std::filesystem::path folder;
    std::int64_t step;
};

/// A file, or nothing, names settings; everything else a run.
bool names_settings(const std::string& what) {
    std::error_code error;
    return what.empty() || std::filesystem::is_regular_file(what, error);
}

/// Without a step, the last of the run's record.
std::optional<RunStep> find_step(const XrayArguments& args) {
    const auto run = find_run(args.what);
    if (!run) return std::nullopt;
    const auto& summary = run->summary;
    return RunStep{summary.folder,
                   args.step > 0 ? args.step : std::max<std::int64_t>(summary.steps, 1)};
}

/// The keys of --force, checked as settings are.
std::optional<engine::ForcedTypes> read_forced(const std::vector<std::string>& forced) {
    std::vector<std::string> overrides;
    for (const auto& each : forced) overrides.push_back("precision.force." + each);
    const auto config = read_settings("", overrides, "{}", /*needs_data=*/false);
    if (!config) return std::nullopt;
    return config->precision.force;
}

void print(const engine::Xray& xray, bool json) {
    std::cout << (json ? to_json(xray) + "\n" : text_of(xray));
}
void print(const engine::XrayExperiment& experiment, bool json) {
    std::cout << (json ? to_json(experiment) + "\n" : text_of(experiment));
}

int xray_settings(const XrayArguments& args, const engine::ForcedTypes& forced) {
    const auto config = read_settings(args.what, args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    engine::check_device(*config);
    if (forced.empty())
        print(engine::xray_first_step(*config), args.json);
    else
        print(engine::try_forced(*config, forced), args.json);
    return 0;
}

int xray_run(const XrayArguments& args, const engine::ForcedTypes& forced) {
    if (!args.overrides.empty()) {
        std::cerr << "halftone: --set: a step of a run has the run's settings; use --force\n";
        return engine::exit_code(engine::ErrorCode::settings);
    }
    const auto at = find_step(args);
    if (!at) return engine::exit_code(engine::ErrorCode::settings);
    if (!forced.empty()) {
        print(engine::try_forced(at->folder, at->step, forced), args.json);
        return 0;
    }
    const engine::Xray xray = engine::xray_step(at->folder, at->step);
    engine::save_xray(at->folder, xray);
    print(xray, args.json);
    return 0;
}

int xray(const XrayArguments& args) {
    const auto forced = read_forced(args.forced);
    if (!forced) return engine::exit_code(engine::ErrorCode::settings);
    return names_settings(args.what) ? xray_settings(args, *forced) : xray_run(args, *forced);
}

}  // namespace

void describe_xray(Command command) {
    auto args = std::make_shared<XrayArguments>();
    command
        .text("CONFIG|RUN", args->what,
              "Settings, a JSON file: their first step; or a run, its number, title or folder")
        .not_empty();
    command.number("STEP", args->step, "Step of the run; without one, its last")
        .within(0, INT64_MAX);
    command.repeated_text("--set", args->overrides, "path=value");
    command.repeated_text("--force", args->forced,
                          "KEY=fp32|fp16|bf16: the same step with a type forced, before and after");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return xray(*args); });
}

}  // namespace app
