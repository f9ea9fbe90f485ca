#pragma once

#include <string>
#include <vector>

namespace engine::network {

/// An argument as text.
struct TextArgument {
    std::string keyword{};  ///< "stride" of "stride=2"; empty: it comes without a name
    std::string text{};
    std::string slot{};     ///< name that a block's parameter for this number has; empty: no number
    std::string usual{};    ///< the text that need not be written

    friend bool operator==(const TextArgument&, const TextArgument&) = default;
};

/// A line of a body, with the lines of its own body: "label: callee(arguments) from x".
struct TextStatement {
    std::string label{};
    std::string callee{};  ///< or "from x"; empty: a container
    std::vector<TextArgument> arguments{};
    int block = -1;        ///< instead of the callee: a use of a block, by its place in the list of uses
    std::string before{};  ///< "x = "
    std::string from{};    ///< " from x, y", behind the callee
    std::vector<TextStatement> body{};
};

/// A use of a block with the lines that it has there.
struct BlockUse {
    std::string block{};
    std::vector<std::string> inputs{};  ///< names behind `of`
    std::vector<TextStatement> body{};
};

/// The blocks and the lines of a network's body. Uses of a block that differ in numbers alone become
/// one block with parameters, and lines that come again one after another a repeat.
struct FoldedText {
    std::string blocks{}, body{};
};
FoldedText fold_text(const std::vector<BlockUse>& uses, const std::vector<TextStatement>& body);

}  // namespace engine::network
