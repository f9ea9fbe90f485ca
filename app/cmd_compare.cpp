#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <sstream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/comparison.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "engine/verdict/verdict.h"
#include "follow.h"
#include "json_output.h"
#include "notify.h"
#include "settings.h"
#ifdef HALFTONE_HAS_UI
#include "ui/report.h"
#endif

namespace app {
namespace {

struct CompareArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::optional<std::string> precisions;
    std::int64_t seeds = 1;
    std::string out;
    std::string report;
    std::string notify;
    bool json = false;
};

/// The default comparison as settings: fields given beside it fill up as in a file.
constexpr char default_comparison[] = R"({"scaler": {"preset": "classroom"}})";

/// Presets to compare: --precision, else what the file says, else the default comparison's.
std::vector<std::string> chosen_precisions(const CompareArguments& args,
                                           const engine::ParsedConfig& parsed) {
    if (!args.precisions && !parsed.compared.empty()) return parsed.compared;
    if (!args.precisions) return engine::default_precisions();
    std::vector<std::string> names;
    std::istringstream list(*args.precisions);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

/// Errors for the precisions that cannot run with these settings.
void check_precisions(const std::vector<std::string>& names, const engine::RunConfig& config,
                      std::vector<engine::SettingError>& errors) {
    for (const auto& name : names) {
        const auto found = engine::validate(engine::in_precision(config, name));
        errors.insert(errors.end(), found.begin(), found.end());
    }
    if (names.empty()) {
        errors.push_back(
            {"--precision", "\"\"", engine::msg("names of precisions, separated by commas")});
    }
}

engine::RunFigures figures_of(const engine::ComparedRuns& runs, const engine::ComparisonRow& row,
                              const std::string& unit) {
    std::vector<double> values;
    for (const auto& run : runs.runs) {
        const engine::PartFigures& test = run.done.test;
        values.push_back(runs.metric.key.empty() ? test.loss : test.of(runs.metric.key));
    }
    const engine::FinishedRun& last = runs.runs.back();
    engine::RunFigures figures{runs.precision, last.record, last.tests,
                               engine::mean_and_spread(values).spread};
    figures.metric = runs.metric;
    figures.speed = row.speed;
    figures.device = last.device;
    figures.unit = unit;
    figures.ended = true;
    figures.turns = "seed";  // the last seed's runs have trained on one thread
    return figures;
}

std::vector<engine::Verdict> compare_all(const std::vector<engine::ComparedRuns>& compared,
                                         const std::vector<engine::ComparisonRow>& rows,
                                         const std::string& unit) {
    std::vector<engine::RunFigures> figures;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        figures.push_back(figures_of(compared[i], rows[i], unit));
    }
    std::vector<engine::Verdict> verdicts;
    for (std::size_t i = 1; i < figures.size(); ++i)
        verdicts.push_back(engine::judge(figures.front(), figures[i]));
    return verdicts;
}

/// The command line that measures these settings in FP32 and in other precisions.
std::string measuring_command(const CompareArguments& args) {
    std::string line = "halftone bench";
    if (!args.config.empty()) line += ' ' + args.config;
    line += " --pays";
    for (const std::string& override : args.overrides) line += " --set '" + override + '\'';
    return line;
}

void print(const std::vector<engine::ComparisonRow>& rows,
           const std::vector<engine::Verdict>& verdicts, const CompareArguments& args,
           const std::string& speed_unit) {
    std::cout << '\n' << engine::comparison_table(rows, speed_unit);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        std::cout << '\n'
                  << rows[i + 1].precision << " against " << rows.front().precision << ": "
                  << verdicts[i].headline.str() << ' ' << verdicts[i].details() << '\n';
        if (!verdicts[i].speedup_explained)
            std::cout << "Why it does not pay: " << measuring_command(args) << '\n';
    }
}

