#include <algorithm>

#include "lab/lesson_text.h"

namespace engine {
namespace {

using PredictionKind = Prediction::Kind;

class PredictionReader {
public:
    PredictionReader(const RawBlock& block, const Lesson& lesson) : block_(block), lesson_(lesson) {
        out_.id = block.argument;
        out_.line = block.line;
    }

    Prediction read() {
        if (!is_lesson_name(out_.id))
            refuse(block_.line,
                   msg("Write a prediction as “```predict NAME”: use letters, digits and _."));
        if (find_prediction(lesson_, out_.id))
            refuse(block_.line, msg("Two predictions are called {}.", out_.id));
        for (const LessonLine& line : block_.lines) read_line(line);
        if (out_.question.empty())
            refuse(block_.line, msg("The prediction {} asks nothing.", out_.id));
        if (kinds_ != 1)
            refuse(block_.line,
                   msg("The prediction {} needs choices, or one of number, range and curve.",
                       out_.id));
        if (out_.kind == PredictionKind::choice && out_.choices.size() < 2)
            refuse(block_.line, msg("The prediction {} needs at least two choices.", out_.id));
        return std::move(out_);
    }

private:
    [[noreturn]] static void refuse(int line, const Message& text) {
        throw LessonError{line, text};
    }

    void read_line(const LessonLine& line) {
        const std::string_view text = stripped(line.text);
        if (text.empty()) return;
        const auto pair = split_at_colon(text);
        if (text.starts_with("- ")) return read_choice(line);
        if (pair && read_property(line, pair->first, pair->second)) return;
        if (kinds_ > 0)
            refuse(line.number, msg("“{}” has no meaning after the choices.", std::string(text)));
        out_.question += (out_.question.empty() ? "" : " ") + std::string(text);
    }
    void read_choice(const LessonLine& line) {
        constexpr std::size_t most = 9;  // keys 1 to 9 choose
        const auto pair = split_at_colon(stripped(line.text).substr(2));
        if (!pair || !is_lesson_name(pair->first) || pair->second.empty())
            refuse(line.number, msg("A choice is written “- KEY: text”."));
        if (std::ranges::find(out_.choices, pair->first, &LessonChoice::key) != out_.choices.end())
            refuse(line.number, msg("Two choices are called {}.", pair->first));
        if (out_.choices.empty()) ++kinds_;
        out_.choices.push_back({pair->first, pair->second});
        if (out_.choices.size() > most)
            refuse(line.number, msg("A prediction has at most {} choices.", most));
    }
    bool read_property(const LessonLine& line, const std::string& key, const std::string& value) {
        if (key == "note") {
            out_.note = value;
        } else if (key == "hint") {
            out_.hint = value;
        } else if (key == "within") {
            out_.within = number_in(value);
            if (!out_.within || !(*out_.within > 0))
                refuse(line.number, msg("“within” takes a number above 0."));
        } else if (key == "number") {
            set(PredictionKind::number);
            out_.unit = value;
        } else if (key == "range") {
            set(PredictionKind::range);
            std::tie(out_.low, out_.high) = range_in(value, line.number);
        } else if (key == "curve") {
            set(PredictionKind::curve);
            read_curve(line.number, value);
        } else {
            return false;
        }
        return true;
    }
    void set(PredictionKind kind) {
        ++kinds_;
        out_.kind = kind;
    }
    void read_curve(int line, const std::string& value) {
        const std::size_t over = value.find(" over ");
        if (over == std::string::npos)
            refuse(line, msg("A curve is written “curve: COLUMN over 0 .. 100”."));
        out_.column = stripped(std::string_view(value).substr(0, over));
        require_column(lesson_, out_.column, line);
        const std::string_view rest = std::string_view(value).substr(over + 6);
        const std::size_t between = rest.find(" between ");
        std::tie(out_.low, out_.high) = range_in(rest.substr(0, between), line);
        if (between == std::string_view::npos) return;
        std::tie(out_.bottom, out_.top) = range_in(rest.substr(between + 9), line);
    }

    const RawBlock& block_;
    const Lesson& lesson_;
    Prediction out_;
    int kinds_ = 0;
};

}  // namespace

Prediction read_prediction(const RawBlock& block, const Lesson& lesson) {
    return PredictionReader(block, lesson).read();
}

}  // namespace engine
