#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/number/number_format.h"
#include "engine/number/number_text.h"
#include "lab/lesson_text.h"

namespace engine {
namespace {

using InstrumentKind = LessonInstrument::Kind;

constexpr std::array<std::pair<const char*, InstrumentKind>, 6> kinds{
    {{"weight", InstrumentKind::weight},
     {"histogram", InstrumentKind::histogram},
     {"xray", InstrumentKind::xray},
     {"skip", InstrumentKind::skip},
     {"bits", InstrumentKind::bits},
     {"sum", InstrumentKind::sum}}};
constexpr std::array quantities = {"gradients", "activations", "weights", "updates"};

class InstrumentReader {
public:
    InstrumentReader(const LessonLine& line, const Lesson& lesson) : line_(line), lesson_(lesson) {}

    LessonInstrument read() {
        const std::string_view text = stripped(line_.text);
        const std::size_t colon = text.find(':');
        const auto words = split_words(text.substr(0, colon));
        const std::string_view rest =
            colon == std::string_view::npos ? "" : stripped(text.substr(colon + 1));
        const auto known = std::ranges::find_if(
            kinds, [&](const auto& each) { return !words.empty() && words[0] == each.first; });
        if (known == kinds.end())
            refuse(msg("An instrument is weight, histogram, xray, skip, bits or sum."));
        out_.kind = known->second;
        out_.line = line_.number;
        const std::vector<std::string> options(words.begin() + 1, words.end());
        switch (out_.kind) {
            case InstrumentKind::bits:
                read_number(options, rest, false);
                break;
            case InstrumentKind::sum:
                read_number(options, rest, true);
                break;
            default:
                read_runs(rest);
        }
        if (out_.kind == InstrumentKind::weight) read_weight(options);
        if (out_.kind == InstrumentKind::histogram) read_histogram(options);
        if (out_.kind == InstrumentKind::xray) out_.ops = options;
        return std::move(out_);
    }

private:
    [[noreturn]] void refuse(const Message& text) const { throw LessonError{line_.number, text}; }

    /// RUN [beside RUN]
    void read_runs(std::string_view text) {
        const auto words = split_words(text);
        if (!(words.size() == 1 || (words.size() == 3 && words[1] == "beside")))
            refuse(msg("An instrument names its run: “: RUN” or “: RUN beside RUN”."));
        for (std::size_t i = 0; i < words.size(); i += 2) {
            require_run(lesson_, words[i], line_.number);
            out_.runs.push_back(words[i]);
        }
    }
    /// NAME[i,j]
    void read_weight(const std::vector<std::string>& options) {
        const auto wrong = msg("A weight is written “weight fc1.weight[3,5]: RUN”.");
        if (options.size() != 1) refuse(wrong);
        const std::string& text = options[0];
        const std::size_t open = text.find('[');
        if (open == std::string::npos || open == 0 || text.back() != ']') refuse(wrong);
        out_.parameter = text.substr(0, open);
        std::string_view numbers = std::string_view(text).substr(open + 1, text.size() - open - 2);
        while (true) {
            const std::size_t comma = numbers.find(',');
            const auto value = number_in(numbers.substr(0, comma));
            if (!value || *value < 0 || *value > 1e15) refuse(wrong);
            out_.index.push_back(static_cast<std::int64_t>(*value));
            if (comma == std::string_view::npos) return;
            numbers.remove_prefix(comma + 1);
        }
    }
    void read_histogram(const std::vector<std::string>& options) {
        if (options.empty() || options.size() > 2 ||
            std::ranges::find(quantities, options[0]) == quantities.end())
            refuse(
                msg("A histogram is one of gradients, activations, weights and updates, of a layer "
                    "or of all."));
        out_.quantity = options[0];
        if (options.size() == 2) out_.layer = options[1];
    }

    /// bits ID: NUMBER in FORMAT, sum ID: TERM x COUNT in FORMAT [accumulate FORMAT]
    void read_number(const std::vector<std::string>& options, std::string_view text, bool is_sum) {
        LessonBlockNumber number{.is_sum = is_sum};
        const auto words = split_words(text);
        const auto wrong =
            is_sum ? msg("A sum is written “sum ID: 0.001 x 5000 in fp16 accumulate fp32”.")
                   : msg("Bits are written “bits ID: 0.1 in fp16”.");
        const std::size_t in = is_sum ? 3 : 1;
        const bool accumulates = is_sum && words.size() == in + 4 && words[in + 2] == "accumulate";
        if (options.size() != 1 || !is_lesson_name(options[0]) ||
            !(words.size() == in + 2 || accumulates) || words[in] != "in" ||
            (is_sum && words[1] != "x" && words[1] != "×"))
            refuse(wrong);
        number.id = options[0];
        if (find_run(lesson_, number.id)) refuse(msg("{} is the name of a run.", number.id));
        number.text = words[0];
        number.format = format_in(words[in + 1]);
        if (accumulates) number.accumulator = format_in(words[in + 3]);
        if (is_sum) {
            const auto count = number_in(words[2]);
            constexpr double most = 1e6;
            if (!count || *count < 0 || *count > most ||
                *count != static_cast<double>(static_cast<std::int64_t>(*count)))
                refuse(msg("A sum has 0 to 1,000,000 terms."));
            number.count = static_cast<std::int64_t>(*count);
        }
        try {
            number.number = parse_number(number.text, *find_number_format(number.format)).value;
            for (const auto& name : result_names(number)) block_result(number, name);
        } catch (const Error& error) {
            refuse(msg("{}: {}", number.text, error.message().str()));
        }
        out_.number = std::move(number);
    }
    std::string format_in(const std::string& word) const {
        if (!find_number_format(word))
            refuse(msg("There is no format {}: {}.", word,
                       join(number_formats(), ", ", &NumberFormat::name)));
        return word;
    }

    const LessonLine& line_;
    const Lesson& lesson_;
    LessonInstrument out_;
};

}  // namespace

std::vector<LessonInstrument> read_instruments(const RawBlock& block, const Lesson& lesson) {
    std::vector<LessonInstrument> out;
    for (const LessonLine& line : block.lines)
        if (!stripped(line.text).empty()) out.push_back(InstrumentReader(line, lesson).read());
    if (out.empty()) throw LessonError{block.line, msg("The block is empty.")};
    return out;
}

std::vector<LessonPlot> read_plots(const RawBlock& block, const Lesson& lesson) {
    std::vector<LessonPlot> out;
    for (const LessonLine& line : block.lines) {
        const auto words = split_words(line.text);
        if (words.empty()) continue;
        require_column(lesson, words[0], line.number);
        LessonPlot plot{.column = words[0]};
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "log") {
                plot.logarithmic = true;
                continue;
            }
            require_run(lesson, words[i], line.number);
            plot.runs.push_back(words[i]);
        }
        out.push_back(std::move(plot));
    }
    if (out.empty()) throw LessonError{block.line, msg("The block is empty.")};
    return out;
}

}  // namespace engine
