#include <algorithm>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "lab/lesson_text.h"

namespace engine {
namespace {

LessonNames names_of(const Lesson& lesson) {
    LessonNames names;
    for (const LessonRun& run : lesson.runs) names.runs.push_back(run.name);
    names.columns = lesson_columns(lesson);
    for (const LessonInstrument& each : lesson.instruments)
        if (each.number) names.blocks.push_back(*each.number);
    for (const Prediction& each : lesson.predictions)
        for (const LessonChoice& choice : each.choices) names.words.push_back(choice.key);
    return names;
}

class CheckReader {
public:
    CheckReader(const Lesson& lesson, std::vector<LessonExpectation>& expectations)
        : lesson_(lesson), names_(names_of(lesson)), expectations_(expectations) {
        for (const LessonCheck& check : lesson.checks) add_name(check);
    }

    std::vector<LessonCheck> read(const RawBlock& block) {
        for (const LessonLine& line : block.lines)
            if (!stripped(line.text).empty()) read_line(line);
        if (out_.empty() && !any_expectation_) refuse(block.line, msg("The block is empty."));
        return std::move(out_);
    }

private:
    [[noreturn]] static void refuse(int line, const Message& text) {
        throw LessonError{line, text};
    }

    void add_name(const LessonCheck& check) {
        names_.checks.emplace_back(check.id, check.value ? check.value->type() : LessonType::word);
        for (const auto& each : check.cases) names_.words.push_back(each.key);
    }
    LessonExpression expression(const LessonLine& line, std::string_view text) const {
        try {
            return LessonExpression::parse(stripped(text), names_);
        } catch (const Error& error) {
            refuse(line.number, msg("The expression cannot be read: {}.", error.message().str()));
        }
    }
    LessonExpression condition(const LessonLine& line, std::string_view text) const {
        auto out = expression(line, text);
        if (out.type() != LessonType::number)
            refuse(line.number, msg("A condition has one value, not one per step: wrap it in mean, "
                                    "first, last or count."));
        return out;
    }

    void read_line(const LessonLine& line) {
        const std::string_view text = stripped(line.text);
        if (text.starts_with("expect:")) {
            expectations_.push_back({condition(line, text.substr(7)), line.number});
            any_expectation_ = true;
            return;
        }
        const auto [label, rest] = label_in(line);
        const std::size_t equals = rest.find('=');
        const std::string id(stripped(rest.substr(0, equals)));
        if (equals == std::string::npos || !is_lesson_name(id))
            refuse(line.number,
                   msg("A check is written “ID = expression” or “expect: condition”."));
        read_check(line, id, stripped(std::string_view(rest).substr(equals + 1)));
        if (!label.empty()) std::ranges::find(out_, id, &LessonCheck::id)->label = label;
    }
    /// The quoted label before the equals sign, and the line without it.
    std::pair<std::string, std::string> label_in(const LessonLine& line) const {
        const std::string text(stripped(line.text));
        const std::size_t open = text.find('"');
        if (open == std::string::npos || open > text.find('=')) return {"", text};
        const std::size_t close = text.find('"', open + 1);
        if (close == std::string::npos)
            refuse(line.number, msg("The label has no closing quotation mark."));
        return {text.substr(open + 1, close - open - 1),
                text.substr(0, open) + text.substr(close + 1)};
    }
    void read_check(const LessonLine& line, const std::string& id, std::string_view text) {
        if (find_run(lesson_, id)) refuse(line.number, msg("{} is the name of a run.", id));
        const Prediction* asked = find_prediction(lesson_, id);
        const auto pair = split_at_colon(text);
        const bool is_case = pair && is_lesson_name(pair->first);
        const auto existing = std::ranges::find(out_, id, &LessonCheck::id);
        const bool known =
            std::ranges::any_of(names_.checks, [&](const auto& each) { return each.first == id; });
        if (is_case) {
            if (asked && asked->kind != Prediction::Kind::choice)
                refuse(
                    line.number,
                    msg("{} is predicted as a number or curve, so its check is “{} = expression”.",
                        id, id));
            if (asked && std::ranges::find(asked->choices, pair->first, &LessonChoice::key) ==
                             asked->choices.end())
                refuse(line.number, msg("The prediction {} has no choice {}.", id, pair->first));
            if (existing != out_.end() && existing->value)
                refuse(line.number, msg("{} is checked twice.", id));
            LessonCheck::Case read{pair->first, condition(line, pair->second)};
            if (existing != out_.end()) {
                existing->cases.push_back(std::move(read));
                return;
            }
            if (known) refuse(line.number, msg("{} is checked twice.", id));
            LessonCheck check{.id = id, .line = line.number};
            check.cases.push_back(std::move(read));
            return add(std::move(check));
        }
        if (known) refuse(line.number, msg("{} is checked twice.", id));
        if (asked && asked->kind == Prediction::Kind::choice)
            return add_choice_value(line, *asked, text);
        auto value = expression(line, text);
        const bool curve = asked && asked->kind == Prediction::Kind::curve;
        if (curve && value.type() != LessonType::series)
            refuse(line.number, msg("{} is predicted as a curve, so its check is a column.", id));
        if (!curve && value.type() == LessonType::series)
            refuse(
                line.number,
                msg("{} is one value, not one per step: use mean, first, last, min, max or count.",
                    id));
        if (asked && !curve && value.type() != LessonType::number)
            refuse(line.number, msg("{} is predicted as a number, so its check is one.", id));
        add({.id = id, .value = std::move(value), .line = line.number});
    }
    /// A word that is measured, such as a type, is itself the key of the choice.
    void add_choice_value(const LessonLine& line, const Prediction& asked, std::string_view text) {
        auto value = expression(line, text);
        if (value.type() != LessonType::word)
            refuse(line.number, msg("{} has choices, so its checks are “{} = KEY: condition”.",
                                    asked.id, asked.id));
        add({.id = asked.id, .value = std::move(value), .line = line.number});
    }
    void add(LessonCheck check) {
        add_name(check);
        out_.push_back(std::move(check));
    }

