#include "network/line_parser.h"

#include <algorithm>
#include <cctype>

#include "network/line_rules.h"
#include "network/lines.h"

namespace engine::network {
namespace {

template <typename Rule>
inline constexpr Part part_of = Part::none;
#define HALFTONE_PART(part, ...) \
    template <>                  \
    inline constexpr Part part_of<rule::__VA_ARGS__> = Part::part;
HALFTONE_PART(number, number_text)
HALFTONE_PART(string, string_text)
HALFTONE_PART(path, path_text)
HALFTONE_PART(truth, truth_word)
HALFTONE_PART(call, call)
HALFTONE_PART(name, call_name)
HALFTONE_PART(name, argument_name)
HALFTONE_PART(named_argument, named_argument)
HALFTONE_PART(argument, unnamed_argument)
HALFTONE_PART(list, list)
HALFTONE_PART(index, index)
HALFTONE_PART(item, item)
HALFTONE_PART(power, power)
HALFTONE_PART(negative, negative)
HALFTONE_PART(product, product)
HALFTONE_PART(sum, sum)
HALFTONE_PART(comparison, comparison)
HALFTONE_PART(operator_sign, product_operator)
HALFTONE_PART(operator_sign, sum_operator)
HALFTONE_PART(operator_sign, comparison_operator)
HALFTONE_PART(negation, denied)
HALFTONE_PART(both, both)
HALFTONE_PART(either, either)
HALFTONE_PART(expression, composed)
HALFTONE_PART(plain_piece, plain_piece)
HALFTONE_PART(plain_piece, dot_piece)
HALFTONE_PART(plain_piece, quoted_piece)
HALFTONE_PART(plain_piece, place_word)
HALFTONE_PART(computed, computed)
HALFTONE_PART(label, label_text)
HALFTONE_PART(label_colon, label_colon)
HALFTONE_PART(value_name, value_name)
HALFTONE_PART(from, from)
HALFTONE_PART(condition, condition)
HALFTONE_PART(layer, layer)
HALFTONE_PART(layer_call, layer_call)
HALFTONE_PART(name, callee_name)
HALFTONE_PART(container, container)
HALFTONE_PART(let, let)
HALFTONE_PART(name, variable)
HALFTONE_PART(output, output)
HALFTONE_PART(repeat, repeat)
HALFTONE_PART(name, each_name)
HALFTONE_PART(each_list, each_list)
HALFTONE_PART(range_end, range_end)
HALFTONE_PART(index_name, index_name)
HALFTONE_PART(name, option_name)
HALFTONE_PART(minus, minus)
HALFTONE_PART(signed_number, signed_number)
HALFTONE_PART(signed_number, bound)
HALFTONE_PART(name, literal_word)
HALFTONE_PART(literal_list, literal_list)
HALFTONE_PART(bounds, bounds)
HALFTONE_PART(choices, choices)
HALFTONE_PART(name, choice)
HALFTONE_PART(help, help)
HALFTONE_PART(option, option)
HALFTONE_PART(init, init)
HALFTONE_PART(name, init_kind)
HALFTONE_PART(name, init_parameter)
HALFTONE_PART(block, block)
HALFTONE_PART(name, block_name)
HALFTONE_PART(parameter, parameter)
HALFTONE_PART(name, parameter_name)
HALFTONE_PART(block_inputs, block_inputs)
HALFTONE_PART(name, block_input)
HALFTONE_PART(network, network)
HALFTONE_PART(input, input)
HALFTONE_PART(name, input_name)
HALFTONE_PART(gives, gives_words)
HALFTONE_PART(name, gives_word)
#undef HALFTONE_PART

/// Whether the tree has parts of this rule's: of itself, or of rules inside it.
template <unsigned Level, typename Rules>
inline constexpr bool keeps_any = true;  // too deep to tell
template <typename... Rules>
inline constexpr bool keeps_any<0, tao::pegtl::type_list<Rules...>> = sizeof...(Rules) > 0;
template <unsigned Level, typename... Rules>
requires(Level > 0) inline constexpr bool keeps_any<Level, tao::pegtl::type_list<Rules...>> =
    ((part_of<Rules> != Part::none || keeps_any<Level - 1, typename Rules::subs_t>) || ...);
constexpr unsigned looked_into = 8;

/// Names the thing that a line needs where it does not go on.
enum class Wanted {
    statement,
    value,
    layer,
    source,
    name,
    number,
    literal,
    equals,
    colon,
    open_bracket,
    close_bracket,
    close_list,
    close_brace,
    quote,
    dots,
    point,
    otherwise,
    label,
    end
};

/// A line ends being parsed.
struct Stop {
    Wanted wanted;
    std::size_t offset;
};
struct TooDeep {
    std::size_t offset;
};

/// Prefixes, exponents and brackets inside one another.
constexpr int most_nested = 256;

template <typename Rule>
inline constexpr Wanted wanted_of = Wanted::statement;
#define HALFTONE_WANTED(wanted, ...) \
    template <>                      \
    inline constexpr Wanted wanted_of<rule::__VA_ARGS__> = Wanted::wanted;
HALFTONE_WANTED(value, expression)
HALFTONE_WANTED(value, prefixed)
HALFTONE_WANTED(value, product)
HALFTONE_WANTED(value, sum)
HALFTONE_WANTED(value, negation)
HALFTONE_WANTED(value, both)
HALFTONE_WANTED(value, either)
HALFTONE_WANTED(value, argument)
HALFTONE_WANTED(value, times)
HALFTONE_WANTED(layer, layer)
HALFTONE_WANTED(layer, layer_tail)
HALFTONE_WANTED(layer, layer_or_pass)
HALFTONE_WANTED(source, value)
HALFTONE_WANTED(source, values)
HALFTONE_WANTED(name, variable_name)
HALFTONE_WANTED(name, each_variable)
HALFTONE_WANTED(name, index_variable)
HALFTONE_WANTED(name, option_variable)
HALFTONE_WANTED(name, choice_word)
HALFTONE_WANTED(name, choice_words)
HALFTONE_WANTED(name, init_kind_name)
HALFTONE_WANTED(name, init_parameter_name)
HALFTONE_WANTED(name, block_variable)
HALFTONE_WANTED(name, parameter)
HALFTONE_WANTED(name, block_input_name)
HALFTONE_WANTED(name, block_input_names)
HALFTONE_WANTED(name, input)
HALFTONE_WANTED(name, inputs)
HALFTONE_WANTED(name, further_input)
HALFTONE_WANTED(name, gives_words)
HALFTONE_WANTED(number, bound)
HALFTONE_WANTED(literal, literal)
HALFTONE_WANTED(literal, literals)
HALFTONE_WANTED(equals, equals)
HALFTONE_WANTED(colon, colon)
HALFTONE_WANTED(open_bracket, open_bracket)
HALFTONE_WANTED(close_bracket, close_bracket)
HALFTONE_WANTED(close_list, close_list)
HALFTONE_WANTED(close_brace, close_brace)
HALFTONE_WANTED(quote, quote)
HALFTONE_WANTED(dots, dots)
HALFTONE_WANTED(point, point)
HALFTONE_WANTED(otherwise, else_word)
HALFTONE_WANTED(label, quoted_pieces)
HALFTONE_WANTED(end, end_of_line)
#undef HALFTONE_WANTED

template <typename Rule>
inline constexpr bool nests = part_of<Rule> == Part::expression || part_of<Rule> == Part::power ||
                              part_of<Rule> == Part::negative || part_of<Rule> == Part::negation;

/// The tree so far, and where the rules began that are being tried.
struct ParserState {
    LineTree& tree;
    std::vector<std::uint32_t> begun{};  // entries
    int depth = 0;
};

/// Keeps parts as entries, and drops those of a rule that fails. Counts what stands inside one another, since each level takes
/// of the stack.
template <typename Rule>
struct LineControl : tao::pegtl::normal<Rule> {
    static constexpr bool keeps = part_of<Rule> != Part::none;
    static constexpr bool tracks = keeps || keeps_any<looked_into, typename Rule::subs_t>;
    static constexpr bool enable = tracks || tao::pegtl::internal::enable_control<Rule>;

