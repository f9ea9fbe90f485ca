#include <iostream>
#include <utility>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/followed_run.h"
#include "follow.h"

namespace app {
namespace {

struct WatchArguments {
    std::string folder;
    bool json = false;
    bool poll = false;
};

/// A folder that another program writes. To stop is to look away: the run goes on.
class FolderSource final : public engine::RunSource {
public:
    FolderSource(const std::string& folder, engine::RecordAccess access)
        : run_(folder, access), first_(run_.drain()) {}

    engine::RunState state() const override {
        return stopped_ ? engine::RunState::done : run_.state();
    }
    engine::StepRecordReader record() const override { return run_.record(); }
    std::string run() const override { return run_.run(); }
    std::vector<engine::Event> drain() override {
        auto events = std::exchange(first_, {});
        for (auto& event : run_.drain()) events.push_back(std::move(event));
        return events;
    }
    void stop() override { stopped_ = true; }
    bool shown_before() const override { return false; }
    std::string waiting() const override {
        return run_.state() == engine::RunState::idle ? "waiting for a run in this folder"
                                                      : "waiting for the first step";
    }
    std::string unfinished() const override {
        return interrupted() ? "" : "no longer followed; the run continues";
    }
    bool there() const { return run_.state() != engine::RunState::idle; }
    bool stopped() const { return stopped_; }
    bool interrupted() const { return run_.interrupted(); }

private:
    engine::FollowedRun run_;
    std::vector<engine::Event> first_;  ///< that were there when it was opened
    bool stopped_ = false;
};

int watch(const WatchArguments& args) {
    const auto access = args.poll ? engine::RecordAccess::polled : engine::RecordAccess::automatic;
    FolderSource source(args.folder, access);
    if (!source.there()) {
        std::cerr << "halftone: no run in " << engine::one_line(args.folder)
                  << " yet; it is followed as soon as a program begins to write one there\n";
    }
    const engine::RunOutcome outcome = follow(args.folder, source, args.json);
    if (source.stopped() || outcome.exit_code != 0) return outcome.exit_code;
    return source.interrupted() ? engine::exit_code(engine::ErrorCode::training) : 0;
}

}  // namespace

void describe_watch(Command command) {
    auto args = std::make_shared<WatchArguments>();
    command.text("FOLDER", args->folder, "Folder of a run that another program writes")
        .required()
        .not_empty();
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.flag("--poll", args->poll,
                 "Read by polling, as on a network file system that is not recognised as one");
    command.run([args] { return watch(*args); });
}

}  // namespace app
