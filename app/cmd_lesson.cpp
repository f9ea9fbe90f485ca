#include <chrono>
#include <cmath>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/lab/lesson_files.h"
#include "engine/lab/lesson_results.h"
#include "json_output.h"
#include "terminal.h"

namespace app {
namespace {

struct LessonArguments {
    std::string file, language = "en", collect;
    std::int64_t seeds = 1;
    bool check = false, list = false, csv = false, raw = false, json = false;
};

constexpr double max_seconds = 900;  ///< of one seed of a lesson

std::string quoted(const std::string& text) { return json_text(text); }

/// A number that exists, a column or a word: the answer of a choice may be called "nan".
bool is_measured(const std::optional<engine::LessonValue>& value) {
    const auto* number = value ? std::get_if<double>(&*value) : nullptr;
    return value && (number == nullptr || !std::isnan(*number));
}

/// Result of one seed of a lesson.
struct SeedResult {
    std::int64_t seed = 1;
    double seconds = 0;
    bool ended = false;
    std::vector<engine::CheckResult> checks{};
    std::vector<engine::ExpectationResult> expectations{};
    std::vector<std::string> failures{};  ///< of runs, one sentence each

    bool holds() const {
        bool good = ended;
        for (const auto& each : checks) good = good && is_measured(each.value);
        for (const auto& each : expectations) good = good && each.holds.value_or(false);
        return good;
    }
};

SeedResult run_lesson(const engine::Lesson& lesson, std::int64_t seed) {
    using Clock = std::chrono::steady_clock;
    SeedResult out{.seed = seed};
    const auto begin = Clock::now();
    engine::LessonRunner runner(lesson, {.seed = seed, .paced = false});
    runner.run();
    out.ended = runner.wait(max_seconds);
    const engine::MeasuredRuns measured(runner);
    out.checks = engine::check_results(lesson, measured);
    out.expectations = engine::expectation_results(lesson, measured);
    for (const auto& run : runner.runs())
        for (const auto& event : run.events)
            if (const auto* failed = std::get_if<engine::RunFailed>(&event))
                out.failures.push_back(run.name + ": " + failed->message.str());
    out.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return out;
}

void print(const engine::Lesson& lesson, const SeedResult& result) {
    print_formatted("%-20s %s  seed %lld  %5.1f s  %s", lesson.name.c_str(),
                    lesson.language.c_str(), static_cast<long long>(result.seed), result.seconds,
                    result.holds() ? "holds" : "FAILS");
    for (const auto& each : result.checks)
        std::cout << "  " << each.id << "=" << engine::to_string(each.value);
    std::cout << '\n';
    for (const auto& each : result.expectations)
        if (!each.holds.value_or(false))
            std::cout << "    line " << each.line << ": expect: " << each.text
                      << (each.holds ? " is false\n" : " is not known\n");
    for (const auto& each : result.failures) std::cout << "    " << each << '\n';
    std::cout.flush();
}

void print_json(const engine::Lesson& lesson, const SeedResult& result) {
    std::cout << "{\"lesson\": " << quoted(lesson.name)
              << ", \"language\": " << quoted(lesson.language) << ", \"seed\": " << result.seed
              << ", \"seconds\": " << result.seconds
              << ", \"holds\": " << (result.holds() ? "true" : "false") << ", \"checks\": {";
    const char* between = "";
    for (const auto& each : result.checks) {
        std::cout << between << quoted(each.id) << ": " << quoted(engine::to_string(each.value));
        between = ", ";
    }
    std::cout << "}, \"expectations\": [";
    between = "";
    for (const auto& each : result.expectations) {
        std::cout << between << "{\"line\": " << each.line << ", \"holds\": "
                  << (!each.holds   ? "null"
                      : *each.holds ? "true"
                                    : "false")
                  << '}';
        between = ", ";
    }
    std::cout << "]}" << std::endl;
}

/// Problems on standard error; whether there are any.
bool report_problems(const engine::Lesson& lesson) {
    for (const auto& problem : lesson.problems)
        std::cerr << engine::one_line(lesson.name)
                  << (lesson.language == "en" ? "" : "." + lesson.language)
                  << ".lesson.md: " << problem.str() << '\n';
    return !lesson.problems.empty();
}

/// The lessons that the command line names: a path, a built-in one, or all built-in ones.
std::vector<engine::LessonFiles> chosen(const std::string& file) {
    if (file.empty()) return engine::builtin_lessons().lessons;
    if (const auto* built_in = engine::builtin_lessons().find(file)) return {*built_in};
    return engine::read_lessons(file).lessons;
}

std::vector<const engine::Lesson*> in_language(const std::vector<engine::LessonFiles>& lessons,
                                               const std::string& language) {
    std::vector<const engine::Lesson*> out;
    for (const auto& files : lessons) {
        if (language != "all")
            out.push_back(&files.in(language));
        else
            for (const auto& lesson : files.languages) out.push_back(&lesson);
    }
    return out;
}

int check(const LessonArguments& args) {
    const auto files = chosen(args.file);
    bool refused = false, fails = false;
    for (const engine::Lesson* lesson : in_language(files, args.language)) {
        if (report_problems(*lesson)) {
            refused = true;
            continue;
        }
        if (lesson->runs.empty()) continue;  // a lesson about numbers alone
        for (std::int64_t seed = 1; seed <= args.seeds; ++seed) {
            const SeedResult result = run_lesson(*lesson, seed);
            fails = fails || !result.holds();
            args.json ? print_json(*lesson, result) : print(*lesson, result);
        }
    }
    if (refused) return engine::exit_code(engine::ErrorCode::settings);
    return fails ? engine::exit_code(engine::ErrorCode::data) : 0;
}

int list(const LessonArguments& args) {
    const auto files = chosen(args.file);
    bool refused = false;
    for (const engine::Lesson* lesson : in_language(files, args.language)) {
        refused = report_problems(*lesson) || refused;
        if (args.json)
            std::cout << "{\"lesson\": " << quoted(lesson->name)
                      << ", \"title\": " << quoted(lesson->title)
                      << ", \"chapter\": " << quoted(lesson->chapter)
                      << ", \"minutes\": " << lesson->minutes
                      << ", \"language\": " << quoted(lesson->language) << "}\n";
        else
            std::cout << engine::one_line(lesson->name)
                      << std::string(lesson->name.size() < 18 ? 18 - lesson->name.size() : 1, ' ')
                      << engine::one_line(lesson->title) << "  ("
                      << engine::one_line(lesson->chapter) << ", " << lesson->minutes << " min)\n";
    }
    return refused ? engine::exit_code(engine::ErrorCode::settings) : 0;
}

void check_language(const std::string& language) {
    if (language == "en" || language == "zh" || language == "all") return;
    throw engine::Error(engine::ErrorCode::settings,
                        "lesson: --lang: " + language + ": use en, zh or all");
}

int lesson(const LessonArguments& args) {
    check_language(args.language);
    if (!args.collect.empty()) {
        const auto answers = engine::collect_answers(args.collect);
        std::cout << (args.json  ? engine::answers_json(answers)
                      : args.csv ? engine::answers_csv(answers, args.raw)
                                 : engine::answers_table(answers));
        return 0;
    }
    if (args.check) return check(args);
    return list(args);
}

}  // namespace

void describe_lesson(Command command) {
    auto args = std::make_shared<LessonArguments>();
    command
        .text("FILE", args->file,
              "NAME.lesson.md, a folder or zip archive of lessons, or the name of a built-in one; "
              "without it, all built-in ones")
        .optional();
    command.flag("--check", args->check,
                 "Runs everything without the window and reports which checks hold");
    command.number("--seeds", args->seeds, "With --check: seeds 1 to this one").within(1, 100);
    command.text("--lang", args->language, "en, zh or all").takes("en|zh|all");
    command.flag("--list", args->list, "Lists the lessons with their chapters (the default)");
    command.text("--collect", args->collect,
                 "Prints a table of the answers of a class from this folder, which has one JSON "
                 "file per answer sheet").takes("FOLDER");
    command.flag("--csv", args->csv,
                 "With --collect: CSV with one line per answer; a text that a spreadsheet would "
                 "compute gets an apostrophe");
    command.flag("--raw", args->raw, "With --csv: every text as it is");
    command.flag("--json", args->json,
                 "One JSON object per lesson and seed, or one for all answers");
    command.run([args] { return lesson(*args); });
}

}  // namespace app
