#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/instruments/xray.h"
#include "settings.h"

namespace app {
namespace {

struct XrayArguments {
    StepArguments step;
    std::vector<std::string> forced;
    bool json = false;
};

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

void xray_settings(const engine::RunConfig& config, const engine::ForcedTypes& forced, bool json) {
    if (forced.empty())
        print(engine::xray_first_step(config), json);
    else
        print(engine::try_forced(engine::capture_first_step(config), forced), json);
}

void xray_run(const RunStep& at, const engine::ForcedTypes& forced, bool json) {
    if (!forced.empty()) {
        print(engine::try_forced(engine::capture_step(at.folder, at.step), forced), json);
        return;
    }
    const engine::Xray xray = engine::xray_step(at.folder, at.step);
    engine::save_xray(at.folder, xray);
    print(xray, json);
}

int xray(const XrayArguments& args) {
    const auto forced = read_forced(args.forced);
    const auto step = forced ? find_step(args.step) : std::nullopt;
    if (!step) return engine::exit_code(engine::ErrorCode::settings);
    if (const auto* config = std::get_if<engine::RunConfig>(&*step))
        xray_settings(*config, *forced, args.json);
    else
        xray_run(std::get<RunStep>(*step), *forced, args.json);
    return 0;
}

}  // namespace

void describe_xray(Command command) {
    auto args = std::make_shared<XrayArguments>();
    args->step.describe(command);
    command.repeated_text("--force", args->forced,
                          "KEY=fp32|fp16|bf16: the same step with a type forced, before and after").takes("KEY=TYPE");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return xray(*args); });
}

}  // namespace app
