#include <algorithm>
#include <iostream>
#include <iterator>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/runs/end_notice.h"
#include "engine/runs/run_group.h"
#include "engine/runs/sweep.h"
#include "engine/session/session.h"
#include "engine/train/resume.h"
#include "follow.h"
#include "json_output.h"
#include "notify.h"
#include "settings.h"
#include "sweep_command.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using engine::QueueState;

struct SweepArguments {
    std::string config;
    engine::SweepRequest request;
    std::string list;
    std::string out;
    std::string notify;
    bool again = false;
    bool accept_data = false;
    bool json = false;
};

/// The points; nothing, with all errors on standard error, if one of them cannot run.
std::optional<engine::SweepPlan> read_plan(const SweepArguments& args) {
    engine::SweepRequest request = args.request;
    std::vector<engine::SettingError> errors;
    const auto read = [&](const std::string& file, std::string& text) {
        if (file.empty()) return;
        const auto found = read_small_file(file);
        if (found) {
            text = *found;
        } else {
            errors.push_back(
                {"(file)", file, engine::msg("use a file of at most 1 MiB that can be read")});
        }
    };
    read(file_or_preset(args.config), request.json);
    read(args.list, request.list);
    engine::SweepPlan plan = engine::plan_sweep(request);
    errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
    report(errors);
    if (!errors.empty()) return std::nullopt;
    for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
    return plan;
}

/// A folder under `out` that no run has used.
fs::path free_folder(const fs::path& out, std::int64_t number) {
    const fs::path wanted = out / ("run-" + std::to_string(number));
    fs::path folder = wanted;
    std::error_code ignored;
    for (int n = 2; fs::exists(folder, ignored); ++n)
        folder = wanted.string() + "-" + std::to_string(n);
    return folder;
}

/// How a run ended, for the queue. One that never began, or was stopped, waits to be run again.
QueueState state_of(const Outcome& outcome) {
    const bool stopped = !outcome.ended || outcome.run.done.reason == engine::DoneReason::stopped;
    if (stopped) return QueueState::waiting;
    // Its results count, though its last checkpoint could not be written.
    const bool is_done = engine::end_state(outcome.run.done) == "done";
    const bool unsaved = outcome.run.done.unsaved > 0;
    return is_done && (outcome.exit_code == 0 || unsaved) ? QueueState::done : QueueState::failed;
}

bool has_ended(const engine::RunSummary& run) {
    return run.state == "done" || run.state == "failed" || run.state == "diverged";
}

class Sweep {
public:
    Sweep(const SweepArguments& args, engine::SweepPlan plan)
        : args_(args), plan_(std::move(plan)), store_(open_store()), queue_(store_->root()) {
        entries_ = plan_.entries();
        batch_ = entries_.front().batch;
        if (!args.out.empty()) batch_ += " in " + fs::absolute(args.out).string();
        for (auto& entry : entries_) entry.batch = batch_;
    }

    int run() {
        enter();
        int exit_code = 0;
        while (auto taken = queue_.take(batch_)) {
            const auto before = earlier_try(taken->queued());
            if (before && has_ended(*before)) {  // and its process died at once after that
                taken->finish(before->state == "done" ? QueueState::done : QueueState::failed);
                continue;
            }
            const Outcome outcome = train(*taken, before);
            if (!outcome.id.empty()) ended_.runs.push_back(outcome.id);
            const QueueState state = state_of(outcome);
            taken->finish(state);
            if (state != QueueState::waiting) continue;
            ended_.state = outcome.failure.empty() ? "stopped" : "failed";
            exit_code = outcome.exit_code;
            if (!args_.json) std::cout << "The same command continues the sweep.\n";
            break;
        }
        const bool any = show_results();
        tell_end(any);
        return any ? exit_code : engine::exit_code(engine::ErrorCode::training);
    }

private:
    /// Enters the runs that the queue lacks; those whose results are gone wait again.
    void enter() {
        std::int64_t ended = 0;
        for (const auto& run : queue_.list(batch_)) {
            const bool over = run.state == QueueState::done || run.state == QueueState::failed;
            if (!over) continue;
            if (args_.again || !store_->find(run.run))
                queue_.reset(run.id);
            else
                ++ended;
        }
        queue_.add(entries_);
        if (ended > 0 && !args_.json) {
            std::cout << ended << " of " << entries_.size()
                      << " runs have ended already; --again runs them once more.\n";
        }
    }

