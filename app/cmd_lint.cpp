#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "engine/io/named_file.h"
#include "engine/session/session.h"
#include "engine/train/machine.h"
#include "engine/verdict/lint.h"
#include "settings.h"

namespace app {
namespace {

struct LintArguments {
    std::string config, fixed;
    std::vector<std::string> overrides;
    bool measure = false, json = false;
};

/// Sizes and shapes of the data; nothing, with a word, where they cannot be read.
std::optional<engine::DatasetPreview> read_preview(const engine::RunConfig& config) {
    if (!config.dataset.path.empty() || engine::validate(config).empty()) {
        try {
            return engine::preview_dataset(config.dataset, config.seed, 0);
        } catch (const engine::Error& error) {
            const std::string why = error.message().str();
            std::cerr << "halftone: " << why << (why.ends_with('.') ? "" : ".")
                      << " The findings are those of a typical data set.\n";
        }
    }
    return std::nullopt;
}

std::vector<engine::LintFinding> lint_findings(const engine::RunConfig& config, bool measure) {
    const auto data = read_preview(config);
    engine::LintContext context;
    context.data = data ? &*data : nullptr;
    const bool choose = config.device == "auto";
    context.gpu = engine::runs_on_gpu(config, choose ? engine::inspect_machine().cards.size() : 0);
    auto findings = engine::lint(config, context);
    if (measure) {
        for (auto& each : engine::lint_measured(config)) findings.push_back(std::move(each));
    }
    return findings;
}

/// The settings with all findings fixed. A change may cause another finding, or fix two, so the
/// search restarts after each.
engine::RunConfig fixed(engine::RunConfig config, bool measure) {
    constexpr int max_changes = 50;
    for (int i = 0; i < max_changes; ++i) {
        const auto findings = lint_findings(config, measure);
        if (findings.empty()) return config;
        const auto changed = engine::with_fix(config, findings.front());
        if (!changed.errors.empty()) {
            report(changed.errors);
            return config;
        }
        config = changed.config;
    }
    return config;
}

int lint(const LintArguments& args) {
    const auto config = read_settings(args.config, args.overrides, "{}", /*needs_data=*/false);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    if (args.measure) engine::check_device(*config);
    const auto findings = lint_findings(*config, args.measure);
    for (const auto& each : findings) {
        if (args.json)
            std::cout << engine::to_json_line(each) << '\n';
        else
            std::cout << engine::to_text(each);
    }
    if (!args.json && findings.empty()) std::cout << "No findings.\n";
    if (args.fixed.empty()) return 0;
    engine::write_named_file(args.fixed, engine::to_json(fixed(*config, args.measure)) + '\n');
    return 0;
}

}  // namespace

void describe_lint(Command command) {
    auto args = std::make_shared<LintArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of saved settings; without one, the defaults. Findings do not change the exit "
              "code, 0")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value").takes("PATH=VALUE");
    command.text("--fix", args->fixed, "Write the settings without the findings to this file")
        .not_empty().takes("FILE");
    command.flag("--measure", args->measure,
                 "Also compute up to ten training steps on a new model: inputs and activations "
                 "beyond FP16, a loss that is not finite or grows, overflow of a static scale, lost "
                 "updates");
    command.flag("--json", args->json, "One JSON object per finding on standard output");
    command.run([args] { return lint(*args); });
}

}  // namespace app
