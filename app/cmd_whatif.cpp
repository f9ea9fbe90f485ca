#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/verdict/what_if.h"
#include "find_run.h"
#include "settings.h"

namespace app {
namespace {

struct WhatIfArguments {
    std::string run;
    std::vector<std::string> overrides, policies;
    bool json = false;
};

/// The requested policies; all of them if none was requested. Reports unusable ones and returns
/// nothing.
std::optional<std::vector<engine::ScalePolicy>> chosen_policies(const WhatIfArguments& args,
                                                                const engine::RunConfig& config) {
    const auto usual = engine::usual_policies();
    std::vector<engine::ScalePolicy> out;
    if (!args.overrides.empty()) {
        const auto parsed = engine::parse_run_config(engine::to_json(config), args.overrides);
        report(parsed.errors);
        if (!parsed.errors.empty()) return std::nullopt;
        out.push_back(engine::to_policy(parsed.config, engine::join(args.overrides, " ")));
    }
    for (const auto& name : args.policies) {
        const auto found = std::ranges::find(usual, name, &engine::ScalePolicy::name);
        if (found == usual.end()) {
            report({{"--policy", name, engine::msg("use {}", engine::join(usual, ", ", &engine::ScalePolicy::name))}});
            return std::nullopt;
        }
        out.push_back(*found);
    }
    return out.empty() ? usual : out;
}

int what_if(const WhatIfArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const engine::RunConfig& config = run->summary.config;
    const auto policies = chosen_policies(args, config);
    if (!policies) return engine::exit_code(engine::ErrorCode::settings);
    const engine::ScalePolicy own = engine::to_policy(config, "recorded");
    const auto rows = engine::StepRecordReader::open(run->summary.folder);
    const auto floors = [rows](std::int64_t first, std::span<double> out) {
        rows.column(&engine::StepRecord::scale_floor, first, out);
    };
    const engine::ReplayedRecord record{
        .record = rows, .checked = own.mode == engine::ScalerMode::dynamic, .floors = floors};
    std::vector<engine::WhatIf> results = {engine::replay(record, own)};
    for (const auto& policy : *policies) results.push_back(engine::replay(record, policy));
    if (args.json) {
        for (const auto& each : results)
            std::cout << engine::to_json_line(run->summary.run, each,
                                              engine::what_if_sentence(each, results.front()))
                      << '\n';
        return 0;
    }
    std::cout << engine::what_if_table(results) << '\n';
    std::cout << engine::what_if_conclusion(results).str() << '\n';
    return 0;
}

}  // namespace

void describe_whatif(Command command) {
    auto args = std::make_shared<WhatIfArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.repeated_text("--set", args->overrides,
                          "path=value: the run's own policy with these settings changed, such as "
                          "scaler.growth_interval=100").takes("PATH=VALUE");
    command.repeated_text("--policy", args->policies,
                          "production, classroom, hysteresis-2, init-2^24, static-1024, "
                          "static-65536 or none; without one, and without --set, all of them").takes("production|classroom|hysteresis-2|init-2^24|static-1024|static-65536|none");
    command.flag("--json", args->json, "One JSON object per policy on standard output");
    command.run([args] { return what_if(*args); });
}

}  // namespace app
