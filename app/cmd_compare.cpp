#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "commands.h"
#include "engine/error.h"
#include "engine/session.h"
#include "engine/verdict.h"
#include "follow.h"
#include "settings.h"

namespace app {
namespace {

struct CompareArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::string precisions = "fp32,amp-fp16";
    std::int64_t seeds = 1;
    std::string out;
    bool json = false;
};

/// One precision over all seeds.
struct Column {
    std::string precision;
    std::vector<Outcome> outcomes;
    engine::StepRecordReader record;  // of the last seed
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
    const double m = mean(values);
    double sum = 0;
    for (const double value : values) sum += (value - m) * (value - m);
    return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

template <typename F>
std::vector<double> over_seeds(const Column& column, F&& figure) {
    std::vector<double> values;
    for (const auto& outcome : column.outcomes) values.push_back(figure(outcome));
    return values;
}

double step_ms(const Outcome& outcome) {
    return outcome.done.steps > 0
               ? outcome.done.wall_s * 1e3 / static_cast<double>(outcome.done.steps)
               : NAN;
}

void print_table(const std::vector<Column>& columns) {
    const bool spread = columns.front().outcomes.size() > 1;
    std::printf("\n%-10s %10s %16s %9s %11s %9s %9s %8s %8s %8s\n", "precision", "test loss",
                "test accuracy", "ms/step", "samples/s", "speed-up", "peak MB", "updates",
                "skipped", "growths");
    const double baseline = mean(over_seeds(columns.front(), step_ms));
    for (const auto& column : columns) {
        const auto accuracies =
            over_seeds(column, [](const Outcome& o) { return o.done.test_accuracy; });
        char accuracy[32];
        if (spread)
            std::snprintf(accuracy, sizeof accuracy, "%.4f +- %.4f", mean(accuracies),
                          deviation(accuracies));
        else
            std::snprintf(accuracy, sizeof accuracy, "%.4f", mean(accuracies));
        const double ms = mean(over_seeds(column, step_ms));
        const auto figure = [&](auto member) {
            return mean(over_seeds(
                column, [&](const Outcome& o) { return static_cast<double>(o.done.*member); }));
        };
        std::printf("%-10s %10.4f %16s %9.3f %11.0f %8.2fx %9.1f %8.0f %8.0f %8.0f\n",
                    column.precision.c_str(), figure(&engine::RunDone::test_loss), accuracy, ms,
                    figure(&engine::RunDone::samples_per_s), baseline / ms,
                    figure(&engine::RunDone::peak_bytes) / 1e6, figure(&engine::RunDone::updates),
                    figure(&engine::RunDone::skipped),
                    mean(over_seeds(
                        column, [](const Outcome& o) { return static_cast<double>(o.growths); })));
    }
}

void print_verdicts(const std::vector<Column>& columns) {
    const auto figures = [](const Column& column) {
        const auto accuracies =
            over_seeds(column, [](const Outcome& o) { return o.done.test_accuracy; });
        const Outcome& last = column.outcomes.back();
        return engine::RunFigures{column.precision, column.record, last.test_losses,
                                  last.test_accuracies, deviation(accuracies)};
    };
    for (std::size_t i = 1; i < columns.size(); ++i) {
        const engine::Verdict verdict =
            engine::judge(figures(columns.front()), figures(columns[i]));
        std::cout << '\n'
                  << columns[i].precision << " against " << columns.front().precision << ": "
                  << verdict.headline.str() << ' ' << verdict.evidence.str() << '\n';
    }
}

/// The runs of one seed take turns on one compute thread. Returns the worst exit code.
int run_seed(const engine::RunConfig& config, std::vector<Column>& columns,
             const CompareArguments& args, const std::shared_ptr<engine::RunStore>& store) {
    const auto thread = std::make_shared<engine::ComputeThread>();
    std::vector<std::unique_ptr<engine::Session>> sessions;
    std::vector<Followed> followed;
    for (const auto& column : columns) {
        engine::RunConfig own = config;
        own.precision = {};
        own.precision.preset = column.precision;
        engine::SessionOptions options;
        if (!args.out.empty()) {
            options.folder =
                std::filesystem::path(args.out) /
                (column.precision + (args.seeds > 1 ? "-seed" + std::to_string(config.seed) : ""));
        }
        sessions.push_back(std::make_unique<engine::Session>(own, thread, store, options));
        followed.push_back({column.precision, sessions.back().get()});
    }
    for (const auto& session : sessions) session->post(engine::Command::start);
    const auto outcomes = follow(followed, args.json);
    int worst = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        columns[i].outcomes.push_back(outcomes[i]);
        columns[i].record = sessions[i]->record();
        worst = std::max(worst, outcomes[i].exit_code);
    }
    return worst;
}

int compare(const CompareArguments& args) {
    const auto config =
        read_settings(args.config, args.overrides,
                      args.config.empty() ? engine::to_json(engine::default_comparison()) : "{}");
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    std::vector<Column> columns;
    std::istringstream list(args.precisions);
    for (std::string name; std::getline(list, name, ',');) {
        engine::RunConfig own = *config;
        own.precision = {};
        own.precision.preset = name;
        const auto errors = engine::validate(own);
        report(errors);
        if (!errors.empty()) return engine::exit_code(engine::ErrorCode::settings);
        columns.push_back({name, {}, {}});
    }
    const auto store = open_store();
    int worst = 0;
    bool whole = true;
    for (std::int64_t i = 0; i < args.seeds && whole; ++i) {
        engine::RunConfig own = *config;
        own.seed += i;
        worst = std::max(worst, run_seed(own, columns, args, store));
        for (const auto& column : columns) {
            const auto& last = column.outcomes.back();
            whole = whole && last.ended && last.done.reason != engine::DoneReason::stopped;
        }
    }
    if (!args.json && columns.front().outcomes.front().ended) {
        print_table(columns);
        print_verdicts(columns);
    }
    return worst;
}

}  // namespace

void add_compare(CLI::App& cli, int* exit_code) {
    auto args = std::make_shared<CompareArguments>();
    auto* command = cli.add_subcommand(
        "compare", "The same run in several precisions, same data order and initial weights");
    command->add_option("CONFIG", args->config,
                        "Settings, a JSON file; without one, the default comparison");
    command->add_option("--set", args->overrides, "path=value")
        ->allow_extra_args(false)
        ->take_all();
    command->add_option("--precision", args->precisions, "Precisions, the baseline first")
        ->capture_default_str();
    command->add_option("--seeds", args->seeds, "Seeds, from the settings' one on")
        ->check(CLI::PositiveNumber);
    command->add_option("--out", args->out, "Folder for the runs, one folder a precision");
    command->add_flag("--json", args->json, "One JSON object a line on standard output");
    command->callback([args, exit_code] { *exit_code = compare(*args); });
}

}  // namespace app
