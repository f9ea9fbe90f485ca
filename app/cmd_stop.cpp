#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/outside_request.h"
#include "engine/runs/run_group.h"
#include "find_run.h"

namespace app {
namespace {

using engine::OutsideRequest;

constexpr std::int64_t longest_timeout = 86400;

struct RequestArguments {
    std::string run;
    std::int64_t timeout = 90;
};

std::string this_host() {
    std::array<char, 256> text{};
    return ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "this machine";
}

const char* request_result(OutsideRequest request, bool is_done) {
    switch (request) {
        case OutsideRequest::stop:
            return is_done ? "stopped" : "stops after what it is computing";
        case OutsideRequest::pause:
            return is_done ? "paused" : "pauses after what it is computing";
        case OutsideRequest::unpause:
            return is_done ? "training" : "goes on after what it is computing";
    }
    return "";
}

void send_request_to(const engine::RunSummary& run, OutsideRequest request, const RequestArguments& args) {
    if (run.origin)
        throw engine::Error(
            engine::ErrorCode::state,
            engine::msg("Run {} is trained by {}, which takes no requests.", run.run,
                        run.origin->program),
            "Stop it where it runs.");
    const engine::RequestAnswer answer =
        engine::send_request(run.folder, request, static_cast<double>(args.timeout));
    const std::string host = answer.host.empty() ? this_host() : answer.host;
    std::cout << "Run " << engine::one_line(run.run) << ": " << request_result(request, answer.is_done)
              << " (process " << answer.process << " on " << host << ")" << std::endl;
}

int send_to_all(const RequestArguments& args, OutsideRequest request) {
    const auto found = find_runs(args.run);
    if (found.empty()) return engine::exit_code(engine::ErrorCode::settings);
    engine::GroupRuns runs = found;
    std::erase_if(runs, [](const engine::RunSummary& run) { return run.state != "running"; });
    if (runs.empty())
        throw engine::Error(engine::ErrorCode::state,
                            engine::msg("{}: no program trains it; its state is {}", args.run,
                                        found.front().state));
    for (const engine::RunSummary& run : runs) send_request_to(run, request, args);
    return 0;
}

void describe_request(Command& command, OutsideRequest request) {
    auto args = std::make_shared<RequestArguments>();
    command
        .text("RUN", args->run,
              "A run of the history (its number or title), its folder, or a comparison (g3): all of "
              "its runs that are being trained")
        .required()
        .not_empty();
    command
        .number("--timeout", args->timeout,
                "Seconds to wait for the answer of the program that trains the run (90)")
        .within(1, longest_timeout);
    command.run([args, request] { return send_to_all(*args, request); });
}

}  // namespace

void describe_stop(Command command) { describe_request(command, OutsideRequest::stop); }
void describe_pause(Command command) { describe_request(command, OutsideRequest::pause); }
void describe_unpause(Command command) { describe_request(command, OutsideRequest::unpause); }

}  // namespace app
