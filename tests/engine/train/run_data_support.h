#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/train/trained_model.h"
#include "resume_support.h"

// Runs on a table that is changed and opened again.
namespace engine {

class RunDataTest : public test::ResumedRuns {
protected:
    /// Rows of two features and a price, or the result of `row` for each.
    void write_table(const std::function<std::string(int)>& row = {},
                     const std::string& header = "a,b,y", int rows = 60) {
        std::string text = header + '\n';
        for (int i = 0; i < rows; ++i) text += (row ? row(i) : plain(i)) + '\n';
        folder_.write("t.csv", text);
    }
    static std::string plain(int i) {
        return std::to_string(i % 7) + ".5," + std::to_string(i % 5) + ".25," +
               std::to_string(i % 9) + ".125";
    }
    /// A class instead of a number.
    static std::string flower(int i) {
        return std::to_string(i % 7) + ".5," + std::to_string(i % 5) + ".25," +
               (i % 2 == 0 ? "rose" : "lily");
    }
    RunConfig base(const std::string& kind, const std::string& path) const {
        RunConfig config;
        config.dataset.kind = kind;
        config.dataset.path = {(folder_ / path).string()};
        config.model.kind = "mlp";
        config.model.options = {{"hidden", std::string("8")}};
        config.precision.preset = "fp32";
        config.batch_size = 8;
        config.epochs = 2;
        config.threads = 1;
        return config;
    }
    RunConfig table() const {
        RunConfig config = base("csv", "t.csv");
        config.model.options.clear();
        return completed(config);
    }
    static std::string evaluation_error(const test::Ended& run, bool accept = false) {
        try {
            TrainedModel(run.folder).evaluate("test", 0, {}, accept);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            EXPECT_THAT(error.hint().str(), testing::Not(testing::IsEmpty()));
            return error.message().str();
        }
        return "";
    }
    static PartReport report_of(const test::Ended& run) {
        return TrainedModel(run.folder).evaluate("test", 0);
    }
    test::Ended resume_accepting(const test::Ended& run, bool accept,
                                 const std::string& from = "last",
                                 const std::vector<std::string>& changes = {}) {
        const ResumePlan plan = plan_resume(*store_->find(run.run), from, changes);
        EXPECT_THAT(plan.errors, testing::IsEmpty());
        SessionOptions options;
        options.continuation = plan.continuation;
        options.continuation->schedule = LongerSchedule::stretch;
        options.accept_data = accept;
        return train(plan.config, options);
    }
    static std::string failure_of(const test::Ended& run) {
        const auto failed = run.all<RunFailed>();
        return failed.empty() ? "" : failed[0].message.str();
    }
    static std::string text_of(const std::filesystem::path& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    static std::string warnings_of(const test::Ended& run) {
        std::string out;
        for (const auto& warning : run.all<RunWarning>()) out += warning.message.str() + '\n';
        return out;
    }
};

}  // namespace engine
