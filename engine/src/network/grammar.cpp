#include "network/grammar.h"

#include <cctype>
#include <charconv>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "network/lines.h"
#include "network/tensor_type.h"

namespace engine::network {
namespace {

/// The rules of the notation. A rule that `must` follow ends the line's parsing where it does not.
namespace rule {

using namespace tao::pegtl;

/// The namespace engine::opt hides PEGTL's rule.
template <typename... Rules>
using maybe = tao::pegtl::opt<Rules...>;

template <typename Rule>
struct token : seq<Rule, star<one<' '>>> {};
template <char C>
struct mark : token<one<C>> {};
struct letter : sor<alpha, one<'_'>> {};
struct word_character : sor<alnum, one<'_'>> {};
struct word : seq<letter, star<word_character>> {};

struct kw_in : TAO_PEGTL_KEYWORD("in") {};
struct kw_above : TAO_PEGTL_KEYWORD("above") {};
struct kw_from : TAO_PEGTL_KEYWORD("from") {};
struct kw_if : TAO_PEGTL_KEYWORD("if") {};
struct kw_else : TAO_PEGTL_KEYWORD("else") {};
struct kw_and : TAO_PEGTL_KEYWORD("and") {};
struct kw_or : TAO_PEGTL_KEYWORD("or") {};
struct kw_not : TAO_PEGTL_KEYWORD("not") {};
struct kw_true : TAO_PEGTL_KEYWORD("true") {};
struct kw_false : TAO_PEGTL_KEYWORD("false") {};
struct kw_let : TAO_PEGTL_KEYWORD("let") {};
struct kw_repeat : TAO_PEGTL_KEYWORD("repeat") {};
struct kw_output : TAO_PEGTL_KEYWORD("output") {};
struct kw_as : TAO_PEGTL_KEYWORD("as") {};
struct kw_of : TAO_PEGTL_KEYWORD("of") {};
struct kw_gives : TAO_PEGTL_KEYWORD("gives") {};
struct kw_option : TAO_PEGTL_KEYWORD("option") {};
struct kw_init : TAO_PEGTL_KEYWORD("init") {};
struct kw_block : TAO_PEGTL_KEYWORD("block") {};
struct kw_network : TAO_PEGTL_KEYWORD("network") {};

/// Words that are no names of variables; a path may begin with the last three.
struct operator_word : sor<kw_from, kw_if, kw_else, kw_and, kw_or, kw_not, kw_true, kw_false> {};
struct reserved_word : sor<operator_word, kw_in, kw_above, TAO_PEGTL_KEYWORD("outputs")> {};

struct name_word : seq<not_at<reserved_word>, word> {};
struct name : token<name_word> {};
struct equals : seq<one<'='>, not_at<one<'='>>, star<one<' '>>> {};
struct comma : mark<','> {};
struct colon : mark<':'> {};
struct close_bracket : mark<')'> {};
struct close_list : mark<']'> {};
struct close_brace : one<'}'> {};
struct dots : token<string<'.', '.'>> {};
struct point : mark<'.'> {};
struct end_of_line : eof {};

struct digits : plus<digit> {};
struct number_text : seq<digits, maybe<one<'.'>, digits>, maybe<one<'e', 'E'>, maybe<one<'+', '-'>>, digits>> {};
struct number : token<number_text> {};
struct quote : one<'"'> {};
struct string_text : star<not_one<'"'>> {};
struct text : token<if_must<one<'"'>, string_text, quote>> {};

// Expressions, from the weakest operator to the strongest.
struct expression;
struct prefixed;
struct argument_name : name_word {};
struct named_argument : seq<token<argument_name>, equals, must<expression>> {};
struct unnamed_argument : seq<not_at<name, equals>, expression> {};
struct argument : sor<named_argument, unnamed_argument> {};
struct arguments : if_must<mark<'('>, maybe<argument, star<comma, must<argument>>>, close_bracket> {};
struct list : if_must<mark<'['>, maybe<expression, star<comma, must<expression>>>, close_list> {};
struct bracketed : if_must<mark<'('>, expression, close_bracket> {};
struct call_name : name_word {};
struct call : seq<token<call_name>, at<one<'('>>, arguments> {};
struct path_text : seq<not_at<operator_word>, word, star<one<'.'>, plus<word_character>>> {};
struct path : token<path_text> {};
struct truth_word : sor<kw_true, kw_false> {};
struct truth : token<truth_word> {};
struct index : if_must<mark<'['>, expression, close_list> {};
struct item : seq<sor<number, text, list, bracketed, truth, call, path>, star<index>> {};
struct power : seq<item, maybe<mark<'^'>, must<prefixed>>> {};
struct negative : if_must<mark<'-'>, prefixed> {};
struct prefixed : sor<negative, power> {};
struct product_operator : sor<string<'/', '/'>, one<'*', '/', '%'>> {};
struct product : list_must<prefixed, token<product_operator>> {};
struct sum_operator : one<'+', '-'> {};
struct sum : list_must<product, token<sum_operator>> {};
struct comparison_operator
    : sor<string<'=', '='>, string<'!', '='>, string<'<', '='>, string<'>', '='>, one<'<', '>'>> {};
struct comparison : seq<sum, maybe<token<comparison_operator>, must<sum>>> {};
struct negation;
struct denied : if_must<token<kw_not>, negation> {};
struct negation : sor<denied, comparison> {};
struct both : list_must<negation, token<kw_and>> {};
struct either : list_must<both, token<kw_or>> {};
struct else_word : token<kw_else> {};
struct expression : seq<either, maybe<if_must<token<kw_if>, either, else_word, expression>>> {};

// Names of modules and values.
struct brace_start : mark<'{'> {};
struct computed : if_must<brace_start, expression, close_brace> {};
struct plain_piece : plus<word_character> {};
struct dot_piece : one<'.'> {};
struct part : plus<sor<plain_piece, computed>> {};
struct quoted_piece : plus<not_one<'"', '{', '}'>> {};
struct quoted_pieces : plus<sor<quoted_piece, computed>> {};
struct quoted : if_must<one<'"'>, quoted_pieces, quote> {};
struct label_text : sor<quoted, seq<part, star<seq<dot_piece, part>>>> {};
struct label : token<label_text> {};
struct label_colon : seq<label, colon> {};
struct value_name : name_word {};
struct value_equals : seq<token<value_name>, equals> {};
struct reference : seq<not_at<reserved_word>, label> {};
struct place_word : sor<kw_in, kw_above> {};
struct value : sor<token<place_word>, reference> {};
struct values : list_must<value, comma> {};
struct from : if_must<token<kw_from>, values> {};
struct condition : if_must<token<kw_if>, expression> {};

// Lines of a body. A keyword is a name where ":" or "=" follows.
struct is_name : at<sor<label_colon, seq<word, star<one<' '>>, equals>>> {};
template <typename Keyword>
struct begins : seq<not_at<is_name>, token<Keyword>> {};
struct callee_name : name_word {};
struct layer_call : seq<token<callee_name>, at<one<'('>>, arguments> {};
struct layer_use : sor<layer_call, reference> {};
struct layer_tail : seq<layer_use, maybe<from>, maybe<condition>> {};
struct pass_tail : seq<from, maybe<condition>> {};
struct layer_or_pass : sor<layer_tail, pass_tail> {};
struct layer : sor<seq<label_colon, must<layer_tail>>, seq<value_equals, must<layer_or_pass>>, layer_or_pass> {};
struct container : seq<label_colon, maybe<from>, maybe<condition>> {};
struct variable : name_word {};
struct variable_name : token<variable> {};
struct let : if_must<begins<kw_let>, variable_name, equals, expression> {};
struct output : if_must<begins<kw_output>, values> {};
struct each_name : name_word {};
struct each_variable : token<each_name> {};
struct each_list : seq<mark<'['>, list_must<each_variable, comma>, close_list> {};
struct each : sor<each_variable, each_list> {};
struct range_end : if_must<dots, expression> {};
struct times : sor<seq<each, token<kw_in>, must<expression>, maybe<range_end>>, expression> {};
struct index_name : name_word {};
struct index_variable : token<index_name> {};
struct repeat : if_must<begins<kw_repeat>, times, maybe<if_must<token<kw_as>, index_variable>>, colon> {};
struct repeat_line : seq<maybe<label_colon>, repeat> {};

// Lines of the file.
struct option_name : name_word {};
struct option_variable : token<option_name> {};
struct minus : mark<'-'> {};
struct signed_number : seq<maybe<minus>, number> {};
struct literal;
struct literals : list_must<literal, comma> {};
struct literal_list : if_must<mark<'['>, literals, close_list> {};
struct literal_word : name_word {};
struct literal : sor<signed_number, truth, text, token<literal_word>, literal_list> {};
struct bound : signed_number {};
struct bounds : if_must<token<kw_in>, bound, dots, bound> {};
struct choice : name_word {};
struct choice_word : token<choice> {};
struct choice_words : list_must<choice_word, comma> {};
struct choices : if_must<token<kw_of>, choice_words> {};
struct help : text {};
struct option : if_must<token<kw_option>, option_variable, equals, literal, maybe<bounds>, maybe<choices>, maybe<help>> {};
struct init_kind : name_word {};
struct init_kind_name : token<init_kind> {};
struct init_parameter : name_word {};
struct init_parameter_name : token<init_parameter> {};
struct init : if_must<token<kw_init>, init_kind_name, point, init_parameter_name, equals, expression> {};
struct block_name : name_word {};
struct block_variable : token<block_name> {};
struct parameter_name : name_word {};
struct parameter : seq<token<parameter_name>, maybe<if_must<equals, expression>>> {};
struct open_bracket : mark<'('> {};
struct block_input : name_word {};
struct block_input_name : token<block_input> {};
struct block_input_names : list_must<block_input_name, comma> {};
struct block_inputs : if_must<token<kw_of>, block_input_names> {};
struct block : if_must<token<kw_block>, block_variable, open_bracket, maybe<parameter, star<comma, must<parameter>>>,
                       close_bracket, maybe<block_inputs>, colon> {};
struct input_name : name_word {};
struct further_input : token<input_name> {};
struct input : seq<token<input_name>, maybe<if_must<token<kw_or>, further_input>>> {};
struct gives_word : name_word {};
struct gives_words : plus<token<gives_word>> {};
struct inputs : list_must<input, comma> {};
struct network : if_must<token<kw_network>, open_bracket, inputs, close_bracket,
                         maybe<if_must<token<kw_gives>, gives_words>>, colon> {};

template <typename Rule>
struct whole : must<Rule, end_of_line> {};
struct head_of_body : sor<seq<repeat_line, at<eof>>, seq<not_at<maybe<label_colon>, begins<kw_repeat>>, container>> {};
struct statement : sor<let, output, seq<repeat_line, must<layer>>, layer> {};

}  // namespace rule

/// Rules that are kept as nodes of the parsed line.
enum class Part {
    none,
    number,
    string,
    path,
    truth,
    call,
    name,
    named_argument,
    argument,
    list,
    index,
    item,
    power,
    negative,
    product,
    sum,
    comparison,
    operator_sign,
    negation,
    both,
    either,
    expression,
    plain_piece,
    computed,
    label,
    label_colon,
    value_name,
    from,
    condition,
    layer,
    layer_call,
    container,
    let,
    output,
    repeat,
    each_list,
    range_end,
    index_name,
    signed_number,
    minus,
    literal_list,
    bounds,
    choices,
    help,
    option,
    init,
    block,
    parameter,
    block_inputs,
    network,
    input,
    gives,
};

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
HALFTONE_PART(expression, expression)
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

struct ParsedNode : tao::pegtl::parse_tree::basic_node<ParsedNode> {
    Part part = Part::none;

