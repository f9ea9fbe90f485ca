#pragma once

#include <tao/pegtl.hpp>

namespace engine::network {

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
/// Most expressions are one number or name: found without all ranks of operators.
struct simple : seq<sor<number, truth, path>, at<sor<one<',', ')', ']', '}', ':'>, eof>>> {};
struct composed : seq<either, maybe<if_must<token<kw_if>, either, else_word, expression>>> {};
struct expression : sor<simple, composed> {};

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
struct begins : seq<at<Keyword>, not_at<is_name>, token<Keyword>> {};
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

}  // namespace engine::network
