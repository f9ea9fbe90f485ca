#include <algorithm>
#include <iostream>
#include <iterator>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/cluster.h"
#include "engine/runs/queue_listing.h"
#include "engine/runs/run_group.h"
#include "engine/runs/sweep_run.h"
#include "engine/session/session.h"
#include "engine/train/resume.h"
#include "follow.h"
#include "json_output.h"
#include "notify.h"
#include "settings.h"

namespace app {
namespace {

struct SweepArguments {
    std::string config;
    engine::SweepRequest request;
    std::string list;
    std::string out;
    std::string notify;
    std::string where = "here";
    bool again = false;
    bool accept_data = false;
    bool json = false;
};

/// The points; nothing, with all errors on standard error, if one of them cannot run.
std::optional<engine::SweepPlan> read_plan(const SweepArguments& args) {
    engine::SweepRequest request = args.request;
    std::vector<engine::SettingError> errors;
    const auto take = [&](const std::string& file, const std::optional<std::string>& found,
                          std::string& text) {
        if (found) {
            text = *found;
        } else {
            errors.push_back(
                {"(file)", file, engine::msg("use a file of at most 1 MiB that can be read")});
        }
    };
    if (!args.config.empty()) take(args.config, read_named_settings(args.config), request.json);
    if (!args.list.empty()) take(args.list, read_small_file(args.list), request.list);
    engine::SweepPlan plan = engine::plan_sweep(request);
    errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
    report(errors);
    if (!errors.empty()) return std::nullopt;
    for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
    return plan;
}

engine::SessionOptions options_for(const engine::SweepRun::Turn& turn) {
    engine::SessionOptions options = options_to_go_on(turn.earlier);
    if (!options.continuation) {
        options.folder = turn.folder;
        options.data_of = turn.data_of;
    }
    options.data_use = engine::DataUse::sweep;
    return options;
}

/// False if all runs have failed.
bool show_results(const engine::SweepRun& sweep, bool json) {
    const auto rows = sweep.rows();
    const std::string verdict = engine::sweep_verdict(sweep.plan(), rows);
    std::int64_t rank = 0;
    if (json) {
        for (const auto& row : rows)
            std::cout << engine::to_json_line(sweep.plan(), row, ++rank) << '\n';
        std::cout << R"({"event":"sweep_verdict","headline":)" << json_text(verdict) << "}\n";
    } else {
        std::cout << '\n' << engine::sweep_table(sweep.plan(), rows);
        if (!verdict.empty()) std::cout << '\n' << verdict << '\n';
    }
    return sweep.has_result();
}

int run_sweep(const SweepArguments& args, engine::SweepPlan plan) {
    const auto store = open_store();
    engine::SweepRun sweep(std::move(plan), store, args.out);
    const std::int64_t ended = sweep.enter(args.again);
    if (ended > 0 && !args.json) {
        std::cout << ended << " of " << sweep.size()
                  << " runs have ended already; --again runs them once more.\n";
    }
    int exit_code = 0;
    while (auto turn = sweep.next()) {
        engine::SessionOptions options = options_for(*turn);
        options.accept_data = args.accept_data;
        options.group = sweep.group();
        engine::Session session(turn->taken.queued().entry.config,
                                std::make_shared<engine::ComputeThread>(), store, options);
        session.post(engine::Command::start);
        const auto note = [&turn](const std::string& run) { turn->taken.set_run(run); };
        const auto outcome = follow({{turn->label, &session, note}}, args.json).front();
        if (sweep.finish(*turn, outcome) != engine::QueueState::waiting) continue;
        exit_code = outcome.exit_code;
        if (!args.json) std::cout << "The same command continues the sweep.\n";
        break;
    }
    const bool any = show_results(sweep, args.json);
    notify(args.notify, sweep.notice());
    return any ? exit_code : engine::exit_code(engine::ErrorCode::training);
}

/// The queue, in which a sweep that it has lost is entered again if it can go on.
template <typename IsOwn>
std::vector<engine::QueuedRun> queue_with(const std::string& group, const IsOwn& is_own) {
    const auto store = open_store();
    engine::RunQueue queue(store->root());
    if (std::ranges::none_of(queue.list(), is_own)) {
        const auto runs = engine::runs_of_group(store->list(), group);
        if (std::ranges::any_of(runs, engine::is_unfinished)) engine::requeue_sweep(queue, runs);
    }
    return queue.list();
}

/// Gives the runs of a sweep that the queue lacks to Slurm, each as a job of its own.
int submit_sweep(const engine::SweepPlan& plan) {
    const auto store = open_store();
    engine::RunQueue queue(store->root());
    std::vector<engine::QueueEntry> entries = plan.entries();
    for (auto& entry : entries) entry.where = engine::QueuePlace::slurm;
    queue.add(entries);
    const auto changes = engine::submit_jobs(*store, entries.front().batch);
    const auto refused = std::ranges::count(changes, engine::QueueState::failed,
                                            &engine::JobChange::state);
    std::cout << std::ssize(changes) - refused << " jobs of " << entries.size()
              << " runs submitted; `halftone queue` shows them.\n";
    const auto runs = queue.list(entries.front().batch);
    const auto first = std::ranges::find(runs, engine::QueueState::failed, &engine::QueuedRun::state);
    if (refused > 0 && first != runs.end())
        std::cerr << "halftone: " << engine::job_sentence(*first).str() << '\n';
    return refused == 0 ? 0 : engine::exit_code(engine::ErrorCode::state);
}

int sweep(const SweepArguments& args) {
    auto plan = read_plan(args);
    if (!plan) return engine::exit_code(engine::ErrorCode::settings);
    if (args.where == "slurm") return submit_sweep(*plan);
    if (args.where != "here")
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("--where: {}: use here or slurm", args.where));
    for (const auto& point : plan->points) engine::check_device(point.config);
    return notifying_failure(args.notify, "sweep",
                             [&] { return run_sweep(args, std::move(*plan)); });
}

}  // namespace

