#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/instruments/plan_profile.h"
#include "engine/instruments/speedup.h"
#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "engine/train/batch_finder.h"
#include "engine/train/bench.h"
#include "json_output.h"
#include "ranks.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

struct BenchArguments {
    std::string config;
    std::vector<std::string> overrides;
    engine::BenchOptions options;
    bool json = false;
    bool paced = false;
    bool find_batch = false;
    bool all = false;
    bool pays = false;
    bool profile = false;
    std::vector<std::string> models;
    std::string memory;
};

void print_trial(const engine::BatchTrial& trial) {
    std::cout << "batch " << trial.batch_size << ": ";
    if (trial.fits)
        std::cout << engine::bytes_text(trial.peak_bytes) << ", " << trial.step_ms << " ms a step";
    else
        std::cout << "does not fit";
    if (trial.predicted_bytes > 0)
        std::cout << " (" << engine::bytes_text(trial.predicted_bytes) << " predicted)";
    std::cout << std::endl;
}

/// The bytes of --memory, or 0 without the option. For an invalid size prints the reason and
/// returns nothing.
std::optional<std::int64_t> memory_limit(const BenchArguments& args) {
    const std::int64_t bytes = engine::parse_bytes(args.memory);
    if (args.memory.empty() || bytes > 0) return bytes;
    std::cerr << "halftone: --memory: " << args.memory
              << ": use a size such as 500MB, 2GB or 1.5GiB\n";
    return std::nullopt;
}

int find_batch(const BenchArguments& args) {
    const auto config = read_settings(args.config, args.overrides, "{}", /*needs_data=*/false);
    const auto memory = memory_limit(args);
    if (!config || !memory) return engine::exit_code(engine::ErrorCode::settings);
    engine::FindBatchOptions options;
    options.memory = *memory;
    if (!args.json) options.after = print_trial;
    const engine::FoundBatch found = engine::find_largest_batch(*config, options);
    if (args.json) {
        std::cout << to_json(*config, found) << '\n';
        return 0;
    }
    for (const engine::Message& warning : found.warnings)
        std::cerr << "halftone: " << warning.str() << '\n';
    std::cout << config->model.kind << ", " << config->precision.preset << ": largest batch "
              << (found.at_search_limit() ? "≥ " : "") << found.batch_size << " in "
              << engine::bytes_text(found.memory) << " (peak " << engine::bytes_text(found.peak_bytes)
              << "; "
              << found.predicted << " predicted from the first trial";
    if (found.too_large > 0)
        std::cout << "; " << found.too_large << " does not fit";
    else if (found.at_search_limit())
        std::cout << "; larger ones are not tried";
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

void print(const engine::RunConfig& config, const engine::BenchResult& result,
           std::int64_t block_steps) {
    for (const engine::Message& warning : result.warnings)
        std::cerr << "halftone: " << warning.str() << '\n';
    std::cout << config.model.kind << ", " << config.precision.preset << ", batch "
              << config.batch_size << ", ";
    if (config.workers > 1) std::cout << config.workers << " workers with ";
    std::cout << result.threads << " threads: " << result.median_step_ms << " ms a step (median of "
              << result.block_step_ms.size() << " blocks of " << block_steps << ", spread "
              << result.spread_ms << " ms), " << result.samples_per_s << ' '
              << engine::speed_unit(config) << ", peak "
              << engine::bytes_text(result.peak_bytes)
              << (engine::resolve(config.precision).has_recipe()
                      ? "; emulated: says nothing about a card's speed\n"
                      : "\n");
    if (config.workers > 1)
        std::cout << "exchange of gradients: " << result.exchange_ms << " ms a step, "
                  << result.exchange_hidden_share * 100 << " % of it during the backward pass\n";
}

int bench_rank(const BenchArguments& args, const engine::RunConfig& config,
               const std::shared_ptr<engine::Communicator>& line) {
    engine::BenchOptions options = args.options;
    options.communicator = line;
    if (args.paced) pace(options);
    const engine::BenchResult result = engine::run_bench(config, options);
    if (engine::launched_rank().rank > 0) return 0;
    std::optional<engine::PlanProfile> profile;
    if (args.profile) profile = engine::profile_plans(config);
    if (args.json) {
        std::cout << to_json(config, result, profile) << '\n';
        return 0;
    }
    print(config, result, args.options.steps);
    if (profile) std::cout << '\n' << engine::text_of(*profile);
    return 0;
}

int bench(const BenchArguments& args) {
    const auto read = [&]() -> std::optional<engine::RunConfig> {
        return read_settings(args.config, args.overrides, "{}", /*needs_data=*/false);
    };
    return with_ranks(read, [&](const engine::RunConfig& config, const auto& line) {
        if (line && args.paced)
            throw engine::Error(engine::ErrorCode::settings,
                                "--paced: not with several workers: mpirun has the standard input");
        if (line && args.profile)
            throw engine::Error(engine::ErrorCode::settings,
                                "--profile: not with several workers: it lists the plans of one");
        return bench_rank(args, config, line);
    });
}

/// FP32 beside AMP of these settings, one after the other.
int print_speedup(const std::vector<engine::RunConfig>& settings, const BenchArguments& args) {
    engine::SpeedupOptions options;
    if (args.find_batch || !args.memory.empty()) {
        options.batch_memory = memory_limit(args);
        if (!options.batch_memory) return engine::exit_code(engine::ErrorCode::settings);
    }
    std::vector<engine::Speedup> rows;
    WorkProgress progress("measuring");
    const auto all = static_cast<double>(settings.size() * options.precisions.size());
    double before = 0;  // precisions of the models that are measured
    options.goes_on = [&](const engine::SpeedupProgress& now) {
        const auto at = std::ranges::find(options.precisions, now.precision);
        if (at != options.precisions.end() && now.batch_size == 0)
            progress.show((before + static_cast<double>(at - options.precisions.begin()) +
                           static_cast<double>(now.pairs) / static_cast<double>(options.pairs)) /
                          all);
        return true;
    };
    for (const engine::RunConfig& config : settings) {
        if (!args.json) std::cerr << config.model.kind << " ..." << std::endl;
        for (engine::Speedup& row : engine::measure_speedup(config, options)) {
            if (args.json) std::cout << to_json(row) << std::endl;
            rows.push_back(std::move(row));
        }
        before += static_cast<double>(options.precisions.size());
    }
    if (!args.json) std::cout << engine::text_of(rows);
    return 0;
}

/// The settings of `bench --all`, or those of them that --model names; empty if one is unknown.
std::vector<engine::RunConfig> chosen_models(const std::vector<std::string>& names) {
    const auto all = engine::speedup_settings();
    if (names.empty()) return all;
    std::vector<engine::RunConfig> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find_if(
            all, [&](const engine::RunConfig& config) { return config.model.kind == name; });
        if (found == all.end()) {
            std::cerr << "halftone: --model: " << name << ": use one of";
            for (const auto& config : all) std::cerr << ' ' << config.model.kind;
            std::cerr << '\n';
            return {};
        }
        chosen.push_back(*found);
    }
    return chosen;
}

