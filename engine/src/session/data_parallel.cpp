#include "engine/session/data_parallel.h"

#include "engine/base/error.h"
#include "train/run/run_loop.h"
#include "train/run/run_needs.h"

namespace engine {
namespace {

std::string sentence(int rank, const std::string& text) {
    return msg("Rank {}: {}", rank, text).str();
}

}  // namespace

void follow_run(const RunConfig& config, const SessionOptions& options) {
    Communicator& ranks = *options.communicator;
    check_workers(config, &ranks);
    RunLoop loop(config, nullptr, options, [](const Event&) {});
    // Before the loop goes: what it exchanges in the background waits for the others.
    try {
        loop.prepare({});
        loop.follow();
    } catch (const std::exception& error) {
        ranks.abort(sentence(ranks.rank(), error.what()));
        throw;
    }
}

}  // namespace engine