#ifdef HALFTONE_HAS_UI
void write_report(const std::vector<engine::ComparedRuns>& compared,
                  const std::vector<engine::Verdict>& verdicts, const CompareArguments& args,
                  const std::shared_ptr<engine::RunStore>& store) {
    ui::ReportContent content;
    for (const auto& runs : compared) {
        for (const auto& run : runs.runs) content.runs.push_back(run.done.run);
    }
    content.verdicts = verdicts;
    ui::write_report(store, content, args.report);
    if (!args.json) std::cout << "\nReport: " << args.report << "/report.html\n";
}
#endif

/// How the runs of a seed, or of all of them, ended.
struct SeedEnd {
    int failed = 0;        ///< the worst exit code of those that did not merely diverge
    bool diverged = true;  ///< all of them did
    bool whole = true;     ///< none was stopped before its end
    std::vector<engine::RunOutcome> outcomes{};

    void add(const SeedEnd& other) {
        failed = std::max(failed, other.failed);
        diverged = diverged && other.diverged;
        whole = whole && other.whole;
        outcomes.insert(outcomes.end(), other.outcomes.begin(), other.outcomes.end());
    }
    /// A run that diverges beside one that does not is a result of the comparison, not its failure.
    int exit_code() const {
        return diverged ? engine::exit_code(engine::ErrorCode::training) : failed;
    }
};

SeedEnd end_of(const engine::RunOutcome& outcome) {
    using engine::DoneReason;
    const bool diverged = outcome.ended && outcome.run.done.reason == DoneReason::diverged;
    return {diverged ? 0 : outcome.exit_code,
            diverged,
            outcome.ended && outcome.run.done.reason != DoneReason::stopped,
            {outcome}};
}

/// A folder's name for each precision; of one that is named again, with a number behind it.
std::vector<std::string> folder_names(const std::vector<engine::ComparedRuns>& compared) {
    std::map<std::string, int> seen;
    std::vector<std::string> names;
    for (const auto& runs : compared) {
        const int count = ++seen[runs.precision];
        names.push_back(runs.precision + (count > 1 ? "-" + std::to_string(count) : ""));
    }
    return names;
}

/// All runs of the comparison, those of one seed after another.
engine::GroupPlan make_group_plan(const engine::RunConfig& config,
                                  const std::vector<engine::ComparedRuns>& compared,
                                  const CompareArguments& args) {
    engine::GroupPlan plan;
    const auto names = folder_names(compared);
    for (std::int64_t k = 0; k < args.seeds; ++k) {
        for (std::size_t i = 0; i < compared.size(); ++i) {
            engine::RunConfig own = engine::in_precision(config, compared[i].precision);
            own.seed += k;
            const std::string seed = "-seed" + std::to_string(own.seed);
            std::filesystem::path folder;
            if (!args.out.empty())
                folder =
                    std::filesystem::absolute(args.out) / (names[i] + (args.seeds > 1 ? seed : ""));
            plan.runs.push_back({std::move(own), std::move(folder)});
        }
    }
    return plan;
}

/// The runs of one seed take turns on one compute thread.
SeedEnd run_seed(std::span<const engine::GroupPlan::Run> runs,
                 std::vector<engine::ComparedRuns>& compared, const CompareArguments& args,
                 const std::shared_ptr<engine::RunStore>& store, engine::SessionOptions options) {
    const auto thread = std::make_shared<engine::ComputeThread>();
    std::vector<std::unique_ptr<engine::Session>> sessions;
    std::vector<Followed> followed;
    options.turns = engine::new_run_group();
    for (std::size_t i = 0; i < compared.size(); ++i) {
        options.folder = runs[i].folder;
        sessions.push_back(
            std::make_unique<engine::Session>(runs[i].config, thread, store, options));
        followed.push_back({compared[i].precision, sessions.back().get()});
    }
    for (const auto& session : sessions) session->post(engine::Command::start);
    const auto outcomes = follow(followed, args.json);
    SeedEnd end;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        end.add(end_of(outcomes[i]));
        if (!outcomes[i].ended) continue;
        compared[i].runs.push_back(outcomes[i].run);
        compared[i].metric = outcomes[i].metric;
    }
    return end;
}

