#include <cmath>
#include <fstream>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/number/figure_text.h"
#include "engine/number/number_arithmetic.h"
#include "engine/number/number_text.h"
#include "terminal.h"

namespace app {
namespace {

using engine::NumberFormat;
using nlohmann::ordered_json;

struct NumbersArguments {
    std::vector<std::string> values;
    std::string file;
    std::optional<std::string> format, accumulator, add, multiply;
    std::int64_t terms = -1;
    bool json = false;
};

/// Null for no name.
const NumberFormat* named(const std::optional<std::string>& name) {
    if (!name) return nullptr;
    const NumberFormat* format = engine::find_number_format(*name);
    if (format == nullptr)
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("{} is not a format: use {}.", *name, engine::join(engine::number_formats(), ", ", &NumberFormat::name)));
    return format;
}

ordered_json decimal_or_null(const std::optional<double>& value) {
    return value ? ordered_json(engine::exact_decimal(*value)) : ordered_json();
}

/// Prints the answers for each value of a command line, in one format.
class Answers {
public:
    explicit Answers(const NumbersArguments& args)
        : args_(args), format_(named(args.format)), accumulator_(named(args.accumulator)) {
        if (format_ != nullptr) formats_ = {format_};
        for (const NumberFormat* each : engine::number_formats())
            if (format_ == nullptr) formats_.push_back(each);
    }

    void print(const std::string& input) const {
        if (!args_.json) std::cout << input << '\n';
        for (const NumberFormat* format : formats_) {
            // Bits mean those of the format that was asked for, else of FP16.
            const auto read = [&](const std::string& text) {
                return parse_number(text, format_ != nullptr ? *format_ : engine::fp16_format);
            };
            ordered_json answer = {{"input", input}, {"format", format->name}};
            if (args_.terms >= 0)
                sum(answer, read(input).value, *format);
            else if (args_.add)
                result(answer, "add", *args_.add, *format,
                       engine::add(*format, read(input).value, read(*args_.add).value));
            else if (args_.multiply)
                result(answer, "multiply", *args_.multiply, *format,
                       engine::multiply(*format, read(input).value, read(*args_.multiply).value));
            else
                stored(answer, *format, read(input));
            if (args_.json) std::cout << answer.dump() << '\n';
        }
    }

private:
    void stored(ordered_json& answer, const NumberFormat& format,
                const engine::Number& number) const {
        const auto stored = store_number(format, number);
        answer["bits"] = hexadecimal(format, stored.bits);
        answer["value"] = engine::exact_decimal(stored.value);
        answer["class"] = name(stored.number_class);
        answer["error"] = engine::finite_or_null(stored.error);
        answer["relative_error"] = engine::finite_or_null(stored.relative_error);
        answer["below"] = decimal_or_null(stored.below);
        answer["above"] = decimal_or_null(stored.above);
        answer["gap"] = engine::finite_or_null(stored.gap);
        if (args_.json) return;
        print_formatted("  %-9s %-34s %-11s %s", std::string(format.title).c_str(),
                        binary(format, stored.bits).c_str(),
                        hexadecimal(format, stored.bits).c_str(),
                        engine::exact_decimal(stored.value).c_str());
        if (std::isfinite(stored.error) && stored.error != 0)
            print_formatted("  (%+.3g %%)", 100 * stored.relative_error);
        if (std::isfinite(stored.gap))
            print_formatted("  gap %s", engine::power_text(stored.gap).c_str());
        if (stored.number_class == engine::NumberClass::subnormal) print_formatted("  subnormal");
        print_formatted("\n");
        const auto neighbour = [](const char* word, const std::optional<double>& value) {
            if (value)
                print_formatted("  %-9s %s %s\n", "", word, engine::exact_decimal(*value).c_str());
        };
        neighbour("below", stored.below);
        neighbour("above", stored.above);
    }

    void result(ordered_json& answer, const char* operation, const std::string& other,
                const NumberFormat& format, double value) const {
        answer[operation] = other;
        answer["bits"] = hexadecimal(format, to_bits(format, value));
        answer["value"] = engine::exact_decimal(value);
        if (!args_.json)
            print_formatted("  %-9s %s %s = %s\n", std::string(format.title).c_str(),
                            args_.add ? "+" : "×", other.c_str(),
                            engine::exact_decimal(value).c_str());
    }

