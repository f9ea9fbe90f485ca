#include <iostream>
#include <utility>

#include "commands.h"
#include "engine/batch_finder.h"
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
    bool find_batch = false;
    std::string memory;
};

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

void print_trial(const engine::BatchTrial& trial) {
    std::cout << "batch " << trial.batch_size << ": ";
    if (trial.fits)
        std::cout << megabytes(trial.peak_bytes) << " MB, " << trial.step_ms << " ms a step";
    else
        std::cout << "does not fit";
    if (trial.predicted_bytes > 0)
        std::cout << " (" << megabytes(trial.predicted_bytes) << " MB predicted)";
    std::cout << std::endl;
}

int find_batch(const BenchArguments& args) {
    const auto config = read_settings(args.config, args.overrides, "{}", /*needs_data=*/false);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    engine::FindBatchOptions options;
    options.memory = engine::parse_bytes(args.memory);
    if (!args.memory.empty() && options.memory == 0) {
        std::cerr << "halftone: --memory: " << args.memory
                  << ": use a size such as 500MB, 2GB or 1.5GiB\n";
        return engine::exit_code(engine::ErrorCode::settings);
    }
    if (!args.json) options.after = print_trial;
    const engine::FoundBatch found = engine::find_largest_batch(*config, options);
    if (args.json) {
        std::cout << to_json(*config, found) << '\n';
        return 0;
    }
    for (const engine::Message& warning : found.warnings)
        std::cerr << "halftone: " << warning.str() << '\n';
    std::cout << config->model.kind << ", " << config->precision.preset << ": largest batch "
              << found.batch_size << " in " << megabytes(found.memory) << " MB (peak "
              << megabytes(found.peak_bytes) << " MB; " << found.predicted
              << " predicted from the first trial";
    if (found.too_large > 0)
        std::cout << "; " << found.too_large << " does not fit";
    else if (found.batch_size == found.samples)
        std::cout << "; the training part has no more samples";
    std::cout << ")\n";
    return 0;
}

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
    const Option paced = command.flag(
        "--paced", args->paced,
        "Start each block at a line on standard input, and print its milliseconds a step at once");
    command.flag("--json", args->json, "One JSON object on standard output");
    command
        .flag("--find-batch", args->find_batch,
              "Find the largest batch whose steps stay within --memory")
        .excludes(paced);
    command.text("--memory", args->memory,
                 "Limit of --find-batch, as 500MB or 2GiB; without one, what the device has free");
    command.run([args] { return args->find_batch ? find_batch(*args) : bench(*args); });
}

}  // namespace app