    template <typename Rule, typename Input, typename... States>
    void start(const Input& in, States&&... states) {
        basic_node::start<Rule>(in, states...);
        part = part_of<Rule>;
    }
    const ParsedNode* find(Part wanted) const {
        for (const auto& child : children)
            if (child->part == wanted) return child.get();
        return nullptr;
    }
};

/// Chains of one operand are the operand.
template <typename Rule>
inline constexpr bool folds =
    part_of<Rule> == Part::item || part_of<Rule> == Part::power || part_of<Rule> == Part::product ||
    part_of<Rule> == Part::sum || part_of<Rule> == Part::comparison || part_of<Rule> == Part::both ||
    part_of<Rule> == Part::either || part_of<Rule> == Part::expression;
template <typename Rule, bool Folds = folds<Rule>>
struct KeptPart : std::bool_constant<part_of<Rule> != Part::none> {};
template <typename Rule>
struct KeptPart<Rule, true> : std::true_type {
    template <typename Node, typename... States>
    static void transform(std::unique_ptr<Node>& node, States&&...) {
        if (node->children.size() == 1) node = std::move(node->children.front());
    }
};
template <typename Rule>
struct Kept : KeptPart<Rule> {};

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
struct LineFault {
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

/// Counts what stands inside one another, since each level takes of the stack. Only rules that are
/// kept as nodes are reported here.
template <typename Rule>
struct LineControl : tao::pegtl::normal<Rule> {
    template <typename Input>
    [[noreturn]] static void raise(const Input& in, int&) {
        throw LineFault{wanted_of<Rule>, in.byte()};
    }
    template <typename Input>
    static void start(const Input& in, int& depth) {
        if constexpr (nests<Rule>)
            if (++depth > most_nested) throw TooDeep{in.byte()};
    }
    template <typename Input>
    static void success(const Input&, int& depth) {
        if constexpr (nests<Rule>) --depth;
    }
    template <typename Input>
    static void failure(const Input&, int& depth) {
        if constexpr (nests<Rule>) --depth;
    }
};

std::string found_at(std::string_view text, std::size_t offset) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::size_t end = offset + 1;
    if (is_word(text[offset]))
        while (end < text.size() && is_word(text[end])) ++end;
    else
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    return '"' + std::string(text.substr(offset, end - offset)) + '"';
}

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

/// Reads lines into the syntax tree.
class LineReader {
public:
    explicit LineReader(std::vector<NetworkFault>& faults) : faults_(faults) {}