    void sum(ordered_json& answer, double term, const NumberFormat& format) const {
        const auto out = engine::sum(
            {.term = term, .terms = args_.terms, .format = &format, .accumulator = accumulator_});
        const NumberFormat* fixed = fixed_accumulator(format);
        const NumberFormat& accumulator = accumulator_ != nullptr ? *accumulator_
                                          : fixed != nullptr      ? *fixed
                                                                  : format;
        answer["accumulator"] = accumulator.name;
        answer["terms"] = args_.terms;
        answer["term"] = engine::exact_decimal(out.term);
        answer["sum"] = engine::exact_decimal(out.sum);
        answer["stalls_after"] =
            out.stalls_after ? ordered_json(*out.stalls_after) : ordered_json();
        if (args_.json) return;
        print_formatted("  %-9s %lld terms in %s: %s", std::string(format.title).c_str(),
                        static_cast<long long>(args_.terms), std::string(accumulator.title).c_str(),
                        engine::exact_decimal(out.sum).c_str());
        if (out.stalls_after)
            print_formatted("  (stalls after %lld)", static_cast<long long>(*out.stalls_after));
        print_formatted("\n");
    }

    const NumbersArguments& args_;
    const NumberFormat* format_;
    const NumberFormat* accumulator_;
    std::vector<const NumberFormat*> formats_;
};

/// Calls `f`. A value that cannot be read fails with this code: it stands on the command line or in
/// a file.
template <typename F>
void as_code(engine::ErrorCode code, F&& f) {
    try {
        f();
    } catch (const engine::Error& error) {
        const bool value = error.code() == engine::ErrorCode::value;
        throw engine::Error(value ? code : error.code(), error.message(), error.hint());
    }
}

void print_lines(const Answers& answers, std::istream& lines) {
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) answers.print(line);
}

int numbers(const NumbersArguments& args) {
    if (args.values.empty() && args.file.empty()) {
        std::cerr << "halftone numbers: give a value, or a file of values with --file.\n";
        return CommandLine::usage_error;
    }
    const Answers answers(args);
    as_code(engine::ErrorCode::settings, [&] {
        for (const auto& value : args.values) answers.print(value);
    });
    const auto print_from = [&](std::istream& lines) {
        as_code(engine::ErrorCode::data, [&] { print_lines(answers, lines); });
    };
    if (args.file == "-") {
        print_from(std::cin);
    } else if (!args.file.empty()) {
        std::ifstream file(args.file);
        if (!file) {
            std::cerr << "halftone: " << engine::one_line(args.file) << ": cannot be read\n";
            return engine::exit_code(engine::ErrorCode::data);
        }
        print_from(file);
    }
    return 0;
}

}  // namespace

void describe_numbers(Command command) {
    auto args = std::make_shared<NumbersArguments>();
    command.dashed_texts("VALUE", args->values,
                         "0.1, 2^-24, 3*2^-5, 1/3, 0x3c00 (bits of --format, else of FP16), inf "
                         "or nan");
    command.text("--file", args->file, "Values, one per line; - reads standard input").not_empty().takes("FILE");
    command.text("--format", args->format,
                 "Only this format: fp32, tf32, fp16, bf16, fp8-e4m3 or fp8-e5m2").takes("fp32|tf32|fp16|bf16|fp8-e4m3|fp8-e5m2");
    auto add = command.text("--add", args->add, "VALUE plus this, rounded once");
    auto multiply = command.text("--multiply", args->multiply, "VALUE times this, rounded once");
    auto sum = command.number("--sum", args->terms,
                              "This many terms VALUE, added one by one in the accumulator");
    sum.within(0, engine::SumSettings::max_terms);
    add.excludes(multiply);
    add.excludes(sum);
    multiply.excludes(sum);
    command.text("--accumulator", args->accumulator,
                 "Type of the accumulator of --sum; without it the format itself (TF32: FP32)").takes("fp32|tf32|fp16|bf16|fp8-e4m3|fp8-e5m2");
    command.flag("--json", args->json, "One JSON object per value and format on standard output");
    command.run([args] { return numbers(*args); });
}

}  // namespace app
