#include <iostream>
#include <utility>

#include "commands.h"
#include "engine/bench.h"
#include "engine/catalog.h"
#include "engine/error.h"
#include "json_output.h"
#include "settings.h"

namespace app {
namespace {

struct BenchArguments {
    std::string config;
    std::vector<std::string> overrides;
    engine::BenchOptions options;
    bool json = false;
    bool paced = false;
};

/// "ready" after the warm-up; then a line of standard input starts a block, whose milliseconds a
/// step are a line of the output.
void pace(engine::BenchOptions& options) {
    options.goes_on = [told = false]() mutable {
        if (!std::exchange(told, true)) std::cout << "ready" << std::endl;
        std::string line;
        return static_cast<bool>(std::getline(std::cin, line));
    };
    options.after_block = [](double step_ms) { std::cout << step_ms << std::endl; };
}

int bench(const BenchArguments& args) {
    const auto config = read_settings(args.config, args.overrides, "{}", /*needs_data=*/false);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    engine::BenchOptions options = args.options;
    if (args.paced) pace(options);
    const engine::BenchResult result = engine::run_bench(*config, options);
    if (args.json) {
        std::cout << to_json(*config, result) << '\n';
        return 0;
    }
    for (const engine::Message& warning : result.warnings)
        std::cerr << "halftone: " << warning.str() << '\n';
    std::cout << config->model.kind << ", " << config->precision.preset << ", batch "
              << config->batch_size << ", " << result.threads
              << " threads: " << result.median_step_ms << " ms a step (median of "
              << result.block_step_ms.size() << " blocks of " << args.options.steps << ", spread "
              << result.spread_ms << " ms), " << result.samples_per_s << ' '
              << engine::speed_unit(*config) << ", peak "
              << static_cast<double>(result.peak_bytes) / 1e6 << " MB\n";
    return 0;
}

}  // namespace

void describe_bench(Command command) {
    auto args = std::make_shared<BenchArguments>();
    command.text("CONFIG", args->config, "Settings, a JSON file; without one, the defaults")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value");
    constexpr std::int64_t most = 1'000'000;
    command.number("--steps", args->options.steps, "Steps a block").within(1, most);
    command.number("--blocks", args->options.blocks, "Blocks").within(1, most);
    command.number("--warm-up", args->options.warm_up, "Steps before the first block")
        .within(0, most);
    command.flag("--paced", args->paced,
                 "Start each block at a line on standard input, and print its milliseconds a "
                 "step at once");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return bench(*args); });
}

}  // namespace app
