#include "train/run/data_parallel.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/train/data_parallel.h"
#include "parallel/communicator.h"
#include "train/run/run_loop.h"
#include "train/run/run_needs.h"

namespace engine {
namespace {

std::string sentence(int rank, const std::string& text) {
    return msg("Rank {}: {}", rank, text).str();
}

}  // namespace

int RunRanks::size() const { return line_ != nullptr ? line_->size() : 1; }

bool RunRanks::follows() const { return line_ != nullptr && line_->rank() > 0; }

void RunRanks::send(Order order) const {
    if (line_ != nullptr && !follows()) line_->broadcast({&order, kernels::DType::i64, 1});
}

void RunRanks::follow(const std::function<void(Order)>& obey) const {
    for (Order order{};;) {
        line_->broadcast({&order, kernels::DType::i64, 1});
        if (order == Order::end) return;
        obey(order);
    }
}

void RunRanks::share(double& number) const {
    if (line_ != nullptr) line_->broadcast({&number, kernels::DType::f64, 1});
}

void RunRanks::leave(const std::string& failure, bool prepared,
                     const std::function<void()>& send_last) {
    if (line_ == nullptr || follows() || std::exchange(left_, true)) return;
    if (!failure.empty()) return line_->abort(failure);
    if (!prepared) return line_->abort("The run was stopped before it began.");
    try {
        send_last();
        send(Order::end);
    } catch (const Error&) {
    }
}

void follow_run(const RunConfig& config, const SessionOptions& options) {
    Communicator& ranks = *options.communicator;
    check_workers(config, &ranks);
    RunLoop loop(config, nullptr, options, [](const Event&) {});
    // Abort before the loop is destroyed: its background exchange waits for the other ranks.
    try {
        loop.prepare({});
        loop.follow();
    } catch (const std::exception& error) {
        ranks.abort(sentence(ranks.rank(), error.what()));
        throw;
    }
}

}  // namespace engine
