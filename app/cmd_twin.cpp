#include <iostream>
#include <limits>
#include <sstream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/record/speed.h"
#include "engine/record/twin.h"
#include "engine/runs/comparison.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_listing.h"
#include "engine/session/session.h"
#include "engine/verdict/verdict.h"
#include "find_run.h"
#include "follow.h"
#include "json_output.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

using engine::Twin;
using nlohmann::ordered_json;

struct TwinArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::string precisions = "fp32,amp-fp16";
    std::string run;
    std::int64_t resync_every = 0;
    bool skip_together = false;
    bool share_proposals = false;
    bool json = false;
};

/// The results of a finished twin, from the rows in a run's folder.
struct Found {
    std::string reference, run;
    std::int64_t steps = 0;
    engine::TwinDigest digest;
    std::optional<engine::Verdict> verdict = {};  ///< none: the reference cannot be read
};

/// The verdict of `compare` and the window on both runs, since the last resync.
std::optional<engine::Verdict> verdict_on(const std::filesystem::path& reference,
                                          const std::filesystem::path& other,
                                          std::int64_t first_step) {
    try {
        engine::JudgedEvents told_first(first_step), told_second(first_step);
        const auto collect = [](engine::JudgedEvents& told) {
            return [&told](const engine::Event& event) {
                told.apply(event);
                return false;  // none is kept
            };
        };
        if (!engine::read_run_folder(reference, collect(told_first)) ||
            !engine::read_run_folder(other, collect(told_second)))
            return std::nullopt;
        const auto first = engine::StepRecordReader::open(reference);
        const auto second = engine::StepRecordReader::open(other);
        const auto measured = engine::speeds({first, second});
        engine::RunFigures baseline = told_first.figures(first);
        engine::RunFigures judged = told_second.figures(second);
        baseline.speed = measured[0];
        judged.speed = measured[1];
        return engine::judge(baseline, judged);
    } catch (const engine::Error&) {  // it was deleted
        return std::nullopt;
    }
}

Found digest_of(const std::filesystem::path& folder, const std::string& run) {
    if (!engine::TwinRecordReader::exists(folder)) {
        throw engine::Error(engine::ErrorCode::data,
                            engine::msg("Run {} is not the second run of a twin.", run));
    }
    const auto reader = engine::TwinRecordReader::open(folder);
    Found found{reader.reference(), run, reader.steps(), engine::TwinDigest(reader.layers())};
    constexpr std::int64_t at_once = 1 << 16;
    std::vector<engine::TwinRow> rows;
    for (std::int64_t first = 0; first < reader.size(); first += at_once) {
        rows.resize(static_cast<std::size_t>(std::min(at_once, reader.size() - first)));
        reader.rows(first, rows);
        for (const auto& row : rows) found.digest.add(row);
    }
    // Both runs lie side by side in the history.
    found.verdict = verdict_on(folder.parent_path() / found.reference, folder,
                               found.digest.part_begins());
    return found;
}

std::string layer_sentence(const engine::TwinDigest& digest, std::size_t layer,
                           std::int64_t step) {
    return digest.layers()[layer].name + " diverged first, at step " + std::to_string(step) +
           ": its gradient stayed more than 10 % off for five steps.";
}

/// The verdict on the runs, and the first layer to part.
std::string verdict(const Found& found) {
    const auto& digest = found.digest;
    if (digest.identical())
        return "Bitwise identical over " + std::to_string(found.steps) + " steps.";
    std::string out;
    if (digest.part_begins() > 1)
        out += "After the resync, from step " + std::to_string(digest.part_begins()) + " on: ";
    if (found.verdict) out += found.verdict->headline.str() + ' ' + found.verdict->details() + ' ';
    const auto first = digest.first_to_diverge();
    out += first ? layer_sentence(digest, *first, digest.layers()[*first].diverged)
                 : "No layer diverged: no gradient stayed more than 10 % off for five steps.";
    if (!digest.earlier_marks().empty()) {
        const engine::TwinMark& mark = digest.earlier_marks().front();
        out += " Before the resync " + layer_sentence(digest, mark.layer, mark.step);
    }
    return out;
}

void print(const Found& found) {
    print_formatted("\nRun %s against run %s, gradients by layer after %lld steps\n\n",
                    found.run.c_str(), found.reference.c_str(),
                    static_cast<long long>(found.steps));
    engine::Table table{{"layer", "error", "angle", "rounding", "diverged"}};
    const auto percent = [](float share) { return engine::finite_cell(100.0 * share, "%.3g %%"); };
    for (const auto& layer : found.digest.layers())
        table.rows.push_back({layer.name, percent(layer.error), engine::Cell(layer.angle, "%.2f°"),
                              layer.rounding ? percent(*layer.rounding) : engine::Cell(),
                              layer.diverged > 0 ? engine::Cell(layer.diverged) : "no"});
    std::cout << to_text(table, 1);
    print_formatted("\n%s\n", verdict(found).c_str());
}