    NetworkSyntax file(const std::vector<LogicalLine>& lines) {
        const bool cut_short = lines.empty() && !faults_.empty();
        for (const LogicalLine& line : lines) {
            if (has_network_) {
                fault(line, 0, line.text.size(), msg("Nothing may follow the network. Write this line above it."));
                break;
            }
            file_line(line);
        }
        if (!has_network_ && !cut_short) {
            const TextPlace end = lines.empty() ? TextPlace{} : lines.back().place(0, lines.back().text.size());
            faults_.push_back({end, msg("There is no network. End the text with \"network(image):\" and its layers."), {}});
        }
        return std::move(syntax_);
    }

private:
    using NodePointer = std::unique_ptr<ParsedNode>;
    enum class Head { option, init, block, network };

    void fault(const LogicalLine& line, std::size_t offset, std::size_t length, Message text) {
        faults_.push_back({line.place(offset, length), std::move(text), {}});
    }

    // The lines of one level.

    void file_line(const LogicalLine& line) {
        line_ = &line;
        const auto head = file_head(line.text);
        if (!head) {
            syntax_.incomplete = true;
            if (!line.bad)
                fault(line, 0, first_word(line.text).size(),
                      msg("{}: option, init, block or network is needed here.", found_at(line.text, 0)));
            return;
        }
        has_network_ = head == Head::network;
        const bool has_body = head == Head::block || head == Head::network;
        if (!has_body && !line.body.empty()) no_head(line);
        switch (*head) {
            case Head::option:
                if (const NodePointer node = parsed<rule::option>(line))
                    option(part(*node, Part::option));
                else
                    syntax_.incomplete = true;
                break;
            case Head::init:
                if (const NodePointer node = parsed<rule::init>(line))
                    init(part(*node, Part::init));
                else
                    syntax_.incomplete = true;
                break;
            case Head::block: {
                BlockLine block{.place = line.place(0, line.text.size())};
                if (const NodePointer node = parsed<rule::block>(line))
                    read_block(part(*node, Part::block), block);
                else
                    syntax_.incomplete = true;
                block.body = body(line);
                syntax_.blocks.push_back(std::move(block));
                break;
            }
            case Head::network:
                syntax_.network = line.place(0, line.text.size());
                if (const NodePointer node = parsed<rule::network>(line)) read_network(part(*node, Part::network));
                syntax_.body = body(line);
                break;
        }
    }

