#pragma once

#include "spirals.h"

namespace app {

/// Commands that share one home, and with it one run history.
class KeptRuns : public testing::Test {
protected:
    /// Trains the smallest run (spirals.h).
    static void train_in(const test_support::TempFolder& home, std::vector<std::string> more) {
        Program program(spirals("train", std::move(more)), {home.str(), {}});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
    }
    void train(std::vector<std::string> more) { train_in(home_, std::move(more)); }

    /// The standard output of a command; its standard error is in errors_ then.
    std::vector<std::string> lines(const std::vector<std::string>& args, int exit_code = 0) {
        Program program(args, {home_.str(), {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        errors_ = program.errors();
        return program.output();
    }
    /// Output of a command that writes one JSON object.
    nlohmann::json object(const std::vector<std::string>& args, int exit_code = 0) {
        const auto output = lines(args, exit_code);
        EXPECT_EQ(output.size(), 1U);
        return output.empty() ? nlohmann::json() : nlohmann::json::parse(output.front());
    }
    /// The command fails with this exit code and this sentence, and prints nothing.
    void expect_refused(const std::vector<std::string>& args, int exit_code,
                        const std::string& sentence) {
        EXPECT_TRUE(lines(args, exit_code).empty()) << args.front();
        EXPECT_NE(errors_.find(sentence), std::string::npos) << errors_;
    }

    test_support::TempFolder home_;
    std::string errors_;
};

}  // namespace app