    template <typename Input>
    static std::uint32_t offset(const Input& in, const ParserState& state) {
        return static_cast<std::uint32_t>(in.current() - state.tree.text.data());
    }
    template <typename Input>
    [[noreturn]] static void raise(const Input& in, ParserState& state) {
        throw Stop{wanted_of<Rule>, offset(in, state)};
    }
    template <typename Input>
    static void start(const Input& in, ParserState& state) {
        if constexpr (nests<Rule>)
            if (++state.depth > most_nested) throw TooDeep{offset(in, state)};
        if constexpr (tracks) state.begun.push_back(static_cast<std::uint32_t>(state.tree.entries.size()));
        if constexpr (keeps) state.tree.entries.push_back({part_of<Rule>, offset(in, state), 0, 0});
    }
    template <typename Input>
    static void success(const Input& in, ParserState& state) {
        if constexpr (nests<Rule>) --state.depth;
        if constexpr (keeps) {
            LineTree::Entry& entry = state.tree.entries[state.begun.back()];
            entry.end = offset(in, state);
            entry.next = static_cast<std::uint32_t>(state.tree.entries.size());
        }
        if constexpr (tracks) state.begun.pop_back();
    }
    template <typename Input>
    static void failure(const Input&, ParserState& state) {
        if constexpr (nests<Rule>) --state.depth;
        if constexpr (tracks) {
            state.tree.entries.resize(state.begun.back());
            state.begun.pop_back();
        }
    }
};

/// `found`: what stands there; empty at the end of the line.
Message syntax_message(Wanted wanted, const std::string& found) {
    const bool end = found.empty();
    switch (wanted) {
        case Wanted::value:
            return end ? msg("The line ends, where a value is needed.") : msg("{}: a value is needed here.", found);
        case Wanted::layer:
            return end ? msg("The line ends, where a layer is needed.") : msg("{}: a layer is needed here.", found);
        case Wanted::source:
            return end ? msg("The line ends, where the name of a layer or value is needed.")
                       : msg("{}: the name of a layer or value is needed here.", found);
        case Wanted::name:
            return end ? msg("The line ends, where a name is needed.")
                       : msg("{}: a name is needed here: a word that is no keyword.", found);
        case Wanted::number:
            return end ? msg("The line ends, where a number is needed.") : msg("{}: a number is needed here.", found);
        case Wanted::literal:
            return end ? msg("The line ends, where a default is needed.")
                       : msg("{}: a default is needed here: a number, a word, true, false, or a list of them.", found);
        case Wanted::equals:
            return end ? msg("The line ends, where \"=\" is needed.") : msg("{}: \"=\" is needed here.", found);
        case Wanted::colon:
            return end ? msg("The line ends, where \":\" is needed.") : msg("{}: \":\" is needed here.", found);
        case Wanted::open_bracket:
            return end ? msg("The line ends, where \"(\" is needed.") : msg("{}: \"(\" is needed here.", found);
        case Wanted::close_bracket:
            return end ? msg("The line ends, where \")\" is needed.") : msg("{}: \",\" or \")\" is needed here.", found);
        case Wanted::close_list:
            return end ? msg("The line ends, where \"]\" is needed.") : msg("{}: \",\" or \"]\" is needed here.", found);
        case Wanted::close_brace:
            return end ? msg("The line ends, where \"}\" is needed.") : msg("{}: \"}\" is needed here.", found);
        case Wanted::quote:
            return msg("The string does not end on its line. Add \" at its end.");
        case Wanted::dots:
            return end ? msg("The line ends, where \"..\" is needed.") : msg("{}: \"..\" is needed here.", found);
        case Wanted::point:
            return end ? msg("The line ends, where \".\" is needed.")
                       : msg("{}: \".\" is needed here: init names a kind and its parameter, Conv2d.weight.", found);
        case Wanted::otherwise:
            return end ? msg("The line ends, where \"else\" is needed.") : msg("{}: \"else\" is needed here.", found);
        case Wanted::label:
            return msg("A name in quotes is empty, or holds a \"}\" alone.");
        case Wanted::end:
            return msg("{}: the line should end here.", found);
        case Wanted::statement:
            break;
    }
    return end ? msg("The line ends, where a statement is needed.") : msg("{}: a statement is needed here.", found);
}

template <typename Rule>
void parse(std::string_view line, ParserState& state) {
    tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy> in(line.data(), line.data() + line.size(), "");
    tao::pegtl::parse<rule::whole<Rule>, tao::pegtl::nothing, LineControl>(in, state);
}

}  // namespace

std::string found_at(std::string_view text, std::size_t offset) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::size_t end = offset + 1;
    if (is_word(text[offset]))
        while (end < text.size() && is_word(text[end])) ++end;
    else
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    return '"' + shortened(std::string(text.substr(offset, end - offset))) + '"';
}