    static std::string_view first_word(std::string_view text) {
        std::size_t end = 0;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
        return text.substr(0, std::max<std::size_t>(end, 1));
    }

    static std::optional<Head> file_head(std::string_view text) {
        const std::string_view word = first_word(text);
        if (word == "option") return Head::option;
        if (word == "init") return Head::init;
        if (word == "block") return Head::block;
        if (word == "network") return Head::network;
        return {};
    }

    void no_head(const LogicalLine& line) {
        const LogicalLine& first = line.body.front();
        fault(first, 0, first.text.size(), msg("This is indented deeper than line {}, which takes no lines below it.", line.number));
    }

    std::vector<Statement> body(const LogicalLine& head) {
        std::vector<Statement> statements;
        if (head.body.empty() && !head.bad)
            fault(head, head.text.size(), 1, msg("Lines that are indented deeper are missing below this one."));
        statements.reserve(head.body.size());
        for (const LogicalLine& line : head.body) {
            statements.push_back(statement(line));
            if (statements.back().kind == Statement::Kind::output && &line != &head.body.back())
                fault(line, 0, line.text.size(), msg("output is the last line of a body. Move it to the end."));
        }
        return statements;
    }

    Statement statement(const LogicalLine& line) {
        line_ = &line;
        Statement read{.place = line.place(0, line.text.size())};
        if (line.bad) {
            skip_body(line);
            return read;
        }
        const bool heads = !line.body.empty() || line.text.ends_with(':');
        std::optional<NetworkFault> head_fault;
        if (heads) {
            if (const NodePointer node = parsed<rule::head_of_body>(line, &head_fault)) {
                read_head(*node, read);
                read.body = body(line);
                return read;
            }
        }
        std::optional<NetworkFault> line_fault;
        if (const NodePointer node = parsed<rule::statement>(line, &line_fault)) {
            read_statement(*node, read);
            if (!line.body.empty()) {
                no_head(line);
                skip_body(line);
            }
            return read;
        }
        if (!heads) {
            std::optional<NetworkFault> ignored;
            if (parsed<rule::head_of_body>(line, &ignored)) {
                fault(line, line.text.size(), 1, msg("A layer is missing here, or lines below it that are indented deeper."));
                return read;
            }
        }
        const bool head_is_nearer = head_fault && head_fault->place.column > line_fault->place.column &&
                                    head_fault->place.line >= line_fault->place.line;
        faults_.push_back(head_is_nearer ? *head_fault : *line_fault);
        skip_body(line);
        return read;
    }

