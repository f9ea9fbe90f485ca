#include "ranks.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/version.h"
#include "engine/train/data_parallel.h"
#include "follow.h"
#include "notify.h"
#include "settings.h"

namespace app {
namespace {

using engine::Error;
using engine::ErrorCode;
using engine::msg;

/// Collects what is written to standard error while it lives.
class HeldErrors {
public:
    HeldErrors() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
    ~HeldErrors() { std::cerr.rdbuf(before_); }
    HeldErrors(const HeldErrors&) = delete;
    HeldErrors& operator=(const HeldErrors&) = delete;

    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::streambuf* before_;
};

/// The arguments of this process; the first one is replaced by the path of its program.
std::vector<std::string> own_command() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(std::move(word));
    words.front() = std::filesystem::read_symlink("/proc/self/exe").string();
    return words;
}

std::string one_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
    return text;
}

void print(const Error& error) {
    std::cerr << "halftone: " << error.what() << '\n';
    if (!error.hint().empty()) std::cerr << error.hint().str() << '\n';
}

/// Sets `workers` to the launcher's number of ranks; refuses settings with another number.
void take_number_of_ranks(engine::RunConfig& config, int ranks) {
    if (config.workers > 1 && config.workers != ranks)
        throw Error(ErrorCode::settings,
                    msg("workers: {}: use {}, the number of processes that were started together, "
                        "or leave it out",
                        config.workers, ranks));
    config.workers = ranks;
    if (const auto errors = engine::validate(config); !errors.empty())
        throw Error(ErrorCode::settings, errors.front().str());
}

/// Ignores the signals that a launcher sends to all ranks: only rank 0 obeys them (follow.h).
void ignore_requests_to_end(int rank) {
    std::signal(SIGUSR1, SIG_IGN);
    if (rank == 0) return;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

/// The settings of this rank, or why it has none.
struct ReadSettings {
    std::optional<engine::RunConfig> config;
    std::optional<Error> problem;
    bool is_said = false;  ///< the problem is on standard error already
};

/// `held` has what this rank wrote to standard error; null on rank 0, whose words were printed.
ReadSettings read_settings(const std::function<std::optional<engine::RunConfig>()>& read,
                           const HeldErrors* held) {
    ReadSettings out;
    try {
        out.config = read();
        if (!out.config) {
            out.problem.emplace(ErrorCode::settings,
                                held ? one_line(held->text()) : "Its settings were refused.");
            out.is_said = !held;
        }
    } catch (const Error& error) {
        out.problem = error;
    }
    return out;
}

/// Makes all ranks fail if one cannot read its settings, with the reason of that rank. Such a rank
/// joins the launch too, because the others may wait for it there without a limit.
int run_rank(ReadSettings settings, const std::shared_ptr<engine::Communicator>& line, int ranks,
             const RankWork& work) {
    if (settings.problem) throw Error(*settings.problem);
    std::optional<engine::RunConfig>& config = settings.config;
    take_number_of_ranks(*config, ranks);
    engine::check_agreement(*line, engine::program_version(), *config);
    return work(std::move(*config), line);
}

/// Sends the problem to the other ranks; the one that speaks_for_ranks() prints it.
int give_up(const engine::LaunchedRank& place, const std::string& text, ErrorCode code) {
    engine::give_up_launch(place.rank == 0 ? text
                                           : "Rank " + std::to_string(place.rank) + ": " + text);
    return engine::exit_code(code);
}

int run_rank_to_its_end(const std::function<std::optional<engine::RunConfig>()>& read,
                        const RankWork& work, const engine::LaunchedRank& place) {
    std::optional<HeldErrors> held;
    if (place.rank > 0) held.emplace();
    const ReadSettings settings = read_settings(read, held ? &*held : nullptr);
    int code = 0;
    try {
        const auto line = engine::launched_communicator();
        code = run_rank(settings, line, place.ranks, work);
    } catch (const Error& error) {
        code = give_up(place, error.what(), error.code());
        held.reset();
        if (engine::speaks_for_ranks() && !settings.is_said) print(error);
    } catch (const std::exception& error) {
        code = give_up(place, error.what(), ErrorCode::training);
        held.reset();
        if (engine::speaks_for_ranks()) print(Error(ErrorCode::training, error.what()));
    }
    return engine::leave_launch(code);
}

}  // namespace

int with_ranks(const std::function<std::optional<engine::RunConfig>()>& read,
               const RankWork& work) {
    const engine::LaunchedRank place = engine::launched_rank();
    if (place.ranks > 1) {
        ignore_requests_to_end(place.rank);
        return run_rank_to_its_end(read, work, place);
    }
    const auto config = read();
    if (!config) return engine::exit_code(ErrorCode::settings);
    if (config->workers == 1) return work(*config, nullptr);
    return engine::run_workers(config->workers, own_command());
}

int train_as_rank(const engine::RunConfig& config, const engine::SessionOptions& options, bool json,
                  const std::string& notify) {
    if (engine::launched_rank().rank > 0) {
        engine::follow_run(config, options);
        return 0;
    }
    return notifying_failure(notify, "run", [&] {
        const auto thread = std::make_shared<engine::ComputeThread>();
        engine::Session session(config, thread, open_store(), options);
        session.post(engine::Command::start);
        const auto outcomes = follow({{config.precision.preset, &session}}, json);
        app::notify(notify, make_notice("run", outcomes));
        return outcomes.front().exit_code;
    });
}

}  // namespace app
