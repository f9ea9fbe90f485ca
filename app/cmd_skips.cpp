#include <cmath>
#include <iostream>
#include <limits>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/instruments/capsule.h"
#include "engine/instruments/skips.h"
#include "engine/number/number_text.h"
#include "find_run.h"

namespace app {
namespace {

struct SkipsArguments {
    std::string run;
    std::int64_t step = 0;
    std::string device;
    std::string capsule;
    std::string scale;
    std::int64_t without = -1;
    bool fp32 = false;
    bool json = false;
};

/// "65536", "2^16" or "2¹⁶".
double power_or_number(const std::string& text) {
    const auto refused = [&] {
        return engine::Error(engine::ErrorCode::settings,
                             "skips: --scale: " + text + ": use a number above 0, such as 2^16");
    };
    double value = 0;
    try {
        value = engine::parse_number(text, engine::fp32_format).value;
    } catch (const engine::Error&) {
        throw refused();
    }
    if (!(value > 0) || !std::isfinite(value)) throw refused();
    return value;
}

engine::SkipOptions options_of(const SkipsArguments& args) {
    engine::SkipOptions options;
    options.device = args.device;
    return options;
}

int retry(const SkipsArguments& args, const std::filesystem::path& folder) {
    engine::RetryChange change;
    if (!args.scale.empty()) change.scale = power_or_number(args.scale);
    if (args.without >= 0) change.without = args.without;
    change.fp32 = args.fp32;
    const engine::StepTrial trial = engine::retry_step(folder, args.step, change, options_of(args));
    std::cout << (args.json ? engine::to_json_line(trial) + "\n"
                            : engine::trial_page(args.step, trial));
    return 0;
}

int skips(const SkipsArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const std::filesystem::path& folder = run->summary.folder;
    const bool changes =
        !args.scale.empty() || !args.capsule.empty() || args.without >= 0 || args.fp32;
    if (args.step == 0) {
        if (changes)
            throw engine::Error(engine::ErrorCode::settings,
                                "skips: --scale, --without, --fp32 and --capsule need a STEP");
        const engine::SkipList list = engine::list_skips(folder);
        std::cout << (args.json ? engine::to_json_line(list) + "\n" : engine::skips_page(list));
        return 0;
    }
    if (!args.capsule.empty()) {
        const auto bytes = engine::write_capsule(folder, args.step, args.capsule, options_of(args));
        std::cout << args.capsule << ": " << bytes << " bytes\n";
        return 0;
    }
    if (changes) return retry(args, folder);
    const engine::SkipReport report = engine::examine_skip(folder, args.step, options_of(args));
    std::cout << (args.json ? engine::to_json_line(report) + "\n" : engine::skip_page(report));
    return 0;
}

}  // namespace

void describe_skips(Command command) {
    auto args = std::make_shared<SkipsArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command
        .number("STEP", args->step,
                "The step to examine, from 1; without one the skipped steps are listed")
        .within(1, std::numeric_limits<std::int64_t>::max())
        .optional();
    command.text("--scale", args->scale, "Compute the step again at this loss scale, such as 2^16")
        .not_empty();
    command.number("--without", args->without, "Compute the step again without this sample")
        .within(0, std::numeric_limits<std::int64_t>::max());
    command.flag("--fp32", args->fp32, "Compute the step again in FP32");
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N; by default the run's")
        .not_empty().takes("auto|cpu|cuda");
    command
        .text("--capsule", args->capsule,
              "Write the step, with everything needed to compute it elsewhere, to this file")
        .not_empty().takes("FILE");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return skips(*args); });
}

}  // namespace app