    /// Reads a body for its faults alone.
    void skip_body(const LogicalLine& line) {
        for (const LogicalLine& below : line.body) statement(below);
    }

    /// Null for a fault, which goes to `instead` or among the others.
    template <typename Rule>
    NodePointer parsed(const LogicalLine& line, std::optional<NetworkFault>* instead = nullptr) {
        if (line.bad) return nullptr;
        line_ = &line;
        NetworkFault found;
        try {
            int depth = 0;
            tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy> in(line.text, std::string());
            return tao::pegtl::parse_tree::parse<rule::whole<Rule>, ParsedNode, Kept, tao::pegtl::nothing, LineControl>(in, depth);
        } catch (const LineFault& at) {
            const std::string what = at.offset < line.text.size() ? found_at(line.text, at.offset) : std::string();
            found = {line.place(at.offset, what.empty() ? 1 : what.size() - 2), syntax_message(at.wanted, what), {}};
        } catch (const TooDeep& at) {
            found = {line.place(at.offset), msg("More than {} operators inside one another.", most_nested), {}};
        }
        if (instead != nullptr)
            *instead = std::move(found);
        else
            faults_.push_back(std::move(found));
        return nullptr;
    }

    // Nodes of a line.

    static const ParsedNode& part(const ParsedNode& node, Part wanted) { return *node.find(wanted); }
    static std::string content(const ParsedNode& node) { return std::string(node.string_view()); }
    std::size_t offset(const ParsedNode& node) const { return static_cast<std::size_t>(node.m_begin.data - line_->text.data()); }
    TextPlace place(const ParsedNode& node) const { return line_->place(offset(node), node.string_view().size()); }

