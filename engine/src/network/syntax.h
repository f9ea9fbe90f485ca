#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/network/network.h"

/// The tree that the grammar makes of a text: its lines, each with the expressions in it.
namespace engine::network {

enum class Operator {
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    remainder,
    power,
    equal,
    differs,
    less,
    at_most,
    more,
    at_least
};

/// An expression. Chains of operators of one rank are one node, so its depth is that of the
/// brackets and prefixes.
struct Expression {
    enum class Kind {
        whole,     ///< whole
        number,    ///< number
        truth,     ///< whole: 0 or 1
        text,      ///< text: a string
        path,      ///< text: a name, or names joined by dots
        call,      ///< text: the name; parts: arguments; names: of each, empty for one without
        list,      ///< parts
        item,      ///< parts[0] [parts[1]] [parts[2]] ...
        chain,     ///< parts[0] operators[0] parts[1] ...
        negative,  ///< -parts[0]
        negation,  ///< not parts[0]
        both,      ///< parts[0] and parts[1] and ...
        either,    ///< parts[0] or parts[1] or ...
        choice,    ///< parts[0] if parts[1] else parts[2]
        unknown,   ///< has a fault
    };
    Kind kind = Kind::whole;
    TextPlace place{};
    std::int64_t whole = 0;
    double number = 0;
    std::string text{};
    std::vector<Expression> parts{};
    std::vector<std::string> names{};
    std::vector<Operator> operators{};
};

/// A name of a module or value, with expressions in braces: "layer{i + 1}".
struct Label {
    struct Piece {
        std::string text{};
        std::optional<Expression> computed{};
    };
    TextPlace place{};
    std::vector<Piece> pieces{};

    /// The name where nothing in it is computed; else empty.
    std::string_view fixed() const {
        return pieces.size() == 1 && !pieces.front().computed ? std::string_view(pieces.front().text)
                                                              : std::string_view();
    }
};

struct Argument {
    std::string name{};  ///< empty: without a name
    TextPlace place{};
    Expression value{};
};

/// A line of a body.
struct Statement {
    enum class Kind {
        bad,        ///< could not be read; names that it defines are unknown
        let,        ///< name = value
        output,     ///< from
        repeat,     ///< [label:] repeat
        container,  ///< label: with a body
        layer,      ///< callee with its arguments: a layer, a block, or a module that runs again
        pass        ///< [name =] from
    };
    Kind kind = Kind::bad;
    TextPlace place{};
    std::optional<Label> label{};
    std::string name{};            ///< "x" of "x = ..."
    std::optional<Label> callee{};
    bool has_arguments = false;    ///< brackets, though they may be empty
    std::vector<Argument> arguments{};
    std::vector<Label> from{};
    std::optional<Expression> condition{};
    std::optional<Expression> value{};  ///< of let; a repeat's count, list or first number
    std::optional<Expression> last{};   ///< "b" of "repeat i in a..b"
    std::vector<std::string> each{};    ///< names of a repeat
    bool takes_apart = false;           ///< those stand in brackets
    std::string index{};                ///< "i" of "as i"
    std::vector<Statement> body{};
};

/// option name = ...
struct OptionLine {
    TextPlace place{};
    std::string name{};
    Expression default_value{};
    std::optional<double> lowest{}, highest{};
    std::vector<std::string> choices{};
    std::string help{};
};

/// init Kind.parameter = value
struct InitLine {
    TextPlace place{};
    std::string kind{}, parameter{};
    Expression value{};
};

/// block name(parameters) of inputs:
struct BlockLine {
    TextPlace place{};
    std::string name{};
    struct Parameter {
        std::string name{};
        std::optional<Expression> default_value{};
    };
    std::vector<Parameter> parameters{};
    std::vector<std::string> inputs{};  ///< empty: one, called "in"
    std::vector<Statement> body{};
};

/// A whole text. What could not be read is left out, or stands as Statement::Kind::bad.
struct NetworkSyntax {
    std::vector<OptionLine> options{};
    std::vector<InitLine> inits{};
    std::vector<BlockLine> blocks{};
    /// Inputs of the network; of several names the one that the data set has.
    std::vector<std::vector<std::string>> inputs{};
    std::vector<std::vector<TextPlace>> input_places{};  ///< beside them
    TextPlace network{};
    std::string gives = "scores";
    std::vector<Statement> body{};
    bool incomplete = false;  ///< an option, init or block could not be read
};

}  // namespace engine::network
