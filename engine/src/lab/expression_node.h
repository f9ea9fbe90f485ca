#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lab/lesson_expression.h"

namespace engine {

enum class LessonOperator {
    add,
    subtract,
    multiply,
    divide,
    less,
    at_most,
    more,
    at_least,
    equal,
    differs,
    both,
    either
};

/// A node of an expression's tree, whose types have been checked.
struct LessonExpression::Node {
    enum class Kind {
        number,
        word,
        check,   ///< name
        column,  ///< name: run, key: column
        result,  ///< name: run, key
        block,   ///< block, key
        xray,    ///< name: run, argument: op, key: field
        skip,    ///< name: run, key: field
        negative,
        negation,
        binary,
        mean,
        trailing_mean,  ///< over `number` steps
        first,
        isnan,
        last,
        min,
        max,
        count,
    };
    Kind kind = Kind::number;
    LessonType type = LessonType::number;
    double number = 0;
    std::string name{}, key{}, argument{};
    LessonBlockNumber block{};
    LessonOperator op = LessonOperator::add;
    std::vector<std::shared_ptr<const Node>> inputs{};
};

/// The tree of an expression. Throws as LessonExpression::parse() does.
std::shared_ptr<const LessonExpression::Node> parse_expression(std::string_view text,
                                                               const LessonNames& names);

}  // namespace engine