    void read_head(const ParsedNode& root, Statement& out) {
        if (const ParsedNode* repeat = root.find(Part::repeat)) {
            if (const ParsedNode* named = root.find(Part::label_colon)) out.label = label(part(*named, Part::label));
            read_repeat(*repeat, out);
            return;
        }
        const ParsedNode& container = part(root, Part::container);
        out.kind = Statement::Kind::container;
        out.label = label(part(part(container, Part::label_colon), Part::label));
        read_tail(container, out);
    }

    void read_statement(const ParsedNode& root, Statement& out) {
        if (const ParsedNode* let = root.find(Part::let)) {
            out.kind = Statement::Kind::let;
            out.name = content(part(*let, Part::name));
            out.value = expression(*let->children.back());
        } else if (const ParsedNode* output = root.find(Part::output)) {
            out.kind = Statement::Kind::output;
            out.from = labels(*output);
        } else if (const ParsedNode* repeat = root.find(Part::repeat)) {
            if (const ParsedNode* named = root.find(Part::label_colon)) out.label = label(part(*named, Part::label));
            read_repeat(*repeat, out);
            const ParsedNode& inner = part(root, Part::layer);
            Statement statement{.place = line_->place(offset(inner), line_->text.size() - offset(inner))};
            read_layer(inner, statement);
            out.body.push_back(std::move(statement));
        } else {
            read_layer(part(root, Part::layer), out);
        }
    }

    void read_layer(const ParsedNode& node, Statement& out) {
        out.kind = Statement::Kind::pass;
        if (const ParsedNode* named = node.find(Part::label_colon)) out.label = label(part(*named, Part::label));
        if (const ParsedNode* named = node.find(Part::value_name)) out.name = content(*named);
        if (const ParsedNode* call = node.find(Part::layer_call)) {
            out.kind = Statement::Kind::layer;
            const ParsedNode& name = part(*call, Part::name);
            out.callee = Label{place(name), {{content(name), {}}}};
            out.has_arguments = true;
            for (std::size_t i = 1; i < call->children.size(); ++i)
                out.arguments.push_back(argument(*call->children[i]));
            check_order(*call);
        } else if (const ParsedNode* reference = node.find(Part::label)) {
            out.kind = Statement::Kind::layer;
            out.callee = label(*reference);
        }
        read_tail(node, out);
    }

    void read_tail(const ParsedNode& node, Statement& out) {
        if (const ParsedNode* from = node.find(Part::from)) out.from = labels(*from);
        if (const ParsedNode* condition = node.find(Part::condition)) out.condition = expression(*condition->children.front());
    }

    void read_repeat(const ParsedNode& node, Statement& out) {
        out.kind = Statement::Kind::repeat;
        for (const auto& child : node.children) {
            if (child->part == Part::name) {
                out.each.push_back(content(*child));
            } else if (child->part == Part::each_list) {
                out.takes_apart = true;
                for (const auto& each : child->children) out.each.push_back(content(*each));
            } else if (child->part == Part::range_end) {
                out.last = expression(*child->children.front());
            } else if (child->part == Part::index_name) {
                out.index = content(*child);
            } else {
                out.value = expression(*child);
            }
        }
    }

