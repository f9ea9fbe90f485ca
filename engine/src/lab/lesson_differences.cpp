#include <algorithm>

#include "engine/lab/lesson.h"

namespace engine {
namespace {

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

std::vector<LessonProblem> differences(const Lesson& lesson, const Lesson& translation) {
    std::vector<LessonProblem> out;
    compare(lesson.runs, translation.runs,
            msg("The runs are not those of the lesson in the other language."), out);
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
