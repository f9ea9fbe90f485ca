#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.h"
#include "engine/bench.h"
#include "engine/error.h"
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

std::vector<std::string> texts(const std::vector<engine::Message>& messages) {
    std::vector<std::string> out;
    for (const engine::Message& message : messages) out.push_back(message.str());
    return out;
}

int bench(const BenchArguments& args) {
    const auto config = read_settings(args.config, args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    engine::BenchOptions options = args.options;
    if (args.paced) pace(options);
    const engine::BenchResult result = engine::run_bench(*config, options);
    const std::vector<std::string> warnings = texts(result.warnings);
    if (args.json) {
        std::cout << nlohmann::json{{"event", "bench"},
                                    {"precision", config->precision.preset},
                                    {"batch_size", config->batch_size},
                                    {"threads", result.threads},
                                    {"block_step_ms", result.block_step_ms},
                                    {"median_step_ms", result.median_step_ms},
                                    {"spread_ms", result.spread_ms},
                                    {"steps_per_s", result.steps_per_s},
                                    {"samples_per_s", result.samples_per_s},
                                    {"peak_bytes", result.peak_bytes},
                                    {"host_step_ms", result.host_step_ms},
                                    {"launches_a_step", result.launches_a_step},
                                    {"graph_nodes", result.graph_nodes},
                                    {"first_losses", result.first_losses},
                                    {"warnings", warnings}}
                  << '\n';
        return 0;
    }
    for (const std::string& warning : warnings) std::cerr << "halftone: " << warning << '\n';
    std::cout << config->model.kind << ", " << config->precision.preset << ", batch "
              << config->batch_size << ", " << result.threads
              << " threads: " << result.median_step_ms << " ms a step (median of "
              << result.block_step_ms.size() << " blocks of " << args.options.steps << ", spread "
              << result.spread_ms << " ms), " << result.samples_per_s << " samples/s, peak "
              << static_cast<double>(result.peak_bytes) / 1e6 << " MB\n";
    return 0;
}

}  // namespace

void add_bench(CLI::App& cli, int* exit_code) {
    auto args = std::make_shared<BenchArguments>();
    auto* command = cli.add_subcommand(
        "bench", "Speed of one configuration on random data already on the device");
    command->add_option("CONFIG", args->config, "Settings, a JSON file; without one, the defaults")
        ->check(not_empty());
    command->add_option("--set", args->overrides, "path=value")
        ->allow_extra_args(false)
        ->take_all();
    constexpr std::int64_t most = 1'000'000;
    command->add_option("--steps", args->options.steps, "Steps a block")
        ->check(CLI::Range(std::int64_t{1}, most));
    command->add_option("--blocks", args->options.blocks, "Blocks")
        ->check(CLI::Range(std::int64_t{1}, most));
    command->add_option("--warm-up", args->options.warm_up, "Steps before the first block")
        ->check(CLI::Range(std::int64_t{0}, most));
    command->add_flag("--paced", args->paced,
                      "Start each block at a line on standard input, and print its milliseconds a "
                      "step at once");
    command->add_flag("--json", args->json, "One JSON object on standard output");
    command->callback([args, exit_code] { *exit_code = bench(*args); });
}

}  // namespace app