    void option(const ParsedNode& node) {
        OptionLine out{.place = place(node)};
        out.name = content(part(node, Part::name));
        out.default_value = literal(*node.children[1]);
        if (const ParsedNode* bounds = node.find(Part::bounds)) {
            out.lowest = bound(*bounds->children[0]);
            out.highest = bound(*bounds->children[1]);
        }
        if (const ParsedNode* choices = node.find(Part::choices))
            for (const auto& choice : choices->children) out.choices.push_back(content(*choice));
        if (const ParsedNode* help = node.find(Part::help)) out.help = content(*help->children.front());
        syntax_.options.push_back(std::move(out));
    }

    void init(const ParsedNode& node) {
        syntax_.inits.push_back({.place = place(node),
                                 .kind = content(*node.children[0]),
                                 .parameter = content(*node.children[1]),
                                 .value = expression(*node.children[2])});
    }

    void read_block(const ParsedNode& node, BlockLine& out) {
        out.name = content(part(node, Part::name));
        for (const auto& child : node.children) {
            if (child->part == Part::parameter) {
                BlockLine::Parameter parameter{content(*child->children.front()), {}};
                if (child->children.size() > 1) parameter.default_value = expression(*child->children[1]);
                out.parameters.push_back(std::move(parameter));
            } else if (child->part == Part::block_inputs) {
                for (const auto& input : child->children) out.inputs.push_back(content(*input));
            }
        }
    }

    void read_network(const ParsedNode& node) {
        for (const auto& child : node.children) {
            if (child->part == Part::input) {
                auto& names = syntax_.inputs.emplace_back();
                for (const auto& name : child->children) names.push_back(content(*name));
            } else if (child->part == Part::gives) {
                syntax_.gives.clear();
                for (const auto& word : child->children)
                    syntax_.gives += (syntax_.gives.empty() ? "" : " ") + content(*word);
            }
        }
    }

    Label label(const ParsedNode& node) {
        Label out{.place = place(node)};
        if (node.children.empty()) out.pieces.push_back({content(node), {}});
        for (const auto& child : node.children) {
            if (child->part == Part::computed)
                out.pieces.push_back({{}, expression(*child->children.front())});
            else if (!out.pieces.empty() && !out.pieces.back().computed)
                out.pieces.back().text += child->string_view();
            else
                out.pieces.push_back({content(*child), {}});
        }
        return out;
    }

    std::vector<Label> labels(const ParsedNode& node) {
        std::vector<Label> out;
        out.reserve(node.children.size());
        for (const auto& child : node.children) out.push_back(label(*child));
        return out;
    }

    Argument argument(const ParsedNode& node) {
        if (node.part == Part::named_argument)
            return {content(*node.children[0]), place(node), expression(*node.children[1])};
        return {{}, place(node), expression(*node.children[0])};
    }

    /// Arguments with a name come last.
    void check_order(const ParsedNode& call) {
        bool named = false;
        for (std::size_t i = 1; i < call.children.size(); ++i) {
            const ParsedNode& each = *call.children[i];
            if (named && each.part == Part::argument)
                return faults_.push_back({place(each), msg("{}: arguments without a name come first.", content(each)), {}});
            named = named || each.part == Part::named_argument;
        }
    }

    // Expressions.

    Expression expression(const ParsedNode& node) {
        Expression out{.place = place(node)};
        switch (node.part) {
            case Part::number:
                read_number(node, out);
                break;
            case Part::string:
                out.kind = Expression::Kind::text;
                out.text = content(node);
                break;
            case Part::path:
            case Part::name:
                out.kind = Expression::Kind::path;
                out.text = content(node);
                break;
            case Part::truth:
                out.kind = Expression::Kind::truth;
                out.whole = node.string_view() == "true" ? 1 : 0;
                break;
            case Part::call:
                read_call(node, out);
                break;
            case Part::list:
                with_parts(Expression::Kind::list, node, out);
                break;
            case Part::index:
                return expression(*node.children.front());
            case Part::item:
                with_parts(Expression::Kind::item, node, out);
                break;
            case Part::power:
                with_parts(Expression::Kind::chain, node, out);
                out.operators = {Operator::power};
                break;
            case Part::negative:
                with_parts(Expression::Kind::negative, node, out);
                break;
            case Part::negation:
                with_parts(Expression::Kind::negation, node, out);
                break;
            case Part::both:
                with_parts(Expression::Kind::both, node, out);
                break;
            case Part::either:
                with_parts(Expression::Kind::either, node, out);
                break;
            case Part::expression:
                with_parts(Expression::Kind::choice, node, out);
                break;
            default:
                read_chain(node, out);
                break;
        }
        return out;
    }