std::vector<LineNode> LineNode::children() const {
    std::vector<LineNode> out;
    for (std::size_t at = index_ + 1; at < entry().next; at = tree_->entries[at].next) out.emplace_back(*tree_, at);
    return out;
}

std::optional<LineNode> LineNode::find(Part wanted) const {
    for (std::size_t at = index_ + 1; at < entry().next; at = tree_->entries[at].next)
        if (tree_->entries[at].part == wanted) return LineNode(*tree_, at);
    return {};
}

LineNode LineNode::unfolded() const {
    static constexpr Part chains[] = {Part::item, Part::power, Part::product, Part::sum, Part::comparison, Part::both, Part::either, Part::expression};
    std::size_t at = index_;
    while (at + 1 < tree_->entries[at].next && tree_->entries[at + 1].next == tree_->entries[at].next &&
           std::ranges::find(chains, tree_->entries[at].part) != std::end(chains))
        ++at;
    return {*tree_, at};
}

std::optional<LineFault> parse_line(LineForm form, std::string_view line, LineTree& tree) {
    tree.text = line;
    tree.entries.assign(1, {Part::none, 0, static_cast<std::uint32_t>(line.size()), 0});
    ParserState state{tree};
    try {
        switch (form) {
            case LineForm::option:
                parse<rule::option>(line, state);
                break;
            case LineForm::init:
                parse<rule::init>(line, state);
                break;
            case LineForm::block:
                parse<rule::block>(line, state);
                break;
            case LineForm::network:
                parse<rule::network>(line, state);
                break;
            case LineForm::head_of_body:
                parse<rule::head_of_body>(line, state);
                break;
            case LineForm::statement:
                parse<rule::statement>(line, state);
                break;
        }
    } catch (const Stop& at) {
        const std::string what = at.offset < line.size() ? found_at(line, at.offset) : std::string();
        return LineFault{at.offset, what.empty() ? 1 : what.size() - 2, syntax_message(at.wanted, what)};
    } catch (const TooDeep& at) {
        return LineFault{at.offset, 1, msg("More than {} operators inside one another.", most_nested)};
    }
    tree.entries.front().next = static_cast<std::uint32_t>(tree.entries.size());
    return {};
}

}  // namespace engine::network
