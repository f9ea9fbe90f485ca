#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/cluster.h"
#include "engine/runs/queue_listing.h"
#include "engine/runs/sweep_run.h"
#include "engine/session/session.h"
#include "engine/settings/command_line.h"
#include "follow.h"
#include "interruption.h"
#include "settings.h"

namespace app {
namespace {

constexpr auto follow_interval = std::chrono::seconds(5);

struct QueueArguments {
    std::string action;
    std::vector<std::string> what;
    std::vector<std::string> overrides;
    std::string where = "here";
    std::string folder;
    bool follow = false;
    bool json = false;
};

[[noreturn]] void throw_usage(const engine::Message& message, const engine::Message& hint = {}) {
    throw engine::Error(engine::ErrorCode::settings, message, hint);
}

engine::QueuePlace place(const std::string& word) {
    if (const auto found = engine::value_of_name<engine::QueuePlace>(word)) return *found;
    throw_usage(engine::msg("--where: {}: use here or slurm", word));
}

void print(const engine::QueuedRun& run, bool json) {
    if (json) {
        std::cout << engine::to_json_line(run) << std::endl;
        return;
    }
    std::cout << "Run " << run.id << " of the queue: " << name(run.state);
    if (!run.job.id.empty()) std::cout << ", job " << engine::one_line(run.job.id);
    if (!run.run.empty()) std::cout << ", run " << engine::one_line(run.run);
    std::cout << std::endl;
    if (const auto note = engine::job_sentence(run); !note.empty())
        std::cout << "  " << note.str() << std::endl;
}

/// Prints the runs of the queue that have changed.
void print_changes(const engine::RunQueue& queue, const std::vector<engine::JobChange>& changes,
                   bool json) {
    for (const engine::QueuedRun& run : queue.list()) {
        if (std::ranges::find(changes, run.id, &engine::JobChange::id) != changes.end())
            print(run, json);
    }
}

void list(const engine::RunQueue& queue, bool json) {
    const auto runs = queue.list();
    if (json) {
        for (const auto& run : runs) std::cout << engine::to_json_line(run) << '\n';
    } else if (runs.empty()) {
        std::cout << "The queue is empty.\n";
    } else {
        std::cout << engine::queue_table(runs);
    }
}

/// Waits for the ends of all jobs, or for Ctrl-C, which ends none. Returns the exit code.
int follow_to_the_end(engine::RunStore& store, engine::RunQueue& queue, bool json) {
    const InterruptScope obeyed;
    const auto live = [&] {
        const auto runs = queue.list();
        return std::ranges::any_of(runs, &engine::QueuedRun::has_live_job);
    };
    std::vector<engine::JobChange> ended;
    while (live() && !was_interrupted()) {
        const auto changes = engine::follow_jobs(store);
        print_changes(queue, changes, json);
        ended.insert(ended.end(), changes.begin(), changes.end());
        const auto again = std::chrono::steady_clock::now() + follow_interval;
        while (live() && !was_interrupted() && std::chrono::steady_clock::now() < again)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const bool failed = std::ranges::any_of(ended, [](const engine::JobChange& change) {
        return change.state == engine::QueueState::failed;
    });
    return failed ? engine::exit_code(engine::ErrorCode::training) : 0;
}

int add(const QueueArguments& args, engine::RunQueue& queue) {
    if (args.what.size() > 1)
        throw_usage(engine::msg("{}: one settings file at a time", args.what[1]));
    const auto config = read_settings(args.what.empty() ? "" : args.what.front(), args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    const std::string label = engine::join(engine::to_overrides(*config), " ");
    const auto ids =
        queue.add({{*config, label.empty() ? "default settings" : label, {}, place(args.where)}});
    for (const engine::QueuedRun& run : queue.list())
        if (run.id == ids.front()) print(run, args.json);
    return 0;
}

/// Trains what waits for this machine, one run after another. Returns the exit code.
int train_here(const std::shared_ptr<engine::RunStore>& store, engine::RunQueue& queue, bool json) {
    int exit_code = 0;
    while (auto taken = queue.take()) {
        const auto earlier = engine::earlier_try(taken->queued(), *store);
        if (const auto ended = earlier ? engine::ended_state(*earlier) : std::nullopt) {
            taken->finish(*ended);
            continue;
        }
        const engine::QueueEntry& entry = taken->queued().entry;
        engine::check_device(entry.config);
        engine::SessionOptions options = options_to_go_on(earlier);
        options.group = entry.batch.substr(0, entry.batch.find(' '));
        engine::Session session(entry.config, std::make_shared<engine::ComputeThread>(), store,
                                options);
        session.post(engine::Command::start);
        const auto note = [&taken](const std::string& run) { taken->set_run(run); };
        const auto outcome = follow({{entry.label, &session, note}}, json).front();
        const engine::QueueState state = engine::queue_state(outcome);
        taken->finish(state);
        exit_code = std::max(exit_code, outcome.exit_code);
        if (state == engine::QueueState::waiting) break;
    }
    return exit_code;
}

int start(const QueueArguments& args, const std::shared_ptr<engine::RunStore>& store,
          engine::RunQueue& queue) {
    const auto changes = engine::submit_jobs(*store);
    print_changes(queue, changes, args.json);
    const bool refused = std::ranges::any_of(changes, [](const engine::JobChange& change) {
        return change.state == engine::QueueState::failed;
    });
    int code = train_here(store, queue, args.json);
    if (args.follow) code = std::max(code, follow_to_the_end(*store, queue, args.json));
    return refused ? std::max(code, engine::exit_code(engine::ErrorCode::state)) : code;
}

/// Calls f(id) for each run of the queue that is named.
template <typename F>
int each_named(const QueueArguments& args, engine::RunQueue& queue, F&& f) {
    if (args.what.empty())
        throw_usage(engine::msg("{}: name runs of the queue by their ids", args.action));
    const auto runs = queue.list();
    for (const std::string& word : args.what) {
        const auto id = engine::to_number<std::int64_t>(word);
        if (!id || std::ranges::find(runs, *id, &engine::QueuedRun::id) == runs.end())
            throw_usage(engine::msg("{}: there is no such run in the queue", word));
        f(*id);
    }
    return 0;
}

/// The template of the batch script on standard output; where it lies on standard error.
int script(const QueueArguments& args) {
    engine::ClusterSettings settings = engine::read_cluster_settings();
    if (!args.folder.empty()) {
        settings.folder = std::filesystem::absolute(args.folder);
        engine::write_cluster_settings(settings);
    }
    std::cout << settings.script << std::flush;
    const bool own = settings.script != engine::default_job_script();
    const std::string file = engine::job_script_file().string();
    std::cerr << "halftone: "
              << (own ? "the script in " + file
                      : "the default; a file " + file + " takes its place")
              << "\nhalftone: jobs get folders in " << settings.folder.string() << '\n';
    for (const auto& each : engine::script_placeholders())
        std::cerr << "  {{" << each.name << "}}  " << each.meaning.str() << '\n';
    return 0;
}

int run_queue(const QueueArguments& args) {
    if (args.action == "script") return script(args);
    const auto store = open_store();
    engine::RunQueue queue(store->root());
    if (args.action == "add") return add(args, queue);
    if (args.action == "start") return start(args, store, queue);
    if (args.action == "cancel")
        return each_named(args, queue, [&](std::int64_t id) { engine::cancel_job(*store, id); });
    if (args.action == "again")
        return each_named(args, queue, [&](std::int64_t id) { queue.reset(id); });
    if (args.action == "remove")
        return each_named(args, queue, [&](std::int64_t id) { queue.remove(id); });
    if (!args.action.empty())
        throw_usage(
            engine::msg("queue: {}: use add, start, cancel, again, remove or script", args.action));
    if (args.follow) return follow_to_the_end(*store, queue, args.json);
    engine::follow_jobs(*store);
    list(queue, args.json);
    return 0;
}

}  // namespace

void describe_queue(Command command) {
    auto args = std::make_shared<QueueArguments>();
    command.text(
        "add|start|cancel|again|remove|script", args->action,
        "add: a run with the settings CONFIG. start: submits what waits for Slurm, and "
        "trains here what waits for this machine. cancel, again, remove: the runs ID ... "
        "script: prints the template of the batch script. Without one, the queue is listed");
    command.texts("CONFIG|ID", args->what, "Settings to add, or runs of the queue").optional();
    command.repeated_text("--set", args->overrides, "path=value, for add").takes("PATH=VALUE");
    command.text("--where", args->where, "Who trains the added run: this machine or a cluster")
        .takes("here|slurm");
    command.text("--folder", args->folder, "With script: from now on jobs get folders in this one")
        .not_empty()
        .takes("FOLDER");
    command.flag("--follow", args->follow,
                 "Waits until all jobs have ended and prints what changes; Ctrl-C ends no job");
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return run_queue(*args); });
}

}  // namespace app
