#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "engine/session/session.h"
#include "temp_folder.h"

namespace engine {

/// Runs that are trained in a store of their own, to be used.
class TrainedModels : public testing::Test {
protected:
    RunSummary train(const RunConfig& config) {
        Session session(config, std::make_shared<ComputeThread>(), store_);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(600));
        for (const Event& event : session.drain()) {
            if (const auto* failed = std::get_if<RunFailed>(&event))
                ADD_FAILURE() << failed->message.str();
        }
        return *store_->find(session.run());
    }
    /// Petals with two measured sizes, two columns of words, and a price.
    std::string table() {
        std::ofstream file(folder_ / "flowers.csv");
        file << "length,colour,price\n";
        for (int i = 0; i < 120; ++i) {
            const double length = 1 + i % 10 * 0.5;
            const bool red = i % 3 == 0;
            file << length << ',' << (red ? "red" : "blue") << ','
                 << 100 * length + (red ? 50 : 0) + 0.5 << '\n';
        }
        return (folder_ / "flowers.csv").string();
    }
    RunConfig regression() {
        RunConfig config;
        config.dataset.kind = "csv";
        config.dataset.path = {table()};
        config.dataset.options = {{"target", std::string("price")}};
        config.model.kind = "mlp";
        config.precision.preset = "fp32";
        config.optimizer.options = {{"lr", 0.05}};
        config.batch_size = 16;
        config.epochs = 60;
        config.threads = 1;
        return completed(config);
    }

    test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_ / "runs");
};

}  // namespace engine