    const Lesson& lesson_;
    LessonNames names_;
    std::vector<LessonExpectation>& expectations_;
    std::vector<LessonCheck> out_;
    bool any_expectation_ = false;
};

/// path: v1, v2 "note", or path: a .. b "note"
LessonKnob read_knob(const LessonLine& line, const Lesson& lesson) {
    const auto pair = split_at_colon(line.text);
    if (!pair)
        throw LessonError{line.number,
                          msg("A knob is written “path: value, value” or “path: 0 .. 1”.")};
    LessonKnob knob{.path = pair->first, .line = line.number};
    std::string_view rest = pair->second;
    if (const std::size_t quote = rest.find('"');
        quote != std::string_view::npos && rest.ends_with('"')) {
        knob.note = rest.substr(quote + 1, rest.size() - quote - 2);
        rest = stripped(rest.substr(0, quote));
    }
    const auto has = [&knob, &lesson](const LessonRun& run) {
        return find_field(knob.path, lesson_settings(lesson, run, 1).config) != nullptr;
    };
    if (!find_field(knob.path) && std::ranges::none_of(lesson.runs, has))
        throw LessonError{line.number, msg("There is no setting {}.", knob.path)};
    if (rest.find("..") != std::string_view::npos) {
        std::tie(knob.low, knob.high) = range_in(rest, line.number);
        return knob;
    }
    int brackets = 0;
    std::string value;
    for (const char c : std::string(rest) + ",") {
        if (c == ',' && brackets == 0) {
            const std::string_view whole = stripped(value);
            if (!whole.empty()) knob.values.emplace_back(whole);
            value.clear();
            continue;
        }
        brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
        value += c;
    }
    if (knob.values.empty())
        throw LessonError{line.number, msg("The knob {} has no values.", knob.path)};
    return knob;
}

void check_knob(const Lesson& lesson, const LessonKnob& knob) {
    std::vector<std::string> tried = knob.values;
    if (tried.empty()) tried = {detail::written(knob.low), detail::written(knob.high)};
    for (const auto& value : tried)
        for (const LessonRun& run : lesson.runs) {
            const auto parsed = lesson_settings(lesson, run, 1, {knob.path + "=" + value});
            if (!parsed.errors.empty())
                throw LessonError{knob.line,
                                  msg("The knob cannot be set: {}", parsed.errors.front().str())};
        }
}

}  // namespace

std::vector<LessonCheck> read_checks(const RawBlock& block, const Lesson& lesson,
                                     std::vector<LessonExpectation>& expectations) {
    return CheckReader(lesson, expectations).read(block);
}

std::vector<LessonKnob> read_knobs(const RawBlock& block, const Lesson& lesson) {
    std::vector<LessonKnob> out;
    for (const LessonLine& line : block.lines) {
        if (stripped(line.text).empty()) continue;
        out.push_back(read_knob(line, lesson));
        check_knob(lesson, out.back());
    }
    if (out.empty()) throw LessonError{block.line, msg("The block is empty.")};
    return out;
}

}  // namespace engine
