#include "runs/outside_request.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/record/event.h"
#include "io/file/atomic_file.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_interval{100};

struct ParsedRequest {
    std::string id, lease, request;
};

/// Empty texts where there is no request.
ParsedRequest read_request(const fs::path& file) {
    const json object = read_json_file(file, {.bytes = std::size_t{4} << 10, .depth = 2});
    if (!object.is_object()) return {};
    const auto text = [&object](const char* field) {
        const auto at = object.find(field);
        return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    return {text("id"), text("lease"), text("request")};
}

/// Removes a request at the end, unless another one has taken its place.
class RequestFile {
public:
    RequestFile(fs::path file, const std::string& lease, OutsideRequest request)
        : file_(std::move(file)), id_(random_id()) {
        const json object = {{"id", id_}, {"lease", lease}, {"request", name(request)}};
        write_file(file_, dumped(object) + "\n");
    }
    ~RequestFile() {
        std::error_code ignored;
        if (read_request(file_).id == id_) fs::remove(file_, ignored);
    }
    RequestFile(const RequestFile&) = delete;
    RequestFile& operator=(const RequestFile&) = delete;
    const std::string& id() const { return id_; }

private:
    const fs::path file_;
    const std::string id_;
};

bool is_done(OutsideRequest request, const LeaseState& holder) {
    const bool paused = holder.activity == name(RunState::paused);
    switch (request) {
        case OutsideRequest::stop:
            return false;  // its lease goes then
        case OutsideRequest::pause:
            return paused;
        case OutsideRequest::unpause:
            return !paused;
    }
    return false;
}

}  // namespace

RequestReader::RequestReader(const fs::path& run_folder, std::string lease)
    : file_(run_folder / request_file), lease_(std::move(lease)) {}

std::optional<WrittenRequest> RequestReader::next() {
    const ParsedRequest found = read_request(file_);
    if (found.id.empty() || found.id == last_ || found.lease != lease_) return std::nullopt;
    last_ = found.id;
    const auto request = value_of_name<OutsideRequest>(found.request);
    if (!request) return std::nullopt;
    return WrittenRequest{*request, found.id};
}

RequestAnswer send_request(const fs::path& run_folder, OutsideRequest request, double timeout_s) {
    LeaseSighting seen;
    const LeaseState asked = holder_of(run_folder, seen);
    if (!asked.held)
        throw Error(ErrorCode::state, msg("{}: no program trains this run", run_folder.string()));
    if (asked.id.empty())
        throw Error(ErrorCode::state,
                    msg("{}: the program that trains this run takes no requests: it is an earlier "
                        "version",
                        run_folder.string()),
                    msg("Stop it where it runs."));
    const RequestFile written(run_folder / request_file, asked.id, request);
    const auto end = Clock::now() + std::chrono::duration<double>(timeout_s);
    RequestAnswer answer{asked.host, asked.process, false};
    bool answered = false;
    do {
        std::this_thread::sleep_for(look_interval);
        const LeaseState now = holder_of(run_folder, seen);
        if (!now.held || now.id != asked.id) {
            answer.is_done = request == OutsideRequest::stop;
            if (answer.is_done) return answer;
            throw Error(ErrorCode::state, msg("{}: the run has ended", run_folder.string()));
        }
        answered = answered || now.answered == written.id();
        answer.is_done = answered && is_done(request, now);
        if (answer.is_done) return answer;
    } while (Clock::now() < end);
    if (answered) return answer;
    const std::string host = asked.host.empty() ? LeaseHolder::self().host : asked.host;
    throw Error(ErrorCode::state,
                msg("{}: process {} on {}, which trains this run, has not answered in {} s",
                    run_folder.string(), asked.process, host,
                    static_cast<std::int64_t>(std::lround(timeout_s))),
                msg("The request was withdrawn. Give it more time with --timeout; an earlier "
                    "version or another program does not answer: stop it where it runs."));
}

}  // namespace engine
