#include <cmath>
#include <fstream>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/number/figure_text.h"
#include "engine/number/number_arithmetic.h"
#include "engine/number/number_block.h"
#include "engine/number/number_text.h"
#include "terminal.h"

namespace app {
namespace {

using engine::NumberFormat;
using nlohmann::ordered_json;

struct NumbersArguments {
    std::vector<std::string> values;
    std::string file;
    std::optional<std::string> format, accumulator, add, multiply, round, block, amax, mx_scale;
    std::int64_t terms = -1, draws = 0;
    bool saturate = false, json = false;
};

/// Refuses options that do nothing together, and values of --round.
void check(const NumbersArguments& args) {
    const auto refuse = [](engine::Message message) {
        throw engine::Error(engine::ErrorCode::settings, std::move(message));
    };
    if (args.round && *args.round != "nearest" && *args.round != "stochastic")
        refuse(engine::msg("{} is not a way to round: use nearest or stochastic.", *args.round));
    if (args.draws > 0 && args.round != "stochastic")
        refuse(engine::msg("--draws needs --round stochastic."));
    if (args.saturate && args.round == "stochastic")
        refuse(engine::msg("--saturate needs --round nearest."));
    if (!args.block && (args.amax || args.mx_scale))
        refuse(engine::msg("--amax and --mx-scale need --block."));
    if (args.mx_scale && !args.block->starts_with("mx"))
        refuse(engine::msg("--mx-scale needs --block mxfp8 or mxfp4."));
}

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
        const bool computes = args.terms >= 0 || args.add || args.multiply;
        const bool at_random = args.round == "stochastic";
        if (format_ != nullptr) formats_ = {format_};
        for (const NumberFormat* each : engine::number_formats())
            if (format_ == nullptr && !((computes || at_random) && each->scale) &&
                !(at_random && each->width() > 8))
                formats_.push_back(each);
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
            else if (args_.round == "stochastic")
                at_random(answer, *format, read(input).value);
            else
                stored(answer, *format, read(input));
            if (args_.json) std::cout << answer.dump() << '\n';
        }
    }

