#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine::network {

/// A Python expression: a text, or a call or list with its items.
struct Python {
    std::string text{};  ///< "64"; of a call what it calls
    char open = 0;       ///< '(' of a call or tuple, '[' of a list; 0: the text alone
    std::vector<Python> items{};
    std::string keyword{};  ///< "stride" of "stride=2"
    std::string slot{};     ///< name that a class's argument for this text has; empty: the text is fixed
    std::string usual{};    ///< the text that need not be written
    bool parted = false;    ///< one item a line, though they fit into one

    Python() = default;
    Python(std::string text_) : text(std::move(text_)) {}  // NOLINT(google-explicit-constructor)
    Python(const char* text_) : text(text_) {}             // NOLINT(google-explicit-constructor)
};

Python python_call(std::string callee, std::vector<Python> items);
Python python_list(std::vector<Python> items);
/// An argument with its name. Where it is the usual one it need not be written.
Python python_named(std::string keyword, Python value, std::string usual = {});
/// Text that a class may take as an argument `slot`.
Python python_slot(std::string slot, std::string text);

std::string python_string(std::string_view text);
/// Whether a name can stand behind a dot or be a variable.
bool is_python_name(std::string_view name);

/// On one line. Items that are the usual ones are left out.
std::string flat(const Python& expression);

/// Adds `before`, the expression and `after` as one line, or as several where that is too long, as
/// black does with its defaults.
void write_python(std::string& out, int indent, const std::string& before, const Python& expression, const std::string& after);

}  // namespace engine::network