engine::SessionOptions options_to_go_on(const std::optional<engine::RunSummary>& earlier) {
    engine::SessionOptions options;
    if (!earlier) return options;
    try {
        const engine::ResumePlan plan = engine::plan_resume(*earlier);
        options.continuation = plan.continuation;
        for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
    } catch (const engine::Error& error) {
        std::cerr << "halftone: " << error.what() << '\n';
    }
    return options;
}

std::optional<int> continue_sweep(const std::string& group, bool accept_data, bool json,
                                  const std::string& notify) {
    SweepArguments args;
    args.accept_data = accept_data;
    args.json = json;
    args.notify = notify;
    const auto is_own = [&](const engine::QueuedRun& run) {
        const std::string& batch = run.entry.batch;
        return batch == group || batch.starts_with(group + " in ");
    };
    const auto queued = queue_with(group, is_own);
    const auto first = std::ranges::find_if(queued, is_own);
    if (first == queued.end()) return std::nullopt;
    const std::string batch = first->entry.batch;
    if (batch != group) args.out = batch.substr(group.size() + std::string(" in ").size());
    std::vector<engine::QueuedRun> own;
    std::ranges::copy_if(queued, std::back_inserter(own),
                         [&](const engine::QueuedRun& run) { return run.entry.batch == batch; });
    std::ranges::sort(own, {}, &engine::QueuedRun::id);  // the order of its points
    engine::SweepPlan plan = engine::to_sweep_plan(own);
    if (plan.points.empty()) return std::nullopt;
    plan.batch = group;  // also of a queue that no longer has all of its runs
    for (const auto& point : plan.points) engine::check_device(point.config);
    return run_sweep(args, std::move(plan));
}

void describe_sweep(Command command) {
    auto args = std::make_shared<SweepArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of saved settings; without one, the defaults")
        .not_empty();
    command.repeated_text("--grid", args->request.grid,
                          "path=value,value: a field and its values; several make a grid").takes("PATH=VALUE,VALUE");
    command
        .text("--list", args->list,
              "File with one JSON object of settings per line: each is a point, or with --grid a "
              "grid")
        .not_empty().takes("FILE");
    command.repeated_text("--set", args->request.overrides, "path=value, for all runs").takes("PATH=VALUE");
    command
        .number("--seeds", args->request.seeds,
                "Number of seeds per point; they count up from that of the settings")
        .within(1, 10'000);
    command.text("--out", args->out, "Folder for the runs; without one, the run history")
        .not_empty().takes("FOLDER");
    command
        .text("--where", args->where,
              "Who trains: this machine, or a cluster, with a job for each run")
        .takes("here|slurm");
    command.flag("--again", args->again, "Run points that have already ended once more");
    command.flag("--accept-data", args->accept_data,
                 "Go on although the data set has changed since the first runs of the sweep");
    describe_notify(command, args->notify);
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return sweep(*args); });
}

}  // namespace app