private:
    void stored(ordered_json& answer, const NumberFormat& format,
                const engine::Number& number) const {
        const auto stored = store_number(format, number, args_.saturate);
        answer["bits"] = hexadecimal(format, stored.bits);
        answer["value"] = engine::exact_decimal(stored.value);
        answer["class"] = name(stored.number_class);
        answer["error"] = engine::finite_or_null(stored.error);
        answer["relative_error"] = engine::finite_or_null(stored.relative_error);
        answer["below"] = decimal_or_null(stored.below);
        answer["above"] = decimal_or_null(stored.above);
        answer["gap"] = engine::finite_or_null(stored.gap);
        if (format.kind == engine::FormatKind::e8m0) scale_rules(answer, number.value);
        if (args_.json) return;
        print_formatted("  %-13s %-34s %-11s %s", std::string(format.title).c_str(),
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
                print_formatted("  %-13s %s %s\n", "", word, engine::exact_decimal(*value).c_str());
        };
        neighbour("below", stored.below);
        neighbour("above", stored.above);
        if (format.kind == engine::FormatKind::e8m0)
            for (const char* rule : {"floor", "rceil", "even"})
                print_formatted("  %-13s %s %s %s\n", "", rule,
                                answer[rule]["bits"].get<std::string>().c_str(),
                                answer[rule]["value"].get<std::string>().c_str());
    }

    /// A scale as the rules of MX blocks round it.
    static void scale_rules(ordered_json& answer, double magnitude) {
        const auto codes = engine::scale_codes(magnitude);
        const auto add = [&](const char* rule, std::uint32_t code) {
            answer[rule] = {
                {"bits", hexadecimal(engine::e8m0_format, code)},
                {"value", engine::exact_decimal(from_bits(engine::e8m0_format, code))}};
        };
        add("floor", codes.floor);
        add("rceil", codes.rceil);
        add("even", codes.even);
    }

    void at_random(ordered_json& answer, const NumberFormat& format, double value) const {
        const std::int64_t draws = args_.draws > 0 ? args_.draws : 10'000;
        const auto rounding = round_at_random(format, value, draws);
        const auto add = [&](const char* key, std::uint32_t bits, double chance,
                             std::int64_t count) {
            const double share = static_cast<double>(count) / static_cast<double>(draws);
            const std::string text = engine::exact_decimal(from_bits(format, bits));
            answer[key] = {{"bits", hexadecimal(format, bits)},
                           {"value", text},
                           {"chance", chance},
                           {"share", share}};
            if (!args_.json && chance > 0)
                print_formatted("  %-13s %-6s %-14s chance %.5f  share %.5f\n",
                                std::string(format.title).c_str(),
                                hexadecimal(format, bits).c_str(), text.c_str(), chance, share);
        };
        answer["draws"] = draws;
        add("low", rounding.low, 1 - rounding.chance, rounding.lows);
        add("high", rounding.high, rounding.chance, rounding.highs);
    }

    void result(ordered_json& answer, const char* operation, const std::string& other,
                const NumberFormat& format, double value) const {
        answer[operation] = other;
        answer["bits"] = hexadecimal(format, to_bits(format, value));
        answer["value"] = engine::exact_decimal(value);
        if (!args_.json)
            print_formatted("  %-13s %s %s = %s\n", std::string(format.title).c_str(),
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
        print_formatted("  %-13s %lld terms in %s: %s", std::string(format.title).c_str(),
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

/// The value of a named enum that an option gives.
template <typename E>
E choice(const std::optional<std::string>& word, const char* option, E standard) {
    if (!word) return standard;
    if (const auto value = engine::value_of_name<E>(*word)) return *value;
    throw engine::Error(engine::ErrorCode::settings,
                        engine::msg("{} is not a value of {}: use {}.", *word, option,
                                    engine::join(engine::enum_names<E>, ", ")));
}

/// Prints values as blocks that share a scale.
class Blocks {
public:
    explicit Blocks(const NumbersArguments& args)
        : args_(args),
          settings_{.kind = choice(args.block, "--block", engine::BlockKind::mxfp8),
                    .mx_scale = choice(args.mx_scale, "--mx-scale", engine::MxScale::rceil)},
          format_(engine::block_format(settings_.kind)),
          scale_(engine::block_scale_format(settings_.kind)) {
        if (args.amax) settings_.amax = read(*args.amax);
    }

    void add(const std::string& input) { numbers_.push_back(read(input)); }

    void print() const {
        const auto result = quantize_blocks(numbers_, settings_);
        const bool two_levels = settings_.kind == engine::BlockKind::nvfp4;
        if (two_levels && !args_.json)
            print_formatted("amax %s  scale of the tensor %s\n",
                            engine::short_figure_text(result.amax, 6).c_str(),
                            engine::short_figure_text(result.scale, 6).c_str());
        for (std::size_t i = 0; i < result.blocks.size(); ++i) {
            ordered_json answer = {{"block", name(settings_.kind)}, {"index", i}};
            if (two_levels) {
                answer["tensor_amax"] = result.amax;
                answer["tensor_scale"] = result.scale;
            }
            if (scale_.kind == engine::FormatKind::e8m0)
                answer["rule"] = name(settings_.mx_scale);
            print(answer, result.blocks[i]);
            if (args_.json) std::cout << answer.dump() << '\n';
        }
    }

private:
    double read(const std::string& text) const { return parse_number(text, format_).value; }

    void print(ordered_json& answer, const engine::NumberBlock& block) const {
        const auto zeroed = std::ranges::count_if(block.elements, &engine::BlockElement::zeroed);
        const auto saturated =
            std::ranges::count_if(block.elements, &engine::BlockElement::saturated);
        answer["amax"] = block.amax;
        answer["scale_bits"] = hexadecimal(scale_, block.scale_bits);
        answer["scale"] = engine::exact_decimal(block.scale);
        answer["zeroed"] = zeroed;
        answer["saturated"] = saturated;
        if (!args_.json)
            print_formatted("block %lld  amax %s  scale %s = %s  zeroed %lld  saturated %lld\n",
                            answer["index"].get<long long>(),
                            engine::short_figure_text(block.amax, 6).c_str(),
                            answer["scale_bits"].get<std::string>().c_str(),
                            engine::power_text(block.scale).c_str(),
                            static_cast<long long>(zeroed), static_cast<long long>(saturated));
        for (const auto& each : block.elements) {
            const std::string bits = hexadecimal(format_, each.bits);
            answer["elements"].push_back({{"number", engine::exact_decimal(each.number)},
                                          {"bits", bits},
                                          {"value", engine::exact_decimal(each.value)},
                                          {"error", engine::finite_or_null(each.error)},
                                          {"zeroed", each.zeroed},
                                          {"saturated", each.saturated}});
            if (!args_.json)
                print_formatted("  %-14s %-5s %-14s error %s%s\n",
                                engine::short_figure_text(each.number, 6).c_str(), bits.c_str(),
                                engine::short_figure_text(each.value, 6).c_str(),
                                engine::short_figure_text(each.error).c_str(),
                                each.zeroed      ? "  zeroed"
                                : each.saturated ? "  saturated"
                                                 : "");
        }
    }

    const NumbersArguments& args_;
    engine::BlockSettings settings_;
    const NumberFormat& format_;
    const NumberFormat& scale_;
    std::vector<double> numbers_;
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

/// Calls `use` for each value of the command line, and of the file. Returns the exit code.
template <typename Use>
int for_each_value(const NumbersArguments& args, const Use& use) {
    as_code(engine::ErrorCode::settings, [&] {
        for (const auto& value : args.values) use(value);
    });
    const auto read_from = [&](std::istream& lines) {
        as_code(engine::ErrorCode::data, [&] {
            for (std::string line; std::getline(lines, line);)
                if (!line.empty()) use(line);
        });
    };
    if (args.file == "-") {
        read_from(std::cin);
    } else if (!args.file.empty()) {
        std::ifstream file(args.file);
        if (!file) {
            std::cerr << "halftone: " << engine::one_line(args.file) << ": cannot be read\n";
            return engine::exit_code(engine::ErrorCode::data);
        }
        read_from(file);
    }
    return 0;
}

int numbers(const NumbersArguments& args) {
    if (args.values.empty() && args.file.empty()) {
        std::cerr << "halftone numbers: give a value, or a file of values with --file.\n";
        return CommandLine::usage_error;
    }
    check(args);
    if (!args.block) {
        const Answers answers(args);
        return for_each_value(args, [&](const std::string& value) { answers.print(value); });
    }
    std::optional<Blocks> blocks;
    as_code(engine::ErrorCode::settings, [&] { blocks.emplace(args); });
    const int code = for_each_value(args, [&](const std::string& value) { blocks->add(value); });
    if (code == 0) as_code(engine::ErrorCode::settings, [&] { blocks->print(); });
    return code;
}

std::string number_format_names() {
    return engine::join(engine::number_formats(), "|", &NumberFormat::name);
}

}  // namespace

void describe_numbers(Command command) {
    auto args = std::make_shared<NumbersArguments>();
    command.dashed_texts("VALUE", args->values,
                         "0.1, 2^-24, 3*2^-5, 1/3, 0x3c00 (bits of --format, else of FP16), inf "
                         "or nan");
    command.text("--file", args->file, "Values, one per line; - reads standard input").not_empty().takes("FILE");
    auto format = command.text("--format", args->format,
                 "Only this format: fp32, tf32, fp16, bf16, an fp8, fp4-e2m1, ue4m3 or e8m0")
        .takes(number_format_names());
    auto add = command.text("--add", args->add, "VALUE plus this, rounded once");
    auto multiply = command.text("--multiply", args->multiply, "VALUE times this, rounded once");
    auto sum = command.number("--sum", args->terms,
                              "This many terms VALUE, added one by one in the accumulator");
    sum.within(0, engine::SumSettings::max_terms);
    add.excludes(multiply);
    add.excludes(sum);
    multiply.excludes(sum);
    command.text("--accumulator", args->accumulator,
                 "Type of the accumulator of --sum; without it the format itself (TF32: FP32)")
        .takes(number_format_names());
    auto saturate = command.flag("--saturate", args->saturate,
                 "Finite values beyond the largest one become that, as in training");
    auto round = command.text("--round", args->round,
                              "stochastic: at random to one of the two neighbours, by chances "
                              "that keep the mean; to FP8 and FP4").takes("nearest|stochastic");
    command.number("--draws", args->draws, "Number of draws of --round stochastic (10000)")
        .within(1, 10'000'000);
    auto block = command.text("--block", args->block,
                              "All values as blocks that share a scale").takes("mxfp8|mxfp4|nvfp4|fp8-128");
    command.text("--amax", args->amax,
                 "With --block: the largest magnitude of the tensor (nvfp4) or of each block; "
                 "without it that of the values").takes("VALUE");
    command.text("--mx-scale", args->mx_scale,
                 "With --block mxfp8 or mxfp4: the rule for the scale").takes("rceil|floor|ceil|even");
    saturate.excludes(block);
    for (const auto& other : {add, multiply, sum}) {
        saturate.excludes(other);
        round.excludes(other);
        block.excludes(other);
    }
    block.excludes(round);
    block.excludes(format);
    command.flag("--json", args->json, "One JSON object per value and format on standard output");
    command.run([args] { return numbers(*args); });
}

}  // namespace app