int bench_all(const BenchArguments& args) {
    const auto settings = chosen_models(args.models);
    if (settings.empty()) return engine::exit_code(engine::ErrorCode::settings);
    return print_speedup(settings, args);
}

int bench_pays(const BenchArguments& args) {
    const auto config = read_settings(args.config, args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    return print_speedup({*config}, args);
}

int run(const BenchArguments& args) {
    if (args.all || !args.models.empty()) return bench_all(args);
    if (args.pays) return bench_pays(args);
    return args.find_batch ? find_batch(args) : bench(args);
}

}  // namespace

void describe_bench(Command command) {
    auto args = std::make_shared<BenchArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of saved settings; without one, the defaults")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value").takes("PATH=VALUE");
    constexpr std::int64_t most = 1'000'000;
    command.number("--steps", args->options.steps, "Steps per block").within(1, most);
    command.number("--blocks", args->options.blocks, "Blocks").within(1, most);
    command.number("--warm-up", args->options.warm_up, "Steps before the first block")
        .within(0, most);
    const Option paced = command.flag("--paced", args->paced,
                                      "Start each block at a line on standard input, and print its "
                                      "milliseconds per step at once");
    command.flag("--json", args->json, "One JSON object on standard output");
    Option find_batch = command.flag(
        "--find-batch", args->find_batch,
        "Find the largest batch whose steps stay within --memory; with --all and --pays, that of "
        "each precision");
    find_batch.excludes(paced);
    command.text("--memory", args->memory,
                 "Memory limit of --find-batch, such as 500MB or 2GiB (default: all free memory). "
                 "With --all and --pays it also implies --find-batch").takes("SIZE");
    Option pays = command.flag(
        "--pays", args->pays,
        "Measure FP32 beside AMP with these settings, and say why AMP pays off, or why not");
    pays.excludes(paced);
    Option all = command.flag("--all", args->all,
                              "The same for a list of models on generated data, as a table");
    all.excludes(paced);
    const Option models =
        command.repeated_text("--model", args->models, "Only this model of --all (repeatable)").takes("MODEL");
    command
        .flag("--profile", args->profile,
              "Also list the products, convolutions, attention and recurrent networks of a step: "
              "each one's engine, time, FLOP/s and share of the device's peak; the ten that lose "
              "the most time, and with --json all of them")
        .excludes(paced)
        .excludes(find_batch)
        .excludes(pays)
        .excludes(all)
        .excludes(models);
    command.run([args] { return run(*args); });
}

}  // namespace app