/// A comparison that was stopped goes on as a whole.
void print_how_to_resume(const std::vector<engine::RunSummary>& history, const std::string& group) {
    const auto runs = engine::runs_of_group(history, group);
    if (runs.empty() || runs.front().group_number == 0) return;
    std::cout << "halftone resume " << engine::group_name(runs.front().group_number)
              << " continues the comparison.\n";
}

/// Makes the folder if it is absent: a report must not fail after hours of training.
bool can_be_written(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    return !error && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

int compare(const CompareArguments& args) {
    const auto parsed = read_comparison(args.config, args.overrides, default_comparison);
    if (!parsed) return engine::exit_code(engine::ErrorCode::settings);
    const engine::RunConfig* config = &parsed->config;
    std::vector<engine::SettingError> errors;
    std::vector<engine::ComparedRuns> compared;
    const auto precisions = chosen_precisions(args, *parsed);
    check_precisions(precisions, *config, errors);
    for (const auto& name : precisions) compared.push_back({name, {}});
    const std::int64_t last_seed = std::numeric_limits<std::int64_t>::max() - (args.seeds - 1);
    if (config->seed > last_seed) {
        errors.push_back({"seed", std::to_string(config->seed),
                          engine::msg("use a whole number from {} to {}", 0, last_seed)});
    }
    if (!args.report.empty() && !can_be_written(args.report)) {
        errors.push_back({"--report", args.report, engine::msg("use a folder for writing")});
    }
    report(errors);
    if (!errors.empty()) return engine::exit_code(engine::ErrorCode::settings);
    report_left_out(*config, precisions);
    for (const auto& runs : compared)
        engine::check_device(engine::in_precision(*config, runs.precision));
    const auto store = open_store();
    const engine::GroupPlan plan = make_group_plan(*config, compared, args);
    engine::SessionOptions options;
    options.group = engine::new_run_group();
    options.group_plan = engine::group_plan_json(plan);
    SeedEnd end;
    notifying_failure(args.notify, "comparison", [&] {
        for (std::int64_t i = 0; i < args.seeds && end.whole; ++i) {
            const auto first = static_cast<std::size_t>(i) * compared.size();
            end.add(run_seed(std::span(plan.runs).subspan(first, compared.size()), compared, args,
                             store, options));
        }
        return 0;
    });
    const Notice notice(args.notify, make_notice("comparison", end.outcomes));
    if (!end.whole && !args.json) print_how_to_resume(store->list(), options.group);
    const bool all_ran = std::all_of(compared.begin(), compared.end(),
                                     [](const auto& runs) { return !runs.runs.empty(); });
    if (!all_ran) return end.exit_code();
    const auto rows = engine::compare_runs(compared);
    const auto verdicts = compare_all(compared, rows, engine::sample_unit(*config));
    const std::string unit = engine::speed_unit(*config);
    if (args.json)
        std::cout << to_json(rows, verdicts, unit) << '\n';
    else
        print(rows, verdicts, args, unit);
#ifdef HALFTONE_HAS_UI
    if (!args.report.empty()) write_report(compared, verdicts, args, store);
#endif
    return end.exit_code();
}

}  // namespace

void describe_compare(Command command) {
    auto args = std::make_shared<CompareArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of saved settings; without one, the default comparison")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value").takes("PATH=VALUE");
    command.text("--precision", args->precisions,
                 "Precisions, the baseline first; else those of CONFIG, else fp32,amp-fp16").takes("PRECISION,PRECISION");
    command
        .number("--seeds", args->seeds, "Number of seeds; they count up from that of the settings")
        .within(1, 10'000);
    command.text("--out", args->out, "Folder for the runs, with a folder for each precision")
        .not_empty().takes("FOLDER");
#ifdef HALFTONE_HAS_UI
    command
        .text("--report", args->report, "Folder for a report: plots as PNG and a page, report.html")
        .not_empty().takes("FOLDER");
#endif
    describe_notify(command, args->notify);
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return compare(*args); });
}

}  // namespace app
