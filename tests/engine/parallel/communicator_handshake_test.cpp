#include "parallel/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "engine/base/error.h"
#include "engine/parallel/launch.h"
#include "support/thread_communicator.h"

namespace engine {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Errors that `ranks` threads throw, one each; "" if none.
std::vector<std::string> thrown_by(int ranks, const std::function<void(Communicator&)>& work) {
    auto lines = make_thread_communicators(ranks);
    std::vector<std::string> texts(lines.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        threads.emplace_back([&, i] {
            try {
                work(*lines[i]);
            } catch (const Error& error) {
                texts[i] = error.what();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return texts;
}

std::vector<std::string> compared(const std::vector<std::string>& texts) {
    return thrown_by(static_cast<int>(texts.size()), [&](Communicator& line) {
        require_same(line, texts[static_cast<std::size_t>(line.rank())],
                     [&](const std::string& first) {
                         return detail::message("Rank {} differs from {}.",
                                                {std::to_string(line.rank()), first});
                     });
    });
}

TEST(RequireSame, PassesEqualTextsEmptyOnesToo) {
    EXPECT_THAT(compared({"same", "same", "same"}), Each(""));
    EXPECT_THAT(compared({"", ""}), Each(""));
}

TEST(RequireSame, AllRanksThrowTheSentenceOfTheFirstThatDiffers) {
    EXPECT_THAT(compared({"a", "a", "b", "a"}), Each("Rank 2 differs from a."));
    EXPECT_THAT(compared({"a", "", "longer than the first", "a"}), Each("Rank 1 differs from a."));
}

TEST(CheckAgreement, NamesTheRankAndTheSettingsThatDiffer) {
    const auto work = [](Communicator& line) {
        RunConfig config;
        if (line.rank() == 1) {
            config.seed = 9;
            config.batch_size = 64;
        }
        check_agreement(line, "1.0", config);
    };
    EXPECT_THAT(thrown_by(3, work),
                Each("Rank 1 has other settings than rank 0: batch_size, seed."));
}

TEST(CheckAgreement, NamesTheRankThatRunsAnotherVersion) {
    const auto work = [](Communicator& line) {
        check_agreement(line, line.rank() == 1 ? "1.1" : "1.0", RunConfig{});
    };
    EXPECT_THAT(thrown_by(2, work),
                Each("Rank 1 runs version 1.1 of the program, and rank 0 version 1.0."));
}

}  // namespace
}  // namespace engine
