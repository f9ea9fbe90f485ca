#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kept_runs.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// Each of these acts on a terminal: clears it, sets its title, moves the cursor up, deletes,
/// overwrites the line, makes a row.
const std::string hostile =
    "x\x1b[2J\x1b]0;title\x07\x1b[A\b\x7f\r\xC2\x9B"
    "2J\xE2\x80\xAE\xff\n9  2026  done";

class Terminal : public KeptRuns {
protected:
    /// Nothing but lines of plain text on both streams.
    void expect_clean(const std::vector<std::string>& output) const {
        std::string text = errors_;
        for (const auto& line : output) text += line + '\n';
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            EXPECT_TRUE(byte >= 0x20 || c == '\n') << text;
            EXPECT_NE(byte, 0x7F) << text;
        }
        EXPECT_THAT(text, Not(HasSubstr("\xC2\x9B")));
        EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
        EXPECT_THAT(text, Not(HasSubstr("\xff")));
        EXPECT_THAT(output, Not(Contains(StartsWith("9  2026"))));
        EXPECT_THAT(errors_, Not(HasSubstr("\n9  2026")));
    }
    /// The lines of a command that may fail.
    std::vector<std::string> any_lines(const std::vector<std::string>& args) {
        Program program(args, {home_.str(), {}});
        program.finish();
        EXPECT_GE(program.exit_code(), 0) << args.front();
        errors_ = program.errors();
        return program.output();
    }
    static std::string json(const std::string& text) {
        return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
};

TEST_F(Terminal, NotesOfARunDoNotReachItRaw) {
    train({"--set", "max_steps=2"});
    const std::string title = hostile.substr(0, hostile.find('\xff')) + "\n9  2026  done";
    lines({"label", "1", "--title", title, "--tags", title, "--notes", title});
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"runs"}, {"show", "1"}, {"show", "1", "1"}}) {
        const auto output = lines(command);
        expect_clean(output);
        EXPECT_THAT(output, Contains(HasSubstr("\\u001b[2J")));
    }
    EXPECT_THAT(lines({"runs"}), SizeIs(2));
    // JSON has the same texts all the same.
    const auto listed = lines({"runs", "--json"});
    expect_clean(listed);
    EXPECT_EQ(nlohmann::json::parse(listed.front()).at("title"), title);
    EXPECT_EQ(nlohmann::json::parse(listed.front()).at("notes"), title);
}

TEST_F(Terminal, TextsOfAnotherProgramsRunDoNotReachItRaw) {
    train({"--set", "max_steps=2"});
    const fs::path folder = home_ / "halftone" / "runs" / "1";
    std::ofstream events(folder / "events.jsonl", std::ios::app);
    events << R"({"event":"warning","run":"1","message":)" << json(hostile) << "}\n"
           << R"({"event":"warning","run":"1","message_text":)" << json("{}" + hostile)
           << R"(,"message_args":[)" << json(hostile) << "]}\n"
           << R"({"event":"error","run":"1","code":"io","message":)" << json(hostile)
           << R"(,"hint":)" << json(hostile) << "}\n";
    events.close();
    fs::rename(folder, home_ / "elsewhere");
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"show", (home_ / "elsewhere").string()},
          {"watch", (home_ / "elsewhere").string()}})
        expect_clean(any_lines(command));
}

TEST_F(Terminal, NamesOfFilesInErrorsDoNotReachItRaw) {
    const std::string name = (home_ / ("a\x1b[2J\nhalftone: all is well")).string();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"import", name},
          {"train", "--set", "dataset.path=" + name, "--set", "dataset.kind=csv"},
          {"show", name},
          {"lesson", name},
          {"export", "1", "--to", name},
          {"train", name}}) {
        const auto output = any_lines(command);
        expect_clean(output);
        EXPECT_FALSE(errors_.empty());
        EXPECT_THAT(errors_, Not(HasSubstr("\nhalftone: all is well"))) << command.front();
    }
}

TEST_F(Terminal, NamesOfClassesDoNotReachItRaw) {
    std::ofstream table(home_ / "table.csv");
    table << "a,b,label\n";
    for (int i = 0; i < 60; ++i)
        table << i % 7 << ',' << i % 2 << ",\"c" << i % 2 << "\x1b[2J\n9  2026\"\n";
    table.close();
    Program trained({"train", "--set", "dataset.kind=csv", "--set",
                     "dataset.path=" + (home_ / "table.csv").string(), "--set", "model.kind=mlp",
                     "--set", "max_steps=2"},
                    {home_.str(), {}});
    trained.finish();
    ASSERT_EQ(trained.exit_code(), 0) << trained.errors();
    expect_clean(lines({"eval", "1"}));
    expect_clean(lines({"predict", "1", (home_ / "table.csv").string(), "--top", "2"}));
}

TEST_F(Terminal, AnswersOfLearnersDoNotReachItRaw) {
    const std::string name = json(hostile);
    std::ofstream(home_ / "a.json")
        << R"({"halftone":"lab answers","learner":)" << name << R"(,"lessons":{)" << name
        << R"(:{"predictions":{)" << name << R"(:{"word":)" << name << "}}}}}";
    std::ofstream(home_ / "b\x1b[2J\n9  2026.json") << "{";
    expect_clean(lines({"lesson", "--collect", home_.str()}));
}

}  // namespace
}  // namespace app