    std::int64_t number_of(const engine::QueuedRun& queued) const {
        const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
            return entry.config == queued.entry.config;
        });
        return at - entries_.begin() + 1;
    }

    /// The run that an interrupted sweep began with these settings.
    std::optional<engine::RunSummary> earlier_try(const engine::QueuedRun& queued) const {
        if (queued.run.empty()) return std::nullopt;
        auto found = store_->find(queued.run);
        if (!found || found->config != queued.entry.config || found->state == "running" ||
            found->state == "missing")
            return std::nullopt;
        return found;
    }

    /// Where a run goes on; a new run where the earlier try cannot.
    engine::SessionOptions options_for(std::int64_t number, const engine::QueuedRun& queued,
                                       const std::optional<engine::RunSummary>& before) const {
        engine::SessionOptions options;
        try {
            if (before) {
                const engine::ResumePlan plan = engine::plan_resume(*before);
                options.continuation = plan.continuation;
                for (const auto& note : plan.notes) std::cerr << "halftone: " << note.str() << '\n';
            }
        } catch (const engine::Error& error) {
            std::cerr << "halftone: " << error.what() << '\n';
        }
        if (!options.continuation) {
            if (!args_.out.empty()) options.folder = free_folder(args_.out, number);
            options.data_of =
                engine::ended_run_with_data(queue_.list(batch_), queued.entry, *store_);
        }
        options.data_use = engine::DataUse::sweep;
        options.accept_data = args_.accept_data;
        options.group = plan_.entries().front().batch;
        return options;
    }

    Outcome train(engine::RunQueue::Taken& taken, const std::optional<engine::RunSummary>& before) {
        const engine::QueuedRun& queued = taken.queued();
        const std::int64_t number = number_of(queued);
        const engine::SessionOptions options = options_for(number, queued, before);
        const std::string label = std::to_string(number) + "/" + std::to_string(entries_.size()) +
                                  " " + queued.entry.label;
        engine::Session session(queued.entry.config, std::make_shared<engine::ComputeThread>(),
                                store_, options);
        session.post(engine::Command::start);
        const auto note = [&taken](const std::string& run) { taken.set_run(run); };
        return follow({{label, &session, note}}, args_.json).front();
    }

    void tell_end(bool any) {
        std::int64_t done = 0, failed = 0;
        for (const auto& run : queue_.list(batch_)) {
            done += run.state == QueueState::done ? 1 : 0;
            failed += run.state == QueueState::failed ? 1 : 0;
        }
        if (!any) ended_.state = "failed";
        ended_.reason = std::to_string(done) + " done, " + std::to_string(failed) + " failed, " +
                        std::to_string(std::ssize(entries_) - done - failed) + " waiting";
        notify(args_.notify, ended_);
    }

    /// False if all runs have failed.
    bool show_results() {
        const auto queued = queue_.list(batch_);
        const auto rows = engine::sweep_rows(plan_, queued, *store_);
        const std::string verdict = engine::sweep_verdict(plan_, rows);
        std::int64_t rank = 0;
        if (args_.json) {
            for (const auto& row : rows)
                std::cout << engine::to_json_line(plan_, row, ++rank) << '\n';
            std::cout << R"({"event":"sweep_verdict","headline":)" << json_text(verdict) << "}\n";
        } else {
            std::cout << '\n' << engine::sweep_table(plan_, rows);
            if (!verdict.empty()) std::cout << '\n' << verdict << '\n';
        }
        return std::any_of(queued.begin(), queued.end(),
                           [](const auto& run) { return run.state != QueueState::failed; });
    }

    const SweepArguments& args_;
    engine::SweepPlan plan_;
    std::shared_ptr<engine::RunStore> store_;
    engine::RunQueue queue_;
    std::vector<engine::QueueEntry> entries_;
    std::string batch_;
    engine::EndNotice ended_{"sweep", {}, "done", {}};
};

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

int sweep(const SweepArguments& args) {
    auto plan = read_plan(args);
    if (!plan) return engine::exit_code(engine::ErrorCode::settings);
    for (const auto& point : plan->points) engine::check_device(point.config);
    return notifying_failure(args.notify, "sweep",
                             [&] { return Sweep(args, std::move(*plan)).run(); });
}

}  // namespace

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
    engine::SweepPlan plan = engine::plan_of(own);
    if (plan.points.empty()) return std::nullopt;
    plan.batch = group;  // also of a queue that no longer has all of its runs
    for (const auto& point : plan.points) engine::check_device(point.config);
    return Sweep(args, std::move(plan)).run();
}

void describe_sweep(Command command) {
    auto args = std::make_shared<SweepArguments>();
    command
        .text("CONFIG", args->config,
              "Settings, a JSON file or the name of a preset; without one, the defaults")
        .not_empty();
    command.repeated_text("--grid", args->request.grid,
                          "path=value,value: a field and its values; several make a grid");
    command
        .text("--list", args->list,
              "File with one JSON object of settings per line: each is a point, or with --grid a "
              "grid")
        .not_empty();
    command.repeated_text("--set", args->request.overrides, "path=value, for all runs");
    command
        .number("--seeds", args->request.seeds,
                "Number of seeds per point; they count up from that of the settings")
        .within(1, 10'000);
    command.text("--out", args->out, "Folder for the runs; without one, the run history")
        .not_empty();
    command.flag("--again", args->again, "Run points that have already ended once more");
    command.flag("--accept-data", args->accept_data,
                 "Go on although the data set has changed since the first runs of the sweep");
    describe_notify(command, args->notify);
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return sweep(*args); });
}

}  // namespace app