void print_json(const Found& found) {
    ordered_json out = {{"event", "twin"},
                        {"run", found.run},
                        {"reference", found.reference},
                        {"steps", found.steps},
                        {"identical", found.digest.identical()}};
    if (!found.digest.identical()) {
        const engine::TwinRow& row = found.digest.first_difference();
        out["first_difference"] = {
            {"step", row.step},
            {"layer", found.digest.layers()[static_cast<std::size_t>(row.layer)].name}};
    }
    const auto first = found.digest.first_to_diverge();
    out["first_to_diverge"] =
        first ? ordered_json(found.digest.layers()[*first].name) : ordered_json(nullptr);
    if (found.digest.part_begins() > 1) {
        out["judged_from"] = found.digest.part_begins();
        for (const engine::TwinMark& mark : found.digest.earlier_marks())
            out["earlier"].push_back(
                {{"layer", found.digest.layers()[mark.layer].name}, {"diverged", mark.step}});
    }
    if (found.verdict)
        out["verdict"] = ordered_json::parse(to_json(*found.verdict));
    out["layers"] = ordered_json::array();
    for (const auto& layer : found.digest.layers()) {
        ordered_json each = {{"layer", layer.name},
                             {"error", engine::json_number(layer.error)},
                             {"angle", engine::json_number(layer.angle)}};
        if (layer.rounding) each["rounding"] = engine::json_number(*layer.rounding);
        if (layer.diverged > 0) each["diverged"] = layer.diverged;
        out["layers"].push_back(std::move(each));
    }
    std::cout << engine::dumped(out) << '\n';
}

void show(const Found& found, bool json) {
    if (json)
        print_json(found);
    else
        print(found);
}

int show_kept(const TwinArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    show(digest_of(run->summary.folder, run->summary.run), args.json);
    return 0;
}

std::vector<std::string> two_precisions(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
    return names;
}

int train(const TwinArguments& args) {
    const auto config =
        read_settings(args.config, args.overrides, R"({"scaler": {"preset": "classroom"}})");
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    const auto names = two_precisions(args.precisions);
    std::vector<engine::SettingError> errors;
    std::vector<engine::RunConfig> configs;
    if (names.size() != 2) {
        errors.push_back({"--precision", args.precisions,
                          engine::msg("two names of precisions, separated by a comma")});
    }
    for (const std::string& name : names) {
        const engine::RunConfig own = engine::in_precision(*config, name);
        const auto found = engine::validate(own);
        errors.insert(errors.end(), found.begin(), found.end());
        configs.push_back(own);
    }
    report(errors);
    if (!errors.empty()) return engine::exit_code(engine::ErrorCode::settings);
    report_left_out(*config, names);
    for (const auto& each : configs) engine::check_device(each);
    const auto store = open_store();
    const auto thread = std::make_shared<engine::ComputeThread>();
    engine::SessionOptions options;
    options.group = engine::new_run_group();
    const engine::TwinOptions coupling{.resync_every = args.resync_every,
                                       .skip_together = args.skip_together,
                                       .share_proposals = args.share_proposals};
    options.twin = std::make_shared<Twin>(coupling);
    engine::GroupPlan plan;
    for (const auto& each : configs) plan.runs.push_back({each});
    plan.twin = coupling;
    options.group_plan = engine::group_plan_json(plan);
    std::vector<std::unique_ptr<engine::Session>> sessions;
    std::vector<Followed> followed;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        options.twin_side = i == 0 ? Twin::Side::reference : Twin::Side::other;
        sessions.push_back(std::make_unique<engine::Session>(configs[i], thread, store, options));
        followed.push_back({names[i], sessions.back().get()});
    }
    for (const auto& session : sessions) session->post(engine::Command::start);
    int worst = 0;
    for (const engine::RunOutcome& outcome : follow(followed, args.json))
        worst = std::max(worst, outcome.exit_code);
    const auto run = store->find(sessions.back()->run());
    if (run && engine::TwinRecordReader::exists(run->folder))
        show(digest_of(run->folder, run->run), args.json);
    return worst;
}

}  // namespace

void describe_twin(Command command) {
    auto args = std::make_shared<TwinArguments>();
    command
        .text("CONFIG", args->config, "Settings, a JSON file or the name of saved settings; without one, the default comparison")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value").takes("PATH=VALUE");
    command
        .text("--precision", args->precisions,
              "Two precisions, the reference first; else fp32,amp-fp16")
        .not_empty().takes("PRECISION,PRECISION");
    command
        .number("--resync", args->resync_every,
                "Copy the reference's state to the other run every N steps")
        .within(1, std::numeric_limits<std::int64_t>::max());
    command.flag("--skip-together", args->skip_together,
                 "The reference skips the steps that the other one skips");
    command.flag("--share-proposals", args->share_proposals,
                 "Detectors: the reference compares the regions that the other one proposes, so "
                 "that their choice is no divergence");
    command.text("--run", args->run, "Show the record of a finished twin in this run's folder")
        .not_empty().takes("RUN");
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return args->run.empty() ? train(*args) : show_kept(*args); });
}

}  // namespace app
