#include "engine/lab/lesson.h"

#include <algorithm>

#include "lab/lesson_text.h"

namespace engine {
namespace {

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Blocks in the order in which they refer to each other.
int order_of(const RawBlock& block) {
    constexpr std::array order = {"network", "runs", "instrument", "predict", "plot", "check", "try"};
    return static_cast<int>(std::ranges::find(order, block.kind) - order.begin());
}

/// The network that the runs train, which a learner reads where it stands.
LessonMarkdown read_network(const RawBlock& block, Lesson& lesson) {
    if (!lesson.network.empty())
        throw LessonError{block.line, msg("A lesson has one block of a network.")};
    std::string text = "```\n";
    for (const LessonLine& line : block.lines) {
        lesson.network.push_back(line.text);
        text += line.text + '\n';
    }
    return {text + "```\n", block.line};
}

LessonPart read_block(const RawBlock& block, Lesson& lesson) {
    if (block.kind == "network") return read_network(block, lesson);
    if (block.kind == "runs") {
        LessonRuns runs = read_runs(block, lesson);
        lesson.runs = runs.runs;
        lesson.pace = runs.pace;
        return runs;
    }
    if (block.kind == "predict") {
        lesson.predictions.push_back(read_prediction(block, lesson));
        return lesson.predictions.back();
    }
    if (block.kind == "instrument") {
        auto read = read_instruments(block, lesson);
        append(lesson.instruments, read);
        return read;
    }
    if (block.kind == "plot") {
        auto read = read_plots(block, lesson);
        append(lesson.plots, read);
        return read;
    }
    if (block.kind == "check") {
        auto read = read_checks(block, lesson, lesson.expectations);
        append(lesson.checks, read);
        return read;
    }
    auto read = read_knobs(block, lesson);
    append(lesson.knobs, read);
    return read;
}

void check_whole(Lesson& lesson) {
    for (const Prediction& each : lesson.predictions)
        if (!find_check(lesson, each.id))
            lesson.problems.push_back(
                {each.line, msg("Nothing checks the prediction {}.", each.id)});
}

/// Pictures in the text must be files of the lesson's folder.
void check_pictures(Lesson& lesson) {
    for (const LessonStep& step : lesson.steps)
        for (const LessonPart& part : step.parts) {
            const auto* text = std::get_if<LessonMarkdown>(&part);
            if (!text) continue;
            for (const LessonLine& line : split_lines(text->text)) {
                const std::size_t picture = line.text.find("![");
                const std::size_t open =
                    picture == std::string::npos ? picture : line.text.find("](", picture);
                if (open == std::string::npos) continue;
                const std::string_view path = std::string_view(line.text).substr(
                    open + 2, line.text.find(')', open) - open - 2);
                if (path.find("..") != std::string_view::npos ||
                    path.find(':') != std::string_view::npos || path.starts_with('/') ||
                    lesson.folder.empty())
                    lesson.problems.push_back({text->line + line.number - 1,
                                               msg("A picture is a file in the lesson's folder.")});
            }
        }
}

template <typename List, typename Key>
auto find_by(const List& list, Key key, std::string_view name) {
    const auto at = std::ranges::find(list, name, key);
    return at == list.end() ? nullptr : &*at;
}

std::string text_of(const LessonRun& run) {
    std::string out = run.name;
    for (const auto& setting : run.settings) out += ' ' + setting;
    if (run.resume) out += " resume " + run.resume->run + ' ' + std::to_string(run.resume->step);
    return out;
}
std::string text_of(const LessonCheck& check) {
    std::string out = check.id + (check.value ? check.value->text() : "");
    for (const auto& each : check.cases) out += '\n' + each.key + ':' + each.condition.text();
    return out;
}
std::string text_of(const LessonExpectation& each) { return each.condition.text(); }
std::string text_of(const LessonKnob& knob) {
    std::string out = knob.path + detail::written(knob.low) + ' ' + detail::written(knob.high);
    for (const auto& value : knob.values) out += ' ' + value;
    return out;
}
std::string text_of(const Prediction& each) {
    std::string out =
        each.id + each.column + detail::written(each.low) + ' ' + detail::written(each.high);
    out += ' ' + detail::written(each.bottom) + ' ' + detail::written(each.top);
    out += std::to_string(static_cast<int>(each.kind));
    for (const auto& choice : each.choices) out += ' ' + choice.key;
    return out;
}

template <typename T>
void compare(const std::vector<T>& ours, const std::vector<T>& theirs, const Message& differs,
             std::vector<LessonProblem>& out) {
    const std::size_t common = std::min(ours.size(), theirs.size());
    for (std::size_t i = 0; i < common; ++i)
        if (text_of(ours[i]) != text_of(theirs[i])) out.push_back({theirs[i].line, differs});
    if (ours.size() != theirs.size())
        out.push_back({theirs.size() > common ? theirs[common].line
                       : theirs.empty()       ? 1
                                              : theirs.back().line,
                       differs});
}

}  // namespace

std::string LessonProblem::str() const {
    return "line " + std::to_string(line) + ": " + text.str();
}

const LessonRun* find_run(const Lesson& lesson, std::string_view name) {
    return find_by(lesson.runs, &LessonRun::name, name);
}
const LessonCheck* find_check(const Lesson& lesson, std::string_view id) {
    return find_by(lesson.checks, &LessonCheck::id, id);
}
const Prediction* find_prediction(const Lesson& lesson, std::string_view id) {
    return find_by(lesson.predictions, &Prediction::id, id);
}

Lesson parse_lesson(std::string_view text, const std::string& name,
                    const std::filesystem::path& folder) {
    Lesson lesson{.name = name, .folder = folder};
    const auto refuse = [&](const Message& problem) {
        lesson.problems.push_back({1, problem});
        return lesson;
    };
    if (static_cast<std::int64_t>(text.size()) > max_lesson_bytes)
        return refuse(
            msg("The file has {} bytes, and a lesson at most {}.", text.size(), max_lesson_bytes));
    if (text.find('\0') != std::string_view::npos) return refuse(msg("The file is not a text."));
    lesson.source = text;
    auto blocks = read_structure(text, lesson);
    std::ranges::stable_sort(blocks, {}, order_of);
    for (const RawBlock& block : blocks) {
        LessonPart& place = lesson.steps[block.step].parts[block.part];
        try {
            place = read_block(block, lesson);
        } catch (const LessonError& error) {
            const LessonProblem problem{error.line, error.text};
            place = problem;
            lesson.problems.push_back(problem);
        }
    }
    if (lesson.problems.empty()) check_whole(lesson);
    check_pictures(lesson);
    std::ranges::stable_sort(lesson.problems, {}, &LessonProblem::line);
    return lesson;
}

std::vector<LessonProblem> differences(const Lesson& lesson, const Lesson& translation) {
    std::vector<LessonProblem> out;
    compare(lesson.runs, translation.runs,
            msg("The runs are not those of the lesson in the other language."), out);
    if (lesson.network != translation.network)
        out.push_back({1, msg("The network is not that of the lesson in the other language.")});
    compare(lesson.predictions, translation.predictions,
            msg("The predictions are not those of the lesson in the other language."), out);
    compare(lesson.checks, translation.checks,
            msg("The checks are not those of the lesson in the other language."), out);
    compare(lesson.expectations, translation.expectations,
            msg("The checks are not those of the lesson in the other language."), out);
    compare(lesson.knobs, translation.knobs,
            msg("The knobs are not those of the lesson in the other language."), out);
    if (lesson.pace != translation.pace)
        out.push_back({1, msg("The pace is not that of the lesson in the other language.")});
    return out;
}

}  // namespace engine