    void with_parts(Expression::Kind kind, const ParsedNode& node, Expression& out) {
        out.kind = kind;
        out.parts.reserve(node.children.size());
        for (const auto& child : node.children) out.parts.push_back(expression(*child));
    }

    void read_chain(const ParsedNode& node, Expression& out) {
        out.kind = Expression::Kind::chain;
        for (const auto& child : node.children) {
            if (child->part == Part::operator_sign)
                out.operators.push_back(sign(child->string_view()));
            else
                out.parts.push_back(expression(*child));
        }
    }

    void read_call(const ParsedNode& node, Expression& out) {
        out.kind = Expression::Kind::call;
        out.text = content(*node.children.front());
        for (std::size_t i = 1; i < node.children.size(); ++i) {
            Argument each = argument(*node.children[i]);
            out.names.push_back(std::move(each.name));
            out.parts.push_back(std::move(each.value));
        }
        check_order(node);
    }

    void read_number(const ParsedNode& node, Expression& out) {
        const std::string_view text = node.string_view();
        const bool whole = text.find_first_not_of("0123456789") == text.npos;
        std::from_chars_result read{};
        if (whole)
            read = std::from_chars(text.begin(), text.end(), out.whole);
        else
            read = std::from_chars(text.begin(), text.end(), out.number);
        out.kind = whole ? Expression::Kind::whole : Expression::Kind::number;
        if (whole && out.whole >= size_limit) {
            read.ec = std::errc::result_out_of_range;
            out.whole = 0;
        }
        if (read.ec != std::errc{})
            faults_.push_back({place(node), msg("{} is out of range.", std::string(text)), {}});
    }

    /// The default of an option.
    Expression literal(const ParsedNode& node) {
        if (node.part == Part::literal_list) {
            Expression out{.kind = Expression::Kind::list, .place = place(node)};
            for (const auto& child : node.children) out.parts.push_back(literal(*child));
            return out;
        }
        if (node.part != Part::signed_number) {
            Expression out = expression(node);
            if (out.kind == Expression::Kind::path) out.kind = Expression::Kind::text;
            return out;
        }
        Expression out = expression(*node.children.back());
        if (node.children.size() > 1) {
            out.whole = -out.whole;
            out.number = -out.number;
        }
        return out;
    }

    double bound(const ParsedNode& node) {
        const Expression read = literal(node);
        return read.kind == Expression::Kind::whole ? static_cast<double>(read.whole) : read.number;
    }

    static Operator sign(std::string_view text) {
        static constexpr std::pair<std::string_view, Operator> signs[] = {
            {"+", Operator::add},    {"-", Operator::subtract},      {"*", Operator::multiply},
            {"/", Operator::divide}, {"//", Operator::floor_divide}, {"%", Operator::remainder},
            {"==", Operator::equal}, {"!=", Operator::differs},      {"<", Operator::less},
            {"<=", Operator::at_most}, {">", Operator::more},        {">=", Operator::at_least}};
        return std::ranges::find(signs, text, &std::pair<std::string_view, Operator>::first)->second;
    }

    std::vector<NetworkFault>& faults_;
    NetworkSyntax syntax_;
    const LogicalLine* line_ = nullptr;
    bool has_network_ = false;
};

}  // namespace

NetworkSyntax parse_network(std::string_view text, std::vector<NetworkFault>& faults) {
    const std::vector<LogicalLine> lines = cut_lines(text, faults);
    NetworkSyntax syntax = LineReader(faults).file(lines);
    std::ranges::stable_sort(faults, {}, [](const NetworkFault& fault) { return std::pair(fault.place.line, fault.place.column); });
    return syntax;
}

}  // namespace engine::network
